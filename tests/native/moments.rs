//! What an operation wants at the very moment from which on it wants something else, and just before.

use crate::world::{PROFILE, Settings, World, service};
use holdfast::model::evidence::Unresolved;
use holdfast::model::hold::Hold;
use holdfast::model::life::Stage;
use holdfast::model::operation::Operation;
use holdfast::model::policy::Retention;
use holdfast::model::profile::{Profile, Purpose};
use holdfast::model::time::Timestamp;
use holdfast::rules::bounds::{CLOCK_JUMP_MS, SEND_BEFORE_MS};
use holdfast::rules::next::{Next, is_behind, lost_count, next};
use holdfast::rules::profile;
use holdfast::rules::step::Bound;

fn by() -> Profile {
    profile::read(PROFILE).expect("a good profile")
}

fn wants(operation: &Operation, at: Timestamp) -> Next {
    next(operation, &by(), at)
}

fn before(at: Timestamp) -> Timestamp {
    Timestamp(at.0 - 1)
}

/// The operation of a world with these faults, when it has come so far.
fn come_to(faults: &str, is_there: impl Fn(&Operation) -> bool) -> Operation {
    let world = World::with_faults(faults);
    let context = world.open();
    world.submit(&context, "daily", r#","duration_ms":60000"#);
    world.until("daily", is_there)
}

/// When it began to wait.
fn set_at(operation: &Operation) -> Timestamp {
    match operation.life.hold() {
        Hold::Until { wait, .. } => wait.set_at,
        Hold::Ready | Hold::Parked { .. } => panic!("it waits to be sent again"),
    }
}

/// One whose outcome is unknown, at rest.
fn unknown() -> (Operation, Unresolved) {
    let operation = come_to(r#"[{"call":"submit","fault":"lose_after"}]"#, |own| {
        own.life.evidence.unresolved.is_some() && own.life.evidence.current.is_none()
    });
    let unresolved = operation.life.evidence.unresolved.clone().expect("it is unknown");
    (operation, unresolved)
}

#[test]
fn an_attempt_is_taken_up_when_it_can_leave_no_more_or_was_written_by_a_clock_that_is_ahead() {
    let written = come_to("[]", |own| own.life.evidence.current.is_some());
    let attempt = written.life.evidence.current.clone().expect("it is out");
    let over = Next::TakeUp(Purpose::Submit);
    assert_eq!(wants(&written, before(attempt.written_at)), over);
    assert_eq!(wants(&written, attempt.written_at), Next::Wait(attempt.send_before));
    assert_eq!(wants(&written, before(attempt.send_before)), Next::Wait(attempt.send_before));
    assert_eq!(wants(&written, attempt.send_before), over);
}

#[test]
fn work_is_followed_until_its_deadline_and_not_at_it() {
    let working = come_to("[]", |own| own.life.stage == Stage::Work);
    let deadline = working.deadline().expect("work has one");
    assert_eq!(wants(&working, before(deadline)), Next::Exchange(Purpose::Poll));
    assert_eq!(wants(&working, deadline), Next::Park(Bound::Deadline));
}

#[test]
fn what_was_never_sent_is_sent_within_its_time_and_not_at_its_end() {
    let mut never_sent = come_to("[]", |own| own.life.evidence.current.is_some());
    never_sent.limits.send_within_ms = 5_000;
    never_sent.life.not_sent().expect("it has not left");
    let end = never_sent.identity.created_at.after(5_000);
    assert_eq!(wants(&never_sent, before(end)), Next::Exchange(Purpose::Submit));
    assert_eq!(wants(&never_sent, end), Next::Park(Bound::Deadline));
}

#[test]
fn an_unknown_outcome_is_sent_again_while_the_request_arrives_within_the_key_s_lifetime() {
    let (mut unknown, unresolved) = unknown();
    unknown.limits.total_ms = 10 * crate::world::DAY_MS;
    let retention_ms = by().key_retention_ms().expect("the service forgets keys");
    let on_its_way = SEND_BEFORE_MS + by().calls.submit.timeout_ms;
    let last = Timestamp(unresolved.first_at.after(retention_ms).0 - on_its_way);
    assert_eq!(wants(&unknown, before(last)), Next::Exchange(Purpose::Submit));
    assert_eq!(wants(&unknown, last), Next::Park(Bound::KeyLifetime));
}

#[test]
fn a_clock_that_is_behind_by_more_than_a_minute_counts_no_key_s_lifetime() {
    let (unknown, _) = unknown();
    let last = set_at(&unknown);
    let far_behind = Timestamp(last.0 - CLOCK_JUMP_MS);
    assert!(!lost_count(&unknown, &by(), far_behind));
    assert!(lost_count(&unknown, &by(), before(far_behind)));
}

#[test]
fn a_wait_that_was_set_in_this_very_moment_is_not_ahead_of_the_clock() {
    let (unknown, _) = unknown();
    let set_at = set_at(&unknown);
    assert!(!is_behind(&unknown, set_at));
    assert!(is_behind(&unknown, before(set_at)));
}

#[test]
fn what_is_kept_for_a_time_goes_when_that_is_over() {
    let retention = Retention { age_ms: Some(3_600_000), ..Retention::default() };
    let world = World::with(Settings { retention, ..Settings::default() }, service());
    let (_, ended) = world.lived("");
    let end = ended.kept_until().expect("it goes");
    assert_eq!(wants(&ended, before(end)), Next::Wait(end));
    assert_eq!(wants(&ended, end), Next::Remove);
}
