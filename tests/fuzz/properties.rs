//! What must hold of everything that reads the outside, whatever comes: no panic, bounds kept, the
//! same sense whichever pieces it comes in, nothing lost on the way through a record.
//!
//! Used by the fuzz targets (`cargo xtask fuzz`) and by the tests of the corpus.

use holdfast::model::answer::Answer;
use holdfast::model::dice::Dice;
use holdfast::model::facts::Facts;
use holdfast::model::http::Headers;
use holdfast::model::listing::LISTED_IDS_MAX;
use holdfast::model::pointer::Pointer;
use holdfast::model::profile::{Profile, Purpose, Stream, StreamForm};
use holdfast::model::time::Timestamp;
use holdfast::record;
use holdfast::rules::classify::classify;
use holdfast::rules::facts::{FactsLimits, FactsReader};
use holdfast::rules::guidance::{TIMER_MS_MAX, WAIT_MS_MAX, server_wait, timer_ms};
use holdfast::rules::listing::Sought;
use holdfast::rules::stream::StreamReader;
use holdfast::rules::{
    backoff, canonical, http_date, json, options, profile, reference, rfc3339, structured, template,
};

/// One reader of the outside, and what must hold of it.
pub(super) type Property = fn(&[u8]);

/// All, by the names of their targets.
pub(super) const ALL: &[(&str, Property)] = &[
    ("guidance", guidance),
    ("body", body),
    ("stream", stream),
    ("record", stored),
    ("profile", contract),
    ("options", app_options),
    ("listing", listing),
];

const NOW: Timestamp = Timestamp(1_790_000_000_000);
const BULKGRID: &str = include_str!("../../pkg-template/profiles/bulkgrid.json");

/// Header fields, one a line: waits are within their bounds, dates and lists are read or not.
pub(super) fn guidance(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    let mut headers = Headers::default();
    for line in text.lines() {
        if let Some((name, value)) = line.split_once(':') {
            headers.push(name, value.trim());
            let _ = http_date::parse(value.trim(), NOW);
            let _ = rfc3339::parse(value.trim());
            let _ = rfc3339::point_in_time(value.trim(), NOW);
            for item in structured::parse_list(value).unwrap_or_default() {
                let _ = item.parameter("q");
            }
            if let Some(quoted) = structured::serialize_string(value) {
                assert!(structured::parse_list(&quoted).is_some(), "a string that cannot be read");
            }
        }
    }
    for now in [Timestamp(0), NOW, Timestamp(u64::MAX)] {
        let Some(guidance) = server_wait(&headers, now) else { continue };
        assert!(guidance.wait_ms <= WAIT_MS_MAX, "a wait beyond its bound");
        assert!(timer_ms(guidance.wait_ms) <= TIMER_MS_MAX, "a timer beyond its bound");
        let jittered = backoff::with_server_floor(guidance.wait_ms, &mut Dice::seeded(1));
        assert!(jittered >= guidance.wait_ms, "sooner than the server allows");
        assert!(now.after(jittered) >= now, "a wait into the past");
    }
}

/// A body in JSON, or not: the same facts in whatever pieces it comes; a value survives being written.
pub(super) fn body(data: &[u8]) {
    let places = ["/id", "/error/code", "/list/0/a", "", "/data"];
    let pointers = pointers(&places);
    let facts = |cut: usize| {
        let mut reader = FactsReader::new(&pointers, FactsLimits::default());
        reader.push(&data[..cut]);
        reader.push(&data[cut..]);
        reader.finish()
    };
    let whole = facts(data.len());
    bounded(&whole, data);
    for cut in cuts(data) {
        assert_eq!(facts(cut), whole, "cut at {cut} it says something else");
    }
    if let Ok(value) = json::parse(data, json::DEPTH_MAX) {
        let text = value.to_json();
        let again = json::parse(text.as_bytes(), json::DEPTH_MAX);
        assert_eq!(again.as_ref().ok(), Some(&value), "written, it is another value");
    }
    if let Ok(once) = canonical::canonical(data) {
        let twice = canonical::canonical(&once);
        assert_eq!(twice.as_ref().ok(), Some(&once), "the canonical form has another one");
    }
}

/// A stream: the same facts and the same end in whatever pieces it comes.
pub(super) fn stream(data: &[u8]) {
    let pointers = pointers(&["/id", "/status"]);
    for form in [StreamForm::Sse, StreamForm::Ndjson] {
        let own = Stream {
            form,
            result: Some("result".into()),
            end: Some("done".into()),
            end_data: Some("[DONE]".into()),
            gather: vec![("item".into(), "items".into())],
        };
        let read = |cut: usize| {
            let mut reader = StreamReader::new(own.clone(), pointers.clone());
            reader.push(&data[..cut]);
            let _ = reader.told();
            reader.push(&data[cut..]);
            reader.finish()
        };
        let whole = read(data.len());
        bounded(&whole.0, data);
        for cut in cuts(data) {
            assert_eq!(read(cut), whole, "cut at {cut} it says something else");
        }
    }
}

/// A stored record: what can be read is written as it was, unknown members too, and can be shown.
pub(super) fn stored(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    let Ok(operation) = record::decode(&text) else { return };
    let again = record::decode(&record::encode(&operation));
    assert_eq!(again.as_ref().ok(), Some(&operation), "stored, it is another operation");
    let _ = (operation.due(), operation.delivery_due(), operation.kept_until());
    let view = record::view::view(&operation);
    assert!(json::parse(view.as_bytes(), json::DEPTH_MAX).is_ok(), "a view that is no JSON");
    let report = record::report::report(&operation, &[]);
    assert!(json::parse(report.as_bytes(), json::DEPTH_MAX).is_ok(), "a report that is no JSON");
}

/// A profile: what is taken for one can be worked with.
pub(super) fn contract(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    let Ok(profile) = profile::read(&text) else { return };
    let dice = &mut Dice::seeded(1);
    for index in [0, 1, 60, u32::MAX] {
        assert!(backoff::poll_delay(&profile.poll, index, dice) <= WAIT_MS_MAX, "too long a wait");
        assert!(
            backoff::full_jitter(&profile.retry, index, dice) >= backoff::FLOOR_MS,
            "too short"
        );
    }
    for purpose in [Purpose::Submit, Purpose::Poll, Purpose::Result, Purpose::Cancel] {
        for status in [0, 200, 202, 302, 404, 409, 429, 503] {
            let answer = Answer { status, whole: true, ..Answer::default() };
            let _ = classify(&profile, purpose, &answer, NOW);
        }
    }
}

/// What the app says: taken or refused.
pub(super) fn app_options(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    if let Ok(config) = options::config(&text) {
        assert!(config.services.iter().all(|own| !own.origin.is_empty()), "no origin");
    }
    let _ = options::submission(&text);
    let _ = options::list_filter(&text);
    if let Some(slots) = template::slots(&text) {
        let _ = (slots.len(), template::fill(&text, |_| Some("a/b?c")));
    }
}

/// A page of a listing, and the references in it.
pub(super) fn listing(data: &[u8]) {
    let rule = bulkgrid().reconcile.expect("a listing");
    for page in ["1", "4294967295", "x"] {
        let sought = Sought {
            jobs: String::new(),
            rule: rule.clone(),
            values: vec![(
                "/metadata/holdfast_id".into(),
                holdfast::model::value::Value::String("a".into()),
            )],
            left_out: vec!["/depth".into()],
            exact: page == "1",
            after: NOW,
            before: NOW.after(1_000),
            page: page.into(),
            with_body: false,
        };
        if let Some(read) = sought.read(data, NOW) {
            assert!(read.found.len() <= LISTED_IDS_MAX, "more ids than are kept");
        }
    }
    let text = String::from_utf8_lossy(data);
    for line in text.lines() {
        if let Some(url) = reference::resolve("https://api.example.com/a/b?c", line) {
            let origin = reference::origin(&url);
            assert!(
                origin.is_some_and(|own| url.starts_with(&own)),
                "a URL without an origin: {url}"
            );
            assert!(!url.contains('@') || url.find('@') > url[8..].find('/'), "credentials: {url}");
            let again = reference::resolve(&url, &url);
            assert_eq!(again.as_ref(), Some(&url), "resolved twice it is another URL");
        }
    }
}

fn bulkgrid() -> Profile {
    profile::read(BULKGRID).unwrap_or_else(|_| unreachable!("a good profile"))
}

fn pointers(places: &[&str]) -> Vec<(String, Pointer)> {
    let named = places.iter().filter_map(|own| Some(((*own).to_owned(), Pointer::parse(own)?)));
    named.collect()
}

/// Facts hold no more than what has come.
fn bounded(facts: &Facts, data: &[u8]) {
    for (name, _) in facts.values.iter() {
        // A replacement character takes three bytes in the place of one.
        assert!(facts.text(name).is_none_or(|text| text.len() <= 3 * data.len()), "more than came");
    }
}

/// Where to cut: near both ends, in the middle, and everywhere in what is short.
fn cuts(data: &[u8]) -> Vec<usize> {
    let len = data.len();
    if len <= 48 {
        return (0..len).collect();
    }
    vec![1, 2, 3, len / 3, len / 2, len - 3, len - 2, len - 1]
}
