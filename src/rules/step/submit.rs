//! Handing work over: write ahead, send, and learn what became of it.

use super::pen::Pen;
use super::{trouble, work};
use crate::model::ending::Ending;
use crate::model::evidence::AcceptedHow;
use crate::model::hold::{ParkReason, WaitReason};
use crate::model::ids::{JobId, Scope};
use crate::model::life::Illegal;
use crate::model::profile::{Meaning, Purpose};
use crate::rules::backoff;
use crate::rules::bounds::{REFUSALS_MAX, SEND_BEFORE_MS};
use crate::rules::classify::{Finding, Said, Verdict};

pub(super) fn send(pen: &mut Pen<'_>, scope: Option<Scope>) -> Result<(), Illegal> {
    let evidence = &pen.op.life.evidence;
    if evidence.unresolved.is_some() && evidence.scope.is_some() && evidence.scope != scope {
        return pen.park(ParkReason::ScopeChanged);
    }
    let timeout_ms = pen.profile.calls.submit.timeout_ms;
    pen.op.life.write_ahead(pen.now, SEND_BEFORE_MS, timeout_ms + SEND_BEFORE_MS, scope)?;
    pen.strictly();
    pen.note("submit.written").purpose = Some(Purpose::Submit);
    pen.send(Purpose::Submit);
    Ok(())
}

pub(super) fn not_sent(pen: &mut Pen<'_>) -> Result<(), Illegal> {
    pen.op.life.not_sent()?;
    pen.note("submit.not_sent");
    Ok(())
}

pub(super) fn lost(pen: &mut Pen<'_>) -> Result<(), Illegal> {
    pen.op.life.lost()?;
    pen.note("submit.lost").purpose = Some(Purpose::Submit);
    try_again(pen, None, WaitReason::Backoff)
}

pub(super) fn answered(pen: &mut Pen<'_>, verdict: &Verdict) -> Result<(), Illegal> {
    pen.note_answer("submit.answered", Purpose::Submit, &verdict.said);
    if let (Finding::Other(meaning), Some(id)) = (&verdict.finding, &verdict.said.existing)
        && matches!(meaning, Meaning::InProgress | Meaning::RunningOrFailed | Meaning::Consumed)
    {
        // The service names the job that this very key has led to.
        return accepted(pen, id, &verdict.said);
    }
    match &verdict.finding {
        Finding::Accepted(id) => accepted(pen, id, &verdict.said),
        Finding::Unreadable(_) => {
            pen.op.life.lost()?;
            try_again(pen, Some(&verdict.said), WaitReason::Backoff)
        }
        Finding::Other(meaning) => refused(pen, *meaning, &verdict.said),
        Finding::Redirected
        | Finding::Job(_)
        | Finding::Kept(_)
        | Finding::Incomplete(_)
        | Finding::Done => {
            pen.op.life.lost()?;
            pen.park(ParkReason::OutcomeUnknown)
        }
    }
}

pub(super) fn accepted(pen: &mut Pen<'_>, id: &JobId, said: &Said) -> Result<(), Illegal> {
    pen.op.life.accepted(Some(id.clone()), AcceptedHow::Answered, pen.now)?;
    pen.op.counters.failures = 0;
    pen.op.counters.authorizations = 0;
    pen.strictly();
    pen.claim_job();
    pen.note("accepted");
    if pen.op.life.cancel.is_some() {
        return Ok(());
    }
    let own_ms = backoff::poll_delay(&pen.profile.poll, 0, pen.dice);
    let server_ms = said.server_wait_ms.map(|ms| backoff::with_server_floor(ms, pen.dice));
    pen.wait(server_ms.unwrap_or(own_ms), WaitReason::Poll)
}

/// Two operations with one job: which of them it serves is for a person to say.
pub(super) fn job_taken(pen: &mut Pen<'_>) -> Result<(), Illegal> {
    pen.op.life.lost()?;
    pen.note("submit.job_taken");
    pen.park(ParkReason::OutcomeUnknown)
}

fn refused(pen: &mut Pen<'_>, meaning: Meaning, said: &Said) -> Result<(), Illegal> {
    match meaning {
        Meaning::RateLimited => {
            pen.op.life.refused()?;
            if gave_up(pen)? {
                return Ok(());
            }
            pen.rate_limited(said)
        }
        Meaning::Transient => {
            pen.op.life.lost()?;
            try_again(pen, Some(said), WaitReason::Backoff)
        }
        Meaning::InProgress => {
            pen.op.life.lost()?;
            try_again(pen, Some(said), WaitReason::InProgress)
        }
        Meaning::NeedsCredential | Meaning::NeedsAccess | Meaning::NeedsCredit => {
            pen.op.life.refused()?;
            if gave_up(pen)? {
                return Ok(());
            }
            trouble::needs(pen, meaning)
        }
        Meaning::Rejected | Meaning::SourceBlocked | Meaning::NotFound => {
            pen.op.life.refused()?;
            rejected(pen, said)
        }
        Meaning::KeyConflict => {
            pen.op.life.refused()?;
            pen.park(ParkReason::KeyConflict)
        }
        Meaning::VersionMoved => {
            pen.op.life.refused()?;
            pen.park(ParkReason::VersionMoved)
        }
        Meaning::RunningOrFailed => {
            pen.op.life.lost()?;
            // It is in progress or it has failed: waiting tells, and has a bound.
            pen.op.counters.not_ready += 1;
            if pen.op.counters.not_ready > pen.profile.not_ready_max {
                return pen.park(ParkReason::OutcomeUnknown);
            }
            try_again(pen, Some(said), WaitReason::InProgress)
        }
        Meaning::Failed => {
            pen.op.life.accepted(None, AcceptedHow::Answered, pen.now)?;
            work::failed_job(pen, said, said.class)
        }
        Meaning::Consumed
        | Meaning::NotReady
        | Meaning::Expired
        | Meaning::AlreadyEnded
        | Meaning::Unknown => {
            pen.op.life.lost()?;
            pen.park(ParkReason::OutcomeUnknown)
        }
    }
}

/// A refusal ends the operation only when no attempt at all can have been accepted.
fn rejected(pen: &mut Pen<'_>, said: &Said) -> Result<(), Illegal> {
    if !pen.op.life.evidence.may_be_accepted() {
        return pen.end(Ending::Rejected(said.fault.clone()));
    }
    pen.op.counters.refusals += 1;
    if pen.op.counters.refusals >= REFUSALS_MAX {
        return pen.park(ParkReason::OutcomeUnknown);
    }
    try_again(pen, Some(said), WaitReason::Backoff)
}

fn try_again(pen: &mut Pen<'_>, said: Option<&Said>, reason: WaitReason) -> Result<(), Illegal> {
    if gave_up(pen)? { Ok(()) } else { pen.back_off(said, reason) }
}

/// A wish to cancel ends the sending: at once where nothing can have been accepted; where something
/// may have been, it is never sent again to learn the id, and a person is asked.
pub(super) fn gave_up(pen: &mut Pen<'_>) -> Result<bool, Illegal> {
    if pen.op.life.cancel.is_none() {
        return Ok(false);
    }
    if pen.op.life.evidence.may_be_accepted() {
        pen.park(ParkReason::CancelUnconfirmed)?;
    } else {
        pen.end(Ending::Cancelled)?;
    }
    Ok(true)
}
