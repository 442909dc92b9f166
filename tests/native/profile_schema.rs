//! The JSON Schema of profiles says what their reader says.

use std::collections::BTreeSet;

use holdfast::model::ending::FailureClass;
use holdfast::model::money::ReceiptKind;
use holdfast::model::profile::{JobState, Meaning, Purpose};
use holdfast::rules::profile;
use serde_json::{Value, json};

const SCHEMA: &str = include_str!("../../pkg-template/profile.schema.json");

fn schema() -> Value {
    serde_json::from_str(SCHEMA).expect("a schema")
}

/// A profile in which every object is there that may be.
fn full() -> Value {
    let call = json!({ "method": "POST", "path": "/jobs/{id}" });
    json!({
        "profile": 1,
        "name": "own",
        "key": { "header": "Idempotency-Key" },
        "calls": {
            "submit": {
                "method": "POST", "path": "/jobs", "resultOn": [200], "stream": { "form": "sse" },
            },
            "poll": call,
            "result": { "method": "GET", "path": "/jobs/{id}/result", "stream": { "form": "sse" } },
            "cancel": call, "retry": call, "delete": call,
            "list": { "method": "GET", "path": "/jobs?page={page}" },
            "quote": { "method": "POST", "path": "/price" },
            "diagnose": { "method": "GET", "path": "/health" },
        },
        "facts": { "id": ["/id"], "status": ["/status"], "quoted": ["/price"] },
        "states": { "done": "completed" },
        "meanings": [{ "code": "A", "means": "failed", "class": "input" }],
        "echoes": { "/version": "/version" },
        "poll": { "firstMs": 1000 },
        "retry": { "firstMs": 1000 },
        "rate": { "requests": 5, "perMs": 1000 },
        "pages": { "items": "/items", "query": "page" },
        "settlement": { "finalStates": ["final"], "readsMax": 3 },
        "reconcile": {
            "items": "/jobs", "id": "/id", "createdAt": "/at", "same": { "/url": "/url" },
        },
    })
}

/// The members that the reader knows at a place: it lists them when it meets another.
fn read_members(place: &str) -> BTreeSet<String> {
    let mut profile = full();
    let object = profile.pointer_mut(place).and_then(Value::as_object_mut).expect("an object");
    object.insert("no such".into(), json!(1));
    let faults = profile::read(&profile.to_string()).expect_err("an unknown member");
    // What does not go together is no matter here.
    let (_, names) =
        faults.iter().find_map(|own| own.message.split_once("there is ")).expect("a fault");
    let (_, names) = names.split_once("there is ").expect("a list");
    names.split(", ").map(str::to_owned).collect()
}

fn schema_members(place: &str) -> BTreeSet<String> {
    let schema = schema();
    let object = schema.pointer(place).and_then(Value::as_object);
    object.unwrap_or_else(|| panic!("nothing at {place}")).keys().cloned().collect()
}

#[test]
fn both_know_the_same_members() {
    let calls = "/properties/calls/properties";
    for (place, own) in [
        ("", "/properties".to_owned()),
        ("/key", "/properties/key/properties".into()),
        ("/calls", calls.into()),
        ("/calls/submit", [calls, "/submit/properties"].concat()),
        ("/calls/submit/stream", "/$defs/stream/properties".into()),
        ("/calls/result", [calls, "/result/properties"].concat()),
        ("/calls/poll", [calls, "/poll/properties"].concat()),
        ("/calls/quote", [calls, "/quote/properties"].concat()),
        ("/calls/diagnose", [calls, "/diagnose/properties"].concat()),
        ("/calls/list", [calls, "/list/properties"].concat()),
        ("/facts", "/properties/facts/properties".into()),
        ("/meanings/0", "/properties/meanings/items/properties".into()),
        ("/poll", "/$defs/pace/properties".into()),
        ("/rate", "/properties/rate/properties".into()),
        ("/pages", "/properties/pages/properties".into()),
        ("/settlement", "/properties/settlement/properties".into()),
        ("/reconcile", "/properties/reconcile/properties".into()),
    ] {
        assert_eq!(schema_members(&own), read_members(place), "{place}");
    }
}

#[test]
fn both_know_the_same_words() {
    let words = |place: &str| -> Vec<String> {
        let schema = schema();
        let list = schema.pointer(place).and_then(Value::as_array).expect("a list").clone();
        list.iter().map(|own| own.as_str().expect("a word").to_owned()).collect()
    };
    let line = "/properties/meanings/items/properties";
    let sorted = |mut list: Vec<String>| {
        list.sort();
        list
    };
    let own = |names: Vec<&str>| sorted(names.into_iter().map(str::to_owned).collect());
    assert_eq!(
        sorted(words(&[line, "/means/enum"].concat())),
        own(Meaning::ALL.iter().map(|own| own.name()).collect())
    );
    assert_eq!(
        sorted(words(&[line, "/class/enum"].concat())),
        own(FailureClass::ALL.iter().map(|own| own.name()).collect())
    );
    assert_eq!(
        sorted(words(&[line, "/on/items/enum"].concat())),
        own(Purpose::ALL.iter().map(|own| own.name()).collect())
    );
    assert_eq!(
        sorted(words("/properties/chargeReceipt/enum")),
        own(ReceiptKind::ALL.iter().map(|own| own.name()).collect())
    );
    assert_eq!(
        sorted(words("/properties/states/additionalProperties/enum")),
        own(JobState::ALL.iter().map(|own| own.name()).collect())
    );
}

/// Every member of the schema says what it is.
fn told(schema: &Value, place: &str) {
    let Some(members) = schema.get("properties").and_then(Value::as_object) else {
        return;
    };
    for (name, member) in members {
        let place = [place, "/", name].concat();
        assert!(member.get("description").is_some_and(Value::is_string), "{place}");
        told(member, &place);
    }
}

#[test]
fn every_member_is_described() {
    told(&schema(), "");
}
