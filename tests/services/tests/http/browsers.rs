//! What browsers insist on: CORS, types, no caching.
use crate::client::*;

#[test]
fn a_preflight_allows_the_headers_that_a_submission_needs() {
    let got = ask(&server(), "OPTIONS", "/api/v1/data/requests", "");
    assert_eq!((got.status(), got.header("access-control-allow-origin")), (204, Some("*")));
    let allowed = got.header("access-control-allow-headers").unwrap();
    assert_eq!(allowed, "authorization, content-type, idempotency-key");
    assert!(got.header("access-control-allow-methods").unwrap().contains("POST"));
}

#[test]
fn a_preflight_is_no_request_to_the_service() {
    let server = server();
    ask(&server, "OPTIONS", "/api/v1/data/requests", "");
    assert_eq!(ask(&server, "GET", "/_control/requests", "").body, "[]");
}

#[test]
fn an_answer_exposes_what_a_client_must_read() {
    let got = receive(submit(&server())).unwrap();
    let exposed = got.header("access-control-expose-headers").unwrap();
    assert_eq!(exposed, "Retry-After, Idempotency-Replayed, Date, ETag, Content-Range");
    assert!(got.header("date").is_some());
}

#[test]
fn a_file_is_served_and_asked_for_anew_each_time() {
    let got = ask(&server(), "GET", "/main.rs", "");
    assert_eq!((got.status(), got.header("cache-control")), (200, Some("no-cache")));
    assert!(got.body.contains("The services over real HTTP."));
}

#[test]
fn a_missing_file_strikes_no_fault() {
    let server = server();
    set_fault(&server, r#"[{"fault":"status"}]"#);
    assert_eq!(ask(&server, "GET", "/favicon.ico", "").status(), 404);
    assert_eq!(receive(submit(&server)).unwrap().status(), 503);
}
