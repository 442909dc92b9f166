//! The model of CleanedWeb, in virtual time.
use crate::calls::{answer, code};
use holdfast_services::{
    Call, CleanedWeb, CleanedWebConfig, Delivery, Fault, FaultKind, Loopback, Request, Response,
    Settings,
};
use serde_json::{Value, json};

type World = Loopback<CleanedWeb>;

fn world() -> World {
    Loopback::new(CleanedWeb::default())
}

fn call(method: &str, path: &str) -> Request {
    Request::new(method, path).with_header("authorization", "Bearer demo-token")
}

fn execute(surface: &str, key: &str, body: &str) -> Request {
    call("POST", &format!("/v1/sources/s1/{surface}"))
        .with_header("idempotency-key", key)
        .with_body(body)
}

fn run(key: &str, input: &Value) -> Request {
    execute("run", key, &json!({ "input": input }).to_string())
}

fn at_run(id: &str, rest: &str) -> Request {
    call("GET", &format!("/v1/sources/s1/runs/{id}{rest}"))
}

fn told(response: &Response) -> (u16, String) {
    (response.status, code(response))
}

fn refused(status: u16, code: &str) -> (u16, String) {
    (status, code.to_owned())
}

/// The first run's id.
const FIRST: &str = "run_000001";

#[test]
fn an_execution_answers_with_its_delivery_when_it_is_done() {
    let mut world = world();
    let outcome = world.exchange(0, &run("k", &json!({"url": "u", "result_bytes": 2000})));
    let Delivery::Answer(got) = outcome.delivery else { panic!("an answer") };
    let body = got.parsed();
    assert_eq!((got.status, outcome.delay_ms), (200, 200));
    assert_eq!(
        body["delivery"],
        json!({
            "runId": FIRST,
            "chargeReceiptId": "rcpt_run_000001",
            "recordCount": 2,
            "replayed": false,
        })
    );
    assert_eq!((&body["version"], &body["summary"]["record_count"]), (&json!("1"), &json!(2)));
    assert_eq!(body["records"].as_array().unwrap().len(), 2);
}

#[test]
fn a_delivered_result_is_replayed_without_a_second_charge() {
    let mut world = world();
    let first = answer(&mut world, 0, &run("k", &json!({}))).parsed();
    let second = answer(&mut world, 200, &run("k", &json!({})));
    let body = second.parsed();
    assert_eq!(body["records"], first["records"]);
    assert_eq!(body["delivery"]["chargeReceiptId"], first["delivery"]["chargeReceiptId"]);
    assert_eq!(body["delivery"]["replayed"], true);
    assert_eq!(second.header("idempotency-replayed"), Some("true"));
    assert_eq!((world.ledger().executions, world.ledger().charges), (1, 1));
}

#[test]
fn an_execution_is_charged_when_it_is_delivered() {
    let mut world = world();
    answer(&mut world, 0, &run("k", &json!({})));
    assert_eq!(world.ledger().charges, 0);
    answer(&mut world, 200, &at_run(FIRST, ""));
    assert_eq!((world.ledger().charges, world.ledger().balance), (1, 95));
}

#[test]
fn running_and_failed_work_are_refused_alike() {
    let mut world = world();
    let request = run("k", &json!({"outcome": "failed"}));
    assert_eq!(told(&answer(&mut world, 0, &request)), refused(502, "execution_failed"));
    let (running, failed) = (answer(&mut world, 100, &request), answer(&mut world, 900, &request));
    assert_eq!(told(&running), refused(409, "result_already_running_or_failed"));
    assert_eq!(told(&failed), told(&running));
    assert_eq!(failed.headers.len(), running.headers.len());
    assert_eq!((world.ledger().executions, world.ledger().charges), (1, 0));
}

#[test]
fn a_saved_output_is_settled_by_the_same_request() {
    let mut world = world();
    let request = run("k", &json!({"unsettled_times": 2}));
    assert_eq!(told(&answer(&mut world, 0, &request)), refused(503, "delivery_unsettled"));
    assert_eq!(told(&answer(&mut world, 500, &request)), refused(503, "delivery_unsettled"));
    assert_eq!(world.ledger().charges, 0);
    assert_eq!(answer(&mut world, 1000, &request).status, 200);
    assert_eq!((world.ledger().executions, world.ledger().charges), (1, 1));
}

#[test]
fn the_order_of_members_is_no_part_of_the_identity() {
    let mut world = world();
    answer(&mut world, 0, &execute("run", "k", r#"{"limit":3,"input":{"a":1,"b":{"c":2,"d":3}}}"#));
    let same = r#"{"input":{"b":{"d":3,"c":2},"a":1}, "limit":3}"#;
    assert_eq!(answer(&mut world, 200, &execute("run", "k", same)).status, 200);
}

#[test]
fn a_changed_request_with_the_same_key_conflicts() {
    let first = r#"{"input":{"a":1}}"#;
    for (surface, body) in [
        ("run", r#"{"input":{"a":2}}"#),
        ("run", r#"{"input":{"a":1},"limit":5}"#),
        ("run", r#"{"input":{"a":1,"b":1}}"#),
        ("run", r#"{"input":{"a":1},"version":"9"}"#),
        ("stream", first),
    ] {
        let mut world = world();
        answer(&mut world, 0, &execute("run", "k", first));
        let got = answer(&mut world, 200, &execute(surface, "k", body));
        assert_eq!(told(&got), refused(409, "delivery_identity_conflict"), "{surface} {body}");
        assert_eq!((world.ledger().executions, world.ledger().key_mismatches), (1, 1));
    }
}

#[test]
fn the_resolved_version_is_the_identity_not_how_it_was_named() {
    let mut world = world();
    answer(&mut world, 0, &execute("run", "k", r#"{"input":{}}"#));
    let named = r#"{"input":{},"version":"1","expected_version":"1"}"#;
    assert_eq!(answer(&mut world, 200, &execute("run", "k", named)).status, 200);
}

#[test]
fn an_unsound_key_is_refused() {
    for key in ["", "a b", "ä", &"k".repeat(201)] {
        let got = answer(&mut world(), 0, &run(key, &json!({})));
        assert_eq!(told(&got), refused(422, "idempotency_key_required"), "{key}");
    }
    assert_eq!(answer(&mut world(), 0, &run(&"k._:-9".repeat(33), &json!({}))).status, 200);
}

#[test]
fn an_expected_version_is_checked_before_replay() {
    let mut world = world();
    let request = execute("run", "k", r#"{"input":{},"expected_version":"1"}"#);
    answer(&mut world, 0, &request);
    let moved = call("PUT", "/v1/sources/s1/definition").with_body(r#"{"version":"2"}"#);
    assert_eq!(answer(&mut world, 200, &moved).parsed()["version"], "2");
    assert_eq!(told(&answer(&mut world, 300, &request)), refused(409, "version_conflict"));
}

#[test]
fn a_run_tells_where_it_stands() {
    let status = |input: Value, now| {
        let mut world = world();
        answer(&mut world, 0, &run("k", &input));
        answer(&mut world, now, &at_run(FIRST, "")).parsed()["status"].clone()
    };
    assert_eq!(status(json!({}), 199), "running");
    assert_eq!(status(json!({}), 200), "delivered");
    assert_eq!(status(json!({"outcome": "failed"}), 200), "failed");
    assert_eq!(status(json!({"unsettled_times": 1}), 200), "unsettled");
}

#[test]
fn a_result_can_be_read_by_its_run() {
    let mut world = world();
    let input = json!({"retention_ms": 1000});
    answer(&mut world, 0, &run("k", &input));
    let early = answer(&mut world, 199, &at_run(FIRST, "/result"));
    assert_eq!(told(&early), refused(409, "result_not_ready"));
    let body = answer(&mut world, 200, &at_run(FIRST, "/result")).parsed();
    assert_eq!(
        (&body["delivery"]["runId"], &body["delivery"]["recordCount"]),
        (&json!(FIRST), &json!(1))
    );
    let late = answer(&mut world, 1200, &at_run(FIRST, "/result"));
    assert_eq!(told(&late), refused(410, "result_expired"));
    assert_eq!(world.ledger().charges, 1);
}

#[test]
fn a_run_belongs_to_its_source() {
    let mut world = world();
    answer(&mut world, 0, &run("k", &json!({})));
    let other = call("GET", &format!("/v1/sources/s2/runs/{FIRST}/result"));
    assert_eq!(told(&answer(&mut world, 200, &other)), refused(404, "run_not_found"));
}

#[test]
fn reading_results_may_need_another_credential() {
    let tokens_without_results = ["demo-token".to_owned()].into();
    let config = CleanedWebConfig { tokens_without_results, ..CleanedWebConfig::default() };
    let mut world = Loopback::new(CleanedWeb::new(config));
    assert_eq!(answer(&mut world, 0, &run("k", &json!({}))).status, 200);
    let got = answer(&mut world, 200, &at_run(FIRST, "/result"));
    assert_eq!(told(&got), refused(403, "results_access_required"));
}

#[test]
fn credits_are_kept_for_what_runs() {
    let settings = Settings { balance: 9, ..CleanedWebConfig::default().settings };
    let config = CleanedWebConfig { settings, ..CleanedWebConfig::default() };
    let mut world = Loopback::new(CleanedWeb::new(config));
    assert_eq!(answer(&mut world, 0, &run("k", &json!({}))).status, 200);
    let second = answer(&mut world, 0, &run("l", &json!({})));
    assert_eq!(told(&second), refused(402, "insufficient_credits"));
}

#[test]
fn a_conflict_may_say_how_long_to_wait() {
    let config =
        CleanedWebConfig { conflict_retry_after_s: Some(2), ..CleanedWebConfig::default() };
    let mut world = Loopback::new(CleanedWeb::new(config));
    answer(&mut world, 0, &run("k", &json!({})));
    let conflict = answer(&mut world, 100, &run("k", &json!({})));
    assert_eq!(conflict.header("retry-after"), Some("2"));
}

#[test]
fn a_source_that_does_not_exist_is_not_found() {
    let request = call("POST", "/v1/sources/missing/run").with_header("idempotency-key", "k");
    assert_eq!(told(&answer(&mut world(), 0, &request)), refused(404, "source_not_found"));
}

/// The events of a stream: name and data.
fn events(body: &[u8]) -> Vec<(String, Value)> {
    let text = String::from_utf8(body.to_vec()).unwrap();
    let whole = text.rsplit_once("\n\n").map_or("", |(whole, _)| whole);
    let blocks = whole.split("\n\n").filter_map(|block| block.split_once('\n'));
    blocks
        .map(|(name, data)| {
            let data = data.strip_prefix("data: ").unwrap();
            (name.replace("event: ", ""), serde_json::from_str(data).unwrap())
        })
        .collect()
}

#[test]
fn a_stream_shows_its_run_first_and_its_delivery_last() {
    let got = answer(&mut world(), 0, &execute("stream", "k", r#"{"input":{}}"#));
    assert_eq!(got.header("content-type"), Some("text/event-stream"));
    let events = events(&got.body);
    let names: Vec<_> = events.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, ["run", "progress", "record", "summary"]);
    assert_eq!(
        (&events[0].1["runId"], &events[3].1["delivery"]["runId"]),
        (&json!(FIRST), &json!(FIRST))
    );
}

#[test]
fn the_run_of_a_stream_is_shown_before_the_work_is_done() {
    let got = answer(&mut world(), 0, &execute("stream", "k", r#"{"input":{}}"#));
    assert_eq!(events(&got.body[..got.early_bytes])[0].0, "run");
    assert_eq!(got.after_ms, 200);
}

#[test]
fn a_stream_that_breaks_off_has_shown_its_run() {
    let mut world = world();
    world.faults.add([Fault::once(Call::Submit, FaultKind::Truncate)]);
    let outcome = world.exchange(0, &execute("stream", "k", r#"{"input":{}}"#));
    let Delivery::Truncated(got) = outcome.delivery else { panic!("a cut answer") };
    assert_eq!(events(&got.body[..got.body.len() / 2])[0].1["runId"], FIRST);
    assert_eq!(answer(&mut world, 200, &at_run(FIRST, "/result")).status, 200);
}

#[test]
fn a_failed_stream_ends_with_an_error() {
    let body = r#"{"input":{"outcome":"failed"}}"#;
    let got = answer(&mut world(), 0, &execute("stream", "k", body));
    let (name, data) = events(&got.body).pop().unwrap();
    assert_eq!((got.status, name.as_str()), (200, "error"));
    assert_eq!(
        (&data["error"]["code"], &data["error"]["run_id"]),
        (&json!("execution_failed"), &json!(FIRST))
    );
}

#[test]
fn a_stream_is_replayed_as_a_stream() {
    let mut world = world();
    let request = execute("stream", "k", r#"{"input":{}}"#);
    let first = answer(&mut world, 0, &request);
    let second = answer(&mut world, 200, &request);
    assert_eq!(events(&second.body)[2], events(&first.body)[2]);
    assert_eq!(events(&second.body)[3].1["delivery"]["replayed"], true);
    assert_eq!(world.ledger().executions, 1);
}
