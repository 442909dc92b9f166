//! What work may cost: limits are kept before anything is sent, and reads are counted.

use crate::world::{Context, Settings, World, failed, park, patch, standing};
use holdfast::model::error::Code;
use holdfast::model::hold::ParkReason;
use holdfast::model::money::{Amount, Credits};
use holdfast::model::operation::Operation;
use holdfast::model::policy::Limits;
use holdfast::rules::exits::exits;
use holdfast::rules::profile;
use holdfast::rules::step::Command;
use holdfast_services::{Call, Config, Fault, Loopback, Replay, RunHarvester, Service};
use serde_json::{Value, json};

pub(super) const RUNHARVESTER: &str = include_str!("../../pkg-template/profiles/runharvester.json");

pub(super) const REPLAY: &str = include_str!("../../pkg-template/profiles/replay.json");

pub(super) fn credits(text: &str) -> Credits {
    Credits::parse(text).expect("an amount")
}

pub(super) fn world(service: impl Service + Send + 'static, profile: &str, faults: &str) -> World {
    let mut service = Loopback::new(service);
    service.faults.add(serde_json::from_str::<Vec<Fault>>(faults).expect("good faults"));
    World::of(Settings::default(), service, profile)
}

/// Scrapes cost 5 credits here.
pub(super) fn replaying(faults: &str) -> World {
    world(Replay::default(), REPLAY, faults)
}

pub(super) fn bounded(world: &World, cost: &str) -> Context {
    let limits = Limits { cost: Some(credits(cost)), ..Limits::default() };
    world.open_with(limits, &world.0.profile.clone())
}

pub(super) fn count(world: &World, call: Call) -> usize {
    world.requests(call).len()
}

pub(super) fn raised(cost: &str) -> Command {
    let limits = patch(|own| own.cost = Some(credits(cost)));
    Command::Resume { limits: Some(limits), accept_duplicate: false }
}

/// A job that failed and whose charge the service keeps, and the wish to run it again.
fn rerun(cost: &str, told: &Value) -> (World, Context, Operation) {
    let body = json!({
        "id": "req_000001", "status": "failed", "token_state": "charged", "billing": told,
        "error": {"code": "UPSTREAM_TIMEOUT", "class": "transient"},
    });
    let fault =
        json!([{"call": "poll", "fault": "status", "status": 200, "body": body.to_string()}]);
    let world = world(RunHarvester::default(), RUNHARVESTER, &fault.to_string());
    let context = bounded(&world, cost);
    let first = world.live(&context, "daily", r#","fail_times":1,"duration_ms":10"#);
    (world, context, first)
}

#[test]
fn a_rerun_is_refused_once_its_lineage_has_cost_all_that_it_may() {
    let (world, context, first) = rerun("5", &json!({"base": 5}));
    let refused = world.retry(&context, &first, &failed(&first).id, false);
    assert_eq!(refused.expect_err("nothing is left").code, Code::NotAllowed);
    assert_eq!(count(&world, Call::Retry), 0);
}

#[test]
fn a_rerun_beyond_its_limit_goes_on_with_a_higher_one() {
    let (world, context, first) = rerun("5", &json!({"base": 5}));
    let more = patch(|own| own.cost = Some(credits("20")));
    let second = world.retry_within(&context, &first, &failed(&first).id, false, more);
    let second = second.expect("it is allowed to cost more");
    assert_eq!((second.limits.cost, second.spent.cost), (Some(credits("20")), credits("5")));
    let ended = world.settle(&context, "daily").expect("it ends");
    assert_eq!((standing(&ended), ended.lineage_cost()), ("succeeded", credits("10")));
}

#[test]
fn a_rerun_waits_until_what_its_parent_has_cost_is_final() {
    let body = json!({
        "id": "req_000001", "status": "failed", "token_state": "reserved", "billing": {"base": 1},
        "error": {"code": "UPSTREAM_TIMEOUT", "class": "transient"},
    });
    let fault =
        json!([{"call": "poll", "fault": "status", "status": 200, "body": body.to_string()}]);
    let world = world(RunHarvester::default(), RUNHARVESTER, &fault.to_string());
    let context = bounded(&world, "9");
    world.submit(&context, "daily", r#","fail_times":1,"duration_ms":10"#);
    let first = world.until("daily", |own| own.life.is_ended());
    assert_eq!(first.ledger.cost(), credits("1"), "as far as is known");
    let refused = world.retry(&context, &first, &failed(&first).id, false).expect_err("too early");
    assert_eq!(refused.code, Code::NotAllowed);
    assert!(refused.message.contains("ledger.open"), "{}", refused.message);
    let billed = world.settle(&context, "daily").expect("billing is read out");
    let second = world.retry(&context, &billed, &failed(&billed).id, false).expect("now");
    assert_ne!(billed.ledger.cost(), credits("1"), "it was billed late");
    assert_eq!(second.spent.cost, billed.ledger.cost());
}

#[test]
fn a_rerun_goes_on_while_something_is_left() {
    let (world, context, first) = rerun("5", &json!({"base": 4.5}));
    world.retry(&context, &first, &failed(&first).id, false).expect("half a credit is left");
    assert_eq!(standing(&world.settle(&context, "daily").expect("it ends")), "succeeded");
}

#[test]
fn no_number_that_a_service_tells_makes_a_limit_wider() {
    let huge = json!({"base": 1e300});
    for told in [json!({"base": 5, "refund": 99}), json!({"base": 5, "refund": -99}), huge] {
        let (world, context, first) = rerun("5", &told);
        let left = told["refund"] == 99;
        let retried = world.retry(&context, &first, &failed(&first).id, false);
        assert_eq!(retried.is_ok(), left, "{told}");
        if let Ok(second) = retried {
            assert_eq!(second.spent.cost, Credits(0), "what is given back pays for nothing else");
        }
    }
}

/// Each read of a status or a result costs 1 here, as the profile says.
fn reading(faults: &str) -> World {
    let mut profile: Value = serde_json::from_str(RUNHARVESTER).expect("JSON");
    profile["calls"]["poll"]["cost"] = json!(1);
    profile["calls"]["result"]["cost"] = json!(1);
    let config = Config { read_price: 1, ..Config::default() };
    world(RunHarvester::new(config), &profile.to_string(), faults)
}

/// What the service has charged in all, less what it has given back.
fn charged(world: &World) -> Credits {
    let service = world.0.service.borrow();
    let whole = service.ledger().charged_credits - service.ledger().refunded_credits;
    Credits(i64::try_from(whole).expect("few") * 1_000_000)
}

#[test]
fn reads_that_cost_are_in_the_ledger_as_in_the_services() {
    for faults in [
        "[]",
        r#"[{"call":"poll","fault":"lose_after","times":2}]"#,
        r#"[{"call":"result","fault":"truncate"}]"#,
        r#"[{"call":"poll","fault":"rate_limited"}]"#,
        r#"[{"call":"poll","fault":"status","status":503,"times":2}]"#,
    ] {
        let world = reading(faults);
        let ended = world.live(&world.open(), "daily", "");
        assert_eq!(standing(&ended), "succeeded");
        assert_eq!(ended.ledger.cost(), charged(&world), "{faults}: {:?}", ended.ledger);
        assert!(ended.ledger.get(Amount::Reads) >= Some(credits("2")));
    }
}

#[test]
fn late_billing_is_read_at_its_price() {
    let world = reading("[]");
    let context = world.open();
    let operation = world.submit(&context, "daily", "");
    world.cancel(&context, &operation).expect("it is wanted");
    let settled = world.settle(&context, "daily").expect("billing is read out");
    assert_eq!(standing(&settled), "cancelled");
    assert_eq!(settled.ledger.cost(), charged(&world), "{:?}", settled.ledger);
}

#[test]
fn reads_stop_at_the_limit_and_go_on_with_a_higher_one() {
    let world = reading("[]");
    let context = bounded(&world, "7");
    let parked = world.live(&context, "daily", r#","duration_ms":60000"#);
    assert_eq!(park(&parked), Some(ParkReason::BudgetExhausted));
    assert_eq!(parked.ledger.cost(), credits("7"));
    assert_eq!(count(&world, Call::Poll), 2);
    assert!(exits(&parked).contains(&"resume({limits})"));
    world.command(&context, &parked, raised("500")).expect("an exit");
    let ended = world.settle(&context, "daily").expect("it ends");
    assert_eq!((standing(&ended), ended.ledger.cost()), ("succeeded", charged(&world)));
}

#[test]
fn late_billing_is_given_up_where_reading_it_would_go_beyond_the_limit() {
    let world = reading("[]");
    let context = bounded(&world, "6");
    let operation = world.submit(&context, "daily", "");
    world.cancel(&context, &operation).expect("it is wanted");
    let settled = world.settle(&context, "daily").expect("it comes to rest");
    assert_eq!(standing(&settled), "cancelled");
    assert_eq!((&settled.life.settlement, settled.ledger.cost()), (&None, credits("6")));
}

#[test]
fn what_an_answer_says_that_its_read_has_cost_goes_before_the_profile() {
    let body = json!({"id": "req_000001", "status": "running", "billing": {"read": 0.25}});
    let fault =
        json!([{"call": "poll", "fault": "status", "status": 200, "body": body.to_string()}]);
    let mut profile: Value = serde_json::from_str(RUNHARVESTER).expect("JSON");
    profile["facts"]["readCost"] = json!(["/billing/read"]);
    profile["calls"]["result"]["cost"] = json!(2);
    let world = world(RunHarvester::default(), &profile.to_string(), &fault.to_string());
    let ended = world.live(&world.open(), "daily", "");
    assert_eq!(standing(&ended), "succeeded");
    assert_eq!(ended.ledger.get(Amount::Reads), Some(credits("2.25")));
}

#[test]
fn without_a_price_reads_are_free_and_not_bounded() {
    let world = world(RunHarvester::default(), RUNHARVESTER, "[]");
    let ended = world.live(&bounded(&world, "5"), "daily", "");
    assert_eq!((standing(&ended), ended.ledger.get(Amount::Reads)), ("succeeded", None));
}

#[test]
fn a_profile_whose_prices_or_rates_mean_nothing_is_refused() {
    for (place, value, fault) in [
        ("/calls/poll/cost", json!(0), "/calls/poll/cost"),
        ("/calls/poll/cost", json!(-1), "/calls/poll/cost"),
        ("/calls/result/cost", json!("1"), "/calls/result/cost"),
        ("/calls/submit/cost", json!(1), "/calls/submit/cost"),
        ("/calls/cancel/cost", json!(1), "/calls/cancel/cost"),
        ("/calls/quote", json!({"method": "POST", "path": "/price"}), "/facts/quoted"),
        ("/calls/quote", json!({"method": "POST", "path": "/price/{id}"}), "/calls/quote/path"),
        ("/rate", json!({"requests": 0, "perMs": 1000}), "/rate/requests"),
        ("/rate", json!({"requests": 5}), "/rate/perMs"),
        ("/chargeReceipt", json!("bill"), "/chargeReceipt"),
    ] {
        let mut profile: Value = serde_json::from_str(RUNHARVESTER).expect("JSON");
        let (outer, name) = place.rsplit_once('/').expect("a place");
        let object = profile.pointer_mut(outer).and_then(Value::as_object_mut);
        object.expect("an object").insert(name.into(), value);
        let faults = profile::read(&profile.to_string()).expect_err("a fault");
        assert!(faults.iter().any(|own| own.pointer == fault), "{place}: {faults:?}");
    }
}
