//! Hostile and broken services and profiles: whatever they say, requests stay few, slow and the same,
//! the credential stays at home, and what is kept stays small.
#![allow(clippy::unwrap_in_result, reason = "helpers of tests")]

mod answers;

use std::sync::{Arc, Mutex};

use crate::world::{SECRET, Settings, World, submission};
use answers::{Body, Reply, any_reply};
use holdfast::driver::Submission;
use holdfast::model::policy::{Limits, OnUnknown};
use holdfast::model::profile::{KeyPlace, Profile};
use holdfast::rules::bounds::REQUEST_FLOOR_MS;
use holdfast::rules::profile;
use holdfast_services::{Call, Ledger, Loopback, Request, Response, Service};
use proptest::prelude::*;
use proptest::test_runner::Config;
use serde_json::Value;

/// The profiles that come with the package and one more, each with what its paths ask for.
pub(super) const PROFILES: &[(&str, &[(&str, &str)])] = &[
    (include_str!("../../pkg-template/profiles/runharvester.json"), &[]),
    (include_str!("../../pkg-template/profiles/replay.json"), &[]),
    (include_str!("../../pkg-template/profiles/bulkgrid.json"), &[]),
    (
        include_str!("../../pkg-template/profiles/cleanedweb.json"),
        &[("sourceId", "src_1"), ("surface", "stream")],
    ),
    (include_str!("../../pkg-template/profiles/http-async.json"), &[("path", "v1/reports")]),
    (include_str!("../../pkg-template/profiles/azure-lro.json"), AZURE),
    (include_str!("../../pkg-template/profiles/google-lro.json"), &[("path", "v1/reports")]),
    (include_str!("../../pkg-template/profiles/idempotency-key.json"), &[("path", "v1/reports")]),
    (include_str!("../../pkg-template/profiles/relay.json"), &[("service", "reports")]),
    (ANY_ORIGIN, &[]),
];

const AZURE: &[(&str, &str)] = &[("path", "v1/reports"), ("apiVersion", "2026-01-01")];

/// A service that may point at a result anywhere.
const ANY_ORIGIN: &str = r#"{
  "profile": 1,
  "name": "anywhere",
  "key": { "field": "/request_id" },
  "calls": {
    "submit": { "method": "POST", "path": "/v1/jobs" },
    "poll": { "method": "GET", "path": "/v1/jobs/{id}" },
    "result": { "method": "GET", "link": "file", "anyOrigin": true }
  },
  "facts": { "id": ["/id"], "status": ["/status"], "code": ["/error/code", "/code"] },
  "carry": { "file": ["/result", "/resultUrl", "header:Location"] },
  "states": { "running": "active", "completed": "completed", "failed": "failed" },
  "resultAnyForm": true
}"#;

/// An hour: what is not over by then parks.
const TOTAL_MS: u64 = 3_600_000;

/// Longest record, in bytes: two links of 4 KB are its largest parts.
const RECORD_BYTES_MAX: usize = 16_000;

/// Most lines of a journal.
const JOURNAL_MAX: usize = 200;

/// A service that answers whatever it is asked with the next of its replies, over and over.
struct Hostile {
    replies: Vec<Reply>,
    seen: Arc<Mutex<Vec<Exchange>>>,
    ledger: Ledger,
}

/// A request that came, when, and the status of its answer.
#[derive(Clone)]
struct Exchange {
    at: u64,
    request: Request,
    status: u16,
}

impl Service for Hostile {
    fn stage_of(&self, request: &Request) -> Call {
        if request.method == "GET" { Call::Poll } else { Call::Submit }
    }

    fn arrive(&mut self, _now_ms: u64, _request: &Request) {}

    fn handle(&mut self, now_ms: u64, request: &Request) -> Response {
        let mut seen = self.seen.lock().expect("one thread");
        let response = self.replies[seen.len() % self.replies.len()].response();
        let status = response.status;
        seen.push(Exchange { at: now_ms, request: request.clone(), status });
        response
    }

    fn told(&mut self, _request: &Request, _response: &Response) {}

    fn advance(&mut self, _now_ms: u64) {}

    fn set_clock_error(&mut self, _by_ms: i64) {}

    fn reset(&mut self) {}

    fn ledger(&self) -> &Ledger {
        &self.ledger
    }

    fn ledger_mut(&mut self) -> &mut Ledger {
        &mut self.ledger
    }
}

/// One operation's whole life at such a service, and what must hold of it; gives how many requests came.
fn lives(text: &str, params: &[(&str, &str)], replies: &[Reply]) -> Result<usize, TestCaseError> {
    let seen = Arc::new(Mutex::new(Vec::new()));
    let (replies, ledger) = (replies.to_vec(), Ledger::with_balance(0));
    let service = Hostile { replies, seen: Arc::clone(&seen), ledger };
    let params = params.iter().map(|(name, value)| ((*name).into(), (*value).into())).collect();
    let settings = Settings { params, ..Settings::default() };
    let world = World::of(settings, Loopback::new(service), text);
    let limits =
        Limits { total_ms: TOTAL_MS, on_unknown: OnUnknown::Resubmit, ..Limits::default() };
    let context = world.open_with(limits, text);
    let request = submission("daily", "");
    let driver = context.driver.clone();
    let sent = Submission { ..submission("daily", "") };
    let taken = world.call(&context, async move { driver.submit(sent).await });
    if taken.expect("an answer").is_err() {
        prop_assert!(seen.lock().expect("one thread").is_empty(), "refused, and sent");
        return Ok(0);
    }
    let rested = world.settle(&context, "daily");
    let rested = rested.expect("it comes to rest");
    prop_assert!(rested.due().is_none(), "it never comes to rest: {:?}", rested.life);
    let exchanges = seen.lock().expect("one thread").clone();
    world.pass(crate::world::DAY_MS);
    prop_assert_eq!(seen.lock().expect("one thread").len(), exchanges.len(), "sent at rest");
    let profile = profile::read(text).expect("it was taken");
    requests_are_the_same(&profile, &request.body, &exchanges)?;
    requests_are_slow(&exchanges)?;
    credential_stays_at_home(&exchanges)?;
    let record = holdfast::record::encode(&rested).len();
    prop_assert!(record <= RECORD_BYTES_MAX, "a record of {} bytes", record);
    prop_assert!(world.journal(&context, &rested.identity.id).len() <= JOURNAL_MAX);
    let stored = format!("{:?}", world.0.store.snapshot());
    prop_assert!(!stored.contains(SECRET), "the credential is stored");
    Ok(exchanges.len())
}

/// What changes state is the one submission, byte for byte, and never sent again blindly.
fn requests_are_the_same(
    profile: &Profile,
    body: &[u8],
    exchanges: &[Exchange],
) -> Result<(), TestCaseError> {
    // A profile may say that jobs are read by another method than GET; nothing is handed over then.
    let reads = [&profile.calls.poll, &profile.calls.result];
    let reads_otherwise = reads.into_iter().flatten().any(|call| call.method != "GET");
    let changes = |own: &&Exchange| {
        own.request.method != "GET" && !(reads_otherwise && own.request.body.is_empty())
    };
    let writes: Vec<_> = exchanges.iter().filter(changes).collect();
    prop_assert!(writes.len() <= Limits::default().attempts as usize, "{} sent", writes.len());
    let Some(first) = writes.first() else { return Ok(()) };
    let key = |own: &Exchange| match profile.key.as_ref().map(|key| &key.place) {
        Some(KeyPlace::Header(name)) => own.request.header(name).map(str::to_owned),
        Some(KeyPlace::Field(_) | KeyPlace::Query(_)) | None => None,
    };
    let in_header = matches!(profile.key.as_ref().map(|key| &key.place), Some(KeyPlace::Header(_)));
    prop_assert_eq!(key(first).is_some(), in_header, "the key is on its way");
    if in_header && profile.reconcile.is_none() {
        prop_assert_eq!(&first.request.body, body);
    }
    for pair in writes.windows(2) {
        let (one, next) = (&pair[0], &pair[1]);
        prop_assert_eq!(&one.request.path, &next.request.path, "another address");
        prop_assert_eq!(&one.request.body, &next.request.body, "another body");
        prop_assert_eq!(key(one), key(next), "another key");
        let refused = (400..500).contains(&one.status) && ![408, 409, 425].contains(&one.status);
        // The app has asked for it by name, where the service lists what it has and does not have this.
        let listed = profile.reconcile.is_some()
            && exchanges.iter().any(|own| {
                let between = one.at < own.at && own.at < next.at;
                between && own.request.method == "GET" && own.status == 200
            });
        prop_assert!(profile.key.is_some() || refused || listed, "sent again after {}", one.status);
    }
    Ok(())
}

fn requests_are_slow(exchanges: &[Exchange]) -> Result<(), TestCaseError> {
    for pair in exchanges.windows(2) {
        let apart = pair[1].at - pair[0].at;
        prop_assert!(apart >= REQUEST_FLOOR_MS, "{} ms apart", apart);
    }
    Ok(())
}

fn credential_stays_at_home(exchanges: &[Exchange]) -> Result<(), TestCaseError> {
    for Exchange { request, .. } in exchanges {
        // The world cuts the service's own origin off; what goes elsewhere keeps its own.
        let at_home = request.path.starts_with('/') && !request.path.starts_with("//");
        let bears = request.headers.iter().any(|(_, value)| value.contains(SECRET));
        prop_assert!(!bears || at_home, "the credential went to {}", request.path);
        prop_assert!(!request.path.contains(SECRET), "the credential is in an address");
        prop_assert!(at_home || request.method == "GET", "work was sent to {}", request.path);
    }
    Ok(())
}

/// A profile with some of its values replaced by others.
fn any_profile() -> impl Strategy<Value = (usize, String)> {
    let values = [
        "null",
        "true",
        "0",
        "-1",
        "1e400",
        "0.5",
        "18446744073709551616",
        "34560000000",
        "250",
        r#""""#,
        r#""/""#,
        r#""/id""#,
        r#""{id}""#,
        r#""header:Location""#,
        r#""GET""#,
        r#""POST""#,
        r#""active""#,
        r#""completed""#,
        r#""failed""#,
        r#""transient""#,
        r#""notReady""#,
        r#""inProgress""#,
        r#""https://elsewhere.example/{id}""#,
        "[]",
        "{}",
    ];
    let change = (any::<prop::sample::Index>(), prop::sample::select(values.to_vec()));
    let changes = prop::collection::vec(change, 1..4);
    (0..PROFILES.len(), changes).prop_map(|(at, changes)| {
        let mut profile: Value = serde_json::from_str(PROFILES[at].0).expect("a profile");
        for (index, value) in changes {
            let mut leaves = Vec::new();
            leaves_of(&profile, String::new(), &mut leaves);
            let place = index.get(&leaves);
            let value = serde_json::from_str(value).unwrap_or(Value::Null);
            *profile.pointer_mut(place).expect("it is there") = value;
        }
        (at, profile.to_string())
    })
}

fn leaves_of(value: &Value, at: String, found: &mut Vec<String>) {
    match value {
        Value::Object(members) => {
            for (name, member) in members {
                let name = name.replace('~', "~0").replace('/', "~1");
                leaves_of(member, format!("{at}/{name}"), found);
            }
        }
        Value::Array(items) => {
            for (index, item) in items.iter().enumerate() {
                leaves_of(item, format!("{at}/{index}"), found);
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
    found.push(at);
}

#[test]
fn under_every_profile_there_is_a_conversation() {
    for (text, params) in PROFILES {
        let body = Body::Bytes(br#"{"id":"r_1","name":"operations/r_1","status":"running"}"#);
        let headers = ["location", "operation-location"].map(|own| (own, "/v1/r_1".to_owned()));
        let accepted = Reply { status: 202, headers: headers.to_vec(), body };
        assert!(lives(text, params, &[accepted]).expect("it holds") > 1, "{text}");
    }
}

fn cases(count: u32) -> Config {
    Config { max_shrink_iters: 200, ..Config::with_cases(count) }
}

proptest! {
    #![proptest_config(cases(160))]

    #[test]
    fn no_service_makes_requests_fast_many_different_or_follow_it_with_a_credential(
        at in 0..PROFILES.len(),
        replies in prop::collection::vec(any_reply(), 1..5),
    ) {
        lives(PROFILES[at].0, PROFILES[at].1, &replies)?;
    }

    #[test]
    fn no_profile_that_is_taken_loosens_a_bound(
        (at, text) in any_profile(),
        replies in prop::collection::vec(any_reply(), 1..4),
    ) {
        if profile::read(&text).is_ok() {
            lives(&text, PROFILES[at].1, &replies)?;
        }
    }
}

#[test]
fn what_is_missing_in_a_listing_is_sent_again_where_the_app_wants_that_and_not_without_a_listing() {
    let reply = |status, text: &'static [u8]| {
        let body = Body::Bytes(text);
        Reply { status, headers: Vec::new(), body }
    };
    let (text, params) = PROFILES[2];
    let listed = [reply(200, b"{}"), reply(200, br#"{"runs":[]}"#)];
    assert!(lives(text, params, &listed).expect("it holds") > 2);
    assert!(lives(text, params, &[reply(200, b"{}"), reply(503, b"")]).expect("it holds") > 1);
}

#[test]
fn jobs_may_be_read_by_another_method_than_get_as_often_as_it_takes() {
    for (text, params) in PROFILES {
        let mut profile: Value = serde_json::from_str(text).expect("a profile");
        let Some(method) = profile.pointer_mut("/calls/poll/method") else { continue };
        *method = "POST".into();
        let body = Body::Bytes(br#"{"id":"r_1","name":"operations/r_1","status":"running"}"#);
        let headers = ["location", "operation-location"].map(|own| (own, "/v1/r_1".to_owned()));
        let reply = Reply { status: 202, headers: headers.to_vec(), body };
        lives(&profile.to_string(), params, &[reply]).expect("it holds");
    }
}
