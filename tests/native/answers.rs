//! What is read of answers: long ones and deep ones, places one after another, and what says nothing.

use std::sync::Arc;

use crate::table::{Row, Scripted, Seen};
use crate::world::{Context, Settings, World, ending, park, result, standing, submission};
use holdfast::driver::Submission;
use holdfast::model::ending::Ending;
use holdfast::model::operation::Operation;
use holdfast_services::Loopback;
use serde_json::{Value, json};

const GOOGLE: &str = include_str!("../../pkg-template/profiles/google-lro.json");
const ASYNC: &str = include_str!("../../pkg-template/profiles/http-async.json");

/// More than a mebibyte.
const LONG: usize = 1_100_000;

/// A service whose facts stand at these places; the result is a call of its own.
fn profile(facts: &Value) -> Value {
    json!({
        "profile": 1,
        "name": "own",
        "key": { "header": "Idempotency-Key" },
        "calls": {
            "submit": { "method": "POST", "path": "/v1/jobs" },
            "poll": { "method": "GET", "path": "/v1/jobs/{id}" },
            "result": { "method": "GET", "path": "/v1/jobs/{id}/rows" },
        },
        "facts": facts,
        "states": { "running": "active", "done": "completed", "failed": "failed" },
    })
}

/// The same, with the result in the answer to a poll.
fn inline() -> Value {
    let mut own = profile(&json!({ "id": ["/id"], "status": ["/status"] }));
    own["calls"].as_object_mut().expect("calls").remove("result");
    own
}

/// An answer with a body to what is asked of job `j-1`.
fn of_the_job(path: &str, body: Value) -> Value {
    json!({ "request": format!("GET /v1/jobs/j-1{path}"), "status": 200, "body": body })
}

/// A conversation under a profile: the operation at its rest, and how many requests there were.
fn lived(profile: &Value, exchanges: &Value, faults: &str) -> (World, Context, Operation, usize) {
    let row = json!({ "profile": profile, "exchanges": exchanges, "result": null });
    let row: Row = serde_json::from_value(row).expect("a row");
    let service = Scripted::new(&row, false);
    let seen: Seen = Arc::clone(&service.seen);
    let world = World::of(Settings::default(), Loopback::new(service), &profile.to_string());
    world.add_faults(faults);
    let context = world.open();
    let params = match profile.get("params") {
        Some(_) => vec![("path".into(), "v1/jobs".into())],
        None => Vec::new(),
    };
    let request = Submission { params, ..submission("daily", "") };
    let driver = context.driver.clone();
    let taken = world.call(&context, async move { driver.submit(request).await });
    taken.expect("an answer").expect("it is taken on");
    let operation = world.settle(&context, "daily").expect("it comes to rest");
    let requests = seen.lock().expect("one thread").len();
    (world, context, operation, requests)
}

/// It has succeeded with this body for its result, after one submission, one poll and one download.
fn succeeds_with(profile: &Value, exchanges: &Value, body: &Value) {
    let (world, context, ended, requests) = lived(profile, exchanges, "[]");
    let name = &profile["name"];
    assert_eq!(standing(&ended), "succeeded", "{name}: {requests} requests, {:?}", park(&ended));
    assert_eq!(requests, 3, "{name}");
    let bytes = world.kept_bytes(&context, &ended.identity.id);
    assert_eq!(serde_json::from_slice::<Value>(&bytes).expect("JSON"), *body, "{name}");
}

/// Lists in lists.
fn nested(depth: usize) -> Value {
    (0..depth).fold(json!(1), |inner, _| json!([inner]))
}

#[test]
fn a_result_in_the_answer_to_a_poll_may_be_as_long_and_as_deep_as_any() {
    for data in [json!("x".repeat(LONG)), json!(vec!["row"; LONG / 5]), nested(70)] {
        let own = json!({ "id": "j-1", "status": "done", "data": data });
        let taken = json!({ "request": "POST /v1/jobs", "status": 202, "body": { "id": "j-1" } });
        succeeds_with(&inline(), &json!([taken, of_the_job("", own.clone())]), &own);

        let google = json!({ "name": "operations/1", "done": true, "response": data });
        let exchanges = json!([
            { "request": "POST /v1/jobs", "status": 200, "body": { "name": "operations/1" } },
            { "request": "GET /v1/operations/1", "status": 200, "body": google },
        ]);
        succeeds_with(&serde_json::from_str(GOOGLE).expect("JSON"), &exchanges, &google);

        let rows = json!({ "data": data });
        let exchanges = json!([
            { "request": "POST /v1/jobs", "status": 202, "headers": { "location": "/jobs/1" } },
            {
                "request": "GET /jobs/1", "status": 200, "body": rows,
                "headers": { "content-type": "application/json" },
            },
        ]);
        succeeds_with(&serde_json::from_str(ASYNC).expect("JSON"), &exchanges, &rows);
    }
}

#[test]
fn a_long_answer_that_breaks_off_is_no_news_of_the_job() {
    let told = json!({ "id": "j-1", "status": "done", "data": "x".repeat(LONG) });
    let exchanges = json!([
        { "request": "POST /v1/jobs", "status": 202, "body": { "id": "j-1" } },
        of_the_job("", told),
    ]);
    let faults = r#"[{"call":"poll","fault":"truncate"}]"#;
    let (_, _, ended, requests) = lived(&inline(), &exchanges, faults);
    assert_eq!(standing(&ended), "succeeded", "{:?}", park(&ended));
    assert_eq!(requests, 4, "a poll more");
}

#[test]
fn a_submission_that_is_answered_at_length_is_not_sent_again() {
    let echo = json!({ "input": "x".repeat(LONG), "job": "j-1" });
    let exchanges = json!([
        { "request": "POST /v1/jobs", "status": 202, "body": echo },
        of_the_job("", json!({ "status": "done" })),
        of_the_job("/rows", json!([1, 2])),
    ]);
    let facts = json!({ "id": ["/job"], "status": ["/status"] });
    succeeds_with(&profile(&facts), &exchanges, &json!([1, 2]));
}

#[test]
fn a_sign_of_failure_that_is_empty_is_none() {
    let facts = json!({ "id": ["/id"], "status": ["/status"], "failed": ["/errors"] });
    for empty in [json!(""), json!([]), json!({}), json!(0), json!("false"), Value::Null] {
        let exchanges = json!([
            { "request": "POST /v1/jobs", "status": 202, "body": { "id": "j-1" } },
            of_the_job("", json!({ "status": "done", "errors": empty })),
            of_the_job("/rows", json!([1, 2])),
        ]);
        succeeds_with(&profile(&facts), &exchanges, &json!([1, 2]));
    }
    for sign in [json!("no"), json!(["no"]), json!({ "code": 0 }), json!(7), json!(true)] {
        let exchanges = json!([
            { "request": "POST /v1/jobs", "status": 202, "body": { "id": "j-1" } },
            of_the_job("", json!({ "status": "done", "errors": sign })),
        ]);
        let (_, _, ended, _) = lived(&profile(&facts), &exchanges, "[]");
        assert_eq!(standing(&ended), "failed", "{sign}");
    }
}

#[test]
fn of_places_in_fields_and_body_the_first_that_says_something_counts() {
    let job = json!({ "x-job": "j-1" });
    for (places, headers, body) in [
        (json!(["header:X-Job", "/id"]), &job, json!({ "id": "other" })),
        (json!(["/id", "header:X-Job"]), &json!({ "x-job": "other" }), json!({ "id": "j-1" })),
        (json!(["/id", "header:X-Job", "/job"]), &job, json!({ "job": "other" })),
        (json!(["/id", "header:X-Job", "/job"]), &json!({}), json!({ "id": null, "job": "j-1" })),
        (json!(["/id", "/data/id"]), &json!({}), json!({ "id": null, "data": { "id": "j-1" } })),
        (json!(["/id", "/data/id"]), &json!({}), json!({ "id": "", "data": { "id": "j-1" } })),
        (json!(["/id", "header:X-Job"]), &job, json!({ "id": "" })),
        (json!(["header:X-Job", "/id"]), &json!({ "x-job": "" }), json!({ "id": "j-1" })),
    ] {
        let exchanges = json!([
            { "request": "POST /v1/jobs", "status": 202, "headers": headers, "body": body },
            of_the_job("", json!({ "status": "done" })),
            of_the_job("/rows", json!([1, 2])),
        ]);
        let facts = json!({ "id": places, "status": ["/status"] });
        let (_, _, ended, requests) = lived(&profile(&facts), &exchanges, "[]");
        assert_eq!((standing(&ended), requests), ("succeeded", 3), "{places}: {headers} {body}");
    }
}

#[test]
fn a_problem_is_told_where_the_places_of_the_profile_hold_null() {
    let facts = json!({
        "id": ["/id"], "status": ["/status"], "code": ["/code"], "message": ["/message"],
    });
    let problem =
        json!({ "code": null, "message": null, "type": "urn:x", "detail": "no such page" });
    let exchanges = json!([{ "request": "POST /v1/jobs", "status": 400, "body": problem }]);
    let (_, _, ended, _) = lived(&profile(&facts), &exchanges, "[]");
    let Some(Ending::Rejected(fault)) = ending(&ended) else {
        panic!("{} {:?}", standing(&ended), park(&ended));
    };
    assert_eq!(fault.message.as_deref(), Some("no such page"));
    assert_eq!(fault.code.as_deref(), Some("urn:x"));
}

#[test]
fn a_result_may_be_null() {
    let mut own = inline();
    own["resultAt"] = json!("/data");
    let told = json!({ "id": "j-1", "status": "done", "data": null });
    let exchanges = json!([
        { "request": "POST /v1/jobs", "status": 202, "body": { "id": "j-1" } },
        of_the_job("", told),
    ]);
    let (_, _, ended, _) = lived(&own, &exchanges, "[]");
    assert_eq!(standing(&ended), "succeeded");
    assert_eq!(result(&ended).and_then(|own| own.at.as_deref()), Some("/data"));
}
