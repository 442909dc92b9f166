//! A crash at every await of a deletion, and of forgetting.

use super::delete::{deletable, deletes};
use crate::world::{DAY_MS, Settings, World, failed, standing};
use holdfast::model::policy::Limits;

/// Lives, deletes, and asks again after every crash. Gives how many points there were.
fn story(
    faults: &str,
    options: &str,
    active: bool,
    locks: bool,
    crash: Option<u64>,
) -> (World, u64) {
    let world = World::with_faults(faults);
    world.0.settings.borrow_mut().locks = locks;
    let deletable = deletable();
    let mut context = world.open_with(Limits::default(), &deletable);
    world.submit(&context, "daily", options);
    if active {
        world.until("daily", |own| own.life.job().is_some());
    } else {
        world.settle(&context, "daily");
    }
    let before = world.0.points.get();
    world.0.settings.borrow_mut().crash_at = crash.map(|crash| before + crash);
    for _ in 0..3 {
        let operation = world.stored("daily").expect("it is stored");
        let driver = context.driver.clone();
        let id = operation.identity.id.clone();
        let command = holdfast::rules::step::Command::Delete;
        world.call(&context, async move { driver.command(&id, command).await });
        let until = world.0.clock.now() + 2 * DAY_MS;
        world.run(until, || {
            !context.being.alive.get()
                || world.stored("daily").is_some_and(|own| own.life.purged.is_some())
        });
        if context.being.alive.get() {
            break;
        }
        context = world.open_with(Limits::default(), &deletable);
    }
    let points = world.0.points.get() - before;
    (world, points)
}

#[test]
fn a_crash_at_any_point_of_a_deletion_is_survived() {
    for (faults, options, active) in [
        ("[]", "", false),
        (r#"[{"call":"delete","fault":"lose_after"}]"#, "", false),
        (r#"[{"call":"delete","fault":"status","status":503,"after_commit":true}]"#, "", false),
        (r#"[{"call":"cancel","fault":"lose_after"}]"#, r#","duration_ms":600000"#, true),
    ] {
        for locks in [true, false] {
            let (_, points) = story(faults, options, active, locks, None);
            for crash in 1..=points {
                let (world, _) = story(faults, options, active, locks, Some(crash));
                let told = format!("{faults}, locks {locks}, crash at {crash} of {points}");
                let tombstone = world.stored("daily").expect("a tombstone");
                assert!(tombstone.life.purged.is_some(), "{told}: {:?}", tombstone.life);
                assert!(!world.has_content(&tombstone.identity.id), "{told}");
                let ending = if active { "cancelled" } else { "succeeded" };
                assert_eq!(standing(&tombstone), ending, "{told}");
                assert_eq!(world.executions(), 1, "{told}");
                assert_eq!(world.0.service.borrow().ledger().too_fast, 0, "{told}");
                assert!(deletes(&world) <= 2, "{told}");
            }
        }
    }
}

#[test]
fn a_crash_at_any_point_of_forgetting_leaves_all_or_nothing() {
    let story = |crash: Option<u64>| {
        let world = World::with(Settings::default(), crate::world::service());
        let mut context = world.open();
        let first = world.live(&context, "daily", r#","fail_times":1"#);
        let reviewed = failed(&first).id.clone();
        world.retry(&context, &first, &reviewed, false).expect("a rerun");
        world.settle(&context, "daily").expect("it ends");
        let before = world.0.points.get();
        world.0.settings.borrow_mut().crash_at = crash.map(|crash| before + crash);
        for _ in 0..3 {
            if world.try_forget(&context, "daily").is_some_and(|gone| gone.is_ok()) {
                break;
            }
            context = world.open();
        }
        assert!(world.stored("daily").is_none(), "crash at {crash:?}");
        assert!(world.listed(&context).expect("a list").is_empty(), "crash at {crash:?}");
        world.0.points.get() - before
    };
    for crash in 1..=story(None) {
        story(Some(crash));
    }
}
