//! What the ledger counts.
use crate::calls::*;
use holdfast_services::{Call, LOG_MAX};
use serde_json::json;

#[test]
fn requests_for_one_job_are_too_fast_under_250_ms() {
    let mut world = world();
    let id = submitted(&mut world, &json!({"url": "u"}));
    answer(&mut world, 250, &poll(&id));
    assert_eq!(world.ledger().too_fast, 0);
    answer(&mut world, 499, &poll(&id));
    assert_eq!(world.ledger().too_fast, 1);
}

#[test]
fn requests_for_two_jobs_may_come_at_once() {
    let mut world = world();
    answer(&mut world, 0, &submit("k", &json!({"url": "u"})));
    answer(&mut world, 0, &submit("l", &json!({"url": "u"})));
    assert_eq!(world.ledger().too_fast, 0);
}

#[test]
fn a_submission_that_was_not_accepted_counts_for_the_next_one() {
    let mut world = world();
    answer(&mut world, 0, &submit("k", &json!({})));
    answer(&mut world, 100, &submit("k", &json!({})));
    assert_eq!(world.ledger().too_fast, 1);
}

#[test]
fn a_poll_after_the_settled_end_was_told_is_counted() {
    let mut world = world();
    let id = submitted(&mut world, &json!({"url": "u"}));
    answer(&mut world, 3000, &poll(&id));
    assert_eq!(world.ledger().polls_after_end, 0);
    answer(&mut world, 4000, &poll(&id));
    assert_eq!((world.ledger().polls_after_end, world.ledger().polls), (1, 2));
}

#[test]
fn a_poll_after_an_end_that_never_arrived_is_not_counted_as_late() {
    let mut world = world();
    let id = submitted(&mut world, &json!({"url": "u"}));
    world.process(3000, &poll(&id));
    answer(&mut world, 4000, &poll(&id));
    assert_eq!(world.ledger().polls_after_end, 0);
}

#[test]
fn polls_while_a_cancelled_job_settles_are_not_counted_as_late() {
    let mut world = world();
    let id = submitted(&mut world, &json!({"url": "u"}));
    answer(&mut world, 1000, &cancel(&id));
    for now in [1500, 2500, 3000] {
        answer(&mut world, now, &poll(&id));
    }
    assert_eq!(world.ledger().polls_after_end, 0);
    answer(&mut world, 3500, &poll(&id));
    assert_eq!(world.ledger().polls_after_end, 1);
}

#[test]
fn its_json_has_flat_counters_and_a_list_of_jobs() {
    let mut world = world();
    let id = submitted(&mut world, &json!({"url": "u"}));
    let ledger = world.ledger().to_json();
    assert_eq!((&ledger["executions"], &ledger["balance"]), (&json!(1), &json!(95)));
    let job = &ledger["jobs"][0];
    assert_eq!((&job["id"], &job["key"]), (&json!(id), &json!("key-1")));
    assert_eq!((&job["status"], &job["charged"]), (&json!("pending"), &json!(5)));
}

#[test]
fn its_log_names_the_request_and_never_the_credential() {
    let mut world = world();
    submitted(&mut world, &json!({"url": "u"}));
    let entry = &world.ledger().requests[0];
    assert_eq!((entry.call, entry.path.as_str()), (Call::Submit, ROOT));
    assert_eq!((entry.key.as_deref(), entry.status), (Some("key-1"), Some(202)));
    assert!(!world.ledger().requests_json().to_string().contains("demo-token"));
}

#[test]
fn its_log_keeps_the_latest_requests_only() {
    let mut world = world();
    for n in 0..=LOG_MAX {
        answer(&mut world, n as u64 * 1000, &poll("none"));
    }
    assert_eq!(world.ledger().requests.len(), LOG_MAX);
    assert_eq!(world.ledger().requests[0].time_ms, 1000);
}
