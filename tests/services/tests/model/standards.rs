//! The models of standards, in virtual time.
use crate::calls::answer;
use holdfast_services::{
    AzureLro, AzureLroConfig, AzureStyle, Finish, GoogleLro, HttpAsync, HttpAsyncConfig,
    IdempotencyKey, IdempotencyKeyConfig, Loopback, Request, Response, Service,
};
use serde_json::{Value, json};

fn call(method: &str, path: &str) -> Request {
    Request::new(method, path).with_header("authorization", "Bearer demo-token")
}

fn create(body: &Value) -> Request {
    call("POST", "/v1/reports").with_body(body.to_string())
}

fn keyed(key: &str, body: &Value) -> Request {
    create(body).with_header("idempotency-key", key)
}

fn prefers_async(body: &Value) -> Request {
    create(body).with_header("prefer", "respond-async")
}

fn read<S: Service>(world: &mut Loopback<S>, now: u64, path: &str) -> Response {
    answer(world, now, &call("GET", path))
}

/// The status and the code of problem details.
fn problem(response: &Response) -> (u16, String) {
    let code = response.parsed()["code"].as_str().unwrap_or_default().to_owned();
    (response.status, code)
}

fn refused(status: u16, code: &str) -> (u16, String) {
    (status, code.to_owned())
}

#[test]
fn a_key_must_be_there_and_in_quotes() {
    let mut world = Loopback::new(IdempotencyKey::default());
    let missing = answer(&mut world, 0, &create(&json!({})));
    assert_eq!(problem(&missing), refused(400, "idempotency_key_missing"));
    assert_eq!(missing.header("content-type"), Some("application/problem+json"));
    let bare = answer(&mut world, 0, &keyed("k", &json!({})));
    assert_eq!(problem(&bare), refused(400, "idempotency_key_malformed"));
    assert_eq!(world.ledger().executions, 0);
}

#[test]
fn a_first_answer_is_told_again() {
    let mut world = Loopback::new(IdempotencyKey::default());
    let first = answer(&mut world, 0, &keyed("\"k\"", &json!({"url": "u"})));
    let second = answer(&mut world, 200, &keyed("\"k\"", &json!({"url": "u"})));
    assert_eq!((first.status, first.header("location")), (201, Some("/v1/reports/rep_000001")));
    assert_eq!((second.status, second.parsed()), (201, first.parsed()));
    assert_eq!(second.header("idempotency-replayed"), Some("true"));
    assert_eq!((world.ledger().executions, world.ledger().charges), (1, 1));
    assert_eq!(world.ledger().requests[0].key.as_deref(), Some("k"));
}

#[test]
fn a_key_with_another_payload_is_unprocessable() {
    let mut world = Loopback::new(IdempotencyKey::default());
    answer(&mut world, 0, &keyed("\"k\"", &json!({"url": "u"})));
    let other = answer(&mut world, 200, &keyed("\"k\"", &json!({"url": "v"})));
    assert_eq!(problem(&other), refused(422, "idempotency_key_reused"));
}

#[test]
fn a_request_beside_the_first_one_conflicts() {
    let mut world = Loopback::new(IdempotencyKey::default());
    answer(&mut world, 0, &keyed("\"k\"", &json!({})));
    let beside = answer(&mut world, 199, &keyed("\"k\"", &json!({})));
    assert_eq!(problem(&beside), refused(409, "request_in_progress"));
}

#[test]
fn a_failure_is_told_again_or_forgotten() {
    for (keeps_errors, executions) in [(true, 1), (false, 2)] {
        let config = IdempotencyKeyConfig { keeps_errors, ..IdempotencyKeyConfig::default() };
        let mut world = Loopback::new(IdempotencyKey::new(config));
        let request = keyed("\"k\"", &json!({"outcome": "failed"}));
        for now in [0, 200] {
            let got = answer(&mut world, now, &request);
            assert_eq!(problem(&got), refused(502, "upstream_timeout"));
        }
        assert_eq!(world.ledger().executions, executions);
        world.service.advance(1000);
        assert_eq!(world.ledger().balance, 100);
    }
}

#[test]
fn work_that_is_preferred_async_is_asked_for_at_its_location() {
    let mut world = Loopback::new(HttpAsync::default());
    let got = answer(&mut world, 0, &prefers_async(&json!({"url": "u"})));
    assert_eq!((got.status, got.header("preference-applied")), (202, Some("respond-async")));
    let location = got.header("location").unwrap();
    let waits = read(&mut world, 2999, location);
    assert_eq!((waits.status, waits.header("retry-after")), (202, Some("1")));
    let done = read(&mut world, 3000, location);
    assert_eq!(done.status, 303);
    let report = read(&mut world, 3000, done.header("location").unwrap());
    assert_eq!((report.status, &report.parsed()["url"]), (200, &json!("u")));
}

#[test]
fn a_location_may_answer_with_the_report_itself() {
    let config = HttpAsyncConfig { finish: Finish::Inline, ..HttpAsyncConfig::default() };
    let mut world = Loopback::new(HttpAsync::new(config));
    answer(&mut world, 0, &prefers_async(&json!({})));
    let done = read(&mut world, 3000, "/v1/tasks/task_000001");
    assert_eq!((done.status, &done.parsed()["record_count"]), (200, &json!(1)));
}

#[test]
fn work_that_is_not_preferred_async_is_waited_for() {
    let mut world = Loopback::new(HttpAsync::default());
    let got = answer(&mut world, 0, &create(&json!({})));
    assert_eq!((got.status, got.after_ms), (200, 3000));
}

#[test]
fn a_task_that_failed_or_was_cancelled_says_so_at_its_location() {
    let mut world = Loopback::new(HttpAsync::default());
    answer(&mut world, 0, &prefers_async(&json!({"outcome": "failed"})));
    answer(&mut world, 0, &prefers_async(&json!({})));
    answer(&mut world, 1000, &call("DELETE", "/v1/tasks/task_000002"));
    let ends =
        [1, 2].map(|n| problem(&read(&mut world, 3000, &format!("/v1/tasks/task_00000{n}"))));
    assert_eq!(ends, [refused(422, "upstream_timeout"), refused(410, "cancelled")]);
}

#[test]
fn asynchronous_work_is_new_each_time_unless_it_has_a_key() {
    let mut world = Loopback::new(HttpAsync::default());
    for _ in 0..2 {
        answer(&mut world, 0, &prefers_async(&json!({})));
    }
    assert_eq!(world.ledger().executions, 2);
    let request = prefers_async(&json!({})).with_header("idempotency-key", "k");
    let locations =
        [0, 1].map(|now| answer(&mut world, now, &request).header("location").map(str::to_owned));
    assert_eq!(locations[0], locations[1]);
    assert_eq!(world.ledger().executions, 3);
}

#[test]
fn an_operation_of_azure_goes_through_its_words() {
    let mut world = Loopback::new(AzureLro::default());
    let got = answer(&mut world, 0, &create(&json!({"url": "u"})));
    assert_eq!((got.status, got.header("retry-after")), (202, Some("1")));
    let location = got.header("operation-location").unwrap();
    let words = [0, 1000].map(|now| read(&mut world, now, location).parsed()["status"].clone());
    assert_eq!(words, [json!("NotStarted"), json!("Running")]);
    let done = read(&mut world, 3000, location).parsed();
    assert_eq!(done["status"], "Succeeded");
    let report = read(&mut world, 3000, done["resourceLocation"].as_str().unwrap());
    assert_eq!((report.status, &report.parsed()["url"]), (200, &json!("u")));
}

#[test]
fn each_style_of_azure_tells_the_address_in_its_header() {
    for (style, header) in [
        (AzureStyle::AzureAsyncOperation, "azure-asyncoperation"),
        (AzureStyle::Location, "location"),
        (AzureStyle::OperationLocation, "operation-location"),
    ] {
        let mut config = AzureLroConfig { style, ..AzureLroConfig::default() };
        config.settings.link_base = "https://api.example.com".to_owned();
        let got = answer(&mut Loopback::new(AzureLro::new(config)), 0, &create(&json!({})));
        let address = "https://api.example.com/v1/operations/op-000001";
        assert_eq!(got.header(header), Some(address));
    }
}

#[test]
fn in_azures_location_style_the_status_tells_the_end() {
    let config = AzureLroConfig { style: AzureStyle::Location, ..AzureLroConfig::default() };
    let mut world = Loopback::new(AzureLro::new(config));
    answer(&mut world, 0, &create(&json!({})));
    let seen = [2999, 3000].map(|now| read(&mut world, now, "/v1/operations/op-000001").status);
    assert_eq!(seen, [202, 200]);
}

#[test]
fn operations_of_azure_fail_and_are_cancelled() {
    let mut world = Loopback::new(AzureLro::default());
    answer(&mut world, 0, &create(&json!({"outcome": "source_blocked"})));
    answer(&mut world, 0, &create(&json!({})));
    let cancel = answer(&mut world, 1000, &call("POST", "/v1/operations/op-000002:cancel"));
    assert_eq!((cancel.status, &cancel.parsed()["status"]), (202, &json!("Canceled")));
    let failed = read(&mut world, 3000, "/v1/operations/op-000001").parsed();
    assert_eq!(
        (&failed["status"], &failed["error"]["code"]),
        (&json!("Failed"), &json!("SourceBlocked"))
    );
}

#[test]
fn a_repeated_request_of_azure_is_one_operation() {
    for header in ["repeatability-request-id", "operation-id"] {
        let mut world = Loopback::new(AzureLro::default());
        let date = "Sun, 06 Nov 1994 08:49:37 GMT";
        let create = |body: Value| create(&body).with_header("repeatability-first-sent", date);
        let request = create(json!({})).with_header(header, "id-1");
        let first = answer(&mut world, 0, &request).parsed();
        let second = answer(&mut world, 1000, &request);
        assert_eq!(second.parsed()["id"], first["id"]);
        assert_eq!(second.header("repeatability-result"), Some("accepted"));
        let other = create(json!({"url": "v"})).with_header(header, "id-1");
        assert_eq!(answer(&mut world, 1000, &other).status, 409);
        assert_eq!(world.ledger().executions, 1, "{header}");
    }
}

const UUID4: &str = "72ad1b16-20ad-4ef4-a578-d8b893601d7e";

#[test]
fn an_operation_of_google_is_done_with_a_response() {
    let mut world = Loopback::new(GoogleLro::default());
    let first = answer(&mut world, 0, &create(&json!({"url": "u"}))).parsed();
    assert_eq!((&first["name"], &first["done"]), (&json!("operations/op_000001"), &json!(false)));
    let done = read(&mut world, 3000, "/v1/operations/op_000001").parsed();
    assert_eq!((&done["done"], &done["response"]["url"]), (&json!(true), &json!("u")));
    assert_eq!(done.get("error"), None);
}

#[test]
fn a_request_id_of_google_is_one_operation() {
    let mut world = Loopback::new(GoogleLro::default());
    let request = create(&json!({"request_id": UUID4}));
    let names = [0, 3000].map(|now| answer(&mut world, now, &request).parsed()["name"].clone());
    assert_eq!(names[0], names[1]);
    let other = answer(&mut world, 0, &create(&json!({"request_id": UUID4, "url": "v"})));
    assert_eq!((other.status, &other.parsed()["error"]["status"]), (409, &json!("ALREADY_EXISTS")));
    assert_eq!((world.ledger().executions, world.ledger().key_mismatches), (1, 1));
}

#[test]
fn a_request_id_of_google_is_a_uuid_of_version_4() {
    for id in ["k", &UUID4.replace("4ef4", "1ef4"), &UUID4.replace('-', "")] {
        let got = answer(
            &mut Loopback::new(GoogleLro::default()),
            0,
            &create(&json!({"request_id": id})),
        );
        assert_eq!(
            (got.status, &got.parsed()["error"]["status"]),
            (400, &json!("INVALID_ARGUMENT"))
        );
    }
}

#[test]
fn operations_of_google_fail_and_are_cancelled() {
    let mut world = Loopback::new(GoogleLro::default());
    answer(&mut world, 0, &create(&json!({"outcome": "failed"})));
    answer(&mut world, 0, &create(&json!({})));
    let cancel = answer(&mut world, 1000, &call("POST", "/v1/operations/op_000002:cancel"));
    assert_eq!((cancel.status, cancel.parsed()), (200, json!({})));
    let codes = [1, 2].map(|n| {
        let operation = read(&mut world, 3000, &format!("/v1/operations/op_00000{n}")).parsed();
        assert_eq!(operation["done"], true);
        operation["error"]["code"].clone()
    });
    assert_eq!(codes, [json!(14), json!(1)]);
}
