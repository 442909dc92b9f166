//! Several services on one server.
use std::io::Read;

use crate::client::*;
use holdfast_services::{Options, Server, Settings, all_services, serve_all};
use serde_json::json;

fn house() -> Server {
    serve_all(all_services(&Settings::with_ids("")), Options::default()).unwrap()
}

fn create(server: &Server) -> Got {
    let request = "POST /bulkgrid/api/v1/extract HTTP/1.1\r\nHost: loopback\r\n\
                   X-Api-Key: demo-token\r\nContent-Length: 11\r\n\r\n{\"url\":\"u\"}";
    receive(send_raw(server, request)).unwrap()
}

#[test]
fn each_service_has_its_path_and_its_ledger() {
    let server = house();
    assert_eq!(create(&server).status(), 202);
    assert_eq!(receive(submit(&server)).unwrap().status(), 202);
    let ledgers = ["/_control/ledger", "/bulkgrid/_control/ledger"]
        .map(|path| ask(&server, "GET", path, "").json()["executions"].clone());
    assert_eq!(ledgers, [json!(1), json!(1)]);
}

#[test]
fn a_fault_strikes_the_service_that_it_is_set_for() {
    let server = house();
    ask(&server, "POST", "/bulkgrid/_control/faults", r#"[{"fault":"status"}]"#);
    assert_eq!(receive(submit(&server)).unwrap().status(), 202);
    assert_eq!(create(&server).status(), 503);
}

#[test]
fn a_path_that_only_begins_like_a_service_is_not_its_own() {
    let got = ask(&house(), "GET", "/bulkgridded/_control/ledger", "");
    assert_eq!(got.status(), 404);
}

#[test]
fn browsers_may_send_the_credential_of_a_service() {
    let got = ask(&house(), "OPTIONS", "/bulkgrid/api/v1/extract", "");
    let allowed = got.header("access-control-allow-headers").unwrap();
    assert!(allowed.ends_with(", x-api-key"), "{allowed}");
}

#[test]
fn a_stream_shows_its_run_before_its_work_is_done() {
    let server = house();
    let body = r#"{"input":{"duration_ms":1500}}"#;
    let mut stream = send(&server, "POST", "/cleanedweb/v1/sources/s1/stream", body);
    let mut early = String::new();
    while !early.contains("event: run") {
        let mut bytes = [0; 1024];
        let read = stream.read(&mut bytes).unwrap();
        assert!(read > 0, "the stream ended: {early}");
        early.push_str(std::str::from_utf8(&bytes[..read]).unwrap());
    }
    let ledger = ask(&server, "GET", "/cleanedweb/_control/ledger", "").json();
    assert_eq!((&ledger["executions"], &ledger["charges"]), (&json!(1), &json!(0)));
    let mut rest = String::new();
    stream.read_to_string(&mut rest).unwrap();
    assert!(rest.contains("event: summary"), "{rest}");
}
