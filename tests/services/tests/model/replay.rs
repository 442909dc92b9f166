//! The model of scrape and map operations that are replayed, in virtual time.
use crate::calls::{answer, code};
use holdfast_services::{Loopback, Replay, ReplayConfig, Request, Response, Settings};
use serde_json::{Value, json};

type World = Loopback<Replay>;

fn world() -> World {
    Loopback::new(Replay::default())
}

fn call(method: &str, path: &str) -> Request {
    Request::new(method, path).with_header("authorization", "Bearer demo-token")
}

fn scrape(key: &str, body: &Value) -> Request {
    call("POST", "/v1/scrape").with_header("idempotency-key", key).with_body(body.to_string())
}

fn told(response: &Response) -> (u16, String) {
    (response.status, code(response))
}

fn refused(status: u16, code: &str) -> (u16, String) {
    (status, code.to_owned())
}

#[test]
fn an_operation_answers_with_its_result_when_it_is_done() {
    let mut world = world();
    let outcome = world.exchange(0, &scrape("k", &json!({"url": "u"})));
    assert_eq!(outcome.delay_ms, 200);
    let body = answer(&mut world, 500, &scrape("l", &json!({"url": "u"}))).parsed();
    assert_eq!((&body["request_id"], &body["replayed"]), (&json!("rq_000002"), &json!(false)));
    assert_eq!(body["captured_at"], "1970-01-01T00:00:00.700Z");
    assert_eq!(body["credits"], json!({"reserved": 5, "charged": 5, "released": 0, "balance": 90}));
}

#[test]
fn a_replay_gives_the_captured_result_and_is_not_billed() {
    let mut world = world();
    let first = answer(&mut world, 0, &scrape("k", &json!({"url": "u"}))).parsed();
    let second = answer(&mut world, 60_000, &scrape("k", &json!({"url": "u"})));
    let body = second.parsed();
    assert_eq!((&body["data"], &body["captured_at"]), (&first["data"], &first["captured_at"]));
    assert_eq!(
        (&body["replayed"], &body["original_request_id"]),
        (&json!(true), &first["request_id"])
    );
    assert_ne!(body["request_id"], first["request_id"]);
    assert_eq!(second.header("idempotency-replayed"), Some("true"));
    assert_eq!((world.ledger().executions, world.ledger().balance), (1, 95));
}

#[test]
fn a_key_belongs_to_the_credential_that_it_came_with() {
    let tokens = ["demo-token".to_owned(), "other-token".to_owned()].into();
    let settings = Settings { tokens, ..ReplayConfig::default().settings };
    let config = ReplayConfig { settings, ..ReplayConfig::default() };
    let mut world = Loopback::new(Replay::new(config));
    let mut request = scrape("k", &json!({"url": "u"}));
    answer(&mut world, 0, &request);
    request.headers[0].1 = "Bearer other-token".to_owned();
    assert_eq!(answer(&mut world, 1000, &request).parsed()["replayed"], false);
    assert_eq!(world.ledger().executions, 2);
}

#[test]
fn requests_without_a_key_are_new_operations() {
    let mut world = world();
    let request = call("POST", "/v1/scrape").with_body(r#"{"url":"u"}"#);
    answer(&mut world, 0, &request);
    answer(&mut world, 1000, &request);
    assert_eq!(world.ledger().executions, 2);
}

#[test]
fn an_operation_in_progress_has_nothing_to_replay() {
    let mut world = world();
    let request = scrape("k", &json!({"url": "u"}));
    answer(&mut world, 0, &request);
    assert_eq!(told(&answer(&mut world, 199, &request)), refused(409, "replay_conflict"));
    assert_eq!(answer(&mut world, 200, &request).status, 200);
}

#[test]
fn an_operation_that_failed_has_nothing_to_replay() {
    let mut world = world();
    let request = scrape("k", &json!({"url": "u", "outcome": "failed"}));
    assert_eq!(told(&answer(&mut world, 0, &request)), refused(502, "upstream_timeout"));
    assert_eq!(told(&answer(&mut world, 1000, &request)), refused(409, "replay_conflict"));
    assert_eq!(world.ledger().executions, 1);
}

#[test]
fn credits_are_reserved_and_released_when_the_work_fails() {
    let mut world = world();
    answer(&mut world, 0, &scrape("k", &json!({"url": "u", "outcome": "failed"})));
    assert_eq!(world.ledger().balance, 95);
    let activity = answer(&mut world, 200, &call("GET", "/v1/activity/rq_000001")).parsed();
    assert_eq!(world.ledger().balance, 100);
    assert_eq!(
        (&activity["status"], &activity["credits"]["released"]),
        (&json!("failed"), &json!(5))
    );
    assert_eq!(activity["error"]["code"], "upstream_timeout");
}

#[test]
fn a_source_that_blocks_has_a_code_of_its_own() {
    let mut world = world();
    let got =
        answer(&mut world, 0, &scrape("k", &json!({"url": "u", "outcome": "source_blocked"})));
    assert_eq!(told(&got), refused(403, "source_blocked"));
}

#[test]
fn a_source_that_needs_access_is_not_accepted() {
    let mut world = world();
    let body = json!({"url": "u", "outcome": "access_required"});
    let got = answer(&mut world, 0, &scrape("k", &body));
    assert_eq!(told(&got), refused(403, "source_access_required"));
    assert_eq!((world.ledger().executions, world.ledger().charges), (0, 0));
}

#[test]
fn a_key_is_not_reused_for_another_request() {
    let mut world = world();
    answer(&mut world, 0, &scrape("k", &json!({"url": "u"})));
    let other_url = scrape("k", &json!({"url": "v"}));
    let mut other_endpoint = scrape("k", &json!({"url": "u"}));
    other_endpoint.path = "/v1/map".to_owned();
    for request in [other_url, other_endpoint] {
        let got = answer(&mut world, 1000, &request);
        assert_eq!(told(&got), refused(409, "idempotency_key_reused"));
    }
    assert_eq!((world.ledger().executions, world.ledger().key_mismatches), (1, 2));
}

#[test]
fn a_captured_result_is_removed_in_the_end() {
    let mut world = world();
    let request = scrape("k", &json!({"url": "u", "retention_ms": 1000}));
    answer(&mut world, 0, &request);
    assert_eq!(told(&answer(&mut world, 1200, &request)), refused(410, "replay_expired"));
}

#[test]
fn a_map_gives_links_at_its_own_price() {
    let mut world = world();
    let mut request = scrape("k", &json!({"url": "u", "result_bytes": 2000}));
    request.path = "/v1/map".to_owned();
    let body = answer(&mut world, 0, &request).parsed();
    assert_eq!((&body["data"]["links"], world.ledger().balance), (&json!(["u/0", "u/1"]), 99));
}

#[test]
fn a_quote_tells_the_price_for_free() {
    let mut world = world();
    let quote = |operation: &str| {
        call("POST", "/v1/quote").with_body(json!({"url": "u", "operation": operation}).to_string())
    };
    let body = answer(&mut world, 0, &quote("scrape")).parsed();
    assert_eq!((&body["credits"], &body["sufficient"]), (&json!(5), &json!(true)));
    assert_eq!(answer(&mut world, 0, &quote("map")).parsed()["credits"], 1);
    assert_eq!((world.ledger().charges, world.ledger().executions), (0, 0));
}

#[test]
fn refusals_tell_the_request_at_the_top() {
    for (body, status, code) in [("[]", 400, "invalid_request"), ("{}", 422, "unprocessable_input")]
    {
        let got = answer(&mut world(), 0, &call("POST", "/v1/scrape").with_body(body));
        assert_eq!(told(&got), refused(status, code));
        assert!(got.parsed()["request_id"].is_string(), "{body}");
    }
}

#[test]
fn used_up_credits_refuse_and_leave_the_key_free() {
    let settings = Settings { balance: 4, ..ReplayConfig::default().settings };
    let mut world =
        Loopback::new(Replay::new(ReplayConfig { settings, ..ReplayConfig::default() }));
    for now in [0, 1000] {
        let got = answer(&mut world, now, &scrape("k", &json!({"url": "u"})));
        assert_eq!(told(&got), refused(402, "insufficient_credits"));
    }
}

#[test]
fn a_credential_without_the_scope_is_refused() {
    let tokens_without_scope = ["demo-token".to_owned()].into();
    let config = ReplayConfig { tokens_without_scope, ..ReplayConfig::default() };
    let mut world = Loopback::new(Replay::new(config));
    let got = answer(&mut world, 0, &scrape("k", &json!({"url": "u"})));
    assert_eq!(told(&got), refused(403, "scope_required"));
}
