//! Holds, fail points and the rest of the control plane.
use crate::client::*;
use serde_json::json;

#[test]
fn a_held_submission_is_charged_and_answered_at_the_release() {
    let server = server();
    ask(&server, "POST", "/_control/hold", r#"{"call":"submit"}"#);
    let waiting = submit(&server);
    assert_eq!(ask(&server, "GET", "/_control/held", "").json(), json!({"held": 1}));
    assert_eq!(ledger(&server)["charges"], 1);
    ask(&server, "POST", "/_control/release", "");
    assert_eq!(receive(waiting).unwrap().status(), 202);
    assert_eq!(receive(submit(&server)).unwrap().status(), 202);
}

#[test]
fn a_hold_without_a_call_is_for_submissions() {
    let server = server();
    ask(&server, "POST", "/_control/hold", "{}");
    assert_eq!(ask(&server, "GET", "/api/v1/data/requests/x", "").status(), 404);
    let _waiting = submit(&server);
    assert_eq!(ask(&server, "GET", "/_control/held", "").status(), 200);
}

#[test]
fn an_answer_is_no_longer_held_when_its_connection_dies() {
    let server = server();
    ask(&server, "POST", "/_control/hold", "{}");
    let dies = submit(&server);
    ask(&server, "GET", "/_control/held", "");
    let _lives = submit(&server);
    drop(dies);
    let mut tries = (0..1000).map(|_| ask(&server, "GET", "/_control/held", "").json());
    // Both were held before one was left: the second request has arrived.
    assert!(tries.any(|held| held == json!({"held": 1}) && ledger(&server)["submits"] == 2));
}

#[test]
fn a_fail_point_is_told_and_answers_at_once() {
    let server = server();
    assert_eq!(ask(&server, "POST", "/_control/fail-point?name=a", "").status(), 204);
    assert_eq!(ask(&server, "GET", "/_control/fail-point?name=b", "").status(), 204);
    let reached = |after: u8| ask(&server, "GET", &format!("/_control/reached?after={after}"), "");
    assert_eq!(reached(0).json(), json!({"names": ["a", "b"]}));
    assert_eq!(reached(1).json(), json!({"names": ["b"]}));
}

#[test]
fn who_waits_for_a_fail_point_hears_of_one_that_holds() {
    let server = server();
    let waits = send(&server, "GET", "/_control/reached?after=0", "");
    let held = send(&server, "POST", "/_control/fail-point?name=stored&hold=1", "");
    assert_eq!(receive(waits).unwrap().json(), json!({"names": ["stored"]}));
    held.set_nonblocking(true).unwrap();
    let error = held.peek(&mut [0]).unwrap_err();
    assert_eq!(error.kind(), std::io::ErrorKind::WouldBlock);
}

#[test]
fn a_reset_forgets_jobs_faults_and_fail_points() {
    let server = server();
    set_fault(&server, r#"[{"fault":"status","skip":1}]"#);
    ask(&server, "POST", "/_control/fail-point?name=a", "");
    receive(submit(&server));
    assert_eq!(ask(&server, "POST", "/_control/reset", "").status(), 204);
    assert_eq!(ledger(&server)["jobs"], json!([]));
    assert_eq!(receive(submit(&server)).unwrap().status(), 202);
    ask(&server, "POST", "/_control/fail-point?name=b", "");
    let reached = ask(&server, "GET", "/_control/reached?after=0", "");
    assert_eq!(reached.json(), json!({"names": ["b"]}));
}

#[test]
fn the_log_lists_requests_with_their_faults() {
    let server = server();
    set_fault(&server, r#"[{"fault":"lose_after"}]"#);
    receive(submit(&server));
    let log = ask(&server, "GET", "/_control/requests", "");
    let entry = &log.json()[0];
    assert_eq!((&entry["call"], &entry["fault"]), (&json!("submit"), &json!("lose_after")));
    assert_eq!((&entry["key"], &entry["status"]), (&json!("key-1"), &json!(202)));
    assert!(!log.body.contains("demo-token"));
}
