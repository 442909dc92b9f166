//! Results that come as a stream with a declared end: with the answer to the submission, or by a call
//! of their own.

use crate::table::{Row, Scripted, Seen};
use crate::world::{Context, Settings, World, result, standing, submission};
use holdfast::model::operation::Operation;
use holdfast_services::{Loopback, Request};
use serde_json::{Value, json};

/// A stream of two events, and the text that ends it.
pub(super) const WHOLE: &str =
    "data: {\"id\":\"run-1\",\"n\":1}\n\ndata: {\"n\":2}\n\ndata: [DONE]\n\n";

/// What comes of it where its connection is closed too early, as if that were its end.
const CUT: &str = "data: {\"id\":\"run-1\",\"n\":1}\n\ndata: {\"n\":2}\n\n";

pub(super) fn stream(text: &str) -> Value {
    json!({ "status": 200, "headers": { "content-type": "text/event-stream" }, "body": text })
}

pub(super) fn exchange(request: &str, answer: &Value) -> Value {
    let mut all = answer.clone();
    all["request"] = json!(request);
    all
}

/// A profile whose submissions are answered with a stream, with further calls and facts.
pub(super) fn answering(calls: &Value, facts: &Value) -> Value {
    let mut profile = json!({
        "profile": 1,
        "name": "streaming",
        "key": { "header": "Idempotency-Key" },
        "calls": { "submit": {
            "method": "POST", "path": "/v1/chat", "stream": { "form": "sse", "endData": "[DONE]" },
        } },
        "facts": facts,
    });
    for (name, call) in calls.as_object().expect("calls") {
        profile["calls"][name] = call.clone();
    }
    profile
}

/// A profile of jobs whose result is read as a stream.
pub(super) fn fetching() -> Value {
    json!({
        "profile": 1,
        "name": "streaming",
        "key": { "header": "Idempotency-Key" },
        "calls": {
            "submit": { "method": "POST", "path": "/v1/runs" },
            "poll": { "method": "GET", "path": "/v1/runs/{id}" },
            "result": {
                "method": "GET", "path": "/v1/runs/{id}/events", "timeoutMs": 5_000,
                "stream": { "form": "sse", "endData": "[DONE]" },
            },
        },
        "facts": { "id": ["/id"], "status": ["/status"], "progress": ["/n"] },
        "states": { "done": "completed" },
    })
}

pub(super) fn job_then(streams: &[&str]) -> Vec<Value> {
    let mut all = vec![
        json!({ "request": "POST /v1/runs", "status": 202, "body": { "id": "run-1" } }),
        json!({ "request": "GET /v1/runs/run-1", "status": 200, "body": { "status": "done" } }),
    ];
    all.extend(streams.iter().map(|text| exchange("GET /v1/runs/run-1/events", &stream(text))));
    all
}

pub(super) fn world_of(profile: Value, exchanges: Vec<Value>, settings: Settings) -> (World, Seen) {
    let row = json!({ "profile": profile, "exchanges": exchanges, "result": null });
    let row: Row = serde_json::from_value(row).expect("a row");
    let service = Scripted::new(&row, false);
    let seen = Seen::clone(&service.seen);
    (World::of(settings, Loopback::new(service), &row.profile.to_string()), seen)
}

pub(super) fn lived(world: &World) -> (Context, Operation) {
    let context = world.open();
    let driver = context.driver.clone();
    let taken = world.call(&context, async move { driver.submit(submission("daily", "")).await });
    taken.expect("an answer").expect("it is taken on");
    let operation = world.settle(&context, "daily").expect("it comes to rest");
    (context, operation)
}

pub(super) fn lines(seen: &Seen) -> Vec<String> {
    let seen = seen.lock().expect("one thread");
    seen.iter().map(|own| format!("{} {}", own.method, own.path)).collect()
}

fn holds_the_whole(world: &World, context: &Context, operation: &Operation) {
    assert_eq!(standing(operation), "succeeded", "{:?}", operation.life);
    let kept = world.kept_bytes(context, &operation.identity.id);
    assert_eq!(String::from_utf8(kept).expect("text"), WHOLE);
    let shape = result(operation).and_then(|own| own.stream.clone()).expect("a stream's shape");
    assert_eq!(shape.end_data.as_deref(), Some("[DONE]"));
}

#[test]
fn a_stream_is_over_with_the_text_that_ends_it() {
    let profile = answering(&json!({}), &json!({}));
    let late = format!("{WHOLE}data: {{\"n\":3}}\n\n");
    let exchanges = vec![exchange("POST /v1/chat", &stream(&late))];
    let (world, seen) = world_of(profile, exchanges, Settings::default());
    let (_, operation) = lived(&world);
    assert_eq!(standing(&operation), "succeeded", "{:?}", operation.life);
    assert_eq!(lines(&seen), ["POST /v1/chat"]);
}

#[test]
fn a_stream_that_ends_without_its_end_is_read_by_the_id_that_it_has_named() {
    let calls = json!({ "result": {
        "method": "GET", "path": "/v1/runs/{id}/events",
        "stream": { "form": "sse", "endData": "[DONE]" },
    } });
    let profile = answering(&calls, &json!({ "id": ["/id"] }));
    let exchanges = vec![
        exchange("POST /v1/chat", &stream(CUT)),
        exchange("GET /v1/runs/run-1/events", &stream(WHOLE)),
    ];
    let (world, seen) = world_of(profile, exchanges, Settings::default());
    let (context, operation) = lived(&world);
    holds_the_whole(&world, &context, &operation);
    assert_eq!(lines(&seen), ["POST /v1/chat", "GET /v1/runs/run-1/events"]);
}

#[test]
fn without_an_id_it_is_replayed_under_its_key() {
    let profile = answering(&json!({}), &json!({}));
    let exchanges = vec![exchange("POST /v1/chat", &stream(WHOLE))];
    let (world, seen) = world_of(profile, exchanges, Settings::default());
    world.add_faults(r#"[{"call":"submit","fault":"truncate"}]"#);
    let (context, operation) = lived(&world);
    holds_the_whole(&world, &context, &operation);
    let seen = seen.lock().expect("one thread");
    let key = |own: &Request| own.header("idempotency-key").map(str::to_owned);
    assert_eq!(seen.len(), 2);
    assert_eq!((key(&seen[0]), &seen[0].body), (key(&seen[1]), &seen[1].body));
}

#[test]
fn a_result_that_is_a_stream_is_fetched_until_it_comes_whole() {
    let (world, seen) = world_of(fetching(), job_then(&[CUT, WHOLE]), Settings::default());
    let (context, operation) = lived(&world);
    holds_the_whole(&world, &context, &operation);
    let results = lines(&seen).iter().filter(|line| line.ends_with("/events")).count();
    assert_eq!(results, 2);
    assert_eq!(operation.reported.progress.as_deref(), Some("2"));
}

#[test]
fn a_page_of_a_gateway_is_no_stream() {
    let page = json!({ "status": 200, "headers": { "content-type": "text/html" },
        "body": "<!doctype html><title>Sign in</title>" });
    let mut exchanges = job_then(&[WHOLE]);
    exchanges.insert(2, exchange("GET /v1/runs/run-1/events", &page));
    let (world, _) = world_of(fetching(), exchanges, Settings::default());
    let (context, operation) = lived(&world);
    holds_the_whole(&world, &context, &operation);
}

#[test]
fn a_result_that_streams_for_long_is_one_exchange_and_stays_its_owner_s() {
    let comments = ": still there\n\n".repeat(20_000);
    let long = format!("{comments}{WHOLE}");
    let settings = Settings { piece_ms: 4_000, locks: false, ..Settings::default() };
    let (world, seen) = world_of(fetching(), job_then(&[&long]), settings);
    let context = world.open();
    world.submit(&context, "daily", "");
    world.until("daily", |own| own.life.job().is_some());
    let _other = world.open();
    let operation = world.settle(&context, "daily").expect("it ends");
    assert_eq!(standing(&operation), "succeeded", "{:?}", operation.life);
    let results = lines(&seen).iter().filter(|line| line.ends_with("/events")).count();
    assert_eq!(results, 1, "nobody takes it over, and no timeout cuts it");
}

#[test]
fn a_job_that_is_to_be_cancelled_is_not_listened_to_any_more() {
    let calls = json!({
        "poll": { "method": "GET", "path": "/v1/runs/{id}" },
        "cancel": { "method": "POST", "path": "/v1/runs/{id}/cancel" },
    });
    let mut profile = answering(&calls, &json!({ "id": ["/id"], "status": ["/status"] }));
    profile["states"] = json!({ "done": "completed", "cancelled": "cancelled" });
    profile["calls"]["submit"]["resultOn"] = json!([200]);
    let comments = ": still there\n\n".repeat(100_000);
    let long = format!("data: {{\"id\":\"run-1\",\"n\":1}}\n\n{comments}data: [DONE]\n\n");
    let exchanges = vec![
        exchange("POST /v1/chat", &stream(&long)),
        json!({ "request": "POST /v1/runs/run-1/cancel", "status": 202, "body": {} }),
        json!({ "request": "GET /v1/runs/run-1", "status": 200, "body": { "status": "cancelled" } }),
    ];
    let settings = Settings { piece_ms: 4_000, ..Settings::default() };
    let (world, seen) = world_of(profile, exchanges, settings);
    let context = world.open();
    let operation = world.submit(&context, "daily", "");
    world.until("daily", |own| own.life.job().is_some());
    let before = world.0.clock.now();
    world.cancel(&context, &operation).expect("it is wanted");
    let ended = world.until("daily", |own| own.life.is_ended());
    assert_eq!(standing(&ended), "cancelled", "{:?}", ended.life);
    assert!(world.0.clock.now() - before < 10_000, "the stream goes on for minutes");
    let lines = lines(&seen);
    assert_eq!(lines, ["POST /v1/chat", "POST /v1/runs/run-1/cancel", "GET /v1/runs/run-1"]);
}
