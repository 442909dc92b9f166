//! The listings of a service without idempotency: late, hostile, in pages.

use super::reconcile::{
    LOST, foreign_run, profile_with, read, resubmitting, sent, world, world_with,
};
use crate::world::{World, park, standing};
use holdfast::model::hold::ParkReason;
use holdfast::model::life::Stage;
use holdfast::model::money::{Amount, Credits};
use holdfast::model::policy::Limits;
use holdfast::model::profile::Purpose;
use holdfast_services::{BulkgridConfig, Call};
use serde_json::{Value, json};

#[test]
fn a_listing_is_of_no_use_where_what_it_shows_cannot_be_read() {
    let profile = profile_with(|profile| {
        profile["calls"].as_object_mut().expect("calls").remove("poll");
        profile.as_object_mut().expect("an object").remove("pages");
    });
    let faults = holdfast::rules::profile::read(&profile).expect_err("a fault");
    let places: Vec<_> = faults.iter().map(|own| own.pointer.as_str()).collect();
    assert_eq!(places, ["/reconcile"]);
}

#[test]
fn the_listing_is_read_only_when_it_must_show_the_run() {
    let world = world(LOST);
    let context = world.open();
    let start = world.0.clock.now();
    let submitted = world.submit(&context, "daily", "");
    let waiting = world.until("daily", |own| standing(own) == "reconciling");
    assert_eq!(read(&world), 0);
    world.live(&context, "daily", "");
    let asked = &world.requests(Call::List)[0];
    // 2 s to leave, 30 s for the answer, 30 s until the listing shows it.
    assert!(asked.time_ms >= start + 62_000, "{}", asked.time_ms - start);
    assert_eq!(waiting.identity.id, submitted.identity.id);
    assert!(world.0.authorizations.borrow().contains(&(Purpose::Reconcile, false)));
}

#[test]
fn a_listing_that_cannot_be_read_ends_bounded() {
    let world = world(LOST);
    world.add_faults(r#"[{"call":"list","fault":"html","times":999}]"#);
    let operation = world.live(&resubmitting(&world), "daily", "");
    assert_eq!(park(&operation), Some(ParkReason::OutcomeUnknown));
    let Stage::Reconcile(listing) = &operation.life.stage else { panic!("not looked up") };
    assert!(!listing.absent);
    assert!((2..=10).contains(&read(&world)), "{}", read(&world));
    assert_eq!((world.executions(), sent(&world)), (1, 1));
}

#[test]
fn a_listing_that_lags_is_asked_again_after_a_failure() {
    let world = world(LOST);
    world.add_faults(
        r#"[{"call":"list","fault":"status","status":500,"times":1},
            {"call":"list","fault":"truncate","times":1},
            {"call":"list","fault":"status","status":429,"retry_after":"2","times":1},
            {"call":"list","fault":"lose_after","times":1}]"#,
    );
    let operation = world.live(&world.open(), "daily", "");
    assert_eq!(standing(&operation), "succeeded");
    // Four that failed, the page with the run, and the empty one that ends the listing.
    assert_eq!((world.executions(), sent(&world), read(&world)), (1, 1, 6));
}

#[test]
fn what_a_listing_says_that_it_has_cost_is_in_the_ledger() {
    let world = world(LOST);
    let profile = profile_with(|profile| profile["facts"]["readCost"] = json!(["/credits"]));
    let page = json!({ "credits": 0.5, "runs": [] }).to_string();
    let fault =
        json!([{ "call": "list", "fault": "status", "status": 200, "times": 1, "body": page }]);
    world.add_faults(&fault.to_string());
    let operation = world.live(&world.open_with(Limits::default(), &profile), "daily", "");
    assert_eq!(operation.ledger.get(Amount::Reads), Credits::parse("0.5"));
}

/// What the service answers to every listing, whatever is asked for.
fn always(world: &World, page: &Value) {
    let fault = json!([{ "call": "list", "fault": "status", "status": 200, "times": 999,
        "body": page.to_string() }]);
    world.add_faults(&fault.to_string());
}

#[test]
fn hostile_listings_end_bounded_and_prove_nothing() {
    let item = |id: Value| json!({ "id": id, "created_at": "2099-01-01T00:00:00Z" });
    for page in [
        json!({ "runs": [item(json!("x"))] }),
        json!({ "runs": vec![item(json!("x")); 500] }),
        json!({ "runs": [item(json!(null)), json!(7), json!(null)] }),
        json!({ "runs": "x".repeat(2_000_000) }),
        json!({ "runs": [{ "id": "x", "created_at": "yesterday" }] }),
        json!({ "runs": {} }),
        json!([]),
    ] {
        let world = world(LOST);
        always(&world, &page);
        let operation = world.live(&resubmitting(&world), "daily", "");
        assert_eq!(park(&operation), Some(ParkReason::OutcomeUnknown));
        assert!(read(&world) <= 30, "{}", read(&world));
        assert_eq!((world.executions(), sent(&world)), (1, 1));
    }
}

#[test]
fn a_listing_with_its_oldest_first_proves_no_absence_by_its_first_page() {
    let world = world(LOST);
    let runs = json!([{ "id": "a", "created_at": "2001-01-01T00:00:00Z" },
        { "id": "b", "created_at": "2002-01-01T00:00:00Z" }]);
    always(&world, &json!({ "runs": runs }));
    let operation = world.live(&resubmitting(&world), "daily", "");
    assert_eq!(park(&operation), Some(ParkReason::OutcomeUnknown));
    assert_eq!(sent(&world), 1);
}

#[test]
fn another_scope_s_listing_is_not_read() {
    let world = world(LOST);
    let context = world.open();
    world.submit(&context, "daily", "");
    world.until("daily", |own| standing(own) == "reconciling");
    world.0.settings.borrow_mut().scope = Some("org_2/key_1".into());
    let operation = world.settle(&context, "daily").expect("it rests");
    assert_eq!(park(&operation), Some(ParkReason::ScopeChanged));
    assert_eq!(read(&world), 0);
    world.0.settings.borrow_mut().scope = Some("org_1/key_1".into());
    world.resume(&context, &operation).expect("an exit");
    assert_eq!(standing(&world.settle(&context, "daily").expect("it ends")), "succeeded");
}

#[test]
fn the_run_is_found_on_a_later_page() {
    let settings = holdfast_services::Settings {
        balance: 100_000,
        ..holdfast_services::Settings::with_ids("run_")
    };
    let world = world_with(LOST, BulkgridConfig { settings, ..BulkgridConfig::default() });
    let context = world.open();
    world.submit(&context, "daily", "");
    world.until("daily", |own| standing(own) == "reconciling");
    for _ in 0..230 {
        foreign_run(&world);
    }
    let operation = world.settle(&context, "daily").expect("it ends");
    assert_eq!(standing(&operation), "succeeded");
    assert_eq!((read(&world), world.executions()), (4, 231));
    assert_eq!(world.0.service.borrow().ledger().too_fast, 0);
}

#[test]
fn the_operation_s_id_stands_where_the_profile_puts_it() {
    let world = world("[]");
    let operation = world.live(&world.open(), "daily", r#","metadata":{"own":1}"#);
    let expected = json!({ "own": 1, "holdfast_id": operation.identity.id.as_str() });
    let service = world.0.service.borrow();
    let asked = service.ledger().executions_by_asked();
    assert_eq!(asked.keys().collect::<Vec<_>>(), [&expected.to_string()]);
}
