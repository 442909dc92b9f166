//! The support report tells what happened, and no secret, wherever one was planted.

use crate::world::{SECRET, World};
use serde_json::{Value, json};

/// Planted in bodies, queries, messages, codes, words and ids of the service. No single word: what a
/// signed address or a sentence is.
const PLANTED: &str = "https://files.example.com/x?sig=hunter2";

fn told(faults: &str, options: &str, intent: &str) -> (World, Value) {
    let world = World::with_faults(faults);
    let context = world.open();
    let rested = world.live(&context, intent, options);
    let report = world.support_report(&context, &rested.identity.id);
    (world, report)
}

fn keys(value: &Value) -> Vec<&str> {
    value.as_object().expect("an object").keys().map(String::as_str).collect()
}

#[test]
fn it_tells_how_it_went() {
    let (world, report) =
        told(r#"[{"call":"submit","fault":"lose_after"}]"#, r#","outcome":"failed""#, "daily:1");
    let operation = world.stored("daily:1").expect("it is stored");
    assert_eq!(report["service"], "reports");
    assert_eq!(report["intent"], "daily:1");
    assert_eq!(report["operationId"], operation.identity.id.as_str());
    assert_eq!(report["jobId"], operation.life.job().expect("a job").as_str());
    assert_eq!(report["path"], "/api/v1/data/requests");
    assert_eq!((&report["attempts"], &report["retries"]), (&json!(2), &json!(1)));
    assert_eq!(report["outcome"], "failed");
    assert_eq!(report["lastError"]["code"], "UPSTREAM_TIMEOUT");
    assert_eq!(report["ledger"]["refund"], "5");
    assert_eq!(report["ledger"]["cost"], "0");
    assert_eq!(report["holdfast"], env!("CARGO_PKG_VERSION"));
    let transitions = report["transitions"].as_array().expect("a list");
    let events: Vec<_> = transitions.iter().filter_map(|own| own["event"].as_str()).collect();
    for event in ["submitted", "submit.written", "submit.lost", "accepted", "failed"] {
        assert!(events.contains(&event), "{event} in {events:?}");
    }
    assert!(transitions.iter().any(|own| own["waitMs"].is_u64() && own["reason"].is_string()));
}

#[test]
fn it_has_the_members_that_are_allowed_and_no_other() {
    const ALLOWED: &str = "attempts createdAt endedAt holdfast intent jobId key lastError ledger method \
         operationId ordinal outcome parentId parkedFor parkedSince path polls profile \
         profileDigest recordFormat requestId retries service serviceStatus status traceId \
         transitions waitingFor waitingUntil";
    const OF_AN_ERROR: &str = "class code httpStatus traceId";
    const OF_A_LEDGER: &str = "adjustment base charged cost lineageCost quoted reads refund released \
         possiblyDuplicated reserved tokenState";
    const OF_A_LINE: &str = "at code cost count event httpStatus purpose reason state waitMs";
    for (faults, options) in [
        ("[]", ""),
        ("[]", r#","outcome":"failed""#),
        ("[]", r#","url":7"#),
        (r#"[{"call":"submit","fault":"status","status":302}]"#, ""),
        (r#"[{"call":"poll","fault":"rate_limited"},{"call":"result","fault":"html"}]"#, ""),
    ] {
        let (_, report) = told(faults, options, "daily");
        let all_of = |value: &Value, allowed: &str| {
            for key in keys(value) {
                assert!(allowed.split(' ').any(|own| own == key), "{key}");
            }
        };
        all_of(&report, ALLOWED);
        all_of(&report["ledger"], OF_A_LEDGER);
        if report["lastError"].is_object() {
            all_of(&report["lastError"], OF_AN_ERROR);
        }
        for line in report["transitions"].as_array().expect("a list") {
            all_of(line, OF_A_LINE);
        }
    }
}

#[test]
fn no_secret_is_told_wherever_it_was_planted() {
    let error = json!({"error": {"code": PLANTED, "message": PLANTED, "trace_id": PLANTED},
        "status": PLANTED, "id": PLANTED, "request_id": PLANTED, "progress": PLANTED})
    .to_string();
    let body = serde_json::to_string(&error).expect("a text");
    let planted = format!(r#","password":"hunter2","note":"{PLANTED}""#);
    for (call, status) in
        [("submit", 422), ("submit", 503), ("submit", 202), ("poll", 200), ("poll", 403)]
    {
        let faults = format!(
            r#"[{{"call":"{call}","fault":"status","status":{status},"times":3,"body":{body}}}]"#
        );
        let (world, report) = told(&faults, &planted, "daily");
        let id = world.stored("daily").expect("it is stored").identity.id;
        let journal = world.journal(&world.open(), &id).join("\n");
        assert!(!journal.contains("hunter2") && !journal.contains("sig="), "{call}: {journal}");
        let text = report.to_string();
        for secret in ["hunter2", "sig=", SECRET, "password", "Bearer"] {
            assert!(!text.contains(secret), "{call} {status}: {secret} in {text}");
        }
        assert!(text.contains("[withheld]"), "{call} {status}: it was there to be found: {text}");
    }
}

#[test]
fn an_intent_that_is_an_address_is_not_told() {
    let (_, report) = told("[]", "", PLANTED);
    assert_eq!(report["intent"], "[withheld]");
}
