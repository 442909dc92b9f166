//! One owner: at most one live context drives a lane.

use std::cell::RefCell;
use std::rc::Rc;

use crate::world::{Context, DAY_MS, Settings, World, standing, submission};
use holdfast::model::life::Stage;
use holdfast::rules::bounds::{EXCHANGE_TIMEOUT_MS, LEASE_GRACE_MS, SEND_BEFORE_MS};
use holdfast_services::Call;

/// How many requests of one operation came within the floor of each other.
pub(super) fn crowded(world: &World) -> u64 {
    world.0.service.borrow().ledger().too_fast
}

#[test]
fn of_two_contexts_on_one_store_one_drives() {
    let world = World::new();
    let (first, second) = (world.open(), world.open());
    world.submit(&first, "one", r#","duration_ms":60000"#);
    world.submit(&second, "two", r#","duration_ms":60000"#);
    world.settle(&first, "one").expect("it ends");
    world.settle(&second, "two").expect("it ends");
    let (one, two) = (world.stored("one").expect("one"), world.stored("two").expect("two"));
    assert_eq!((standing(&one), standing(&two)), ("succeeded", "succeeded"));
    assert_eq!(world.executions(), 2);
    assert_eq!(world.requests(Call::Submit).len(), 2);
    assert_eq!(crowded(&world), 0);
    let names = [&first, &second].map(|context| context.being.alive.get());
    assert_eq!(names, [true, true]);
}

#[test]
fn a_second_context_adds_no_polls() {
    let polls = |contexts: usize| {
        let world = World::new();
        let open: Vec<_> = (0..contexts).map(|_| world.open()).collect();
        world.submit(&open[0], "daily", r#","duration_ms":1800000"#);
        world.settle(&open[0], "daily").expect("it ends");
        world.requests(Call::Poll).len()
    };
    let (alone, four) = (polls(1), polls(4));
    assert!(four < alone * 3 / 2, "{four} polls by four contexts, {alone} by one");
}

#[test]
fn with_locks_a_dead_owner_is_followed_at_once() {
    let world = World::new();
    let (first, second) = (world.open(), world.open());
    world.submit(&first, "daily", r#","duration_ms":600000"#);
    world.until("daily", |own| own.life.stage == Stage::Work);
    world.kill(&first);
    let died = world.0.clock.now();
    let before = world.requests(Call::Poll).len();
    world.run(died + DAY_MS, || world.requests(Call::Poll).len() > before);
    // The next poll, and a look at the lane every five seconds.
    let took = world.0.clock.now() - died;
    assert!(took <= 7_000, "taken over after {took} ms");
    let ended = world.settle(&second, "daily").expect("it ends");
    assert_eq!(standing(&ended), "succeeded");
    assert_eq!(world.executions(), 1);
}

#[test]
fn without_locks_a_dead_owner_is_followed_when_its_lease_is_over() {
    let settings = Settings { locks: false, ..Settings::default() };
    let world = World::with(settings, crate::world::service());
    let (first, second) = (world.open(), world.open());
    world.submit(&first, "daily", r#","duration_ms":600000"#);
    world.until("daily", |own| own.life.stage == Stage::Work);
    let lease_until = world.lease_until("daily");
    world.kill(&first);
    let before = world.requests(Call::Poll).len();
    world.run(world.0.clock.now() + DAY_MS, || world.requests(Call::Poll).len() > before);
    let now = world.0.clock.now();
    assert!(now >= lease_until, "taken over {} ms too soon", lease_until - now);
    assert!(now <= lease_until + 6_000, "taken over {} ms late", now - lease_until);
    let ended = world.settle(&second, "daily").expect("it ends");
    assert_eq!(standing(&ended), "succeeded");
    assert_eq!(world.executions(), 1);
}

#[test]
fn an_owner_that_leaves_is_followed_within_a_look_by_whoever_waits_for_the_same() {
    let settings = Settings { locks: false, ..Settings::default() };
    let world = World::with(settings, crate::world::service());
    let (first, second) = (world.open(), world.open());
    let job = r#","duration_ms":600000"#;
    world.submit(&first, "daily", job);
    world.submit(&second, "daily", job);
    world.until("daily", |own| own.life.stage == Stage::Work);
    first.driver.close();
    let left = world.0.clock.now();
    let before = world.requests(Call::Poll).len();
    world.run(left + DAY_MS, || world.requests(Call::Poll).len() > before);
    let took = world.0.clock.now() - left;
    assert!(took <= 5_000, "taken over after {took} ms");
    assert_eq!(standing(&world.settle(&second, "daily").expect("it ends")), "succeeded");
    assert_eq!(world.executions(), 1);
}

/// Two contexts wait for one job, and the owner is frozen until the other has had its lane for a while.
fn thawed_after(job: &str) -> (World, Context) {
    let settings = Settings { locks: false, commit_ms: 40, ..Settings::default() };
    let world = World::with(settings, crate::world::service());
    let (first, second) = (world.open(), world.open());
    world.submit(&first, "daily", job);
    world.submit(&second, "daily", job);
    world.until("daily", |own| own.life.stage == Stage::Work);
    world.freeze(&first);
    world.pass(100_000);
    world.thaw(&first);
    (world, second)
}

#[test]
fn a_context_that_thaws_asks_for_its_lane_before_it_asks_the_service() {
    let (world, second) = thawed_after(r#","duration_ms":600000"#);
    let before = world.requests(Call::Any).len();
    // Nobody else is in between: what came would be its own.
    world.freeze(&second);
    world.pass(10_000);
    assert_eq!(world.requests(Call::Any).len(), before);
    world.thaw(&second);
    assert_eq!(standing(&world.settle(&second, "daily").expect("it ends")), "succeeded");
    assert_eq!((world.executions(), crowded(&world)), (1, 0));
}

#[test]
fn a_context_that_thaws_with_its_lane_still_its_own_goes_on_at_once() {
    let settings = Settings { locks: false, ..Settings::default() };
    let world = World::with(settings, crate::world::service());
    let context = world.open();
    world.submit(&context, "daily", r#","duration_ms":600000"#);
    world.until("daily", |own| own.life.stage == Stage::Work);
    world.freeze(&context);
    world.pass(100_000);
    let before = world.requests(Call::Poll).len();
    world.thaw(&context);
    world.pass(1_000);
    assert_eq!(world.requests(Call::Poll).len(), before + 1);
}

/// Two contexts wait for one job, over a store that takes its time, and nobody tells of a death. The owner dies at this
/// point of its life; `None` where that is over before.
fn dies_at(point: u64) -> Option<World> {
    let settings = Settings { locks: false, commit_ms: 40, ..Settings::default() };
    let world = World::with(settings, crate::world::service());
    let (first, second) = (world.open(), world.open());
    let job = r#","duration_ms":12000"#;
    world.submit(&first, "daily", job);
    world.submit(&second, "daily", job);
    world.0.settings.borrow_mut().crash_at = Some(world.0.points.get() + point);
    let gone = |own: &Context| !own.being.alive.get();
    let until = world.0.clock.now() + DAY_MS;
    world.run(until, || gone(&first) || gone(&second));
    gone(&first).then_some(world)
}

#[test]
fn wherever_an_owner_dies_its_lease_ends_with_what_it_may_have_begun_and_is_followed_at_once() {
    /// A read of the lane, its change, a read of what is due in it, and the request.
    const FOLLOWED_MS: u64 = 1_000;
    let (mut polling, mut reading) = (0, 0);
    for point in 1..100 {
        let Some(world) = dies_at(point) else { continue };
        let (died, lease_until) = (world.0.clock.now(), world.lease_until("daily"));
        let stored = world.stored("daily").expect("it is stored");
        let Some(due) = stored.due() else { continue };
        // What is due next is begun then, or has been begun by now.
        let begun = due.0.max(died);
        let in_result = matches!(stored.life.stage, Stage::Result { .. });
        // A result goes on as long as pieces come, of which a quarter of its time may not be told.
        let timeout_ms = if in_result { 5 * EXCHANGE_TIMEOUT_MS } else { EXCHANGE_TIMEOUT_MS };
        let longest = begun + timeout_ms + SEND_BEFORE_MS + LEASE_GRACE_MS;
        assert!(lease_until <= longest, "at {point}, {} ms too long", lease_until - longest);
        let before = world.requests(Call::Any).len();
        world.run(died + DAY_MS, || world.requests(Call::Any).len() > before);
        let late_ms = world.0.clock.now().saturating_sub(lease_until);
        assert!(late_ms <= FOLLOWED_MS, "at {point}, {late_ms} ms after its lease");
        *(if in_result { &mut reading } else { &mut polling }) += 1;
    }
    assert!(polling > 20 && reading > 1, "{polling} and {reading} deaths");
}

#[test]
fn a_former_owner_is_fenced_and_its_late_write_changes_nothing() {
    let world = World::new();
    let first = world.open();
    world.submit(&first, "daily", r#","duration_ms":600000"#);
    world.until("daily", |own| own.life.stage == Stage::Work);
    // It freezes with a poll on the wire.
    let polls = world.requests(Call::Poll).len();
    world.run(world.0.clock.now() + DAY_MS, || world.requests(Call::Poll).len() > polls);
    world.freeze(&first);
    let second = world.open();
    let ended = world.settle(&second, "daily").expect("it ends");
    assert_eq!(standing(&ended), "succeeded");
    world.thaw(&first);
    world.pass(60_000);
    assert_eq!(world.stored("daily").expect("stored"), ended);
    assert_eq!(world.executions(), 1);
}

#[test]
fn a_context_that_thaws_between_write_and_send_does_not_send_late() {
    let world = World::new();
    *world.0.freeze_when.borrow_mut() = Some(Box::new(|own| own.life.evidence.current.is_some()));
    let first = world.open();
    let (driver, request) = (first.driver.clone(), submission("daily", ""));
    let taken = Rc::new(RefCell::new(None));
    let slot = Rc::clone(&taken);
    world.spawn(&first, async move {
        *slot.borrow_mut() = Some(driver.submit(request).await.map(|own| own.identity.id));
    });
    world.run(world.0.clock.now() + 1_000, || first.being.frozen.get());
    assert!(first.being.frozen.get(), "it never wrote an attempt");
    world.pass(2_000);
    world.thaw(&first);
    let ended = world.settle(&first, "daily").expect("it ends");
    assert_eq!(standing(&ended), "succeeded");
    let sent = world.requests(Call::Submit);
    assert_eq!(sent.len(), 1);
    assert_eq!(ended.life.evidence.attempts, 2, "the first attempt never left");
    assert_eq!(world.executions(), 1);
}

#[test]
fn a_frozen_attempt_is_taken_up_by_another_and_never_leaves_when_its_writer_thaws() {
    let world = World::new();
    *world.0.freeze_when.borrow_mut() = Some(Box::new(|own| own.life.evidence.current.is_some()));
    let first = world.open();
    let (driver, request) = (first.driver.clone(), submission("daily", ""));
    world.spawn(&first, async move {
        let _ = driver.submit(request).await;
    });
    world.run(world.0.clock.now() + 1_000, || first.being.frozen.get());
    let second = world.open();
    let ended = world.settle(&second, "daily").expect("it ends");
    assert_eq!(standing(&ended), "succeeded");
    let sent = world.requests(Call::Submit).len();
    world.thaw(&first);
    world.pass(60_000);
    assert_eq!(world.requests(Call::Submit).len(), sent);
    assert_eq!(world.executions(), 1);
}
