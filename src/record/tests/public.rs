use proptest::prelude::*;
use serde_json::{Value, json};

use super::arbitrary::{any_operation, usual};
use crate::engine::output::Line;
use crate::model::ending::{Ending, FailureClass, ResultRef};
use crate::model::hold::{Hold, ParkReason, WaitReason};
use crate::model::journal::Entry;
use crate::model::life::{Delivery, Settlement};
use crate::model::money::Credits;
use crate::model::operation::Operation;
use crate::model::profile::Purpose;
use crate::model::time::{Timestamp, Wait};
use crate::record::journal::encode_line;
use crate::record::view::view;
use crate::rules::exits::exits;
use crate::rules::status::Status;

/// The public types.
const TYPES: &str = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/pkg-template/index.d.ts"));

fn seen(operation: &Operation) -> Value {
    serde_json::from_str(&view(operation)).unwrap()
}

/// What a public interface declares.
fn interface(name: &str) -> &'static str {
    let from = TYPES.split_once(&format!("export interface {name} ")).unwrap().1;
    from.split_once("\n}").unwrap().0
}

fn declared(value: &Value, within: &str) {
    for name in value.as_object().unwrap().keys() {
        assert!(
            within.contains(&format!("readonly {name}:"))
                || within.contains(&format!("readonly {name}?:")),
            "{name} is not in the public types"
        );
    }
}

proptest! {
    #[test]
    fn what_is_seen_is_what_the_public_types_declare(operation in any_operation()) {
        let seen = seen(&operation);
        let state = interface("OperationState");
        declared(&seen, state);
        declared(&seen["ledger"], interface("Ledger"));
        declared(&seen["receipt"], interface("Receipt"));
        for name in ["waiting", "parked", "result"] {
            if let Some(inner) = seen.get(name) {
                declared(inner, state);
            }
        }
        let fault = interface("Fault");
        if let Some(inner) = seen.get("fault") {
            declared(inner, fault);
        }
        if let Some(inner) = seen.get("failure") {
            declared(inner, &[fault, interface("Failure extends Fault")].concat());
        }
    }

    #[test]
    fn what_must_be_seen_always_is(operation in any_operation()) {
        let seen = seen(&operation);
        for line in interface("OperationState").lines() {
            let Some(name) = line.strip_prefix("  readonly ").and_then(|line| line.split_once(':'))
            else {
                continue;
            };
            prop_assert!(name.0.ends_with('?') || !seen[name.0].is_null(), "{}", name.0);
        }
    }

    #[test]
    fn what_is_over_is_neither_parked_nor_being_cancelled(operation in any_operation()) {
        let seen = seen(&operation);
        let ended = operation.life.is_ended();
        prop_assert_eq!(seen.get("endedAt").is_some(), ended);
        prop_assert_eq!(seen.get("parked").is_some(), seen["status"] == "parked");
        prop_assert!(!ended || (seen.get("parked").is_none() && seen["cancelling"] == false));
    }
}

#[test]
fn an_active_operation_says_what_it_waits_for() {
    let seen = seen(&usual());
    assert_eq!(
        seen,
        json!({
            "id": "0199f4a2-5d1e-7c3a-9b4d-2f6e8a1c0d3b",
            "service": "reports",
            "intent": "daily:2026-11-29",
            "origin": "https://api.example.com",
            "ordinal": 0,
            "status": "active",
            "serviceStatus": "running",
            "waiting": { "reason": "poll", "until": 1_790_000_002_000_u64 },
            "cancelling": false,
            "createdAt": 1_790_000_000_000_u64,
            "key": "7b0d3c55-5a0e-4f1c-8f6e-1d2c3b4a5968",
            "jobId": "req_01JF8Z4S9T6Q2W8E5R7Y",
            "attempts": 1,
            "polls": 3,
            "ledger": {
                "base": "2.5", "charged": "2.5", "cost": "2.5", "lineageCost": "2.5",
                "open": false, "possiblyDuplicated": false,
            },
            "receipt": {
                "operationId": "0199f4a2-5d1e-7c3a-9b4d-2f6e8a1c0d3b",
                "key": "7b0d3c55-5a0e-4f1c-8f6e-1d2c3b4a5968",
                "jobId": "req_01JF8Z4S9T6Q2W8E5R7Y",
            },
            "delivered": false,
            "acknowledged": false,
            "revision": 7,
        })
    );
}

#[test]
fn a_parked_operation_says_why_and_what_leads_on() {
    let mut operation = usual();
    operation.life.park(Timestamp(5), ParkReason::NeedsAccess).unwrap();
    let seen = seen(&operation);
    assert_eq!(seen["status"], "parked");
    assert_eq!(
        seen["parked"],
        json!({ "reason": "NeedsAccess", "since": 5, "exits": exits(&operation) })
    );
    assert!(exits(&operation).contains(&"resume()"));
}

#[test]
fn billing_that_is_still_open_shows_after_the_ending() {
    let mut operation = usual();
    operation.life.want_cancel(Timestamp(4)).unwrap();
    assert_eq!(seen(&operation)["cancelling"], true);
    operation.life.end(Timestamp(5), Ending::Cancelled).unwrap();
    let wait = Wait::new(Timestamp(5), 10);
    let hold = Hold::Until { wait, reason: WaitReason::Settlement };
    operation.life.settle(Some(Settlement { hold, reads: 1 })).unwrap();
    let seen = seen(&operation);
    assert_eq!(seen["status"], "cancelled");
    assert_eq!(seen["ledger"]["open"], true);
    assert_eq!(seen["waiting"], json!({ "reason": "settlement", "until": 15 }));
}

#[test]
fn a_success_says_where_its_result_stands_and_who_has_it() {
    let mut operation = usual();
    let result = ResultRef {
        download: 2,
        chunks: 1,
        bytes: 20,
        sha256: "00".into(),
        media_type: Some("application/json".into()),
        at: None,
        stream: None,
        items: None,
        earlier: Vec::new(),
        captured_at: Timestamp(6),
    };
    operation.life.completed(None, false).unwrap();
    operation.life.end(Timestamp(7), Ending::Succeeded { result, replayed: true }).unwrap();
    let before = seen(&operation);
    assert_eq!(
        before["result"],
        json!({
            "bytes": 20, "sha256": "00", "mediaType": "application/json", "capturedAt": 6,
            "replayed": true,
        })
    );
    assert_eq!((&before["endedAt"], &before["delivered"]), (&json!(7), &json!(false)));
    operation.life.deliver(Delivery::Delivered(Timestamp(8))).unwrap();
    let delivered = seen(&operation);
    assert_eq!(
        (&delivered["delivered"], &delivered["acknowledged"]),
        (&json!(true), &json!(false))
    );
    operation.life.deliver(Delivery::Acknowledged(Timestamp(9))).unwrap();
    assert_eq!(seen(&operation)["acknowledged"], true);
}

#[test]
fn every_public_name_is_in_the_public_types() {
    let names = Status::ALL.iter().map(|own| own.name());
    let names = names.chain(WaitReason::ALL.iter().map(|own| own.name()));
    let names = names.chain(ParkReason::ALL.iter().map(|own| own.name()));
    let names = names.chain(FailureClass::ALL.iter().map(|own| own.name()));
    for name in names {
        assert!(TYPES.contains(&format!("\"{name}\"")), "{name}");
    }
}

#[test]
fn a_journal_line_is_what_the_app_gets() {
    let entry = Entry {
        at: Timestamp(5),
        event: "poll.answered",
        purpose: Some(Purpose::Poll),
        status: Some(429),
        code: Some("SLOW_DOWN".into()),
        state: Some("running".into()),
        wait: Some((1_000, WaitReason::RateLimit.name())),
        cost: Credits::parse("2.5"),
    };
    let line = Line { number: 4, count: 2, entry };
    let text = encode_line(&line);
    assert_eq!(
        text,
        r#"{"at":5,"event":"poll.answered","count":2,"purpose":"poll","httpStatus":429,"code":"SLOW_DOWN","state":"running","waitMs":1000,"reason":"rateLimit","cost":"2.5"}"#
    );
    declared(&serde_json::from_str(&text).unwrap(), interface("JournalEntry"));
    let entry = Entry {
        purpose: None,
        status: None,
        code: None,
        state: None,
        wait: None,
        cost: None,
        ..line.entry
    };
    assert_eq!(
        encode_line(&Line { number: 1, count: 1, entry }),
        r#"{"at":5,"event":"poll.answered","count":1}"#
    );
}
