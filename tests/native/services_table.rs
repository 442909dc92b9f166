//! Public services of asynchronous jobs, each as a profile without code, run end to end.

use std::sync::Arc;

use crate::table::{Row, Scripted, Seen, items_of};
use crate::world::{SECRET, Settings, World, park, result, standing, submission};
use holdfast::driver::Submission;
use holdfast::model::hold::ParkReason;
use holdfast::model::operation::Operation;
use holdfast_services::{Loopback, Request};
use serde_json::Value;

/// A conversation under a row's profile: the operation at its rest, and what the service saw.
fn played(
    row: &Row,
    fails: bool,
    faults: &str,
) -> (World, crate::world::Context, Operation, Vec<Request>) {
    let service = Scripted::new(row, fails);
    let seen: Seen = Arc::clone(&service.seen);
    let world = World::of(Settings::default(), Loopback::new(service), &row.profile.to_string());
    world.add_faults(faults);
    let context = world.open();
    let params = row.params.iter();
    let params = params.map(|(name, value)| (name.clone(), value.as_str().expect("text").into()));
    let request = Submission { params: params.collect(), ..submission("daily", "") };
    let driver = context.driver.clone();
    let taken = world.call(&context, async move { driver.submit(request).await });
    taken.expect("an answer").expect("it is taken on");
    let operation = world.settle(&context, "daily").expect("it comes to rest");
    let seen = seen.lock().expect("one thread").clone();
    (world, context, operation, seen)
}

fn row(text: &str) -> Row {
    let mut row: Row = serde_json::from_str(text).expect("a row");
    // A built-in profile is named, and taken from the package.
    if let Some(name) = row.profile.as_str() {
        let (_, text) = BUILT_IN.iter().find(|(own, _)| *own == name).expect("a built-in");
        row.profile = serde_json::from_str(text).expect("a profile");
    }
    row
}

const BUILT_IN: &[(&str, &str)] = &[
    ("azure-lro", include_str!("../../pkg-template/profiles/azure-lro.json")),
    ("google-lro", include_str!("../../pkg-template/profiles/google-lro.json")),
    ("http-async", include_str!("../../pkg-template/profiles/http-async.json")),
];

fn submissions<'a>(row: &Row, seen: &'a [Request]) -> Vec<&'a Request> {
    let line = |own: &&Request| [own.method.as_str(), " ", &own.path].concat();
    seen.iter().filter(|own| line(own) == row.exchanges[0].request).collect()
}

/// The key as the service sees it, at the row's place.
fn key_in(row: &Row, request: &Request) -> Option<String> {
    let (kind, name) = row.key.as_deref()?.split_once(':')?;
    match kind {
        "header" => request.header(name).map(str::to_owned),
        _ => request.parsed()[name].as_str().map(str::to_owned),
    }
}

/// Whether this is what the app gets.
fn holds(row: &Row, bytes: &[u8], at: &str) {
    match serde_json::from_slice::<Value>(bytes) {
        Ok(body) if !row.result.is_string() => {
            assert_eq!(body.pointer(at), Some(&row.result));
        }
        Ok(_) | Err(_) => {
            let text = String::from_utf8(bytes.to_vec()).expect("text");
            assert_eq!(Some(text.as_str()), row.result.as_str());
        }
    }
}

fn comes_to_its_result(text: &str) {
    let row = row(text);
    let (world, context, operation, seen) = played(&row, false, "[]");
    let lines: Vec<_> = seen.iter().map(|own| format!("{} {}", own.method, own.path)).collect();
    assert_eq!(standing(&operation), "succeeded", "{lines:#?} {:?}", operation.life);
    let expected: Vec<_> = row.exchanges.iter().map(|own| own.request.clone()).collect();
    assert_eq!(lines, expected);
    let bytes = world.kept_bytes(&context, &operation.identity.id);
    let at = result(&operation).and_then(|own| own.at.clone()).unwrap_or_default();
    if let Some(items) = result(&operation).and_then(|own| own.items.clone()) {
        assert_eq!(row.result, Value::Array(items_of(&bytes, &items)));
    } else {
        holds(&row, &bytes, &at);
    }
    for request in &seen {
        let bears = request.headers.iter().any(|(_, value)| value.contains(SECRET));
        let own = !request.path.starts_with("https://");
        assert_eq!(bears, own, "the credential goes to the service, and nowhere else");
    }
    let key = key_in(&row, &seen[0]);
    assert_eq!(key.is_some(), row.key.is_some(), "{:?}", seen[0]);
}

fn tells_its_failure(text: &str) {
    let row = row(text);
    let (_, _, operation, _) = played(&row, true, "[]");
    assert_eq!(standing(&operation), "failed", "{:?}", operation.life);
}

fn is_sent_twice_only_under_its_key(text: &str) {
    let row = row(text);
    let lost = r#"[{"call":"submit","fault":"lose_after"}]"#;
    let (_, _, operation, seen) = played(&row, false, lost);
    let sent = submissions(&row, &seen);
    if row.key.is_some() {
        assert_eq!(standing(&operation), "succeeded", "{:?}", operation.life);
        assert_eq!(sent.len(), 2);
        assert_eq!((key_in(&row, sent[0]), &sent[0].body), (key_in(&row, sent[1]), &sent[1].body));
    } else {
        assert_eq!(sent.len(), 1, "what may have run is never sent again");
        assert_eq!(park(&operation), Some(ParkReason::OutcomeUnknown));
    }
}

#[test]
fn an_acceptance_that_breaks_off_is_followed_by_the_link_that_came_before() {
    let row = row(include_str!("../profiles/http-async.json"));
    let cut = r#"[{"call":"submit","fault":"truncate"}]"#;
    let (_, _, operation, seen) = played(&row, false, cut);
    assert_eq!(standing(&operation), "succeeded", "{:?}", operation.life);
    assert_eq!(submissions(&row, &seen).len(), 1);
}

/// Such a service keeps no answer: it only says that the key has come before.
#[test]
fn a_key_that_is_only_said_to_be_used_parks_and_no_other_is_made() {
    let row = row(include_str!("../profiles/firecrawl.json"));
    let used = r#"[{"call":"submit","fault":"lose_after"},
        {"call":"submit","fault":"status","status":409,"times":100,
         "body":"{\"success\":false,\"error\":\"Idempotency key already used\"}"}]"#;
    let (_, _, operation, seen) = played(&row, false, used);
    assert_eq!(park(&operation), Some(ParkReason::OutcomeUnknown));
    let sent = submissions(&row, &seen);
    assert_eq!(sent.len(), 2);
    assert_eq!(key_in(&row, sent[0]), key_in(&row, sent[1]));
}

macro_rules! rows {
    ($($name:ident: $file:literal,)*) => {$(
        mod $name {
            const ROW: &str = include_str!(concat!("../profiles/", $file, ".json"));

            #[test]
            fn comes_to_its_result() {
                super::comes_to_its_result(ROW);
            }

            #[test]
            fn tells_its_failure() {
                super::tells_its_failure(ROW);
            }

            #[test]
            fn is_sent_twice_only_under_its_key() {
                super::is_sent_twice_only_under_its_key(ROW);
            }
        }
    )*};
}

rows! {
    apify: "apify",
    azure: "azure-lro",
    baselayer: "baselayer",
    bright_data: "bright-data",
    cf_crawl: "cf-crawl",
    fal: "fal",
    firecrawl: "firecrawl",
    google: "google-lro",
    http_async: "http-async",
    luma: "luma",
    openai_batch: "openai-batch",
    openai_responses: "openai-responses",
    oxylabs: "oxylabs",
    parallel: "parallel",
    qcrawl: "qcrawl",
    replicate: "replicate",
    runway: "runway",
    scraperapi: "scraperapi",
    scrapeless: "scrapeless",
    scrapio: "scrapio",
    shippo: "shippo-reporting",
    sync_so: "sync-so",
}
