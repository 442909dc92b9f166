//! Jobs that are known, and where to ask for them leads elsewhere.

use crate::world::{PROFILE, Settings, World, park, service, standing};
use holdfast::model::hold::ParkReason;
use holdfast::model::operation::Operation;
use holdfast::rules::exits::exits;
use holdfast::rules::step::Command;
use holdfast_services::Call;
use serde_json::{Value, json};

/// A service whose calls of this name are addressed by a link of its answers.
fn by_link(call: &str) -> World {
    let mut profile: Value = serde_json::from_str(PROFILE).expect("JSON");
    let method = profile["calls"][call]["method"].clone();
    profile["calls"][call] = json!({ "method": method, "link": "at" });
    profile["carry"] = json!({ "at": ["/at"] });
    World::of(Settings::default(), service(), &profile.to_string())
}

fn answer(world: &World, call: &str, times: u32, status: u16, body: &Value) {
    let body = body.to_string();
    let fault = json!([{
        "call": call, "fault": "status", "status": status, "body": body, "times": times
    }]);
    world.add_faults(&fault.to_string());
}

fn message(parked: &Operation) -> &str {
    parked.reported.fault.as_ref().and_then(|own| own.message.as_deref()).unwrap_or_default()
}

fn needs_access(parked: &Operation, why: &str) {
    assert_eq!(park(parked), Some(ParkReason::NeedsAccess), "{:?}", standing(parked));
    assert!(message(parked).contains(why), "{}", message(parked));
    assert!(exits(parked).contains(&"resume()"), "{:?}", exits(parked));
}

#[test]
fn a_job_whose_link_may_not_be_followed_is_for_a_person_at_once() {
    for told in [json!({ "id": "job-7", "at": "https://jobs.example.net/7" }), json!({ "id": "7" })]
    {
        let world = by_link("poll");
        answer(&world, "submit", 1, 202, &told);
        let (_, parked) = world.lived("");
        needs_access(&parked, "address");
        assert_eq!(world.requests(Call::Poll).len(), 0);
        assert_eq!(parked.counters.polls, 0);
    }
}

#[test]
fn a_result_whose_link_may_not_be_followed_is_for_a_person_at_once() {
    let world = by_link("result");
    answer(
        &world,
        "poll",
        1,
        200,
        &json!({ "status": "completed", "at": "https://example.net/7" }),
    );
    let (_, parked) = world.lived("");
    needs_access(&parked, "another origin");
    assert_eq!(world.requests(Call::Result).len(), 0);
}

#[test]
fn a_job_that_nothing_can_stop_is_read_to_its_end() {
    let world = by_link("cancel");
    let context = world.open();
    let operation = world.submit(&context, "daily", r#","duration_ms":600000"#);
    world.until("daily", |own| own.counters.polls > 0);
    world.command(&context, &operation, Command::Cancel).expect("it is under way");
    let ended = world.settle(&context, "daily").expect("it ends");
    assert_eq!(standing(&ended), "succeeded");
    assert_eq!(ended.life.cancel.as_ref().map(|own| own.attempts), Some(1));
}

#[test]
fn reads_that_are_redirected_again_and_again_are_for_a_person() {
    for (name, call) in [("poll", Call::Poll), ("result", Call::Result)] {
        let world = World::new();
        answer(&world, name, 99, 302, &json!({}));
        let (context, parked) = world.lived("");
        needs_access(&parked, "redirects");
        assert!(world.requests(call).len() <= 6, "{}", world.requests(call).len());
        world.0.service.borrow_mut().faults.clear();
        world
            .command(&context, &parked, Command::Resume { limits: None, accept_duplicate: false })
            .expect("it is parked");
        let ended = world.settle(&context, "daily").expect("it ends");
        assert_eq!((standing(&ended), world.executions()), ("succeeded", 1));
    }
}

#[test]
fn redirects_make_nothing_else_look_as_if_it_came_again_and_again() {
    let world = World::new();
    answer(&world, "poll", 4, 302, &json!({}));
    answer(&world, "poll", 1, 404, &json!({}));
    answer(&world, "result", 5, 302, &json!({}));
    let page = json!([{ "call": "result", "fault": "html", "status": 200 }]);
    world.add_faults(&page.to_string());
    let (_, ended) = world.lived("");
    assert_eq!(standing(&ended), "succeeded");
}

#[test]
fn one_redirect_is_only_a_hiccup() {
    for call in ["poll", "result"] {
        let world = World::new();
        answer(&world, call, 1, 307, &json!({}));
        let (_, ended) = world.lived("");
        assert_eq!(standing(&ended), "succeeded", "{call}");
    }
}

#[test]
fn a_refusal_that_asks_for_years_closes_its_lane_for_a_day() {
    let world =
        World::with_faults(r#"[{"call":"submit","fault":"rate_limited","retry_after":99999999}]"#);
    let context = world.open();
    world.submit(&context, "refused", "");
    world.run(world.0.clock.now() + 60_000, || !world.requests(Call::Submit).is_empty());
    world.pass(60_000);
    world.submit(&context, "other", "");
    world.pass(60_000);
    assert_eq!(world.requests(Call::Submit).len(), 1, "it is closed");
    world.pass(crate::world::DAY_MS);
    assert_eq!(standing(&world.stored("other").expect("stored")), "succeeded");
}
