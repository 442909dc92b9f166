//! Storage that fails: typed errors, nothing sent, and never a second execution.

use std::cell::RefCell;
use std::rc::Rc;

use crate::world::{CommitFault, World, standing, submission, succeeds_once};
use holdfast::model::error::Code;
use holdfast::model::life::Stage;
use holdfast::model::operation::Operation;
use holdfast_services::Call;

// The first write.

#[test]
fn a_commit_that_fails_refuses_the_submit_and_nothing_is_sent() {
    for fault in [CommitFault::Refused, CommitFault::Aborted, CommitFault::Full] {
        let world = World::new();
        let context = world.open();
        world.0.commits.fail(&[fault]);
        let error = world.try_submit(&context, "daily", "").expect_err("not stored");
        assert_eq!(error.code, Code::StorageUnavailable, "{fault:?}");
        world.pass(3_600_000);
        assert_eq!(world.requests(Call::Any).len(), 0, "{fault:?}");
        assert!(world.stored("daily").is_none(), "{fault:?}");
    }
}

#[test]
fn the_same_submit_succeeds_once_storage_is_back() {
    let world = World::new();
    let context = world.open();
    world.0.commits.fail(&[CommitFault::Full, CommitFault::Full]);
    world.try_submit(&context, "daily", "").expect_err("no room");
    world.try_submit(&context, "daily", "").expect_err("still no room");
    let ended = world.live(&context, "daily", "");
    succeeds_once(&world, &ended);
}

#[test]
fn a_store_that_cannot_be_read_refuses_the_submit() {
    let world = World::new();
    let context = world.open();
    world.0.commits.unreadable.set(true);
    let error = world.try_submit(&context, "daily", "").expect_err("no storage");
    assert_eq!(error.code, Code::StorageUnavailable);
    world.0.commits.unreadable.set(false);
    world.pass(3_600_000);
    assert_eq!(world.requests(Call::Any).len(), 0);
}

#[test]
fn an_unknown_commit_that_did_happen_is_read_back_on_a_fresh_connection() {
    let world = World::new();
    let context = world.open();
    world.0.commits.fail(&[CommitFault::UnknownDone]);
    let operation = world.submit(&context, "daily", "");
    assert_eq!(world.0.commits.reconnects.get(), 1);
    assert_eq!(world.stored("daily").map(|own| own.identity.id), Some(operation.identity.id));
    let ended = world.settle(&context, "daily").expect("it ends");
    succeeds_once(&world, &ended);
}

#[test]
fn an_unknown_commit_that_did_not_happen_is_made_again() {
    let world = World::new();
    let context = world.open();
    world.0.commits.fail(&[CommitFault::UnknownLost]);
    let ended = world.live(&context, "daily", "");
    succeeds_once(&world, &ended);
}

/// Both the commit and its repetition leave their fate open.
fn unconfirmed(faults: [CommitFault; 2]) {
    let world = World::new();
    let context = world.open();
    world.0.commits.fail(&faults);
    let error = world.try_submit(&context, "daily", "").expect_err("not confirmed");
    assert_eq!(error.code, Code::SubmitUnconfirmed, "{faults:?}");
    assert!(!error.message.contains("nothing was sent"), "{}", error.message);
    assert!(!error.next_step.contains("nothing was sent"), "{}", error.next_step);
    let first = world.submit(&context, "daily", "");
    let second = world.submit(&context, "daily", "");
    assert_eq!(first.identity.id, second.identity.id);
    let ended = world.settle(&context, "daily").expect("it ends");
    succeeds_once(&world, &ended);
}

#[test]
fn an_unknown_commit_that_cannot_be_read_back_is_unconfirmed_and_later_one_operation() {
    unconfirmed([CommitFault::UnknownDone, CommitFault::Refused]);
    unconfirmed([CommitFault::UnknownDone, CommitFault::UnknownDone]);
    unconfirmed([CommitFault::UnknownLost, CommitFault::Refused]);
    unconfirmed([CommitFault::UnknownLost, CommitFault::UnknownLost]);
}

#[test]
fn an_unconfirmed_submission_that_was_stored_goes_on_by_itself() {
    let world = World::new();
    let context = world.open();
    world.0.commits.fail(&[CommitFault::UnknownDone, CommitFault::Refused]);
    world.try_submit(&context, "daily", "").expect_err("not confirmed");
    world.pass(600_000);
    let ended = world.stored("daily").expect("it was stored");
    succeeds_once(&world, &ended);
}

// Later writes.

#[test]
fn a_write_that_fails_later_loses_nothing() {
    let faults = [
        CommitFault::Refused,
        CommitFault::Aborted,
        CommitFault::Full,
        CommitFault::UnknownDone,
        CommitFault::UnknownLost,
    ];
    for fault in faults {
        // Every commit of the life, in turn.
        for commit in 1..8 {
            let world = World::new();
            let context = world.open();
            let mut plan = vec![CommitFault::Pass; commit];
            plan.push(fault);
            world.submit(&context, "daily", "");
            world.0.commits.fail(&plan[1..]);
            let ended = world.settle(&context, "daily").expect("it ends");
            succeeds_once(&world, &ended);
            assert_eq!(world.0.service.borrow().ledger().too_fast, 0, "{fault:?} at {commit}");
        }
    }
}

#[test]
fn a_lasting_failure_of_storage_sends_nothing_more() {
    let world = World::new();
    let context = world.open();
    world.submit(&context, "daily", r#","duration_ms":600000"#);
    world.until("daily", |own| own.life.stage == Stage::Work);
    world.0.commits.fail(&[CommitFault::Refused; 10_000]);
    world.pass(60_000);
    let ended_sending = world.requests(Call::Submit).len();
    world.pass(600_000);
    assert_eq!(world.requests(Call::Submit).len(), ended_sending);
    assert!(world.0.commits.is_pending(), "polls hammer a store that fails");
}

#[test]
fn a_wish_that_is_not_stored_is_refused() {
    let world = World::new();
    let context = world.open();
    let operation = world.submit(&context, "daily", r#","duration_ms":600000"#);
    world.until("daily", |own| own.life.stage == Stage::Work);
    world.0.commits.fail(&[CommitFault::Full]);
    let error = world.cancel(&context, &operation).expect_err("not stored");
    assert_eq!(error.code, Code::StorageUnavailable);
    assert!(world.stored("daily").is_some_and(|own| own.life.cancel.is_none()));
    world.pass(30_000);
    assert_eq!(world.requests(Call::Cancel).len(), 0);
}

#[test]
fn a_result_whose_end_is_not_stored_is_fetched_again() {
    let world = World::new();
    let context = world.open();
    world.submit(&context, "daily", "");
    world.until("daily", |own| matches!(own.life.stage, Stage::Result { .. }));
    world.0.commits.fail(&[CommitFault::Full]);
    let ended = world.settle(&context, "daily").expect("it ends");
    succeeds_once(&world, &ended);
    assert_eq!(world.requests(Call::Result).len(), 2);
}

// Group commit.

/// Submits all of these in the same turn, and gives what each was told.
fn at_once(world: &World, all: &[(&str, &str)]) -> Vec<Result<Operation, Code>> {
    let context = world.open();
    let told = Rc::new(RefCell::new(vec![None; all.len()]));
    for (place, (intent, options)) in all.iter().enumerate() {
        let (driver, told) = (context.driver.clone(), Rc::clone(&told));
        let request = submission(intent, options);
        world.spawn(&context, async move {
            let answer = driver.submit(request).await.map_err(|error| error.code);
            told.borrow_mut()[place] = Some(answer);
        });
    }
    world.run(world.0.clock.now() + 60_000, || told.borrow().iter().all(Option::is_some));
    let told = told.borrow().clone();
    told.into_iter().map(|own| own.expect("an answer")).collect()
}

#[test]
fn a_member_in_conflict_hinders_no_other() {
    let world = World::new();
    let told = at_once(&world, &[("one", ""), ("one", r#","limit":1"#), ("two", "")]);
    assert!(told[0].is_ok());
    assert_eq!(told[1].as_ref().err(), Some(&Code::IntentConflict));
    assert!(told[2].is_ok());
}

#[test]
fn members_of_an_aborted_transaction_are_written_one_by_one() {
    let world = World::new();
    world.0.commits.fail(&[CommitFault::Pass, CommitFault::Aborted, CommitFault::Aborted]);
    let told = at_once(&world, &[("one", ""), ("two", ""), ("three", ""), ("four", "")]);
    let stored = told.iter().filter(|own| own.is_ok()).count();
    assert!(stored >= 3, "{told:?}");
    for (intent, told) in ["one", "two", "three", "four"].iter().zip(&told) {
        assert_eq!(world.stored(intent).is_some(), told.is_ok(), "{intent}");
    }
}

#[test]
fn more_operations_than_fit_into_memory_all_end() {
    let world = World::new();
    let rich =
        holdfast_services::Config { balance: 10_000, ..holdfast_services::Config::default() };
    let rich: holdfast_services::AnyService = Box::new(holdfast_services::RunHarvester::new(rich));
    world.0.service.replace(holdfast_services::Loopback::new(rich));
    let context = world.open();
    let intents: Vec<_> = (0..150).map(|number| format!("number {number}")).collect();
    for intent in &intents {
        world.submit(&context, intent, "");
    }
    for intent in &intents {
        let ended = world.settle(&context, intent).expect("it ends");
        assert_eq!(standing(&ended), "succeeded", "{intent}");
    }
    assert_eq!(world.executions(), 150);
}
