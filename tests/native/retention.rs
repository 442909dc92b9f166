//! How long what has ended is kept: nothing goes before somebody has it, unless the app says so.

use crate::world::{Context, DAY_MS, Settings, World, service, standing};
use holdfast::model::operation::Operation;
use holdfast::model::policy::Retention;
use holdfast::rules::step::Command;
use holdfast_services::Call;

const HOUR_MS: u64 = 3_600_000;

fn keeping(retention: Retention, consumes: bool) -> (World, Context) {
    let world = World::with(Settings { retention, consumes, ..Settings::default() }, service());
    let context = world.open();
    (world, context)
}

/// Keeps results for an hour after they were taken.
fn an_hour() -> Retention {
    Retention { result_ms: Some(HOUR_MS), ..Retention::default() }
}

fn lived(retention: Retention, consumes: bool) -> (World, Context, Operation) {
    let (world, context) = keeping(retention, consumes);
    world.submit(&context, "daily", "");
    let ended = world.until("daily", |own| own.life.is_ended());
    world.pass(10_000);
    (world, context, ended)
}

fn has_content(world: &World) -> bool {
    let operation = world.stored("daily").expect("it is stored");
    let has_content = world.has_content(&operation.identity.id);
    assert_eq!(has_content, operation.life.purged.is_none());
    has_content
}

#[test]
fn nothing_goes_by_itself_where_nothing_is_set() {
    let (world, context, ended) = lived(Retention::default(), true);
    world.command(&context, &ended, Command::Acknowledge).expect("it is over");
    world.pass(3 * DAY_MS);
    assert!(has_content(&world));
}

#[test]
fn content_goes_its_time_after_delivery_and_leaves_a_tombstone() {
    let (world, context, ended) = lived(an_hour(), true);
    world.pass(HOUR_MS - 60_000);
    assert!(has_content(&world));
    world.pass(120_000);
    assert!(!has_content(&world));
    let tombstone = world.stored("daily").expect("a tombstone");
    assert_eq!(tombstone.identity, ended.identity);
    assert_eq!(standing(&tombstone), "succeeded");
    assert!(!tombstone.life.purged.as_ref().expect("a tombstone").at_service);
    assert_eq!(world.submit(&context, "daily", "").identity.id, ended.identity.id);
    assert_eq!(world.requests(Call::Delete).len(), 0);
    assert_eq!(world.executions(), 1);
}

#[test]
fn what_nobody_has_taken_stays() {
    let (world, context, ended) = lived(an_hour(), false);
    world.pass(2 * DAY_MS);
    assert!(has_content(&world));
    world.command(&context, &ended, Command::Acknowledge).expect("it is over");
    world.pass(HOUR_MS - 60_000);
    assert!(has_content(&world));
    world.pass(120_000);
    assert!(!has_content(&world));
}

#[test]
fn a_delivery_that_fails_keeps_it() {
    let (world, context) = keeping(an_hour(), true);
    world.0.settings.borrow_mut().failing_deliveries = u32::MAX;
    world.submit(&context, "daily", "");
    world.pass(DAY_MS);
    assert!(has_content(&world));
    world.0.settings.borrow_mut().failing_deliveries = 0;
    world.pass(DAY_MS);
    assert!(!has_content(&world));
    assert_eq!(world.0.delivered.borrow().len(), 1);
}

#[test]
fn it_may_go_at_once_when_it_is_taken() {
    let now = Retention { result_ms: Some(0), ..Retention::default() };
    let (world, _, _) = lived(now, true);
    assert!(!has_content(&world));
    assert_eq!(world.0.delivered.borrow().len(), 1);
}

#[test]
fn an_age_limit_of_the_app_holds_for_what_nobody_has_taken_too() {
    let aged = Retention { age_ms: Some(HOUR_MS), ..Retention::default() };
    let (world, _, _) = lived(aged, false);
    world.pass(HOUR_MS - 60_000);
    assert!(has_content(&world));
    world.pass(120_000);
    assert!(!has_content(&world));
}

#[test]
fn a_tombstone_goes_its_own_time_later() {
    let short = Retention { tombstone_ms: HOUR_MS, ..an_hour() };
    let (world, context, ended) = lived(short, true);
    world.pass(2 * HOUR_MS - 60_000);
    assert!(!has_content(&world));
    world.pass(180_000);
    assert!(world.stored("daily").is_none());
    assert_ne!(world.submit(&context, "daily", "").identity.id, ended.identity.id);
}

#[test]
fn whoever_owns_the_lane_then_removes_it() {
    let (world, context, _) = lived(an_hour(), true);
    world.kill(&context);
    world.0.clock.advance(world.0.clock.now() + 2 * HOUR_MS);
    assert!(has_content(&world));
    world.open();
    world.pass(60_000);
    assert!(!has_content(&world));
}

#[test]
fn a_dead_owner_s_far_removals_keep_nobody_from_delivering() {
    let kept = Retention { age_ms: Some(90 * DAY_MS), ..Retention::default() };
    let settings = Settings {
        retention: kept,
        locks: false,
        failing_deliveries: u32::MAX,
        ..Settings::default()
    };
    let world = World::with(settings, service());
    let context = world.open();
    world.submit(&context, "daily", "");
    world.until("daily", |own| own.life.is_ended());
    world.pass(5_000);
    world.kill(&context);
    world.0.settings.borrow_mut().failing_deliveries = 0;
    world.open();
    world.pass(60_000);
    assert_eq!(world.0.delivered.borrow().len(), 1);
}

#[test]
fn rejected_and_failed_work_has_its_body_removed_too() {
    for options in [r#","url":7"#, r#","outcome":"failed""#] {
        let (world, context) = keeping(an_hour(), true);
        let ended = world.submit(&context, "daily", options);
        world.pass(60_000);
        assert!(world.has_content(&ended.identity.id));
        world.pass(HOUR_MS);
        assert!(!has_content(&world), "{options}");
    }
}

#[test]
fn a_crash_at_any_point_of_a_removal_is_survived() {
    let story = |crash: Option<u64>| {
        let (world, context, _) = lived(an_hour(), true);
        let before = world.0.points.get();
        world.0.settings.borrow_mut().crash_at = crash.map(|crash| before + crash);
        world.pass(HOUR_MS + 60_000);
        if !context.being.alive.get() {
            world.open();
            world.pass(120_000);
        }
        assert!(!has_content(&world), "crash at {crash:?}");
        world.0.points.get() - before
    };
    let points = story(None);
    for crash in (1..=points).rev().take(60) {
        story(Some(crash));
    }
}
