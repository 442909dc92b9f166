//! Answers that go on coming: what holds while they do.

use crate::streams::{answering, exchange, fetching, job_then, lines, stream, world_of};
use crate::table::Seen;
use crate::world::{Context, Logged, Settings, World, standing};
use holdfast::model::error::Code;
use holdfast::model::operation::Operation;
use holdfast::model::storage::Durability;
use serde_json::{Value, json};

const SUBMIT: &str = "POST /v1/chat";

const COMMENT: &str = ": still there\n\n";

const END: &str = "data: {\"n\":9}\n\ndata: [DONE]\n\n";

/// How much of a body comes at once.
const PIECE: usize = 7_000;

/// Events, the first in a piece of its own each, and minutes of comments after the last.
fn open_for_long(events: &[&str]) -> String {
    let mut text = String::new();
    for event in events {
        text.push_str(event);
        text.push_str(&COMMENT.repeat(PIECE / COMMENT.len()));
    }
    text + &COMMENT.repeat(20 * PIECE / COMMENT.len()) + END
}

/// A service that answers a submission so, and whose jobs can be read.
fn answered(answer: Value, settings: Settings) -> (World, Seen) {
    let calls = json!({ "result": { "method": "GET", "path": "/v1/runs/{id}/events" } });
    let mut profile = answering(&calls, &json!({ "id": ["/id"], "progress": ["/n"] }));
    profile["calls"]["submit"]["timeoutMs"] = json!(120_000);
    world_of(profile, vec![answer], settings)
}

/// The same with a stream of which a piece comes every so many seconds, and the operation handed over.
fn streaming(events: &[&str], every_s: u64) -> (World, Context, Operation) {
    let settings = Settings { piece_ms: every_s * 1_000, ..Settings::default() };
    let (world, _) = answered(exchange(SUBMIT, &stream(&open_for_long(events))), settings);
    let context = world.open();
    let operation = world.submit(&context, "daily", "");
    (world, context, operation)
}

fn is_open(operation: &Operation) -> bool {
    operation.life.evidence.current.is_some()
}

/// How often the journal says so.
fn noted(world: &World, context: &Context, operation: &Operation, event: &str) -> usize {
    let word = format!("\"{event}\"");
    let journal = world.journal(context, &operation.identity.id);
    journal.iter().filter(|line| line.contains(&word)).count()
}

#[test]
fn what_an_open_answer_reports_is_kept_while_it_is_open() {
    let (world, _, _) = streaming(&["data: {\"id\":\"run-1\",\"n\":1}\n\n"], 4);
    let told = world.until("daily", |own| own.reported.progress.is_some());
    assert!(is_open(&told), "{:?}", told.life);
}

#[test]
fn what_an_open_result_reports_is_kept_while_it_is_open() {
    let long = open_for_long(&["data: {\"n\":1}\n\n"]);
    let settings = Settings { piece_ms: 4_000, ..Settings::default() };
    let (world, _) = world_of(fetching(), job_then(&[&long]), settings);
    let context = world.open();
    world.submit(&context, "daily", "");
    let told = world.until("daily", |own| own.reported.progress.is_some());
    assert!(!told.life.is_ended(), "{:?}", told.life);
}

#[test]
fn the_id_in_an_open_answer_is_taken_once_however_often_it_is_told() {
    let events = [1, 2, 3].map(|n| format!("data: {{\"id\":\"run-1\",\"n\":{n}}}\n\n"));
    let (world, context, operation) = streaming(&events.each_ref().map(String::as_str), 4);
    let told = world.until("daily", |own| own.reported.progress.as_deref() == Some("3"));
    assert!(is_open(&told));
    assert_eq!(noted(&world, &context, &operation, "accepted"), 1);
    let strict = world.0.log.all().into_iter().filter(|logged| match logged {
        Logged::Committed { operation, durability } => {
            *durability == Durability::Strict && operation.life.job().is_some()
        }
        Logged::Sent { .. } | Logged::Told(_) => false,
    });
    assert_eq!(strict.count(), 1, "what is no news of the acceptance need not be as durable");
}

#[test]
fn the_job_of_an_open_answer_is_nobody_else_s() {
    let (world, context, _) = streaming(&["data: {\"id\":\"run-1\",\"n\":1}\n\n"], 4);
    assert!(is_open(&world.until("daily", |own| own.life.job().is_some())));
    let error = world.adopt(&context, "other", &"run-1".into()).expect_err("it has an operation");
    assert_eq!(error.code, Code::KeyConflict);
}

#[test]
fn each_piece_that_is_told_gives_an_open_answer_its_whole_time_again() {
    let (world, _, _) = streaming(&["data: {\"id\":\"run-1\",\"n\":1}\n\n"], 40);
    let attempt = |own: &Operation| own.life.evidence.current.clone().expect("it is open");
    let first = attempt(&world.until("daily", is_open));
    let is_later = |own: &Operation| !is_open(own) || attempt(own).abort_at > first.abort_at;
    let later = attempt(&world.until("daily", is_later));
    let left_ms = later.abort_at.0 - world.0.clock.now();
    let whole_ms = first.abort_at.0 - first.written_at.0;
    assert!(left_ms >= whole_ms, "{left_ms} of {whole_ms}");
}

/// Another context is awake beside the owner of this answer, and hears of a death by leases only.
fn stays_its_owner_s(answer: Value, settings: Settings) {
    let (world, seen) = answered(answer, Settings { locks: false, ..settings });
    let context = world.open();
    world.submit(&context, "daily", "");
    let _other = world.open();
    let ended = world.settle(&context, "daily").expect("it ends");
    assert_eq!(standing(&ended), "succeeded", "{:?}", ended.life);
    assert_eq!(lines(&seen), [SUBMIT], "nobody takes it over");
}

#[test]
fn a_stream_that_falls_silent_after_a_piece_that_says_nothing_stays_its_owner_s() {
    let mut answer = exchange(SUBMIT, &stream(&open_for_long(&["data: {\"id\":\"run-1\"}\n\n"])));
    answer["early_bytes"] = json!(2 * PIECE);
    answer["after_ms"] = json!(85_000);
    stays_its_owner_s(answer, Settings { piece_ms: 29_000, ..Settings::default() });
}

#[test]
fn a_stream_that_begins_late_and_with_nothing_stays_its_owner_s() {
    let mut answer = exchange(SUBMIT, &stream(&open_for_long(&[])));
    answer["early_bytes"] = json!(PIECE);
    answer["after_ms"] = json!(90_000);
    let settings = Settings { latency_ms: 45_000, piece_ms: 25_000, ..Settings::default() };
    stays_its_owner_s(answer, settings);
}

#[test]
fn a_body_that_comes_slowly_where_a_stream_may_come_stays_its_owner_s() {
    let rows = json!({ "id": "run-1", "rows": vec!["row"; 10_000] });
    let answer = json!({ "request": SUBMIT, "status": 200, "body": rows,
        "headers": { "content-type": "application/json" } });
    stays_its_owner_s(answer, Settings { piece_ms: 30_000, ..Settings::default() });
}
