//! Lanes that were given back: whose they are until their former owner is woken, and then.

use super::ownership::crowded;
use crate::world::{Context, DAY_MS, World, park, standing};
use holdfast::model::hold::ParkReason;
use holdfast::model::life::Stage;
use holdfast_services::Call;

/// A context that has sent the work of `first` and given its lanes back.
fn gave_back() -> (World, Context) {
    let world = World::new();
    let context = world.open();
    world.submit(&context, "first", r#","duration_ms":600000"#);
    world.until("first", |own| own.life.stage == Stage::Work);
    context.driver.give_back();
    (world, context)
}

#[test]
fn who_gave_its_lanes_back_and_is_woken_sends_new_work_at_once() {
    let (world, context) = gave_back();
    let at = world.0.clock.now();
    context.driver.wake();
    world.submit(&context, "second", "");
    world.run(at + DAY_MS, || world.requests(Call::Submit).len() == 2);
    let took = world.0.clock.now() - at;
    assert!(took < 1_000, "sent after {took} ms");
    assert_eq!((world.executions(), crowded(&world)), (2, 0));
}

#[test]
fn who_gave_its_lanes_back_and_is_woken_takes_nothing_from_who_has_them_since() {
    let (world, first) = gave_back();
    let second = world.open();
    world.submit(&second, "second", r#","duration_ms":600000"#);
    world.until("second", |own| own.life.stage == Stage::Work);
    let owner = || {
        let lane = world.lane("second");
        (lane.owner, lane.epoch)
    };
    let before = owner();
    first.driver.wake();
    world.submit(&first, "third", r#","duration_ms":600000"#);
    world.until("third", |own| own.life.stage == Stage::Work);
    assert_eq!(owner(), before);
    assert_eq!((world.executions(), crowded(&world)), (3, 0));
}

#[test]
fn who_gave_its_lanes_back_leaves_them_to_others_until_it_is_woken() {
    let (world, context) = gave_back();
    let at = world.0.clock.now();
    world.submit(&context, "second", "");
    world.run(at + 2_900, || world.requests(Call::Submit).len() == 2);
    assert_eq!(world.requests(Call::Submit).len(), 1);
    assert_eq!(standing(&world.settle(&context, "second").expect("it ends")), "succeeded");
}

#[test]
fn a_lane_in_which_nothing_is_under_way_goes_to_a_tab_that_is_seen() {
    let world = World::new();
    let first = world.open();
    world.submit(&first, "first", r#","duration_ms":60000"#);
    world.until("first", |own| own.life.stage == Stage::Work);
    let before = world.lane("first");
    let second = world.open();
    world.submit(&second, "second", r#","duration_ms":60000"#);
    world.until("second", |own| own.life.stage == Stage::Work);
    assert_eq!(world.lane("first").owner, before.owner);
    // Asked again and again, as by a tab in which somebody waits.
    let at = world.0.clock.now();
    let moved = || world.lane("first").owner.is_some_and(|own| Some(own) != before.owner);
    for round in 1..=10 {
        first.driver.offer(None);
        world.run(at + round * 3_000, moved);
    }
    assert!(moved(), "{:?}", world.lane("first"));
    for intent in ["first", "second"] {
        assert_eq!(standing(&world.settle(&second, intent).expect("it ends")), "succeeded");
    }
    assert_eq!((world.executions(), crowded(&world)), (2, 0));
}

/// A context whose lane is never idle, and another that has work in it.
fn never_idle() -> (World, Context, Context) {
    let world = World::new();
    let (first, second) = (world.open(), world.open());
    world.0.settings.borrow_mut().latency_ms = 1_000;
    for number in 0..12 {
        world.submit(&first, &format!("job {number}"), r#","duration_ms":600000"#);
    }
    world.submit(&second, "seen", r#","duration_ms":60000"#);
    world.pass(20_000);
    (world, first, second)
}

#[test]
fn a_lane_that_is_never_idle_goes_to_a_tab_that_is_seen_once_what_is_under_way_is_over() {
    let (world, first, second) = never_idle();
    let before = world.lane("seen").owner;
    let at = world.0.clock.now();
    let moved = || world.lane("seen").owner.is_some_and(|own| Some(own) != before);
    first.driver.offer(None);
    world.run(at + 60_000, moved);
    let took = world.0.clock.now() - at;
    assert!(took < 10_000, "after {took} ms");
    assert_eq!(standing(&world.settle(&second, "seen").expect("it ends")), "succeeded");
    assert_eq!((world.executions(), crowded(&world)), (13, 0));
}

#[test]
fn a_lane_that_is_asked_for_again_and_again_and_taken_by_nobody_is_driven_on() {
    let world = World::new();
    let context = world.open();
    world.submit(&context, "first", r#","duration_ms":5000"#);
    world.until("first", |own| own.life.stage == Stage::Work);
    let at = world.0.clock.now();
    let ended = || world.stored("first").is_some_and(|own| own.life.is_ended());
    for round in 1..=20 {
        context.driver.offer(None);
        world.run(at + round * 3_000, ended);
    }
    assert!(ended(), "{:?}", world.lane("first"));
    assert_eq!((world.executions(), crowded(&world)), (1, 0));
}

#[test]
fn what_cannot_be_ended_keeps_no_other_work_for_long_although_a_tab_that_is_seen_asks() {
    let world = World::new();
    let context = world.open();
    world.0.settings.borrow_mut().hanging_deliveries = 1;
    world.submit(&context, "first", "");
    world.until("first", |own| own.life.is_ended());
    let at = world.0.clock.now();
    for (intent, most_ms) in [("second", 40_000), ("third", 1_000)] {
        context.driver.offer(None);
        let asked = world.0.clock.now();
        world.submit(&context, intent, "");
        world.until(intent, |own| own.life.stage != Stage::Submit);
        let took = world.0.clock.now() - asked;
        assert!(took < most_ms, "{intent} was handed over after {took} ms");
    }
    assert!(world.0.clock.now() - at > 20_000, "it does not give way at all");
}

#[test]
fn what_is_under_way_is_ended_by_who_began_it_although_a_tab_that_is_seen_asks() {
    let world = World::new();
    let context = world.open();
    world.submit(&context, "first", "");
    world.until("first", |own| own.life.evidence.current.is_some());
    let (owner, sent) = (world.lane("first").owner, world.requests(Call::Submit).len());
    context.driver.offer(None);
    world.until("first", |own| own.life.stage != Stage::Submit);
    assert_eq!(world.lane("first").owner, owner);
    assert_eq!((world.requests(Call::Submit).len(), sent.max(1)), (1, 1));
    assert_eq!(standing(&world.settle(&context, "first").expect("it ends")), "succeeded");
}

/// How many seconds it takes until an operation has ended or is parked, while the first of two tabs is asked for its
/// lane every 3 s, as by the other, in which somebody waits.
fn asked_all_along(world: &World, owner: &Context, intent: &str) -> String {
    let at = world.0.clock.now();
    let over =
        || world.stored(intent).is_some_and(|own| own.life.is_ended() || park(&own).is_some());
    for round in 1..=200 {
        owner.driver.offer(None);
        world.run(at + round * 3_000, over);
    }
    standing(&world.stored(intent).expect("stored")).into()
}

#[test]
fn a_tab_that_is_seen_and_has_no_credential_leaves_the_work_to_one_that_has() {
    let world = World::new();
    let (able, seen) = (world.open(), world.open());
    seen.being.signed_out.set(true);
    world.submit(&able, "first", r#","duration_ms":120000"#);
    world.until("first", |own| own.life.stage == Stage::Work);
    world.submit(&seen, "second", r#","duration_ms":120000"#);
    for intent in ["first", "second"] {
        assert_eq!(asked_all_along(&world, &able, intent), "succeeded", "{intent}");
    }
    assert_eq!((world.executions(), crowded(&world)), (2, 0));
}

#[test]
fn a_tab_that_drives_and_is_signed_out_leaves_the_work_to_one_that_is_not() {
    let world = World::new();
    let first = world.open();
    world.submit(&first, "first", r#","duration_ms":60000"#);
    world.until("first", |own| own.life.stage == Stage::Work);
    first.being.signed_out.set(true);
    let _second = world.open();
    let ended = world.settle(&first, "first").expect("it ends");
    assert_eq!((standing(&ended), world.executions()), ("succeeded", 1));
}

#[test]
fn where_no_tab_has_a_credential_a_person_is_asked_within_half_a_minute() {
    let world = World::new();
    let (first, second) = (world.open(), world.open());
    first.being.signed_out.set(true);
    second.being.signed_out.set(true);
    world.submit(&first, "first", "");
    let at = world.0.clock.now();
    world.run(at + 30_000, || world.stored("first").is_some_and(|own| park(&own).is_some()));
    let parked = world.stored("first").expect("stored");
    assert_eq!(park(&parked), Some(ParkReason::NeedsCredential));
    assert_eq!(world.executions(), 0);
}

#[test]
fn what_is_written_while_the_page_leaves_is_told_all_the_same() {
    let world = World::new();
    let context = world.open();
    world.submit(&context, "first", r#","duration_ms":60000"#);
    world.until("first", |own| own.life.stage == Stage::Work);
    world.0.settings.borrow_mut().commit_ms = 1_000;
    let operation = world.stored("first").expect("stored");
    let due = operation.due().expect("a wait").0;
    world.pass(due.saturating_sub(world.0.clock.now()) + 500);
    context.driver.give_back();
    world.0.happened.borrow_mut().clear();
    world.pass(2_000);
    let stored = world.stored("first").expect("stored");
    assert!(stored.revision > operation.revision, "nothing was being written");
    let told = world.0.happened.borrow();
    assert!(told.iter().any(|(own, _)| *own == stored.identity.id), "{told:?}");
}

#[test]
fn a_tab_that_once_lacked_a_credential_while_alone_gives_way_to_a_seen_one() {
    let world = World::new();
    let first = world.open();
    world.submit(&first, "first", r#","duration_ms":600000"#);
    world.until("first", |own| own.life.stage == Stage::Work);
    world.0.settings.borrow_mut().unauthorized = 1;
    let polls = world.requests(Call::Poll).len();
    world.run(world.0.clock.now() + 60_000, || world.requests(Call::Poll).len() > polls + 1);
    let before = world.lane("first").owner;
    let _second = world.open();
    let at = world.0.clock.now();
    let moved = || world.lane("first").owner.is_some_and(|own| Some(own) != before);
    for round in 1..=20 {
        first.driver.offer(None);
        world.run(at + round * 3_000, moved);
    }
    assert!(moved(), "not within a minute");
}

#[test]
fn a_hidden_tab_whose_app_submits_gives_way_to_a_seen_one() {
    let world = World::new();
    let (first, second) = (world.open(), world.open());
    world.submit(&first, "first", r#","duration_ms":3600000"#);
    world.until("first", |own| own.life.stage == Stage::Work);
    let before = world.lane("first").owner;
    world.submit(&second, "second", r#","duration_ms":3600000"#);
    world.until("second", |own| own.life.stage == Stage::Work);
    let moved = || world.lane("first").owner.is_some_and(|own| Some(own) != before);
    for round in 0..8 {
        first.driver.offer(None);
        world.pass(500);
        world.submit(&first, &format!("more {round}"), r#","duration_ms":3600000"#);
        world.pass(2_500);
    }
    assert!(moved(), "not in {} ms", 8 * 3_000);
}

/// The only context of a world gives its lane away while it asks for more time in it.
pub(super) fn given_while_renewed(world: &World) -> Context {
    let first = world.open();
    world.submit(&first, "first", r#","duration_ms":600000"#);
    let active = world.until("first", |own| own.life.stage == Stage::Work);
    // What is due stands still without a network, and the lease is to cover that.
    {
        let mut settings = world.0.settings.borrow_mut();
        (settings.offline, settings.commit_ms) = (true, 1_000);
    }
    let due = active.due().expect("a poll").0;
    world.pass(due + 100 - world.0.clock.now());
    first.driver.offer(None);
    world.pass(3_000);
    assert!(world.lane("first").owner.is_none());
    first
}

#[test]
fn a_lane_that_is_given_while_more_time_in_it_is_asked_for_is_not_thought_its_own() {
    let world = World::new();
    let first = given_while_renewed(&world);
    assert!(!world.is_shown(&first), "it holds the lock of who drives");
}
