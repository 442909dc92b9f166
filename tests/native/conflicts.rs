//! Conflicts that a service tells: each has its own path, and a job that is named is followed.

use super::cost::RUNHARVESTER;
use crate::world::{Settings, World, park, submission, succeeds_once};
use holdfast::driver::Submission;
use holdfast::model::error::Code;
use holdfast::model::hold::ParkReason;
use holdfast::model::policy::Limits;
use holdfast::rules::exits::exits;
use holdfast_services::{Call, Loopback, RunHarvester};
use serde_json::{Value, json};

/// A service whose conflicts name the job that the key has led to, after a lost answer.
fn naming(code: &str, more: &Value) -> World {
    let mut profile: Value = serde_json::from_str(RUNHARVESTER).expect("JSON");
    profile["facts"]["existingId"] = json!(["/error/request_id"]);
    let meanings = profile["meanings"].as_array_mut().expect("a list");
    meanings.push(json!({ "on": ["submit"], "code": "KEY_USED", "means": "consumed" }));
    meanings
        .push(json!({ "on": ["submit"], "code": "BUSY_OR_FAILED", "means": "runningOrFailed" }));
    let service = Loopback::new(RunHarvester::default());
    let world = World::of(Settings::default(), service, &profile.to_string());
    let mut error = json!({ "code": code });
    error.as_object_mut().expect("an object").extend(more.as_object().expect("members").clone());
    let faults = json!([
        { "call": "submit", "fault": "lose_after" },
        { "call": "submit", "fault": "status", "status": 409, "times": 99,
          "body": json!({ "error": error }).to_string() },
    ]);
    world.add_faults(&faults.to_string());
    world
}

const CODES: [&str; 3] = ["REQUEST_IN_PROGRESS", "KEY_USED", "BUSY_OR_FAILED"];

#[test]
fn a_job_that_a_conflict_names_is_adopted_and_followed_to_its_result() {
    for code in CODES {
        let world = naming(code, &json!({ "request_id": "req_000001" }));
        let ended = world.live(&world.open(), "daily", "");
        succeeds_once(&world, &ended);
        assert_eq!(world.requests(Call::Submit).len(), 2, "{code}");
    }
}

#[test]
fn a_conflict_that_names_none_is_bounded_and_parks_with_the_key_kept() {
    for code in CODES {
        let world = naming(code, &json!({}));
        let limits = Limits { attempts: 6, ..Limits::default() };
        let context = world.open_with(limits, &world.0.profile.clone());
        let parked = world.live(&context, "daily", "");
        let reason = park(&parked).expect("it parks");
        assert!(matches!(reason, ParkReason::OutcomeUnknown | ParkReason::BudgetExhausted));
        let sent = world.requests(Call::Submit);
        assert!(sent.len() <= 6 && sent.iter().all(|own| own.key == sent[0].key), "{code}");
        assert!(exits(&parked).contains(&"resolve({found})"), "{code}");
        assert_eq!(world.executions(), 1);
    }
}

#[test]
fn a_job_that_belongs_to_another_operation_is_not_adopted() {
    let world = naming("KEY_USED", &json!({ "request_id": "req_000001" }));
    let context = world.open();
    let first = world.live(&context, "first", "");
    succeeds_once(&world, &first);
    let second = world.live(&context, "second", "");
    assert_eq!(park(&second), Some(ParkReason::OutcomeUnknown));
    assert_eq!(world.executions(), 1);
}

#[test]
fn the_same_intent_with_another_address_or_form_is_refused_before_anything_is_sent() {
    let world = World::new();
    let context = world.open();
    world.submit(&context, "daily", "");
    world.settle(&context, "daily").expect("it ends");
    let before = world.requests(Call::Any).len();
    let conflicts = |context: &crate::world::Context, other: Submission| {
        let driver = context.driver.clone();
        let answer = world.call(context, async move { driver.submit(other).await });
        answer.expect("an answer").expect_err("another request").code
    };
    let typed = Submission { content_type: "application/cbor".into(), ..submission("daily", "") };
    assert_eq!(conflicts(&context, typed), Code::IntentConflict);
    let keyed = Submission { key: Some("mine-1".into()), ..submission("daily", "") };
    assert_eq!(conflicts(&context, keyed), Code::IntentConflict);
    world.0.settings.borrow_mut().origin = "https://eu.example.com".into();
    let elsewhere = world.open();
    assert_eq!(conflicts(&elsewhere, submission("daily", "")), Code::IntentConflict);
    world.pass(60_000);
    assert_eq!(world.requests(Call::Any).len(), before);
}
