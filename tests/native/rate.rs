//! A rate that a profile states is kept over all operations of a lane.

use super::cost::REPLAY;
use super::given_back::given_while_renewed;
use super::quote::quote;
use crate::world::{Context, Settings, World, standing};
use holdfast::model::error::Code;
use holdfast_services::{Call, Loopback, Replay, RunHarvester};
use serde_json::{Value, json};

const PROFILE: &str = include_str!("../../pkg-template/profiles/runharvester.json");

fn paced(requests: u32, per_ms: u64) -> World {
    let mut profile: Value = serde_json::from_str(PROFILE).expect("JSON");
    // Each operation alone would fill the rate.
    profile["poll"] = json!({ "firstMs": 300, "factor": 1, "capMs": 300 });
    profile["rate"] = json!({ "requests": requests, "perMs": per_ms });
    let service = Loopback::new(RunHarvester::default());
    World::of(Settings::default(), service, &profile.to_string())
}

/// When each request came; all of them take the same time to get there.
fn sent(world: &World) -> Vec<u64> {
    world.requests(Call::Any).iter().map(|own| own.time_ms).collect()
}

/// Most requests in any stretch of this length.
fn most_within(sent: &[u64], per_ms: u64) -> usize {
    let within = |from: &u64| sent.iter().filter(|at| (*from..from + per_ms).contains(at)).count();
    sent.iter().map(within).max().unwrap_or(0)
}

fn submit_many(world: &World, count: u32) -> Vec<String> {
    let context = world.open();
    let intents: Vec<_> = (0..count).map(|number| format!("daily:{number}")).collect();
    for intent in &intents {
        world.submit(&context, intent, "");
    }
    for intent in &intents {
        let ended = world.settle(&context, intent).expect("it ends");
        assert_eq!(standing(&ended), "succeeded", "{intent}");
    }
    intents
}

#[test]
fn no_stretch_of_time_sees_more_requests_than_the_rate_over_all_operations() {
    for (requests, per_ms) in [(1, 300), (1, 2_000), (3, 5_000), (10, 1_000), (40, 60_000)] {
        let world = paced(requests, per_ms);
        submit_many(&world, 7);
        let sent = sent(&world);
        let most = most_within(&sent, per_ms);
        assert!(most <= requests as usize, "{most} of {requests} in {per_ms} ms");
        assert!(sent.len() >= 21, "each is submitted, polled and fetched");
    }
}

#[test]
fn what_was_sent_counts_on_in_a_lane_that_is_given_while_more_time_in_it_is_asked_for() {
    let world = paced(40, 60_000);
    given_while_renewed(&world);
    let (lane, made) = (world.lane("first"), world.requests(Call::Any).len());
    let counted: u32 = lane.sent.iter().map(|(_, count)| count).sum();
    assert!(counted as usize >= made, "{counted} of {made}");
}

#[test]
fn a_rate_that_is_not_reached_delays_nothing() {
    let world = paced(10_000, 1_000);
    submit_many(&world, 5);
    let own = sent(&world);
    let free = World::new();
    submit_many(&free, 5);
    assert_eq!(own.first(), sent(&free).first());
    assert_eq!(world.requests(Call::Submit).len(), 5);
    let first = own.first().expect("a request");
    assert!(own.iter().take(5).all(|at| at - first < 1_000), "{own:?}");
}

#[test]
fn a_tight_rate_keeps_no_operation_waiting_for_ever() {
    let world = paced(1, 1_000);
    let context = world.open();
    for number in 0..6 {
        world.submit(&context, &format!("daily:{number}"), r#","duration_ms":600000"#);
    }
    world.pass(60_000);
    for number in 0..6 {
        let own = world.stored(&format!("daily:{number}")).expect("it is stored");
        assert!(own.counters.polls >= 3, "{number} was polled {} times", own.counters.polls);
    }
}

#[test]
fn a_wish_to_cancel_before_anything_was_sent_needs_no_request() {
    let world = paced(1, 3_600_000);
    let context = world.open();
    world.submit(&context, "first", "");
    let second = world.submit(&context, "second", "");
    world.pass(1_000);
    world.cancel(&context, &second).expect("it ends");
    let ended = world.settle(&context, "second").expect("it ends");
    assert_eq!((standing(&ended), world.requests(Call::Submit).len()), ("cancelled", 1));
}

/// Seven operations whose owner goes away after a while, by this, and another that ends them.
fn taken_over(locks: bool, after_ms: u64, leave: impl FnOnce(&World, &Context)) {
    let world = paced(3, 5_000);
    world.0.settings.borrow_mut().locks = locks;
    let first = world.open();
    let intents: Vec<_> = (0..7).map(|number| format!("daily:{number}")).collect();
    for intent in &intents {
        world.submit(&first, intent, "");
    }
    world.pass(after_ms);
    leave(&world, &first);
    let second = world.open();
    for intent in &intents {
        let ended = world.settle(&second, intent).expect("it ends");
        assert_eq!(standing(&ended), "succeeded", "{intent}");
    }
    let most = most_within(&sent(&world), 5_000);
    assert!(most <= 3, "{most} of 3 after {after_ms} ms, locks: {locks}");
}

#[test]
fn a_new_owner_goes_on_with_the_window_of_the_one_that_left() {
    for after_ms in [5, 40, 700, 5_100, 9_000, 12_345] {
        taken_over(true, after_ms, |_, first| first.driver.close());
    }
}

#[test]
fn a_new_owner_goes_on_with_the_window_of_the_one_that_died() {
    for after_ms in [5, 40, 700, 5_100, 9_000, 12_345] {
        for locks in [true, false] {
            taken_over(locks, after_ms, World::kill);
        }
    }
}

#[test]
fn a_long_window_is_no_silence_after_a_reload() {
    let world = paced(1_000, 86_400_000);
    for number in 0..3 {
        let context = world.open();
        let begun = world.0.clock.now();
        let ended = world.live(&context, &format!("daily:{number}"), "");
        assert_eq!(standing(&ended), "succeeded");
        assert!(world.0.clock.now() - begun < 60_000, "{number}");
        context.driver.close();
    }
}

#[test]
fn an_owner_that_died_long_ago_has_sent_nothing_since() {
    let world = paced(6, 600_000);
    let first = world.open();
    world.submit(&first, "daily", "");
    world.pass(1_000);
    world.kill(&first);
    world.pass(1_800_000);
    let (second, begun) = (world.open(), world.0.clock.now());
    assert_eq!(standing(&world.settle(&second, "daily").expect("it ends")), "succeeded");
    assert!(world.0.clock.now() - begun < 60_000);
}

#[test]
fn questions_for_a_price_count_too() {
    let mut profile: Value = serde_json::from_str(REPLAY).expect("JSON");
    profile["rate"] = json!({ "requests": 2, "perMs": 60_000 });
    let service = Loopback::new(Replay::default());
    let world = World::of(Settings::default(), service, &profile.to_string());
    let context = world.open();
    for _ in 0..2 {
        quote(&world, &context, "map").expect("within the rate");
    }
    let refused = quote(&world, &context, "map").expect_err("beyond it");
    assert_eq!(refused.code, Code::NoQuote);
    assert_eq!(standing(&world.live(&context, "daily", "")), "succeeded");
    let sent = sent(&world);
    assert_eq!((sent.len(), most_within(&sent, 60_000)), (3, 2));
}

#[test]
fn a_question_from_a_context_that_does_not_drive_keeps_to_what_the_owner_has_sent() {
    let mut profile: Value = serde_json::from_str(REPLAY).expect("JSON");
    profile["rate"] = json!({ "requests": 1, "perMs": 60_000 });
    let service = Loopback::new(Replay::default());
    let world = World::of(Settings::default(), service, &profile.to_string());
    let owner = world.open();
    assert_eq!(standing(&world.live(&owner, "daily", "")), "succeeded");
    let follower = world.open();
    let refused = quote(&world, &follower, "map").expect_err("the rate is used up");
    assert_eq!(refused.code, Code::NoQuote);
    world.pass(60_000);
    quote(&world, &follower, "map").expect("within the rate");
}

#[test]
fn a_question_from_a_context_that_does_not_drive_waits_as_the_service_has_told_the_owner() {
    let service = Loopback::new(Replay::default());
    let world = World::of(Settings::default(), service, REPLAY);
    world.add_faults(r#"[{"call":"submit","fault":"rate_limited","retry_after":30}]"#);
    let owner = world.open();
    world.submit(&owner, "daily", "");
    world.pass(1_000);
    let follower = world.open();
    quote(&world, &follower, "map").expect_err("the service refuses everything for a while");
    world.pass(60_000);
    quote(&world, &follower, "map").expect("the gate is open");
}
