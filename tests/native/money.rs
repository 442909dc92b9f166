//! What work costs: the client's ledger is the service's, whatever happens on the way.

use super::polling::until_state;
use super::rerun::FAILS;
use crate::world::{Context, Settings, World, failed, park, standing};
use holdfast::model::hold::ParkReason;
use holdfast::model::money::{Amount, Credits, ReceiptKind};
use holdfast::model::operation::Operation;
use holdfast::model::policy::{Limits, OnUnknown};
use holdfast::record::view::view;
use holdfast::rules::step::Command;
use holdfast_services::{
    Bulkgrid, CleanedWeb, Fault, Loopback, Replay, Request, RunHarvester, Service,
};
use serde_json::{Value, json};

const RUNHARVESTER: &str = include_str!("../../pkg-template/profiles/runharvester.json");

const REPLAY: &str = include_str!("../../pkg-template/profiles/replay.json");

const BULKGRID: &str = include_str!("../../pkg-template/profiles/bulkgrid.json");

const CLEANEDWEB: &str = include_str!("../../pkg-template/profiles/cleanedweb.json");

fn world(service: impl Service + Send + 'static, profile: &str, faults: &str) -> World {
    let mut service = Loopback::new(service);
    service.faults.add(serde_json::from_str::<Vec<Fault>>(faults).expect("good faults"));
    World::of(Settings::default(), service, profile)
}

fn public(operation: &Operation) -> Value {
    serde_json::from_str(&view(operation)).expect("JSON")
}

fn amount(operation: &Operation, amount: Amount) -> Option<String> {
    operation.ledger.get(amount).map(Credits::to_text)
}

/// What the service has charged in all, less what it has given back.
fn charged(world: &World) -> Credits {
    let service = world.0.service.borrow();
    let ledger = service.ledger();
    let whole = ledger.charged_credits - ledger.refunded_credits;
    Credits(i64::try_from(whole).expect("few") * 1_000_000)
}

fn is_the_services(world: &World, operation: &Operation) {
    assert_eq!(operation.lineage_cost(), charged(world), "{:?}", operation.ledger);
}

const LIVES: &[&str] = &[
    "",
    r#","outcome":"failed""#,
    r#","outcome":"failed","failure_class":"input""#,
    r#","outcome":"source_blocked""#,
];

const FAULTS: &[&str] = &[
    "[]",
    r#"[{"call":"submit","fault":"lose_after"}]"#,
    r#"[{"call":"submit","fault":"lose_before"}]"#,
    r#"[{"call":"submit","fault":"truncate"}]"#,
    r#"[{"call":"poll","fault":"lose_after","times":3},{"call":"result","fault":"truncate"}]"#,
];

#[test]
fn the_ledger_of_jobs_is_the_services_over_every_life() {
    for faults in FAULTS {
        for options in LIVES {
            let world = world(RunHarvester::default(), RUNHARVESTER, faults);
            let ended = world.live(&world.open(), "daily", options);
            is_the_services(&world, &ended);
        }
    }
}

#[test]
fn the_ledger_of_replayed_work_is_the_services_over_every_life() {
    for faults in FAULTS {
        let world = world(Replay::default(), REPLAY, faults);
        let ended = world.live(&world.open(), "daily", "");
        assert_eq!(standing(&ended), "succeeded");
        is_the_services(&world, &ended);
        assert_eq!(amount(&ended, Amount::Reserved).as_deref(), Some("5"));
        assert_eq!(amount(&ended, Amount::Charged).as_deref(), Some("5"));
        assert_eq!(amount(&ended, Amount::Released).as_deref(), Some("0"));
        assert_eq!(amount(&ended, Amount::Balance).as_deref(), Some("95"));
    }
}

#[test]
fn the_ledger_of_runs_is_the_services_over_every_life() {
    for options in LIVES {
        let world = world(Bulkgrid::default(), BULKGRID, "[]");
        let ended = world.live(&world.open(), "daily", options);
        is_the_services(&world, &ended);
    }
}

#[test]
fn the_ledger_of_a_cancelled_job_is_the_services_once_its_billing_is_final() {
    for wait_ms in [0, 1_000, 2_500] {
        let world = world(RunHarvester::default(), RUNHARVESTER, "[]");
        let context = world.open();
        let operation = world.submit(&context, "daily", r#","duration_ms":4000"#);
        world.pass(wait_ms);
        world.cancel(&context, &operation).expect("it is wanted");
        let ended = world.until("daily", |own| own.life.is_ended());
        assert_eq!(standing(&ended), "cancelled");
        assert_eq!(public(&ended)["ledger"]["open"], ended.life.settlement.is_some());
        let settled = world.settle(&context, "daily").expect("billing is read out");
        assert_eq!(public(&settled)["ledger"]["open"], false);
        is_the_services(&world, &settled);
    }
}

fn retried(world: &World, context: &Context) -> Operation {
    let first = world.live(context, "daily", r#","fail_times":1,"duration_ms":10"#);
    world.retry(context, &first, &failed(&first).id, true).expect("a rerun");
    world.settle(context, "daily").expect("it ends")
}

#[test]
fn what_a_lineage_costs_is_what_all_its_jobs_cost() {
    let world = world(RunHarvester::default(), RUNHARVESTER, "[]");
    let ended = retried(&world, &world.open());
    assert_eq!((standing(&ended), ended.identity.ordinal), ("succeeded", 1));
    is_the_services(&world, &ended);
    assert_eq!(public(&ended)["ledger"]["lineageCost"], "5");
}

#[test]
fn what_the_failed_job_of_a_lineage_has_cost_counts() {
    // This service keeps a charge of 2 for a job that failed.
    let kept = json!({
        "id": "req_000001", "status": "failed", "token_state": "charged",
        "billing": {"base": 2}, "error": {"code": "UPSTREAM_TIMEOUT", "class": "transient"},
    });
    let fault =
        json!([{"call": "poll", "fault": "status", "status": 200, "body": kept.to_string()}]);
    let world = world(RunHarvester::default(), RUNHARVESTER, &fault.to_string());
    let ended = retried(&world, &world.open());
    let shown = &public(&ended)["ledger"];
    assert_eq!((&shown["cost"], &shown["lineageCost"]), (&json!("5"), &json!("7")));
}

#[test]
fn a_receipt_is_of_the_kind_that_the_profile_says() {
    let settings =
        Settings { params: vec![("sourceId".into(), "src_1".into())], ..Settings::default() };
    let world = World::of(settings, Loopback::new(CleanedWeb::default()), CLEANEDWEB);
    let context = world.open();
    let mut request = crate::world::submission("daily", "");
    request.body = br#"{"input":{"url":"https://example.com"}}"#.to_vec();
    let driver = context.driver.clone();
    let taken = world.call(&context, async move { driver.submit(request).await });
    taken.expect("alive").expect("taken on");
    let ended = world.settle(&context, "daily").expect("it ends");
    assert_eq!(ended.reported.charge_receipt_kind, Some(ReceiptKind::ExecutionCharge));
    let receipt = &public(&ended)["receipt"];
    assert_eq!(receipt["chargeReceiptKind"], "executionCharge");
    assert!(receipt["chargeReceiptId"].is_string());
}

#[test]
fn a_receipt_is_of_no_kind_where_the_profile_says_nothing() {
    let profile =
        RUNHARVESTER.replace(r#""tokenState":"#, r#""chargeReceiptId": ["/id"], "tokenState":"#);
    let world = world(RunHarvester::default(), &profile, "[]");
    let ended = world.live(&world.open(), "daily", "");
    let receipt = &public(&ended)["receipt"];
    assert!(receipt["chargeReceiptId"].is_string());
    assert_eq!(receipt.get("chargeReceiptKind"), None);
}

#[test]
fn an_accepted_risk_shows_that_the_charge_may_be_doubled() {
    let redirect = r#"[{"call":"submit","fault":"status","status":302,"after_commit":true}]"#;
    let world = world(RunHarvester::default(), RUNHARVESTER, redirect);
    let context = world.open();
    let parked = world.live(&context, "daily", "");
    assert_eq!(standing(&parked), "parked");
    assert_eq!(public(&parked)["ledger"]["possiblyDuplicated"], false);
    let command = Command::Resume { limits: None, accept_duplicate: true };
    world.command(&context, &parked, command).expect("the risk is accepted");
    let ended = world.settle(&context, "daily").expect("it ends");
    assert_eq!(standing(&ended), "succeeded");
    assert_eq!(public(&ended)["ledger"]["possiblyDuplicated"], true);
}

#[test]
fn a_second_submission_by_itself_shows_that_the_charge_may_be_doubled() {
    let world =
        world(Bulkgrid::default(), BULKGRID, r#"[{"call":"submit","fault":"lose_before"}]"#);
    let limits = Limits { on_unknown: OnUnknown::Resubmit, ..Limits::default() };
    let ended = world.live(&world.open_with(limits, BULKGRID), "daily", "");
    assert_eq!(standing(&ended), "succeeded");
    assert_eq!(public(&ended)["ledger"]["possiblyDuplicated"], true);
}

#[test]
fn two_runs_that_bear_the_operations_own_id_show_that_the_charge_is_doubled() {
    let world = world(Bulkgrid::default(), BULKGRID, r#"[{"call":"submit","fault":"lose_after"}]"#);
    let context = world.open();
    let operation = world.submit(&context, "daily", "");
    world.until("daily", |own| own.life.evidence.unresolved.is_some());
    let body = format!(
        r#"{{"url":"https://example.com","metadata":{{"holdfast_id":"{}"}}}}"#,
        operation.identity.id.as_str()
    );
    let second = Request::new("POST", "/api/v1/extract")
        .with_header("x-api-key", crate::world::SECRET)
        .with_body(body);
    world.0.service.borrow_mut().exchange(world.0.clock.now(), &second);
    let parked = world.settle(&context, "daily").expect("it comes to rest");
    assert_eq!(park(&parked), Some(ParkReason::Ambiguous));
    assert_eq!(public(&parked)["ledger"]["possiblyDuplicated"], true);
}

#[test]
fn amounts_that_mean_nothing_are_not_kept() {
    for (told, kept) in [
        (json!({"base": "five"}), None),
        (json!({"base": null}), None),
        (json!({"base": [5]}), None),
        (json!({"base": -5}), None),
        (json!({"base": "7"}), Some("7")),
        (json!({"base": 2.5e0}), Some("2.5")),
        (json!({"base": 1e300}), Some("9223372036854.775807")),
    ] {
        let body = json!({"id": "req_000001", "status": "failed", "billing": told}).to_string();
        let fault = json!([{"call": "submit", "fault": "status", "status": 202, "body": body},
            {"call": "poll", "fault": "status", "status": 200, "body": body, "times": 9}]);
        let world = world(RunHarvester::default(), RUNHARVESTER, &fault.to_string());
        let ended = world.live(&world.open(), "daily", "");
        assert_eq!(amount(&ended, Amount::Base).as_deref(), kept, "{body}");
    }
}

#[test]
fn the_journal_tells_each_change_of_what_it_costs_and_nothing_else_of_it() {
    let world = world(RunHarvester::default(), RUNHARVESTER, "[]");
    let context = world.open();
    let ended = world.live(&context, "daily", r#","outcome":"failed""#);
    let mut told = Vec::new();
    for line in world.journal(&context, &ended.identity.id) {
        let line: Value = serde_json::from_str(&line).expect("JSON");
        if let Some(cost) = line["cost"].as_str() {
            told.push((line["event"].as_str().expect("a name").to_owned(), cost.to_owned()));
        }
    }
    let line = |event: &str, cost: &str| (event.to_owned(), cost.to_owned());
    assert_eq!(told, [line("submit.answered", "5"), line("poll.answered", "0")]);
}

#[test]
fn a_line_of_the_journal_that_others_are_folded_into_keeps_what_it_told_of_the_cost() {
    let faults = r#"[{"call":"poll","fault":"status","status":200,
            "body":"{\"status\":\"running\",\"billing\":{\"base\":9}}"},
        {"call":"poll","fault":"status","status":200,"times":6,"body":"{\"status\":\"running\"}"}]"#;
    let world = world(RunHarvester::default(), RUNHARVESTER, faults);
    let context = world.open();
    let ended = world.live(&context, "daily", "");
    let lines = world.journal(&context, &ended.identity.id);
    let running: Vec<_> = lines.iter().filter(|line| line.contains("running")).collect();
    assert!(running.len() == 1 && running[0].contains(r#""cost":"9""#), "{running:?}");
}

#[test]
fn a_reservation_that_is_released_late_is_picked_up_after_a_cancel() {
    let profile = RUNHARVESTER
        .replace(r#""base": ["/billing/base"]"#, r#""reserved": ["/billing/base"]"#)
        .replace(r#""refund": ["/billing/refund"]"#, r#""released": ["/billing/refund"]"#);
    let world = world(RunHarvester::default(), &profile, "[]");
    let context = world.open();
    let operation = world.submit(&context, "daily", r#","duration_ms":4000"#);
    world.pass(1_500);
    world.cancel(&context, &operation).expect("it is wanted");
    let ended = world.until("daily", |own| own.life.is_ended());
    assert_eq!(ended.ledger.cost(), Credits(5_000_000), "all of it is still set aside");
    let settled = world.settle(&context, "daily").expect("billing is read out");
    assert_eq!(amount(&settled, Amount::Released).as_deref(), Some("2"));
    is_the_services(&world, &settled);
}

#[test]
fn a_late_settlement_is_picked_up() {
    let world = World::new();
    let context = world.open();
    let operation = until_state(&world, &context, "running");
    world.cancel(&context, &operation).expect("a wish");
    let ended = world.settle(&context, "daily").expect("it ends");
    assert_eq!(ended.ledger.token_state.as_deref(), Some("charged"));
    assert_eq!(ended.ledger.get(Amount::Refund).map(Credits::to_text).as_deref(), Some("2"));
    assert_eq!(ended.ledger.cost().to_text(), "3");
    assert!(ended.life.settlement.is_none());
}

#[test]
fn billing_and_token_state_are_kept_as_reported() {
    let world = World::new();
    let (_, ended) = world.lived("");
    assert_eq!(ended.ledger.get(Amount::Base).map(Credits::to_text).as_deref(), Some("5"));
    assert_eq!(ended.ledger.get(Amount::Balance).map(Credits::to_text).as_deref(), Some("95"));
    assert_eq!(ended.ledger.token_state.as_deref(), Some("charged"));
}

#[test]
fn a_failed_job_s_refund_is_kept_as_reported() {
    let world = World::new();
    let (_, ended) = world.lived(FAILS);
    assert_eq!(ended.ledger.get(Amount::Refund).map(Credits::to_text).as_deref(), Some("5"));
    assert_eq!(ended.ledger.cost().to_text(), "0");
}
