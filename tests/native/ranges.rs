//! Results that break off and are gone on with, where the service gives parts of them.

use crate::table::{Row, Scripted};
use crate::world::{
    Context, Logged, PROFILE, Settings, World, ending, is_whole, park, result, service, standing,
    submission, succeeds_once,
};
use holdfast::model::ending::Ending;
use holdfast::model::hold::ParkReason;
use holdfast::model::operation::Operation;
use holdfast::model::policy::Limits;
use holdfast_services::{Call, Loopback};
use serde_json::{Value, json};

/// What asks for a result of several pieces.
const LONG: &str = r#","result_bytes":300000"#;

/// A service that gives parts of results.
fn ranging(faults: &Value) -> World {
    let mut profile: Value = serde_json::from_str(PROFILE).expect("JSON");
    profile["calls"]["result"]["ranges"] = json!(true);
    let world = World::of(Settings::default(), service(), &profile.to_string());
    world.add_faults(&faults.to_string());
    world
}

fn cut(times: u32) -> Value {
    json!([{ "call": "result", "fault": "truncate", "times": times }])
}

/// The parts that were asked for: where each begins.
fn asked(world: &World) -> Vec<u64> {
    let begins_at = |range: Option<String>| {
        let range = range.expect("a range");
        range.strip_prefix("bytes=")?.strip_suffix('-')?.parse().ok()
    };
    world.requests(Call::Result).into_iter().filter_map(|own| begins_at(own.range)).collect()
}

/// It has succeeded once, and what is kept is whole.
fn comes_home_whole(world: &World, context: &Context, ended: &Operation) {
    succeeds_once(world, ended);
    is_whole(world, context, ended);
}

#[test]
fn a_download_that_breaks_off_goes_on_where_it_was() {
    let world = ranging(&cut(3));
    let (context, ended) = world.lived(r#","result_bytes":3000000"#);
    comes_home_whole(&world, &context, &ended);
    let asked = asked(&world);
    let total = result(&ended).expect("a result").bytes;
    assert_eq!((asked.len(), asked[0]), (4, 0));
    // Each brought half of what was left.
    assert!(asked[1] >= total / 2 - 1 && asked.is_sorted() && asked[3] >= total * 7 / 8 - 8);
}

#[test]
fn another_context_goes_on_with_a_download_that_broke_off() {
    let world = ranging(&json!([
        { "call": "result", "fault": "truncate" },
        { "call": "result", "fault": "status", "status": 503, "retry_after": 600 },
    ]));
    let first = world.open();
    world.submit(&first, "daily", r#","result_bytes":3000000"#);
    world.until("daily", |own| own.counters.failures >= 2);
    world.kill(&first);
    let second = world.open();
    let ended = world.settle(&second, "daily").expect("it ends");
    comes_home_whole(&world, &second, &ended);
    assert!(asked(&world).last().is_some_and(|begins_at| *begins_at > 1_000_000));
}

#[test]
fn a_download_that_breaks_off_before_it_brings_a_byte_is_found_by_the_next_context() {
    let world = ranging(&cut(12));
    let first = world.open();
    // It is small: half of what is left is soon nothing.
    world.submit(&first, "daily", "");
    world.until("daily", |own| own.counters.failures >= 12);
    world.kill(&first);
    let second = world.open();
    let ended = world.settle(&second, "daily").expect("it ends");
    comes_home_whole(&world, &second, &ended);
    assert!(asked(&world).last().is_some_and(|begins_at| *begins_at > 0));
}

#[test]
fn nothing_is_put_together_of_different_bytes() {
    let world = ranging(&cut(1));
    let context = world.open();
    world.submit(&context, "daily", r#","result_bytes":1000000"#);
    world.until("daily", |own| own.counters.failures == 1);
    // Another answer than the one that broke off: it has another tag, and comes whole.
    let other = r#"{"records":[],"record_count":0}"#;
    world.add_faults(
        &json!([{ "call": "result", "fault": "status", "status": 200, "body": other }]).to_string(),
    );
    let ended = world.settle(&context, "daily").expect("it ends");
    assert_eq!(standing(&ended), "succeeded");
    assert_eq!(world.kept_bytes(&context, &ended.identity.id), other.as_bytes());
}

#[test]
fn a_part_that_does_not_go_on_from_what_has_come_begins_anew() {
    let world = ranging(&json!([
        { "call": "result", "fault": "truncate" },
        { "call": "result", "fault": "status", "status": 206, "body": "rest" },
    ]));
    let (context, ended) = world.lived(LONG);
    comes_home_whole(&world, &context, &ended);
    let asked = asked(&world);
    assert!(asked[1] > 0 && asked[2] == 0, "{asked:?}");
}

#[test]
fn where_there_is_no_such_part_it_begins_anew() {
    let world = ranging(&json!([
        { "call": "result", "fault": "truncate" },
        { "call": "result", "fault": "status", "status": 416 },
    ]));
    let (context, ended) = world.lived(LONG);
    comes_home_whole(&world, &context, &ended);
    let asked = asked(&world);
    assert!(asked.len() == 3 && asked[1] > 0 && asked[2] == 0, "{asked:?}");
}

#[test]
fn a_download_that_begins_anew_again_and_again_is_for_a_person() {
    let pair = [
        json!({ "call": "result", "fault": "truncate" }),
        json!({ "call": "result", "fault": "status", "status": 206, "body": "rest" }),
    ];
    let world = ranging(&pair.iter().cycle().take(100).cloned().collect());
    let (_, parked) = world.lived(LONG);
    assert_eq!(park(&parked), Some(ParkReason::BudgetExhausted));
    assert!(asked(&world).len() <= 20, "{:?}", asked(&world));
}

#[test]
fn a_download_that_is_served_in_large_parts_has_no_failures() {
    let world = ranging(&cut(5));
    let (context, ended) = world.lived(r#","result_bytes":4000000"#);
    comes_home_whole(&world, &context, &ended);
    let failures = world.0.log.all().into_iter().map(|logged| match logged {
        Logged::Committed { operation, .. } => operation.counters.failures,
        Logged::Sent { .. } | Logged::Told(_) => 0,
    });
    assert_eq!((failures.max(), asked(&world).len()), (Some(1), 6));
}

#[test]
fn a_download_that_the_browser_has_evicted_in_part_begins_anew() {
    let world = ranging(&json!([
        { "call": "result", "fault": "truncate" },
        { "call": "result", "fault": "status", "status": 503, "retry_after": 60 },
    ]));
    let context = world.open();
    world.submit(&context, "daily", LONG);
    world.until("daily", |own| own.counters.failures == 2);
    world.0.settings.borrow_mut().evicted = 1;
    let ended = world.settle(&context, "daily").expect("it ends");
    comes_home_whole(&world, &context, &ended);
    assert_eq!(asked(&world).last(), Some(&0));
}

#[test]
fn a_service_that_gives_no_parts_is_asked_for_none() {
    let world = World::with_faults(&cut(2).to_string());
    let (context, ended) = world.lived(LONG);
    comes_home_whole(&world, &context, &ended);
    assert!(world.requests(Call::Result).iter().all(|own| own.range.is_none()));
}

#[test]
fn a_part_that_nobody_asked_for_is_no_result() {
    let body = r#"{"records":[],"record_count":0}"#;
    let part = json!([{
        "call": "result", "fault": "status", "status": 206, "body": body, "times": 99,
    }]);
    let world = World::with_faults(&part.to_string());
    let (context, ended) = world.lived("");
    let Some(Ending::Incomplete { fault, .. }) = ending(&ended) else {
        panic!("{:?} {:?}", standing(&ended), park(&ended));
    };
    assert!(fault.message.as_deref().is_some_and(|own| own.contains("part")), "{fault:?}");
    assert_eq!(world.kept_bytes(&context, &ended.identity.id), body.as_bytes());
    assert!((2..=10).contains(&world.requests(Call::Result).len()));
}

#[test]
fn a_crash_at_any_point_of_a_download_that_breaks_off_leaves_the_whole() {
    let world = ranging(&cut(1));
    let request = submission("daily", LONG);
    let live = |world: &World, crash_at| {
        world.live_through(Limits::default(), &request, crash_at).expect("it ends")
    };
    live(&world, None);
    let points = world.0.points.get();
    assert!((10..2_000).contains(&points), "{points} points");
    for crash in 1..=points {
        let world = ranging(&cut(1));
        let context = live(&world, Some(crash));
        let ended = world.stored("daily").expect("it is stored");
        assert_eq!(standing(&ended), "succeeded", "crash at {crash} of {points}");
        comes_home_whole(&world, &context, &ended);
    }
}

/// A service whose result breaks off with a digest that is of other bytes, and how it goes on.
fn declared_with_a_part(again: &dyn Fn(&str) -> Value) -> Operation {
    let rows = |fill: &str| json!({ "rows": fill.repeat(300_000) }).to_string();
    let of_nothing = "sha-256=:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=:";
    let row = json!({
        "profile": {
            "profile": 1,
            "name": "own",
            "calls": {
                "submit": { "method": "POST", "path": "/jobs" },
                "poll": { "method": "GET", "path": "/jobs/{id}" },
                "result": { "method": "GET", "path": "/jobs/{id}/result", "ranges": true },
            },
            "facts": { "id": ["/id"], "status": ["/status"], "digest": ["header:Repr-Digest"] },
            "states": { "done": "completed" },
        },
        "exchanges": [
            { "request": "POST /jobs", "status": 202, "body": { "id": "j1" } },
            { "request": "GET /jobs/j1", "status": 200, "body": { "status": "done" } },
            {
                "request": "GET /jobs/j1/result",
                "status": 200,
                "headers": { "etag": "\"t1\"", "repr-digest": of_nothing },
                "body": rows("a"),
            },
            again(&rows("a")),
        ],
        "result": null,
    });
    let row: Row = serde_json::from_value(row).expect("a row");
    let service = Loopback::new(Scripted::new(&row, false));
    let world = World::of(Settings::default(), service, &row.profile.to_string());
    world.add_faults(r#"[{"call":"poll","fault":"truncate","skip":1}]"#);
    let (_, ended) = world.lived("");
    ended
}

#[test]
fn a_digest_that_was_declared_with_a_part_is_forgotten_where_it_begins_anew() {
    let ended = declared_with_a_part(&|_| {
        json!({
            "request": "GET /jobs/j1/result",
            "status": 200,
            "headers": { "etag": "\"t2\"" },
            "body": { "rows": "b" },
        })
    });
    assert_eq!(standing(&ended), "succeeded", "{:?}", ending(&ended));
}

#[test]
fn a_digest_that_was_declared_with_a_part_is_that_of_the_whole_it_goes_on_to() {
    let ended = declared_with_a_part(&|whole| {
        let (from, total) = (whole.len() / 2, whole.len());
        json!({
            "request": "GET /jobs/j1/result",
            "status": 206,
            "headers": {
                "etag": "\"t1\"",
                "content-range": format!("bytes {from}-{}/{total}", total - 1),
            },
            "body": whole[from..],
        })
    });
    let Some(Ending::Incomplete { fault, .. }) = ending(&ended) else {
        panic!("{:?} {:?}", standing(&ended), park(&ended));
    };
    assert!(fault.message.as_deref().is_some_and(|own| own.contains("digest")), "{fault:?}");
}
