//! A result of many pages: fetched one after another, kept as they come, and whole only together.

use crate::table::{Row, Scripted, Seen, items_of};
use crate::world::{Context, SECRET, Settings, World, ending, park, result, standing, submission};
use holdfast::driver::Submission;
use holdfast::model::ending::Ending;
use holdfast::model::hold::ParkReason;
use holdfast::model::life::Stage;
use holdfast::model::operation::Operation;
use holdfast::model::policy::{Limits, OnUnknown};
use holdfast_services::{Bulkgrid, Call, Loopback, Request};
use serde_json::{Value, json};

const BULKGRID: &str = include_str!("../../pkg-template/profiles/bulkgrid.json");

/// A service whose pages are numbered, and hold up to a hundred items.
fn numbered(faults: &str) -> World {
    let world = World::of(Settings::default(), Loopback::new(Bulkgrid::default()), BULKGRID);
    world.add_faults(faults);
    world
}

fn opened(world: &World) -> Context {
    let limits = Limits { on_unknown: OnUnknown::Resubmit, ..Limits::default() };
    world.open_with(limits, &world.0.profile.clone())
}

fn submit(world: &World, context: &Context, options: &str) {
    let params = if world.0.profile == BULKGRID {
        vec![("endpoint".to_owned(), "crawl".to_owned())]
    } else {
        Vec::new()
    };
    let request = Submission { params, ..submission("daily", options) };
    let driver = context.driver.clone();
    let taken = world.call(context, async move { driver.submit(request).await });
    taken.expect("an answer").expect("it is taken on");
}

fn lived(world: &World, options: &str) -> (Context, Operation) {
    let context = opened(world);
    submit(world, &context, options);
    let operation = world.settle(&context, "daily").expect("it comes to rest");
    (context, operation)
}

/// 250 items: three pages.
const MANY: &str = r#","result_bytes":250000"#;

fn kept_items(world: &World, context: &Context, operation: &Operation) -> Vec<Value> {
    let bytes = world.kept_bytes(context, &operation.identity.id);
    let kept = result(operation).expect("something is kept");
    assert_eq!(bytes.len() as u64, kept.bytes);
    items_of(&bytes, kept.items.as_deref().expect("pages"))
}

fn fault(operation: &Operation) -> String {
    let Some(Ending::Incomplete { fault, .. }) = ending(operation) else {
        panic!("not incomplete: {:?}", operation.life);
    };
    fault.message.clone().unwrap_or_default()
}

fn pages_asked_for(world: &World) -> Vec<String> {
    let page = |path: &str| path.rsplit_once("page=").map(|(_, page)| page.to_owned());
    world.requests(Call::Result).iter().filter_map(|own| page(&own.path)).collect()
}

#[test]
fn every_page_is_fetched_once_and_their_items_are_the_result() {
    let world = numbered("[]");
    let (context, ended) = lived(&world, MANY);
    assert_eq!(standing(&ended), "succeeded", "{:?}", ended.life);
    assert_eq!(pages_asked_for(&world), ["1", "2", "3"]);
    let items = kept_items(&world, &context, &ended);
    assert_eq!(items.len(), 250);
    let distinct: std::collections::BTreeSet<_> = items.iter().map(Value::to_string).collect();
    assert_eq!(distinct.len(), 250, "no item twice, none lost");
    let asked: Vec<_> = world.requests(Call::Result).iter().map(|own| own.time_ms).collect();
    assert!(asked.windows(2).all(|pair| pair[1] - pair[0] >= 250));
}

#[test]
fn a_page_that_is_served_as_a_part_of_a_list_is_a_page() {
    let page = json!({ "total": 2, "results": [{ "n": 1 }, { "n": 2 }] }).to_string();
    let part = json!([{ "call": "result", "fault": "status", "status": 206, "body": page }]);
    let world = numbered(&part.to_string());
    let (context, ended) = lived(&world, "");
    assert_eq!(standing(&ended), "succeeded", "{:?}", ended.life);
    assert_eq!(kept_items(&world, &context, &ended).len(), 2);
}

#[test]
fn the_digest_is_that_of_all_kept_bytes() {
    let world = numbered("[]");
    let (context, ended) = lived(&world, MANY);
    let bytes = world.kept_bytes(&context, &ended.identity.id);
    let mut digest = holdfast::rules::digest::Sha256Stream::default();
    digest.update(&bytes);
    let digest = holdfast::rules::digest::hex(&digest.finish());
    assert_eq!(result(&ended).map(|own| own.sha256.clone()), Some(digest));
}

#[test]
fn a_page_that_is_lost_is_fetched_again_and_those_before_it_are_not() {
    let world = numbered(
        r#"[{"call":"result","fault":"truncate","skip":1},{"call":"result","fault":"html","skip":2}]"#,
    );
    let (context, ended) = lived(&world, MANY);
    assert_eq!(standing(&ended), "succeeded", "{:?}", ended.life);
    assert_eq!(kept_items(&world, &context, &ended).len(), 250);
    assert_eq!(pages_asked_for(&world), ["1", "2", "2", "3", "3"]);
}

#[test]
fn another_context_goes_on_with_the_page_that_is_next() {
    let world = numbered("[]");
    let first = opened(&world);
    submit(&world, &first, MANY);
    world.until("daily", |own| {
        matches!(&own.life.stage, Stage::Result { pages: Some(pages), .. } if pages.pages == 2)
    });
    world.kill(&first);
    let second = opened(&world);
    let ended = world.settle(&second, "daily").expect("it ends");
    assert_eq!(standing(&ended), "succeeded", "{:?}", ended.life);
    assert_eq!(kept_items(&world, &second, &ended).len(), 250);
    assert_eq!(pages_asked_for(&world), ["1", "2", "3"]);
}

#[test]
fn a_result_that_expires_between_its_pages_is_expired() {
    let expired = r#"{"error":{"code":"results_expired","message":"Gone."}}"#;
    let faults = json!([
        { "call": "result", "fault": "status", "status": 410, "skip": 2, "body": expired },
    ]);
    let (_, ended) = lived(&numbered(&faults.to_string()), MANY);
    assert_eq!(standing(&ended), "expired");
}

/// The answer to a cursor that the service no longer knows.
fn stale(status: u16) -> Value {
    json!({
        "request": "GET /v1/crawls/c-1/items?limit=2&cursor=c2",
        "status": status,
        "body": { "code": "CURSOR_EXPIRED" },
    })
}

#[test]
fn a_refused_cursor_is_no_failed_job_and_the_pages_are_read_anew() {
    // What is not found is asked for again first: it may be a slip.
    for (status, times) in [(400, 1), (404, 3), (422, 1)] {
        let mut exchanges = vec![page("", &[1, 2], &json!("c2"))];
        exchanges.extend(std::iter::repeat_n(stale(status), times));
        exchanges.push(page("", &[1, 2], &json!("c3")));
        exchanges.push(page("&cursor=c3", &[3], &Value::Null));
        let (world, _) = scripted(&by_cursor(), &exchanges.into());
        let (context, ended) = lived(&world, "");
        assert_eq!(standing(&ended), "succeeded", "{status}: {:?}", ended.life);
        assert_eq!(kept_items(&world, &context, &ended), [1, 2, 3]);
    }
}

#[test]
fn a_page_that_is_not_found_once_or_twice_is_asked_for_again() {
    let exchanges = json!([
        page("", &[1, 2], &json!("c2")),
        stale(404),
        stale(404),
        page("&cursor=c2", &[3], &Value::Null),
    ]);
    let (world, _) = scripted(&by_cursor(), &exchanges);
    let (context, ended) = lived(&world, "");
    assert_eq!(standing(&ended), "succeeded", "{:?}", ended.life);
    assert_eq!(kept_items(&world, &context, &ended), [1, 2, 3]);
}

#[test]
fn pages_that_are_refused_again_and_again_are_for_a_person() {
    let pair = [page("", &[1, 2], &json!("c2")), stale(422)];
    let (world, seen) =
        scripted(&by_cursor(), &pair.iter().cycle().take(200).cloned().collect::<Value>());
    let (_, parked) = lived(&world, "");
    assert_eq!(park(&parked), Some(ParkReason::BudgetExhausted), "{:?}", parked.life);
    assert!((4..=50).contains(&reads(&seen)), "{}", reads(&seen));
}

#[test]
fn the_schema_is_asked_once_for_all_pages_together() {
    let world = numbered("[]");
    world.0.settings.borrow_mut().schema_fault = Some("no title".into());
    let (context, ended) = lived(&world, MANY);
    assert_eq!(fault(&ended), "no title");
    assert_eq!(kept_items(&world, &context, &ended).len(), 250);
    assert_eq!(pages_asked_for(&world).len(), 3);
}

/// A service whose pages are read by `pages`, and a conversation with it.
fn scripted(pages: &Value, exchanges: &Value) -> (World, Seen) {
    let mut all = vec![
        json!({ "request": "POST /v1/crawls", "status": 202, "body": { "id": "c-1" } }),
        json!({ "request": "GET /v1/crawls/c-1", "status": 200, "body": { "status": "done" } }),
    ];
    all.extend(exchanges.as_array().expect("a list").clone());
    let row = json!({
        "profile": {
            "profile": 1,
            "name": "own",
            "calls": {
                "submit": { "method": "POST", "path": "/v1/crawls" },
                "poll": { "method": "GET", "path": "/v1/crawls/{id}" },
                "result": { "method": "GET", "path": "/v1/crawls/{id}/items?limit=2" },
            },
            "facts": { "id": ["/id"], "status": ["/status"] },
            "states": { "done": "completed" },
            "pages": pages,
        },
        "exchanges": all,
        "result": null,
    });
    let row: Row = serde_json::from_value(row).expect("a row");
    let service = Scripted::new(&row, false);
    let seen = Seen::clone(&service.seen);
    let profile = row.profile.to_string();
    (World::of(Settings::default(), Loopback::new(service), &profile), seen)
}

/// An answer with a page that names the next.
fn page(query: &str, items: &[u32], next: &Value) -> Value {
    json!({
        "request": format!("GET /v1/crawls/c-1/items?limit=2{query}"),
        "status": 200,
        "body": { "data": items, "next": next },
    })
}

fn read(seen: &Seen) -> Vec<Request> {
    seen.lock().expect("one thread").clone()
}

/// How many pages were asked for.
fn reads(seen: &Seen) -> usize {
    read(seen).iter().filter(|own| own.path.contains("/items")).count()
}

fn by_cursor() -> Value {
    json!({ "items": "/data", "next": "/next", "query": "cursor" })
}

fn by_link() -> Value {
    json!({ "items": "/data", "next": "/next" })
}

#[test]
fn a_cursor_asks_for_the_next_page_as_the_service_gave_it() {
    let exchanges = json!([
        page("", &[1, 2], &json!("a+b/=&c")),
        page("&cursor=a%2Bb%2F%3D%26c", &[], &json!(17)),
        page("&cursor=17", &[3], &Value::Null),
    ]);
    let (world, seen) = scripted(&by_cursor(), &exchanges);
    let (context, ended) = lived(&world, "");
    assert_eq!(standing(&ended), "succeeded", "{:?} {:?}", ended.life, read(&seen));
    assert_eq!(kept_items(&world, &context, &ended), [1, 2, 3]);
}

#[test]
fn a_link_is_followed_with_the_credential_on_the_service_s_own_origin() {
    let exchanges = json!([
        page("", &[1, 2], &json!("?limit=2&skip=2")),
        page("&skip=2", &[3], &json!("https://api.example.com/v1/crawls/c-1/items?limit=2&skip=3")),
        page("&skip=3", &[4], &json!("")),
    ]);
    let (world, seen) = scripted(&by_link(), &exchanges);
    let (context, ended) = lived(&world, "");
    assert_eq!(standing(&ended), "succeeded", "{:?} {:?}", ended.life, read(&seen));
    assert_eq!(kept_items(&world, &context, &ended), [1, 2, 3, 4]);
    let bears = |own: &Request| own.headers.iter().any(|(_, value)| value.contains(SECRET));
    assert!(read(&seen).iter().all(bears));
}

#[test]
fn a_link_to_another_origin_is_not_followed_and_what_came_is_kept() {
    let exchanges = json!([page("", &[1, 2], &json!("https://evil.example/items"))]);
    let (world, seen) = scripted(&by_link(), &exchanges);
    let (context, ended) = lived(&world, "");
    assert!(fault(&ended).contains("another origin"));
    assert_eq!(kept_items(&world, &context, &ended), [1, 2]);
    assert!(read(&seen).iter().all(|own| !own.path.contains("evil")));
}

#[test]
fn a_page_that_names_itself_as_the_next_ends_the_reading() {
    for (rule, next, query) in
        [(by_cursor(), "same", "&cursor=same"), (by_link(), "?limit=2&cursor=same", "&cursor=same")]
    {
        let exchanges = json!([page("", &[1], &json!(next)), page(query, &[2], &json!(next))]);
        let (world, seen) = scripted(&rule, &exchanges);
        let (_, ended) = lived(&world, "");
        assert!(fault(&ended).contains("this one again"));
        assert_eq!(reads(&seen), 2);
    }
}

#[test]
fn a_next_page_that_cannot_be_asked_for_is_not_taken_for_the_end() {
    for next in [json!({ "cursor": "c2" }), json!(["c2"]), json!(true), json!("c".repeat(70_000))] {
        let (world, seen) = scripted(&by_cursor(), &json!([page("", &[1, 2], &next)]));
        let (context, ended) = lived(&world, "");
        assert!(fault(&ended).contains("cannot be read"));
        assert_eq!(kept_items(&world, &context, &ended), [1, 2]);
        assert_eq!(reads(&seen), 1);
    }
    for none in [json!({}), json!([]), json!(false), json!("")] {
        let (world, _) = scripted(&by_cursor(), &json!([page("", &[1, 2], &none)]));
        let (_, ended) = lived(&world, "");
        assert_eq!(standing(&ended), "succeeded", "{none}");
    }
}

#[test]
fn no_more_pages_are_fetched_than_the_profile_allows() {
    let mut rule = by_cursor();
    rule["pagesMax"] = json!(2);
    let exchanges = json!([
        page("", &[1], &json!("a")),
        page("&cursor=a", &[2], &json!("b")),
        page("&cursor=b", &[3], &json!("c")),
    ]);
    let (world, seen) = scripted(&rule, &exchanges);
    let (context, ended) = lived(&world, "");
    assert!(fault(&ended).contains("more pages"));
    assert_eq!(kept_items(&world, &context, &ended), [1, 2]);
    assert_eq!(reads(&seen), 2);
}

#[test]
fn pages_that_hold_other_than_the_declared_number_are_incomplete() {
    let rule = json!({ "items": "/data", "total": "/total", "query": "page" });
    let page = |number: u32, items: &[u32], total: u32| {
        json!({
            "request": format!("GET /v1/crawls/c-1/items?limit=2&page={number}"),
            "status": 200,
            "body": { "data": items, "total": total },
        })
    };
    for exchanges in [
        json!([page(1, &[1, 2], 5), page(2, &[3], 5), page(3, &[], 5)]),
        json!([page(1, &[1, 2], 3), page(2, &[3, 4], 3)]),
    ] {
        let (world, _) = scripted(&rule, &exchanges);
        let (_, ended) = lived(&world, "");
        assert!(fault(&ended).contains("declared"));
    }
}

#[test]
fn without_a_declared_number_the_first_empty_page_is_the_end() {
    let rule = json!({ "items": "", "query": "page", "first": 0 });
    let page = |number: u32, items: &[u32]| {
        json!({
            "request": format!("GET /v1/crawls/c-1/items?limit=2&page={number}"),
            "status": 200,
            "body": items,
        })
    };
    let exchanges = json!([page(0, &[1, 2]), page(1, &[3]), page(2, &[])]);
    let (world, _) = scripted(&rule, &exchanges);
    let (context, ended) = lived(&world, "");
    assert_eq!(standing(&ended), "succeeded", "{:?}", ended.life);
    assert_eq!(kept_items(&world, &context, &ended), [1, 2, 3]);
}

#[test]
fn an_answer_without_items_is_no_page_and_asked_for_again() {
    let odd = json!({
        "request": "GET /v1/crawls/c-1/items?limit=2", "status": 200, "body": { "ok": true },
    });
    let exchanges = json!([odd, page("", &[1], &Value::Null)]);
    let (world, seen) = scripted(&by_cursor(), &exchanges);
    let (context, ended) = lived(&world, "");
    assert_eq!(standing(&ended), "succeeded", "{:?}", ended.life);
    assert_eq!(kept_items(&world, &context, &ended), [1]);
    assert_eq!(reads(&seen), 2);
}

#[test]
fn pages_that_the_browser_has_evicted_are_read_again_from_the_first() {
    let world = numbered("[]");
    world.0.settings.borrow_mut().evicted = 1;
    let (context, ended) = lived(&world, MANY);
    assert_eq!(standing(&ended), "succeeded", "{:?}", ended.life);
    assert_eq!(pages_asked_for(&world), ["1", "2", "3", "1", "2", "3"]);
    assert_eq!(kept_items(&world, &context, &ended).len(), 250);
}

#[test]
fn storage_that_keeps_no_page_is_for_a_person() {
    let world = numbered("[]");
    world.0.settings.borrow_mut().evicted = u32::MAX;
    let (_, parked) = lived(&world, MANY);
    assert_eq!(park(&parked), Some(ParkReason::BudgetExhausted));
    assert!(pages_asked_for(&world).len() <= 3 * 21);
}
