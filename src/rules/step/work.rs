//! Following a job until it ends.

use super::pen::Pen;
use super::trouble;
use crate::model::ending::{Ending, Failure, FailureClass};
use crate::model::hold::{ParkReason, WaitReason};
use crate::model::life::Illegal;
use crate::model::operation::Operation;
use crate::model::profile::{JobState, Meaning, Purpose};
use crate::rules::bounds::{NOT_FOUND_MAX, REQUEST_FLOOR_MS};
use crate::rules::classify::{Finding, Said, Verdict};
use crate::rules::digest::{hex, sha256};

pub(super) fn answered(pen: &mut Pen<'_>, verdict: &Verdict) -> Result<(), Illegal> {
    let said = &verdict.said;
    pen.note_answer("poll.answered", Purpose::Poll, said);
    match &verdict.finding {
        Finding::Job(state) => {
            pen.op.counters.polls += 1;
            pen.op.counters.authorizations = 0;
            pen.op.counters.misses = 0;
            pen.op.life.job_read();
            job(pen, *state, said)
        }
        Finding::Other(meaning) => other(pen, *meaning, said),
        Finding::Redirected => trouble::redirected(pen, said, failed),
        Finding::Unreadable(_)
        | Finding::Accepted(_)
        | Finding::Kept(_)
        | Finding::Paged(_)
        | Finding::Incomplete(_)
        | Finding::Listed(_)
        | Finding::Done => failed(pen, Some(said)),
    }
}

/// A poll that brought nothing is no news of the job: it is asked again later.
pub(super) fn failed(pen: &mut Pen<'_>, said: Option<&Said>) -> Result<(), Illegal> {
    if said.is_none() {
        pen.note("poll.lost").purpose = Some(Purpose::Poll);
    }
    pen.back_off(said, WaitReason::Backoff)
}

fn job(pen: &mut Pen<'_>, state: JobState, said: &Said) -> Result<(), Illegal> {
    if state == JobState::Active {
        pen.ease();
    } else {
        pen.op.counters.failures = 0;
    }
    match state {
        JobState::Active => pen.wait_for_poll(pen.op.counters.polls, said, WaitReason::Poll),
        JobState::Completed | JobState::Partial => {
            let partial = state == JobState::Partial;
            let expires_at = pen.expiry_told(Some(said));
            pen.op.life.completed(expires_at, partial)?;
            pen.note("completed");
            Ok(())
        }
        JobState::Failed => failed_job(pen, said, said.class),
        JobState::Cancelled => pen.end(Ending::Cancelled),
        JobState::Expired => pen.end(Ending::Expired(said.fault.clone())),
    }
}

/// The job has failed: the operation ends with what the service says of that.
pub(super) fn failed_job(
    pen: &mut Pen<'_>,
    said: &Said,
    class: FailureClass,
) -> Result<(), Illegal> {
    let failure = failure(&pen.op, said, class);
    pen.end(Ending::Failed(failure))
}

fn other(pen: &mut Pen<'_>, meaning: Meaning, said: &Said) -> Result<(), Illegal> {
    match meaning {
        Meaning::RateLimited => pen.rate_limited(said),
        Meaning::NotFound => not_found(pen, said),
        Meaning::NeedsCredential | Meaning::NeedsAccess | Meaning::NeedsCredit => {
            trouble::needs(pen, meaning)
        }
        Meaning::Rejected => pen.park(ParkReason::NeedsAccess),
        Meaning::Expired => pen.end(Ending::Expired(said.fault.clone())),
        Meaning::SourceBlocked => failed_job(pen, said, FailureClass::Target),
        Meaning::Failed => failed_job(pen, said, said.class),
        Meaning::Transient
        | Meaning::InProgress
        | Meaning::RunningOrFailed
        | Meaning::Consumed
        | Meaning::KeyConflict
        | Meaning::VersionMoved
        | Meaning::Undelivered
        | Meaning::NotReady
        | Meaning::AlreadyEnded
        | Meaning::Unknown => failed(pen, Some(said)),
    }
}

/// Whether a job is so new that its service may not find it yet.
pub(super) fn is_young(pen: &Pen<'_>) -> bool {
    let accepted_at = pen.op.life.evidence.accepted.as_ref().map_or(pen.now, |proof| proof.at);
    pen.now < accepted_at.after(pen.profile.not_found_grace_ms)
}

/// A service may be slow to find what it has just accepted; later, a job that stays missing is for a
/// person.
fn not_found(pen: &mut Pen<'_>, said: &Said) -> Result<(), Illegal> {
    let young = is_young(pen);
    // Answers may be late and clocks jump ahead: one alone says nothing.
    pen.op.counters.misses = if young { 0 } else { pen.op.counters.misses + 1 };
    if young {
        pen.back_off(Some(said), WaitReason::NotFoundGrace)
    } else if pen.op.counters.misses < NOT_FOUND_MAX {
        pen.count_failure();
        let length_ms = (pen.profile.not_found_grace_ms / 2).max(REQUEST_FLOOR_MS);
        pen.wait(length_ms, WaitReason::NotFoundGrace)
    } else {
        pen.park(ParkReason::JobNotFound)
    }
}

/// The failure that a job reports, under a name that a retry must repeat.
fn failure(operation: &Operation, said: &Said, class: FailureClass) -> Failure {
    const NAME_BYTES: usize = 6;
    let code = said.fault.code.as_deref().unwrap_or_default();
    let digest = sha256(&[operation.identity.id.as_str().as_bytes(), code.as_bytes()]);
    let id = hex(&digest[..NAME_BYTES]);
    Failure { id, class, fault: said.fault.clone() }
}
