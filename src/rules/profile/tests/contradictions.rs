//! What a profile says twice and differently, or of what is not its own.

use super::{faults, faults_with, least};
use serde_json::{Value, json};

#[test]
fn a_word_has_one_meaning_whatever_its_case() {
    let faults = |states: Value| faults_with("/states", states);
    assert_eq!(faults(json!({ "Done": "completed", "DONE": "failed" })), ["/states/Done"]);
    assert!(faults(json!({ "Done": "completed", "DONE": "completed" })).is_empty());
}

#[test]
fn a_status_that_is_a_word_is_one_of_http() {
    for status in ["abc", "20", "0200", "600", "+20", ""] {
        let word = ["http:", status].concat();
        let states = json!({ "done": "completed", &word: "failed" });
        assert_eq!(faults_with("/states", states), [["/states/", &word].concat()]);
    }
    let states = json!({ "http:200": "completed", "http:599": "failed" });
    assert!(faults_with("/states", states).is_empty());
}

#[test]
fn nothing_is_read_by_deleting_it() {
    for call in ["poll", "result"] {
        let place = ["/calls/", call, "/method"].concat();
        assert_eq!(faults_with(&place, json!("DELETE")), [place]);
    }
    assert!(faults_with("/calls/poll/method", json!("POST")).is_empty());
}

#[test]
fn a_credential_stands_in_no_profile() {
    for name in ["Authorization", "proxy-authorization", "Cookie", "X-Api-Key", "x-auth-token"] {
        let place = ["/calls/poll/headers/", name].concat();
        assert_eq!(faults_with("/calls/poll/headers", json!({ name: "x" })), [place]);
    }
    assert!(faults_with("/calls/poll/headers", json!({ "Prefer": "x" })).is_empty());
}

#[test]
fn the_key_and_its_date_have_fields_of_their_own() {
    for name in ["Content-Type", "authorization", "Accept", "Cookie", "HOST", "no name"] {
        assert_eq!(faults_with("/key/header", json!(name)), ["/key/header"], "{name}");
        assert_eq!(faults_with("/key/sentAt", json!(name)), ["/key/sentAt"], "{name}");
    }
    assert_eq!(faults_with("/key/sentAt", json!("idempotency-KEY")), ["/key/sentAt"]);
    let mut profile = least();
    profile["key"]["sentAt"] = json!("First-Sent");
    let headers = json!({ "idempotency-key": "fixed", "FIRST-sent": "never", "Prefer": "x" });
    profile["calls"]["submit"]["headers"] = headers.clone();
    // A read bears no key.
    profile["calls"]["poll"]["headers"] = headers;
    assert_eq!(
        faults(&profile.to_string()),
        ["/calls/submit/headers/FIRST-sent", "/calls/submit/headers/idempotency-key"]
    );
}
