//! What faults do to an exchange.
use crate::calls::*;
use holdfast_services::{Call, Delivery, Fault, FaultKind, RetryAfter, Service};
use serde_json::{Value, json};

fn world_with(faults: Value) -> World {
    let mut world = world();
    world.faults.add(serde_json::from_value::<Vec<Fault>>(faults).unwrap());
    world
}

fn statuses(world: &mut World, count: u64) -> Vec<u16> {
    let request = submit("k", &json!({"url": "u"}));
    (0..count).map(|n| answer(world, n * 1000, &request).status).collect()
}

#[test]
fn a_request_lost_before_the_service_does_nothing() {
    let mut world = world_with(json!([{"call": "submit", "fault": "lose_before"}]));
    let outcome = world.exchange(0, &submit("k", &json!({"url": "u"})));
    assert_eq!(outcome.delivery, Delivery::Lost);
    assert_eq!((world.ledger().submits, world.ledger().executions), (0, 0));
    assert_eq!(world.ledger().requests[0].fault.as_deref(), Some("lose_before"));
}

#[test]
fn a_request_whose_answer_is_lost_is_executed_and_charged() {
    let mut world = world_with(json!([{"call": "submit", "fault": "lose_after"}]));
    let request = submit("k", &json!({"url": "u"}));
    assert_eq!(world.exchange(0, &request).delivery, Delivery::Lost);
    assert_eq!((world.ledger().executions, world.ledger().charges), (1, 1));
    assert_eq!(answer(&mut world, 1000, &request).status, 202);
    assert_eq!(world.ledger().executions, 1);
}

#[test]
fn an_ending_whose_answer_is_lost_was_not_told() {
    let mut world = world_with(json!([{"call": "poll", "fault": "lose_after"}]));
    let id = submitted(&mut world, &json!({"url": "u"}));
    world.exchange(3000, &poll(&id));
    answer(&mut world, 4000, &poll(&id));
    assert_eq!(world.ledger().polls_after_end, 0);
}

#[test]
fn a_fault_passes_some_requests_and_strikes_some() {
    let mut world = world_with(json!([{"fault": "status", "skip": 1, "times": 2}]));
    assert_eq!(statuses(&mut world, 4), [202, 503, 503, 202]);
}

#[test]
fn faults_strike_one_after_the_other() {
    let faults = json!([{"fault": "status"}, {"fault": "rate_limited"}, {"fault": "not_found"}]);
    assert_eq!(statuses(&mut world_with(faults), 4), [503, 429, 404, 202]);
}

#[test]
fn a_fault_strikes_only_its_call() {
    let mut world = world_with(json!([{"call": "poll", "fault": "status"}]));
    let id = submitted(&mut world, &json!({"url": "u"}));
    assert_eq!(answer(&mut world, 1000, &poll(&id)).status, 503);
}

#[test]
fn a_status_may_hide_a_commit() {
    for (after_commit, executions) in [(false, 0), (true, 1)] {
        let fault = json!([{"fault": "status", "status": 500, "after_commit": after_commit}]);
        let mut world = world_with(fault);
        assert_eq!(statuses(&mut world, 1), [500]);
        assert_eq!(world.ledger().executions, executions);
    }
}

#[test]
fn a_faulty_answer_tells_how_long_to_wait() {
    let cases = [
        (json!(5), "5"),
        (json!("soon"), "soon"),
        (json!({"date_in_ms": 7000}), "Thu, 01 Jan 1970 00:00:07 GMT"),
    ];
    for (retry_after, expected) in cases {
        let fault = json!([{"fault": "rate_limited", "retry_after": retry_after}]);
        let mut world = world_with(fault);
        let answer = answer(&mut world, 0, &submit("k", &json!({"url": "u"})));
        assert_eq!(answer.header("Retry-After"), Some(expected));
    }
}

#[test]
fn a_wrong_clock_shows_in_every_date_and_beside_other_faults() {
    let mut world = world();
    let clock = Fault { ms: 600_000, ..Fault::once(Call::Any, FaultKind::Clock) };
    let retry_after = Some(RetryAfter::Date { date_in_ms: 1000 });
    let limited = Fault { retry_after, ..Fault::once(Call::Any, FaultKind::RateLimited) };
    world.faults.add([clock, limited]);
    let answer = answer(&mut world, 0, &submit("k", &json!({"url": "u"})));
    assert_eq!(answer.header("date"), Some("Thu, 01 Jan 1970 00:10:00 GMT"));
    assert_eq!(answer.header("retry-after"), Some("Thu, 01 Jan 1970 00:10:01 GMT"));
}

#[test]
fn a_wrong_clock_moves_the_expiry_that_is_told() {
    let clock = json!([{"call": "poll", "fault": "clock", "ms": -1000}]);
    let mut world = world_with(clock);
    let id = submitted(&mut world, &json!({"url": "u", "retention_ms": 60_000}));
    let body = answer(&mut world, 3000, &poll(&id)).parsed();
    assert_eq!(body["result_expires_at"], "1970-01-01T00:01:02.000Z");
}

#[test]
fn an_html_page_takes_the_place_of_an_answer() {
    let mut world = world_with(json!([{"fault": "html"}]));
    let answer = answer(&mut world, 0, &poll("x"));
    assert_eq!((answer.status, answer.header("content-type")), (502, Some("text/html")));
    assert_eq!(answer.parsed(), Value::Null);
}

#[test]
fn a_slow_answer_is_whole_and_late() {
    let mut world = world_with(json!([{"fault": "slow", "ms": 700}]));
    let outcome = world.exchange(0, &submit("k", &json!({"url": "u"})));
    assert_eq!(outcome.delay_ms, 700);
    assert!(matches!(outcome.delivery, Delivery::Answer(answer) if answer.status == 202));
}

#[test]
fn a_truncated_result_was_served() {
    let mut world = world_with(json!([{"call": "result", "fault": "truncate"}]));
    let id = submitted(&mut world, &json!({"url": "u"}));
    let outcome = world.exchange(3000, &result(&id));
    assert!(matches!(outcome.delivery, Delivery::Truncated(answer) if answer.status == 200));
    assert_eq!(world.ledger().results, 1);
}

#[test]
fn the_other_spellings_of_faults_are_read() {
    let faults = json!([
        {"call": "submit", "fault": "lostAfter", "times": 1},
        {"call": "submit", "fault": "lostBefore", "times": 1},
        {"call": "submit", "fault": "rateLimited", "retryAfter": 5, "times": 2},
        {"call": "submit", "fault": "unavailable", "times": 3},
        {"call": "poll", "fault": "htmlError", "times": 2},
        {"call": "poll", "fault": "notFound", "times": 2},
        {"call": "result", "fault": "truncated", "times": 1},
    ]);
    assert_eq!(serde_json::from_value::<Vec<Fault>>(faults).unwrap().len(), 7);
}

#[test]
fn a_misspelt_fault_is_refused() {
    assert!(serde_json::from_value::<Fault>(json!({"fault": "status", "skp": 1})).is_err());
}

#[test]
fn a_clone_is_a_world_of_its_own() {
    let mut world = world();
    let request = submit("k", &json!({"url": "u"}));
    let mut fork = world.clone();
    let here = world.exchange(0, &request);
    assert_eq!(fork.ledger().executions, 0);
    assert_eq!(fork.exchange(0, &request), here);
    fork.service.advance(3000);
    assert_eq!(world.ledger().jobs["req_000001"].status, "pending");
    assert_eq!(fork.ledger().jobs["req_000001"].status, "completed");
}
