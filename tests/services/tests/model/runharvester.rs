//! The model of RunHarvester, in virtual time.

use crate::calls::*;
use holdfast_services::{Config, Loopback, Request, RunHarvester, Service};
use serde_json::json;

#[test]
fn an_accepted_job_is_charged_and_reserved() {
    let mut world = world();
    let answer = answer(&mut world, 0, &submit("k", &json!({"url": "u"})));
    assert_eq!(answer.status, 202);
    assert_eq!(
        answer.parsed(),
        json!({
            "id": "req_000001",
            "status": "pending",
            "billing": {"base": 5, "adjustment": 0, "refund": 0, "balance": 95},
            "token_state": "reserved",
        })
    );
    assert_eq!((world.ledger().executions, world.ledger().charged_credits), (1, 5));
}

#[test]
fn the_same_key_and_body_are_answered_alike_and_executed_once() {
    let mut world = world();
    let request = submit("k", &json!({"url": "u"}));
    let first = answer(&mut world, 0, &request);
    let second = answer(&mut world, 60_000, &request);
    assert_eq!(second.parsed(), first.parsed());
    assert_eq!(first.header("idempotency-replayed"), None);
    assert_eq!(second.header("Idempotency-Replayed"), Some("true"));
    assert_eq!((world.ledger().executions, world.ledger().charges), (1, 1));
    assert_eq!(world.ledger().submits, 2);
}

#[test]
fn the_same_key_with_another_body_is_refused_and_counted() {
    let mut world = world();
    answer(&mut world, 0, &submit("k", &json!({"url": "u"})));
    let second = answer(&mut world, 1000, &submit("k", &json!({"url": "v"})));
    assert_eq!((second.status, code(&second)), (409, "IDEMPOTENCY_KEY_REUSED".to_owned()));
    assert_eq!((world.ledger().key_mismatches, world.ledger().executions), (1, 1));
}

#[test]
fn a_forgotten_key_executes_again() {
    let mut world = world();
    let request = submit("k", &json!({"url": "u"}));
    answer(&mut world, 0, &request);
    answer(&mut world, 86_399_999, &request);
    assert_eq!(world.ledger().executions, 1);
    answer(&mut world, 86_400_000, &request);
    assert_eq!(world.ledger().executions, 2);
}

#[test]
fn a_submission_without_a_key_is_refused() {
    let mut world = world();
    let request = call("POST", ROOT).with_body(json!({"url": "u"}).to_string());
    let answer = answer(&mut world, 0, &request);
    assert_eq!((answer.status, code(&answer)), (400, "IDEMPOTENCY_KEY_REQUIRED".to_owned()));
}

#[test]
fn a_wrong_token_is_refused_and_counted() {
    let mut world = world();
    let request = Request::new("GET", ROOT).with_header("authorization", "Bearer other");
    let answer = answer(&mut world, 0, &request);
    assert_eq!((answer.status, code(&answer)), (401, "UNAUTHORIZED".to_owned()));
    assert_eq!(world.ledger().unauthorized, 1);
}

#[test]
fn a_body_without_a_url_is_refused_for_free() {
    for body in [json!({}), json!({"url": 1}), json!([]), json!("url")] {
        let mut world = world();
        let answer = answer(&mut world, 0, &submit("k", &body));
        assert_eq!((answer.status, code(&answer)), (422, "VALIDATION_FAILED".to_owned()), "{body}");
        assert_eq!((world.ledger().charges, world.ledger().balance), (0, 100));
    }
}

#[test]
fn used_up_credits_refuse_new_work() {
    let config = Config { balance: 9, ..Config::default() };
    let mut world = Loopback::new(RunHarvester::new(config));
    answer(&mut world, 0, &submit("k", &json!({"url": "u"})));
    let second = answer(&mut world, 0, &submit("l", &json!({"url": "u"})));
    assert_eq!((second.status, code(&second)), (402, "INSUFFICIENT_CREDITS".to_owned()));
    assert_eq!(world.ledger().executions, 1);
}

#[test]
fn a_job_goes_through_its_words_as_time_passes() {
    let mut world = world();
    let id = submitted(&mut world, &json!({"url": "u", "duration_ms": 5000, "captcha": true}));
    let words: Vec<_> = [999, 1000, 2000, 3000, 4999, 5000]
        .map(|now| answer(&mut world, now, &poll(&id)).parsed()["status"].clone())
        .into();
    let expected = ["pending", "running", "solving_captcha", "running", "running", "completed"];
    assert_eq!(words, expected.map(|word| json!(word)));
}

#[test]
fn a_completed_job_tells_when_its_result_expires() {
    let mut world = world();
    let id = submitted(&mut world, &json!({"url": "u", "retention_ms": 60_000}));
    let body = answer(&mut world, 3000, &poll(&id)).parsed();
    assert_eq!(body["result_expires_at"], "1970-01-01T00:01:03.000Z");
    assert_eq!(body["token_state"], "charged");
}

#[test]
fn a_result_is_there_from_completion_until_it_expires() {
    let mut world = world();
    let body = json!({"url": "u", "duration_ms": 1000, "retention_ms": 1000, "not_ready_ms": 300});
    let id = submitted(&mut world, &body);
    let got = [999, 1299, 1300, 1999, 2000].map(|now| {
        let answer = answer(&mut world, now, &result(&id));
        (answer.status, code(&answer))
    });
    let expected = [
        (409, "RESULT_NOT_READY"),
        (409, "RESULT_NOT_READY"),
        (200, ""),
        (200, ""),
        (410, "RESULT_EXPIRED"),
    ];
    assert_eq!(got, expected.map(|(status, code)| (status, code.to_owned())));
    assert_eq!(world.ledger().results, 2);
}

#[test]
fn a_result_is_about_as_long_as_was_asked_for() {
    let mut world = world();
    let id = submitted(&mut world, &json!({"url": "u", "result_bytes": 100_000}));
    let answer = answer(&mut world, 3000, &result(&id));
    assert!((90_000..110_000).contains(&answer.body.len()), "{}", answer.body.len());
    assert_eq!(answer.parsed()["record_count"], 100);
}

#[test]
fn a_job_may_be_invisible_just_after_its_creation() {
    let mut world = world();
    let id = submitted(&mut world, &json!({"url": "u", "not_found_ms": 500}));
    assert_eq!(answer(&mut world, 499, &poll(&id)).status, 404);
    assert_eq!(answer(&mut world, 500, &poll(&id)).status, 200);
}

#[test]
fn a_failed_job_is_refunded_once_and_tells_its_error() {
    let mut world = world();
    let body = json!({"url": "u", "outcome": "failed", "failure_class": "input"});
    let id = submitted(&mut world, &body);
    answer(&mut world, 3000, &poll(&id));
    let body = answer(&mut world, 4000, &poll(&id)).parsed();
    assert_eq!((&body["status"], &body["error"]["class"]), (&json!("failed"), &json!("input")));
    assert_eq!((&body["token_state"], &body["billing"]["refund"]), (&json!("released"), &json!(5)));
    assert_eq!((world.ledger().refunds, world.ledger().balance), (1, 100));
}

#[test]
fn a_source_block_is_a_failure_of_the_target() {
    let mut world = world();
    let id = submitted(&mut world, &json!({"url": "u", "outcome": "source_blocked"}));
    let error = answer(&mut world, 3000, &poll(&id)).parsed()["error"].clone();
    assert_eq!((&error["code"], &error["class"]), (&json!("SOURCE_BLOCKED"), &json!("target")));
}

#[test]
fn a_cancelled_job_settles_its_billing_later() {
    let mut world = world();
    let id = submitted(&mut world, &json!({"url": "u"}));
    let answered = answer(&mut world, 300, &cancel(&id));
    assert_eq!((answered.status, &answered.parsed()["status"]), (202, &json!("cancelled")));
    assert_eq!(answer(&mut world, 2299, &poll(&id)).parsed()["token_state"], "reserved");
    let settled = answer(&mut world, 2300, &poll(&id)).parsed();
    assert_eq!(
        (&settled["token_state"], &settled["billing"]["refund"]),
        (&json!("released"), &json!(5))
    );
}

#[test]
fn a_job_cancelled_while_it_runs_is_charged_in_part() {
    let mut world = world();
    let id = submitted(&mut world, &json!({"url": "u"}));
    answer(&mut world, 1500, &cancel(&id));
    let settled = answer(&mut world, 3500, &poll(&id)).parsed();
    assert_eq!(
        (&settled["token_state"], &settled["billing"]["refund"]),
        (&json!("charged"), &json!(2))
    );
}

#[test]
fn an_ended_job_cannot_be_cancelled() {
    let mut world = world();
    let id = submitted(&mut world, &json!({"url": "u"}));
    let answered = answer(&mut world, 3000, &cancel(&id));
    assert_eq!((answered.status, code(&answered)), (409, "ALREADY_TERMINAL".to_owned()));
}

#[test]
fn the_retry_of_a_failed_job_is_one_new_job_for_each_key() {
    let mut world = world();
    let id = submitted(&mut world, &json!({"url": "u", "fail_times": 1}));
    let early = answer(&mut world, 1000, &retry(&id, "r"));
    assert_eq!((early.status, code(&early)), (409, "NOT_RETRYABLE".to_owned()));
    let first = answer(&mut world, 3000, &retry(&id, "r")).parsed();
    let again = answer(&mut world, 4000, &retry(&id, "r")).parsed();
    assert_eq!((&first["retry_of"], &first["id"]), (&json!(id), &again["id"]));
    assert_ne!(first["id"], json!(id));
    assert_eq!(world.ledger().executions, 2);
    let new = first["id"].as_str().unwrap().to_owned();
    assert_eq!(answer(&mut world, 6000, &poll(&new)).parsed()["status"], "completed");
}

#[test]
fn a_reset_forgets_jobs_but_gives_no_id_twice() {
    let mut world = world();
    submitted(&mut world, &json!({"url": "u"}));
    world.service.reset();
    assert_eq!((world.ledger().executions, world.ledger().balance), (0, 100));
    assert_eq!(submitted(&mut world, &json!({"url": "u"})), "req_000002");
}
