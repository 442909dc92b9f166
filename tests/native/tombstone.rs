//! What stays of deleted work, and how it is forgotten.

use super::delete::{deletable, deleted, deletes, opened};
use crate::world::{CommitFault, DAY_MS, World, failed, standing};
use holdfast::model::error::Code;
use holdfast::model::policy::Limits;

#[test]
fn the_same_request_gives_the_tombstone_s_operation_and_another_is_a_conflict() {
    let (world, context, tombstone) = deleted("[]", "");
    let again = world.submit(&context, "daily", "");
    assert_eq!(again.identity.id, tombstone.identity.id);
    assert_eq!(standing(&again), "succeeded");
    let error = world.try_submit(&context, "daily", r#","duration_ms":9"#).expect_err("a conflict");
    assert_eq!(error.code, Code::IntentConflict);
    world.pass(DAY_MS);
    assert_eq!(world.executions(), 1);
}

#[test]
fn a_tombstone_is_deleted_once_and_its_failed_job_not_run_again() {
    let (world, context, tombstone) = deleted("[]", r#","outcome":"failed""#);
    world.delete(&context, &tombstone).expect("nothing is left to do");
    world.pass(60_000);
    assert_eq!(deletes(&world), 1);
    let reviewed = failed(&tombstone).id.clone();
    let error = world.retry(&context, &tombstone, &reviewed, true).expect_err("refused");
    assert_eq!(error.code, Code::NotAllowed);
}

#[test]
fn the_ending_is_still_delivered() {
    let (world, context) = opened("[]");
    world.0.settings.borrow_mut().failing_deliveries = 3;
    let queued = world.submit(&context, "daily", "");
    world.until("daily", |own| own.life.is_ended());
    world.delete(&context, &queued).expect("a wish");
    world.pass(600_000);
    assert_eq!(*world.0.delivered.borrow(), [queued.identity.id.0]);
}

#[test]
fn a_tombstone_goes_after_400_days_and_not_before() {
    let (world, context, tombstone) = deleted("[]", "");
    world.kill(&context);
    world.0.clock.advance(world.0.clock.now() + 399 * DAY_MS);
    let context = world.open();
    world.pass(60_000);
    assert!(world.stored("daily").is_some());
    world.kill(&context);
    world.0.clock.advance(world.0.clock.now() + DAY_MS);
    let context = world.open();
    world.pass(60_000);
    assert!(world.stored("daily").is_none());
    assert!(world.listed(&context).expect("a list").is_empty());
    let anew = world.submit(&context, "daily", "");
    assert_ne!(anew.identity.id, tombstone.identity.id);
}

#[test]
fn forgetting_frees_the_intent_the_key_and_the_job() {
    let world = World::new();
    let context = world.open();
    let job = world.foreign_job("");
    let first = world.adopt(&context, "daily", &job).expect("it is taken on");
    world.settle(&context, "daily").expect("it ends");
    assert_eq!(world.forget(&context, "daily"), Ok(vec![first.identity.id.clone()]));
    assert!(world.stored("daily").is_none());
    assert!(!world.has_content(&first.identity.id));
    world.adopt(&context, "other", &job).expect("the job is free");
    world.live(&context, "daily", "");
    assert_eq!(world.executions(), 2, "as its documentation says");
    assert_eq!(world.forget(&context, "nobody's"), Ok(Vec::new()));
}

#[test]
fn what_is_not_over_or_being_deleted_is_not_forgotten() {
    let (world, context) = opened(r#"[{"call":"delete","fault":"status","status":400}]"#);
    world.submit(&context, "daily", r#","duration_ms":60000"#);
    let error = world.forget(&context, "daily").expect_err("refused");
    assert_eq!(error.code, Code::NotAllowed);
    assert!(error.next_step.contains("first"), "{}", error.next_step);
    let ended = world.settle(&context, "daily").expect("it ends");
    world.delete(&context, &ended).expect("a wish");
    world.pass(60_000);
    let error = world.forget(&context, "daily").expect_err("refused");
    assert_eq!(error.code, Code::NotAllowed);
    assert!(world.stored("daily").is_some());
}

#[test]
fn a_context_that_does_not_own_the_lane_deletes_through_the_owner() {
    let (world, owner) = opened("[]");
    world.submit(&owner, "daily", r#","duration_ms":600000"#);
    let active = world.until("daily", |own| own.life.job().is_some());
    let beside = world.open_with(Limits::default(), &deletable());
    world.delete(&beside, &active).expect("a wish");
    let tombstone = world.until("daily", |own| own.life.purged.is_some());
    assert_eq!(standing(&tombstone), "cancelled");
    assert_eq!(deletes(&world), 1);
    world.forget(&beside, "daily").expect("it is over");
    world.pass(120_000);
    assert!(world.stored("daily").is_none());
}

#[test]
fn a_commit_of_unknown_fate_forgets_once() {
    for fault in [CommitFault::UnknownDone, CommitFault::UnknownLost] {
        let world = World::new();
        let context = world.open();
        world.live(&context, "daily", "");
        world.0.commits.fail(&[fault]);
        world.forget(&context, "daily").expect("it is gone");
        assert!(world.stored("daily").is_none(), "{fault:?}");
    }
}

#[test]
fn a_failing_store_forgets_and_deletes_nothing_and_says_so() {
    for fault in [CommitFault::Aborted, CommitFault::Refused, CommitFault::Full] {
        let world = World::new();
        let context = world.open();
        let ended = world.live(&context, "daily", "");
        world.0.commits.fail(&[fault]);
        let error = world.forget(&context, "daily").expect_err("a failure");
        assert_eq!(error.code, Code::StorageUnavailable, "{fault:?}");
        world.0.commits.fail(&[fault]);
        let error = world.delete(&context, &ended).expect_err("a failure");
        assert_eq!(error.code, Code::StorageUnavailable, "{fault:?}");
        world.pass(60_000);
        assert!(world.has_content(&ended.identity.id), "{fault:?}");
    }
}

#[test]
fn a_whole_lineage_is_forgotten() {
    let world = World::new();
    let context = world.open();
    let first = world.live(&context, "daily", r#","fail_times":1"#);
    let reviewed = failed(&first).id.clone();
    world.retry(&context, &first, &reviewed, false).expect("a rerun");
    world.settle(&context, "daily").expect("it ends");
    assert_eq!(world.forget(&context, "daily").map(|gone| gone.len()), Ok(2));
    assert!(world.listed(&context).expect("a list").is_empty());
}
