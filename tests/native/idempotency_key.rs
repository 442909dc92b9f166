//! A synchronous service by the IETF draft of the `Idempotency-Key` header, against its ledger.

use crate::world::{
    Context, SECRET, Settings, World, ending, park, result, standing, submission, succeeds_once,
};
use holdfast::model::ending::{Ending, Fault};
use holdfast::model::hold::ParkReason;
use holdfast::model::operation::Operation;
use holdfast::rules::exits::exits;
use holdfast_services::{
    Call, Delivery, IdempotencyKey, IdempotencyKeyConfig, Loopback, Request, Response,
};
use serde_json::json;

const PROFILE: &str = include_str!("../../pkg-template/profiles/idempotency-key.json");

fn world_of(config: IdempotencyKeyConfig, faults: &serde_json::Value) -> World {
    let params = vec![("path".into(), "v1/reports".into())];
    let settings = Settings { params, ..Settings::default() };
    let world = World::of(settings, Loopback::new(IdempotencyKey::new(config)), PROFILE);
    world.add_faults(&faults.to_string());
    world
}

fn world_with(faults: &serde_json::Value) -> World {
    world_of(IdempotencyKeyConfig::default(), faults)
}

/// A service that answers the first submission with this, and does nothing.
fn answering(status: u16, body: &str) -> World {
    world_with(&json!([{ "call": "submit", "fault": "status", "status": status, "body": body }]))
}

fn live(world: &World, options: &str) -> (Context, Operation) {
    let context = world.open();
    let operation = world.live(&context, "daily", options);
    (context, operation)
}

/// What a request of somebody else is answered.
fn foreign(world: &World, key: &str) -> Response {
    let request = Request {
        method: "POST".into(),
        path: "/v1/reports".into(),
        headers: vec![
            ("authorization".into(), format!("Bearer {SECRET}")),
            ("idempotency-key".into(), format!("\"{key}\"")),
        ],
        body: br#"{"url":"https://example.com/other"}"#.to_vec(),
    };
    let now = world.0.clock.now();
    match world.0.service.borrow_mut().exchange(now, &request).delivery {
        Delivery::Answer(answer) => answer,
        Delivery::Truncated(_) | Delivery::Lost => panic!("no answer"),
    }
}

#[test]
fn the_answer_is_the_result_under_a_key_in_quotes() {
    let world = world_with(&json!([]));
    let (context, ended) = live(&world, "");
    succeeds_once(&world, &ended);
    let kept = world.kept_bytes(&context, &ended.identity.id);
    let body: serde_json::Value = serde_json::from_slice(&kept).expect("the report");
    assert_eq!(body["url"], "https://example.com");
    // The service refuses a key without quotes; it has read this one out of them.
    let key = world.requests(Call::Submit)[0].key.clone();
    assert_eq!(key.as_deref(), Some(ended.identity.key.as_str()));
}

#[test]
fn a_first_request_that_is_not_done_is_waited_for_and_its_answer_replayed() {
    let world = world_with(&json!([{ "call": "submit", "fault": "lose_after" }]));
    let (context, ended) = live(&world, r#","duration_ms":20000"#);
    succeeds_once(&world, &ended);
    assert!(matches!(ending(&ended), Some(Ending::Succeeded { replayed: true, .. })));
    let journal = world.journal(&context, &ended.identity.id).join("\n");
    assert!(journal.contains("409") && journal.contains("inProgress"), "{journal}");
}

#[test]
fn the_service_says_how_long_to_wait_for_it() {
    let config = IdempotencyKeyConfig {
        conflict_retry_after_s: Some(25),
        ..IdempotencyKeyConfig::default()
    };
    let world = world_of(config, &json!([{ "call": "submit", "fault": "lose_after" }]));
    let (_, ended) = live(&world, r#","duration_ms":20000"#);
    succeeds_once(&world, &ended);
    let sent = world.requests(Call::Submit);
    assert_eq!(sent.len(), 3, "the lost one, the one in progress, the replay");
    assert!(sent[2].time_ms - sent[1].time_ms >= 25_000);
}

#[test]
fn a_key_of_another_request_parks_as_a_conflict_and_makes_no_new_key() {
    let world = world_with(&json!([]));
    assert_eq!(foreign(&world, "mine-1").status, 201);
    let context = world.open();
    let mut request = submission("daily", "");
    request.key = Some("mine-1".into());
    let driver = context.driver.clone();
    let taken = world.call(&context, async move { driver.submit(request).await });
    taken.expect("an answer").expect("it is taken on");
    let parked = world.settle(&context, "daily").expect("it parks");
    assert_eq!(park(&parked), Some(ParkReason::KeyConflict));
    assert!(exits(&parked).contains(&"revise({body})"), "corrected work takes a new key");
    assert_eq!((world.executions(), world.requests(Call::Submit).len()), (1, 2));
}

#[test]
fn a_problem_says_why_the_request_is_refused() {
    let told = json!({ "type": "https://example.com/problems/no-key", "title": "No key.",
        "detail": "This operation wants a key." });
    let world = answering(400, &told.to_string());
    let (_, ended) = live(&world, "");
    let Some(Ending::Rejected(Fault { status, code, message, .. })) = ending(&ended) else {
        panic!("{:?}", ended.life);
    };
    assert_eq!(*status, Some(400));
    assert_eq!(code.as_deref(), Some("https://example.com/problems/no-key"));
    assert_eq!(message.as_deref(), Some("This operation wants a key."));
    assert_eq!(world.executions(), 0);
}

#[test]
fn an_answer_without_content_is_a_result_of_no_bytes() {
    let world = answering(204, "");
    let (context, ended) = live(&world, "");
    assert_eq!(standing(&ended), "succeeded");
    assert_eq!(result(&ended).map(|own| (own.bytes, own.chunks)), Some((0, 0)));
    assert!(world.kept_bytes(&context, &ended.identity.id).is_empty());
}

#[test]
fn a_success_whose_content_is_lost_is_replayed() {
    let world = answering(200, "");
    let (_, ended) = live(&world, "");
    succeeds_once(&world, &ended);
}
