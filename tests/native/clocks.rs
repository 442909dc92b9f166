//! Clocks that jump.

use crate::world::{Context, Settings, World, park, standing};
use holdfast::model::hold::{Hold, ParkReason, WaitReason};
use holdfast::model::life::Stage;
use holdfast::model::operation::Operation;
use holdfast_services::Call;

/// The clock jumps back by so much, and the work goes on all the same.
fn jumps_back(world: &World, context: &Context, by_ms: i64) {
    world.0.settings.borrow_mut().skew_ms = -by_ms;
    context.driver.wake();
    let start = world.0.clock.now();
    let ended = world.settle(context, "daily").expect("it ends");
    assert_eq!(standing(&ended), "succeeded");
    let took = world.0.clock.now() - start;
    assert!(took < 120_000, "it took {took} ms");
}

#[test]
fn a_clock_that_jumps_back_does_not_stretch_a_wait() {
    let world = World::new();
    let context = world.open();
    world.submit(&context, "daily", r#","duration_ms":20000"#);
    world.until("daily", |own| own.life.stage == Stage::Work);
    jumps_back(&world, &context, 3_600_000);
}

#[test]
fn a_clock_that_jumps_back_while_it_is_written_that_a_service_is_too_busy_does_not_stretch_that() {
    let world = World::with_faults(r#"[{"call":"poll","fault":"rate_limited","retry_after":5}]"#);
    let context = world.open();
    world.submit(&context, "daily", "");
    world.until("daily", |own| own.life.stage == Stage::Work);
    world.0.settings.borrow_mut().commit_ms = 2_000;
    world.run(world.0.clock.now() + 60_000, || !world.requests(Call::Poll).is_empty());
    world.pass(500);
    jumps_back(&world, &context, 36_000_000);
}

#[test]
fn a_clock_that_jumped_back_before_a_reload_does_not_stretch_a_wait() {
    let world =
        World::with_faults(r#"[{"call":"poll","fault":"status","status":503,"retry_after":120}]"#);
    let first = world.open();
    world.submit(&first, "daily", "");
    world.until("daily", |own| {
        matches!(own.life.hold, Hold::Until { reason: WaitReason::ServerGuidance, .. })
    });
    world.kill(&first);
    world.0.settings.borrow_mut().skew_ms = -3_600_000;
    let start = world.0.clock.now();
    let second = world.open();
    let ended = world.settle(&second, "daily").expect("it ends");
    assert_eq!(standing(&ended), "succeeded");
    let took = world.0.clock.now() - start;
    assert!((120_000..200_000).contains(&took), "it took {took} ms");
}

#[test]
fn a_clock_that_jumps_back_while_an_outcome_is_unknown_ends_the_key_s_lifetime() {
    let world = World::with_faults(
        r#"[{"call":"submit","fault":"lose_after"},
            {"call":"submit","fault":"status","status":503,"times":1000}]"#,
    );
    let context = world.open();
    world.submit(&context, "daily", "");
    world.until("daily", |own| own.life.evidence.unresolved.is_some());
    world.0.settings.borrow_mut().skew_ms = -3_600_000;
    let parked = world.settle(&context, "daily").expect("it parks");
    assert_eq!(park(&parked), Some(ParkReason::OutcomeUnknown));
}

/// An outcome that has been unknown for ten minutes, at its third attempt; each answer takes a while.
fn long_unknown() -> (World, Context) {
    let settings = Settings { latency_ms: 5_000, ..Settings::default() };
    let world = World::with(settings, crate::world::service());
    world.add_faults(
        r#"[{"call":"submit","fault":"lose_before"},
            {"call":"submit","fault":"status","status":503,"retry_after":600,"times":1000}]"#,
    );
    let context = world.open();
    world.submit(&context, "daily", "");
    world.until("daily", |own| own.life.evidence.attempts == 3);
    (world, context)
}

/// The clock jumps back to after the first attempt and before the third.
fn parks_after_a_jump(world: &World, context: &Context) {
    let sent = world.requests(Call::Submit).len();
    world.0.settings.borrow_mut().skew_ms = -500_000;
    context.driver.wake();
    let parked = world.settle(context, "daily").expect("it parks");
    assert_eq!(park(&parked), Some(ParkReason::OutcomeUnknown));
    assert_eq!(world.requests(Call::Submit).len(), sent);
}

#[test]
fn a_clock_that_jumps_back_to_after_the_first_attempt_ends_the_key_s_lifetime_too() {
    let (world, context) = long_unknown();
    world.until("daily", |own| matches!(own.life.hold, Hold::Until { .. }));
    world.pass(60_000);
    parks_after_a_jump(&world, &context);
}

#[test]
fn a_clock_that_jumps_back_while_an_attempt_is_out_ends_the_key_s_lifetime_too() {
    let (world, context) = long_unknown();
    world.pass(5_000);
    parks_after_a_jump(&world, &context);
}

#[test]
fn a_clock_that_jumps_back_by_seconds_ends_nothing() {
    let (world, context) = long_unknown();
    world.until("daily", |own| matches!(own.life.hold, Hold::Until { .. }));
    world.pass(60_000);
    let sent = world.requests(Call::Submit).len();
    world.0.settings.borrow_mut().skew_ms = -100_000;
    context.driver.wake();
    world.until("daily", |own| own.life.evidence.attempts == 4);
    world.pass(5_000);
    assert!(world.requests(Call::Submit).len() > sent);
}

/// A clock that goes back a day, at one point or another of what cannot be sent a second time; how long
/// the looking up of it takes then.
fn looked_up_after(jump: impl Fn(&Operation) -> bool, cancels: bool) -> u64 {
    let world = super::reconcile::world(super::reconcile::LOST);
    let context = world.open();
    let operation = world.submit(&context, "daily", "");
    world.until("daily", jump);
    world.0.settings.borrow_mut().skew_ms = -86_400_000;
    let start = world.0.clock.now();
    if cancels {
        world.cancel(&context, &operation).expect("it may be cancelled");
    }
    context.driver.wake();
    let ended = world.settle(&context, "daily").expect("it ends");
    assert!(ended.life.is_ended(), "{:?}", ended.life);
    assert_eq!(world.executions(), 1);
    world.0.clock.now() - start
}

fn is_out(own: &Operation) -> bool {
    own.life.evidence.current.is_some()
}

fn is_looked_up(own: &Operation) -> bool {
    matches!(own.life.stage, Stage::Reconcile(_))
}

#[test]
fn a_clock_that_jumps_back_does_not_stretch_the_wait_for_a_listing() {
    for (jump, cancels) in
        [(is_out as fn(&Operation) -> bool, false), (is_looked_up, false), (is_looked_up, true)]
    {
        let took = looked_up_after(jump, cancels);
        // 2 s to leave, 30 s for the answer, 30 s until the listing shows it.
        assert!((61_000..200_000).contains(&took), "it took {took} ms");
    }
}
