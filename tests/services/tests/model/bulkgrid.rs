//! The model of Bulkgrid, in virtual time.
use crate::calls::{answer, code};
use holdfast_services::{Bulkgrid, BulkgridConfig, Loopback, Request, Service, Settings};
use serde_json::{Value, json};

type World = Loopback<Bulkgrid>;

fn world() -> World {
    Loopback::new(Bulkgrid::default())
}

fn call(method: &str, path: &str) -> Request {
    Request::new(method, path).with_header("x-api-key", "demo-token")
}

fn create(body: &Value) -> Request {
    call("POST", "/api/v1/extract").with_body(body.to_string())
}

fn at(id: &str, rest: &str) -> String {
    format!("/api/v1/runs/{id}{rest}")
}

fn read(world: &mut World, now: u64, path: &str) -> Value {
    answer(world, now, &call("GET", path)).parsed()
}

/// Creates a run at a time and gives its id.
fn created(world: &mut World, now: u64, body: &Value) -> String {
    let answer = answer(world, now, &create(body));
    assert_eq!(answer.status, 202);
    answer.parsed()["id"].as_str().unwrap().to_owned()
}

fn listed(world: &mut World, now: u64, query: &str) -> Vec<Value> {
    let body = read(world, now, &format!("/api/v1/runs{query}"));
    body["runs"].as_array().unwrap().iter().map(|run| run["id"].clone()).collect()
}

#[test]
fn the_same_request_twice_is_executed_and_charged_twice() {
    let mut world = world();
    let body = json!({"url": "u", "metadata": "op-1"});
    let request = create(&body).with_header("idempotency-key", "k");
    let first = answer(&mut world, 0, &request).parsed();
    let second = answer(&mut world, 1000, &request).parsed();
    assert_ne!(first["id"], second["id"]);
    assert_eq!((world.ledger().executions, world.ledger().charged_credits), (2, 10));
    assert_eq!(world.ledger().executions_by_asked()["op-1"], 2);
}

#[test]
fn requests_with_metadata_of_their_own_are_not_the_same_work() {
    let mut world = world();
    for metadata in [json!("op-1"), json!({"op": 2})] {
        created(&mut world, 0, &json!({"url": "u", "metadata": metadata}));
    }
    let counts = world.ledger().executions_by_asked();
    assert_eq!((counts["op-1"], counts[r#"{"op":2}"#]), (1, 1));
}

#[test]
fn without_metadata_the_same_body_is_the_same_work() {
    let mut world = world();
    created(&mut world, 0, &json!({"url": "u"}));
    created(&mut world, 0, &json!({"url": "u"}));
    created(&mut world, 0, &json!({"url": "v"}));
    let counts: Vec<u64> = world.ledger().executions_by_asked().into_values().collect();
    assert_eq!(counts.iter().max(), Some(&2));
    assert_eq!(counts.len(), 2);
}

#[test]
fn each_endpoint_makes_a_run_of_its_kind() {
    for kind in ["extract", "crawl", "deep-crawl", "runs"] {
        let request = call("POST", &format!("/api/v1/{kind}")).with_body(r#"{"url":"u"}"#);
        assert_eq!(answer(&mut world(), 0, &request).parsed()["kind"], kind);
    }
}

#[test]
fn a_run_goes_through_its_words_with_counters() {
    let mut world = world();
    let body = json!({"url": "u", "duration_ms": 5000, "result_bytes": 10_000});
    let id = created(&mut world, 0, &body);
    let seen: Vec<_> = [999, 2500, 5000]
        .map(|now| read(&mut world, now, &at(&id, "")))
        .map(|run| (run["status"].clone(), run["counters"]["completed"].clone()))
        .into();
    let expected = [("pending", 1), ("processing", 5), ("completed", 10)];
    assert_eq!(seen, expected.map(|(word, count)| (json!(word), json!(count))));
}

#[test]
fn a_failed_run_tells_its_error_and_costs_nothing() {
    let mut world = world();
    let body = json!({"url": "u", "outcome": "failed", "failure_class": "input"});
    let id = created(&mut world, 0, &body);
    let run = read(&mut world, 3000, &at(&id, ""));
    assert_eq!(
        (&run["error"]["code"], &run["error"]["class"]),
        (&json!("input_not_usable"), &json!("input"))
    );
    assert_eq!((&run["credits_used"], world.ledger().balance), (&json!(0), 100));
}

#[test]
fn results_come_in_pages_with_their_total() {
    let mut world = world();
    let id = created(&mut world, 0, &json!({"url": "u", "result_bytes": 5000}));
    let seen = [1, 2, 3, 4].map(|page| {
        let body = read(&mut world, 3000, &at(&id, &format!("/results?page={page}&limit=2")));
        assert_eq!(body["total"], 5);
        let numbers = body["results"].as_array().unwrap().iter().map(|result| result["n"].clone());
        json!(numbers.collect::<Vec<_>>())
    });
    assert_eq!(seen, [json!([0, 1]), json!([2, 3]), json!([4]), json!([])]);
}

#[test]
fn results_of_an_unfinished_run_are_refused() {
    let mut world = world();
    let id = created(&mut world, 0, &json!({"url": "u"}));
    let early = answer(&mut world, 2999, &call("GET", &at(&id, "/results")));
    assert_eq!((early.status, code(&early)), (409, "run_not_completed".to_owned()));
}

#[test]
fn results_are_removed_when_they_expire() {
    let mut world = world();
    let id = created(&mut world, 0, &json!({"url": "u", "retention_ms": 1000}));
    assert_eq!(answer(&mut world, 3999, &call("GET", &at(&id, "/results"))).status, 200);
    let late = answer(&mut world, 4000, &call("GET", &at(&id, "/results")));
    assert_eq!((late.status, code(&late)), (410, "results_expired".to_owned()));
}

#[test]
fn the_retry_of_a_failed_run_names_a_new_run() {
    let mut world = world();
    let body = json!({"url": "u", "metadata": "op-1", "fail_times": 1});
    let id = created(&mut world, 0, &body);
    let retried = answer(&mut world, 3000, &call("POST", &at(&id, "/retry")));
    let run = retried.parsed();
    assert_eq!(
        (retried.status, &run["retry_of"], &run["metadata"]),
        (202, &json!(id), &json!("op-1"))
    );
    let new = run["id"].as_str().unwrap().to_owned();
    assert_eq!(read(&mut world, 6000, &at(&new, ""))["status"], "completed");
    assert_eq!(world.ledger().executions_by_asked()["op-1"], 1);
}

#[test]
fn only_a_failed_run_can_be_retried() {
    let mut world = world();
    let id = created(&mut world, 0, &json!({"url": "u"}));
    let got = answer(&mut world, 3000, &call("POST", &at(&id, "/retry")));
    assert_eq!((got.status, code(&got)), (409, "run_not_failed".to_owned()));
}

#[test]
fn a_cancelled_run_takes_a_while_to_stop() {
    let mut world = world();
    let id = created(&mut world, 0, &json!({"url": "u"}));
    let got = answer(&mut world, 1000, &call("POST", &at(&id, "/cancel")));
    assert_eq!((got.status, &got.parsed()["status"]), (202, &json!("processing")));
    assert_eq!(read(&mut world, 1499, &at(&id, ""))["status"], "processing");
    assert_eq!(read(&mut world, 1500, &at(&id, ""))["status"], "cancelled");
}

#[test]
fn a_run_that_ends_before_its_cancellation_takes_hold_is_completed() {
    let mut world = world();
    let id = created(&mut world, 0, &json!({"url": "u"}));
    answer(&mut world, 2900, &call("POST", &at(&id, "/cancel")));
    assert_eq!(read(&mut world, 4000, &at(&id, ""))["status"], "completed");
}

#[test]
fn an_active_run_cannot_be_deleted() {
    let mut world = world();
    let id = created(&mut world, 0, &json!({"url": "u"}));
    let got = answer(&mut world, 2999, &call("DELETE", &at(&id, "")));
    assert_eq!((got.status, code(&got)), (409, "run_active".to_owned()));
}

#[test]
fn a_deleted_run_is_found_until_it_is_cleaned_up() {
    let mut world = world();
    let id = created(&mut world, 0, &json!({"url": "u"}));
    assert_eq!(answer(&mut world, 3000, &call("DELETE", &at(&id, ""))).status, 202);
    assert_eq!(answer(&mut world, 3999, &call("GET", &at(&id, ""))).status, 200);
    assert_eq!(answer(&mut world, 4000, &call("GET", &at(&id, ""))).status, 404);
    assert!(listed(&mut world, 4000, "").is_empty());
}

#[test]
fn the_listing_shows_the_newest_first_in_pages() {
    let mut world = world();
    let ids: Vec<_> =
        (0..3).map(|n| json!(created(&mut world, n * 1000, &json!({"url": "u"})))).collect();
    assert_eq!(listed(&mut world, 3000, "?limit=2&page=1"), [ids[2].clone(), ids[1].clone()]);
    assert_eq!(listed(&mut world, 3000, "?limit=2&page=2"), [ids[0].clone()]);
}

#[test]
fn the_listing_echoes_what_was_sent() {
    let mut world = world();
    let body = json!({"url": "u", "metadata": {"op": "op-1"}});
    created(&mut world, 0, &body);
    let run = read(&mut world, 0, "/api/v1/runs")["runs"][0].clone();
    assert_eq!(
        (&run["metadata"]["op"], &run["url"], &run["request"]),
        (&json!("op-1"), &json!("u"), &body)
    );
    assert_eq!(run["created_at"], "1970-01-01T00:00:00.000Z");
}

#[test]
fn a_new_run_shows_in_the_listing_after_the_lag() {
    let config = BulkgridConfig { listing_lag_ms: 2000, ..BulkgridConfig::default() };
    let mut world = Loopback::new(Bulkgrid::new(config));
    let id = created(&mut world, 0, &json!({"url": "u"}));
    assert!(listed(&mut world, 1999, "").is_empty());
    assert_eq!(answer(&mut world, 1999, &call("GET", &at(&id, ""))).status, 200);
    assert_eq!(listed(&mut world, 2000, ""), [json!(id)]);
}

#[test]
fn a_request_may_set_the_lag_of_its_run() {
    let mut world = world();
    created(&mut world, 0, &json!({"url": "u", "listing_lag_ms": 500}));
    assert!(listed(&mut world, 499, "").is_empty());
    assert_eq!(listed(&mut world, 500, "").len(), 1);
}

#[test]
fn a_request_without_a_url_is_refused_for_free() {
    let mut world = world();
    let got = answer(&mut world, 0, &create(&json!({"metadata": "m"})));
    assert_eq!((got.status, code(&got)), (400, "invalid_request".to_owned()));
    assert_eq!((world.ledger().executions, world.ledger().balance), (0, 100));
}

#[test]
fn a_page_that_cannot_be_read_is_refused() {
    for query in ["page=0", "limit=0", "page=x"] {
        let got = answer(&mut world(), 0, &call("GET", &format!("/api/v1/runs?{query}")));
        assert_eq!(got.status, 400, "{query}");
    }
}

#[test]
fn a_bearer_token_is_not_the_credential() {
    let request =
        Request::new("GET", "/api/v1/runs").with_header("authorization", "Bearer demo-token");
    let got = answer(&mut world(), 0, &request);
    assert_eq!((got.status, code(&got)), (401, "unauthorized".to_owned()));
}

#[test]
fn used_up_credits_refuse_new_runs() {
    let settings = Settings { balance: 4, ..Settings::with_ids("run_") };
    let config = BulkgridConfig { settings, ..BulkgridConfig::default() };
    let mut world = Loopback::new(Bulkgrid::new(config));
    let got = answer(&mut world, 0, &create(&json!({"url": "u"})));
    assert_eq!((got.status, code(&got)), (402, "insufficient_credits".to_owned()));
}

#[test]
fn a_reset_forgets_runs_but_gives_no_id_twice() {
    let mut world = world();
    let first = created(&mut world, 0, &json!({"url": "u"}));
    world.service.reset();
    assert!(listed(&mut world, 0, "").is_empty());
    assert_ne!(created(&mut world, 0, &json!({"url": "u"})), first);
}
