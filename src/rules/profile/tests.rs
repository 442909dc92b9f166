mod contradictions;
use crate::model::ending::FailureClass;
use serde_json::{Value, json};

use super::pace::{POLL, RETRY};
use super::*;
use crate::model::profile::{JobState, Mark, Meaning, Purpose, Rule};

const BUILT_IN: &str =
    include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/pkg-template/profiles/runharvester.json"));

/// The least that a profile must say.
fn least() -> Value {
    json!({
        "profile": 1,
        "name": "own",
        "key": { "header": "Idempotency-Key" },
        "calls": {
            "submit": { "method": "POST", "path": "/jobs" },
            "poll": { "method": "GET", "path": "/jobs/{id}" },
            "result": { "method": "GET", "path": "/jobs/{id}/result" },
        },
        "facts": { "id": ["/id"], "status": ["/status"] },
        "states": { "done": "completed" },
    })
}

/// Where the faults are of the least profile with another value at one place.
fn faults_with(place: &str, value: Value) -> Vec<String> {
    let mut profile = least();
    let (outer, name) = place.rsplit_once('/').unwrap();
    profile.pointer_mut(outer).unwrap().as_object_mut().unwrap().insert(name.into(), value);
    faults(&profile.to_string())
}

fn faults(text: &str) -> Vec<String> {
    let faults = read(text).err().unwrap_or_default();
    faults.into_iter().map(|fault| fault.pointer).collect()
}

#[test]
fn the_built_in_profile_is_read_whole() {
    let profile = read(BUILT_IN).unwrap();
    assert_eq!(profile.name, "runharvester");
    let key = profile.key.unwrap();
    assert_eq!((key.length_max, key.retention_ms), (255, Some(86_400_000)));
    assert_eq!(profile.calls.result.unwrap().timeout_ms, 120_000);
    assert_eq!(profile.calls.retry.unwrap().path.unwrap(), "/api/v1/data/requests/{id}/retry");
    assert_eq!((profile.facts.len(), profile.states.len()), (17, 6));
    assert_eq!(profile.poll.factor_tenths, 13);
    let not_ready = Rule {
        purposes: vec![Purpose::Result],
        code: Some("RESULT_NOT_READY".into()),
        status: None,
        meaning: Meaning::NotReady,
        class: FailureClass::Unknown,
    };
    assert_eq!(profile.meanings.first(), Some(&not_ready));
    assert_eq!(profile.meanings.len(), 9);
    assert_eq!(profile.settlement.unwrap().final_states, ["charged", "released"]);
}

#[test]
fn what_a_profile_leaves_out_is_the_default() {
    let profile = read(&least().to_string()).unwrap();
    assert_eq!((profile.poll, profile.retry), (POLL, RETRY));
    assert_eq!((profile.not_found_grace_ms, profile.not_ready_max), (10_000, 20));
    assert_eq!(profile.calls.submit.timeout_ms, 30_000);
    let key = profile.key.unwrap();
    assert_eq!((key.length_min, key.length_max), (1, 255));
    assert_eq!(key.punctuation, "-");
    assert!(!key.quoted && !key.uuid && !key.canonical_body && profile.settlement.is_none());
}

#[test]
fn the_digest_is_sha_256_of_the_exact_text() {
    let text = least().to_string();
    let mut stream = Sha256Stream::default();
    stream.update(text.as_bytes());
    assert_eq!(read(&text).unwrap().digest, hex(&stream.finish()));
    assert_ne!(read(&(text.clone() + " ")).unwrap().digest, read(&text).unwrap().digest);
}

#[test]
fn all_faults_come_at_once() {
    let mut profile = least();
    profile["name"] = json!("");
    profile["calls"]["poll"]["path"] = json!("/jobs");
    profile["key"] = json!({ "header": "a b", "quoted": 1, "lengthMin": 0, "canonicalBody": 2 });
    profile["settlement"] = json!({ "readsMax": 0 });
    profile["facts"] = json!({ "id": [], "statuss": ["/status"] });
    profile.as_object_mut().unwrap().remove("states");
    assert_eq!(
        faults(&profile.to_string()),
        [
            "/name",
            "/key/header",
            "/key/lengthMin",
            "/key/quoted",
            "/key/canonicalBody",
            "/calls/poll/path",
            "/states",
            "/facts/statuss",
            "/facts/status",
            "/facts/id",
            "/settlement/finalStates",
            "/settlement/readsMax",
        ]
    );
}

#[test]
fn members_that_must_be_there_are_missed() {
    for place in [
        "/profile",
        "/name",
        "/calls",
        "/facts",
        "/states",
        "/calls/submit",
        "/calls/poll/path",
        "/calls/submit/method",
        "/calls/submit/path",
        "/facts/id",
        "/facts/status",
    ] {
        let mut profile = least();
        let (outer, name) = place.rsplit_once('/').unwrap();
        profile.pointer_mut(outer).unwrap().as_object_mut().unwrap().remove(name);
        assert_eq!(faults(&profile.to_string()), [place]);
    }
}

#[test]
fn members_of_other_names_are_refused_everywhere() {
    for place in ["/pol", "/key/head", "/calls/stop", "/calls/submit/url", "/facts/ID"] {
        assert_eq!(faults_with(place, json!({})).first().map(String::as_str), Some(place));
    }
    let found = faults_with("/meanings", json!([{ "code": "A", "means": "expired", "of": 1 }]));
    assert_eq!(found, ["/meanings/0/of"]);
    let found = faults_with("/poll", json!({ "first": 1_000 }));
    assert_eq!(found, ["/poll/first"]);
}

#[test]
fn a_path_stays_below_the_base_url() {
    for path in [
        "",
        "jobs/{id}",
        "//evil.example/{id}",
        "https://evil.example/{id}",
        "/a/../{id}",
        "/./{id}",
        "/%2E%2e/{id}",
        "/a/.%2e/{id}",
        "/jobs/{id}#x",
        "/jobs\\{id}",
        "/a b/{id}",
        "/{id}/{name}",
        "/jobs",
        "/{id}\n",
        "/ä/{id}",
    ] {
        let found = faults_with("/calls/poll/path", json!(path));
        assert!(found.iter().any(|at| at == "/calls/poll/path"), "{path}");
    }
    for path in [
        "/{id}",
        "/jobs/{id}?x=1",
        "/jobs?of={+id}",
        "/a..b/{id}/...",
        "/v1.0/jobs:get/{id}/result",
        "/a%20b/{id}",
    ] {
        assert_eq!(faults_with("/calls/poll/path", json!(path)), [""; 0], "{path}");
    }
    assert_eq!(faults_with("/calls/submit/path", json!("/jobs/{id}")), ["/calls/submit/path"]);
}

#[test]
fn each_value_has_its_bounds() {
    for (place, value) in [
        ("/profile", json!(2)),
        ("/name", json!("a/b")),
        ("/name", json!("n".repeat(65))),
        ("/key/header", json!("")),
        ("/key/header", json!("a:b")),
        ("/key/lengthMax", json!(256)),
        ("/key/punctuation", json!("- ")),
        ("/key/retentionMs", json!(0)),
        ("/key/retentionMs", json!(null)),
        ("/calls/submit/method", json!("GET")),
        ("/calls/submit/resultOn", json!([])),
        ("/calls/poll/resultOn", json!([200])),
        ("/calls/submit/method", json!("POST /")),
        ("/calls/poll/timeoutMs", json!(300_001)),
        ("/facts/id", json!("/id")),
        ("/states/done", json!("finished")),
        ("/notFoundGraceMs", json!(-1)),
        ("/notReadyMax", json!(0)),
        ("/retentionMs", json!(1.5)),
        ("/meanings", json!({})),
        ("/settlement", json!(true)),
    ] {
        let found = faults_with(place, value.clone());
        assert_eq!(found.first().map(String::as_str), Some(place), "{value}");
    }
    for (place, value, at) in [
        ("/key/lengthMin", json!(37), "/key"),
        ("/key/lengthMax", json!(35), "/key"),
        ("/key/punctuation", json!("_"), "/key"),
        ("/states", json!({ "on": "active" }), "/states"),
        ("/facts/code", json!(["/a", "b"]), "/facts/code/1"),
        ("/facts/code", json!(["header:"]), "/facts/code/0"),
        ("/facts/code", json!(["/~2"]), "/facts/code/0"),
        ("/meanings", json!([{ "means": "expired" }]), "/meanings/0"),
        ("/meanings", json!([{ "code": "A", "means": "bad" }]), "/meanings/0/means"),
        ("/meanings", json!([{ "status": 600, "means": "expired" }]), "/meanings/0/status"),
        (
            "/meanings",
            json!([{ "on": ["pol"], "code": "A", "means": "expired" }]),
            "/meanings/0/on/0",
        ),
        ("/poll", json!({ "firstMs": 2_000, "capMs": 1_000 }), "/poll"),
        ("/poll", json!({ "firstMs": 0 }), "/poll/firstMs"),
        ("/settlement", json!({ "finalStates": [], "readsMax": 1 }), "/settlement/finalStates"),
    ] {
        let found = faults_with(place, value.clone());
        assert_eq!(found.first().map(String::as_str), Some(at), "{value}");
    }
}

#[test]
fn the_answers_that_are_the_result_are_named_or_all_that_succeed_where_there_is_no_poll() {
    let answers = |profile: &Value| {
        let profile = read(&profile.to_string()).unwrap();
        [200, 201, 202, 404].map(|status| profile.answers_with_result(status))
    };
    let mut profile = least();
    assert_eq!(answers(&profile), [false; 4]);
    profile["calls"]["submit"]["resultOn"] = json!([201]);
    assert_eq!(answers(&profile), [false, true, false, false]);
    let mut profile = least();
    profile["calls"].as_object_mut().unwrap().remove("poll");
    assert_eq!(answers(&profile), [true, true, false, false]);
}

#[test]
fn a_factor_is_exact_in_tenths() {
    let factor = |text: &str| {
        let pace = r#""profile":1,"poll":{"factor":"#.to_owned() + text + "}";
        read(&least().to_string().replacen(r#""profile":1"#, &pace, 1))
            .map(|profile| profile.poll.factor_tenths)
    };
    assert_eq!(
        [factor("1"), factor("1.6"), factor("2.0"), factor("10")],
        [Ok(10), Ok(16), Ok(20), Ok(100)]
    );
    for text in ["0.9", "10.1", "1.05", "1.55", "1e1", "-2", "\"2\"", "429496731"] {
        assert!(factor(text).is_err(), "{text}");
    }
}

#[test]
fn status_words_keep_every_character() {
    let profile =
        least().to_string().replacen(r#""done""#, r#""n/a":"active","~1":"failed","done""#, 1);
    let states = read(&profile).unwrap().states;
    assert!(states.contains(&("n/a".into(), JobState::Active)));
    assert!(states.contains(&("~1".into(), JobState::Failed)));
}

#[test]
fn text_that_is_too_long_too_deep_or_no_json_is_refused() {
    let padded = " ".repeat(TEXT_BYTES_MAX - least().to_string().len()) + &least().to_string();
    assert!(read(&padded).is_ok());
    assert_eq!(faults(&(padded + " ")), [""]);
    assert_eq!(faults("{"), [""]);
    assert_eq!(faults(&("[".repeat(17) + &"]".repeat(17))), [""]);
}

#[test]
fn a_listing_is_told_apart_by_an_echo_or_by_values() {
    let with = |reconcile: Value| {
        let mut profile = least();
        profile.as_object_mut().unwrap().remove("key");
        profile["calls"]["list"] = json!({ "method": "GET", "path": "/jobs?page={page}" });
        profile["reconcile"] = reconcile;
        read(&profile.to_string()).map(|profile| profile.reconcile.unwrap())
    };
    let least = json!({ "items": "", "id": "/id", "createdAt": "/at",
        "echo": "/meta/ref", "sendEcho": "/meta/ref" });
    let rule = with(least.clone()).unwrap();
    assert_eq!((rule.lag_ms, rule.skew_ms, rule.pages_max), (60_000, 60_000, 10));
    assert_eq!(rule.mark, Mark::Echo { sent: "/meta/ref".into(), listed: "/meta/ref".into() });
    let same = json!({ "items": "/runs", "id": "/id", "createdAt": "/at",
        "same": { "/url": "/target" }, "next": "/next", "lagMs": 0, "pagesMax": 2 });
    let rule = with(same).unwrap();
    assert_eq!(rule.mark, Mark::Same(vec![("/url".into(), "/target".into())]));
    assert_eq!((rule.lag_ms, rule.pages_max, rule.next.as_deref()), (0, 2, Some("/next")));

    let places = |change: &dyn Fn(&mut Value)| {
        let mut reconcile = least.clone();
        change(&mut reconcile);
        let faults = with(reconcile).err().unwrap_or_default();
        faults.into_iter().map(|fault| fault.pointer).collect::<Vec<_>>()
    };
    assert_eq!(places(&|own| own["sendEcho"] = json!("")), ["/reconcile/sendEcho"]);
    assert_eq!(places(&|own| own["same"] = json!({ "/a": "/b" })), ["/reconcile"]);
    assert_eq!(
        places(&|own| drop(own.as_object_mut().unwrap().remove("sendEcho"))),
        ["/reconcile"]
    );
    assert_eq!(places(&|own| own["items"] = json!("runs")), ["/reconcile/items"]);
    assert_eq!(places(&|own| own["pagesMax"] = json!(101)), ["/reconcile/pagesMax"]);
    assert_eq!(places(&|own| own["pages"] = json!(1)), ["/reconcile/pages"]);
}

#[test]
fn a_listing_needs_a_call_that_reads_it() {
    let rule = json!({ "items": "/a", "id": "/id", "createdAt": "/at", "same": { "/u": "/u" } });
    assert_eq!(faults_with("/reconcile", rule.clone()), ["/reconcile"]);
    let mut profile = least();
    profile["reconcile"] = rule;
    profile["reconcile"]["next"] = json!("/next");
    for (call, place) in [
        (json!({ "method": "POST", "path": "/jobs?p={page}" }), "/calls/list/method"),
        (json!({ "method": "GET", "path": "/jobs/{id}?p={page}" }), "/calls/list/path"),
        (json!({ "method": "GET", "path": "/jobs" }), "/reconcile/next"),
    ] {
        profile["calls"]["list"] = call;
        assert_eq!(faults(&profile.to_string()), [place]);
    }
}

#[test]
fn a_rerun_without_a_body_has_no_key_in_it() {
    let mut profile = least();
    profile["calls"]["retry"] = json!({ "method": "POST", "path": "/jobs/{id}/retry" });
    for (key, wrong) in [("header", false), ("query", false), ("field", true)] {
        profile["key"] = json!({ key: if wrong { "/key" } else { "key" } });
        let places = faults(&profile.to_string());
        assert_eq!(places.contains(&"/calls/retry".into()), wrong, "{key}: {places:?}");
    }
}

#[test]
fn only_a_listing_has_pages() {
    assert_eq!(faults_with("/calls/poll/path", json!("/jobs/{id}?p={page}")), ["/calls/poll/path"]);
}
