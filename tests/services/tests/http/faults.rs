//! Faults on the socket.
use std::time::Instant;

use crate::client::*;

#[test]
fn a_lost_answer_is_a_connection_that_ends_without_a_byte() {
    let server = server();
    set_fault(&server, r#"[{"call":"submit","fault":"lose_after"}]"#);
    assert!(receive(submit(&server)).is_none());
    assert_eq!(ledger(&server)["executions"], 1);
    let again = receive(submit(&server)).unwrap();
    assert_eq!((again.status(), again.header("idempotency-replayed")), (202, Some("true")));
}

#[test]
fn a_lost_request_is_not_executed() {
    let server = server();
    set_fault(&server, r#"[{"call":"submit","fault":"lose_before"}]"#);
    assert!(receive(submit(&server)).is_none());
    assert_eq!(ledger(&server)["executions"], 0);
}

#[test]
fn a_truncated_answer_announces_all_and_brings_half() {
    let server = server();
    let whole = receive(submit(&server)).unwrap().body;
    set_fault(&server, r#"[{"call":"submit","fault":"truncate"}]"#);
    let got = receive(submit(&server)).unwrap();
    assert_eq!(got.header("content-length"), Some(whole.len().to_string().as_str()));
    assert_eq!(got.body, whole[..whole.len() / 2]);
}

#[test]
#[expect(clippy::disallowed_methods, reason = "real time is what is measured")]
fn a_slow_answer_comes_late() {
    let server = server();
    set_fault(&server, r#"[{"fault":"slow","ms":120}]"#);
    let before = Instant::now();
    assert_eq!(receive(submit(&server)).unwrap().status(), 202);
    assert!(before.elapsed().as_millis() >= 120);
}

#[test]
fn a_connection_carries_one_request() {
    let got = receive(submit(&server())).unwrap();
    assert_eq!(got.header("connection"), Some("close"));
}

#[test]
fn removed_faults_do_not_strike() {
    let server = server();
    set_fault(&server, r#"[{"fault":"status"}]"#);
    assert_eq!(ask(&server, "DELETE", "/_control/faults", "").status(), 204);
    assert_eq!(receive(submit(&server)).unwrap().status(), 202);
}

#[test]
fn faults_that_cannot_be_read_are_refused() {
    let got = ask(&server(), "POST", "/_control/faults", r#"[{"fault":"gremlin"}]"#);
    assert_eq!(got.status(), 400);
}
