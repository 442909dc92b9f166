//! Handing work over: write ahead, send, and learn what became of it.

use super::pen::Pen;
use super::{reconcile, result, trouble, work};
use crate::model::ending::{Ending, FailureClass};
use crate::model::evidence::AcceptedHow;
use crate::model::hold::{ParkReason, WaitReason};
use crate::model::ids::{JobId, Scope};
use crate::model::life::{Illegal, Stage};
use crate::model::profile::{JobState, Meaning, Purpose};
use crate::rules::bounds::{REFUSALS_MAX, REQUEST_FLOOR_MS, SEND_BEFORE_MS};
use crate::rules::classify::{Finding, Said, Verdict};
use crate::rules::next::is_diagnosing;
use crate::rules::teeth::{Tooth, bites};

pub(super) fn send(pen: &mut Pen<'_>, scope: Option<Scope>) -> Result<(), Illegal> {
    if pen.op.life.evidence.is_of_another(scope.as_ref()) {
        return pen.park(ParkReason::ScopeChanged);
    }
    let abort_ms = pen.profile.calls.submit.silence_ms() + SEND_BEFORE_MS;
    pen.op.life.write_ahead(pen.now, SEND_BEFORE_MS, abort_ms, scope)?;
    if !bites(Tooth::RelaxedAttempt) {
        pen.strictly();
    }
    pen.note("submit.written").purpose = Some(Purpose::Submit);
    pen.send(Purpose::Submit);
    Ok(())
}

pub(super) fn not_sent(pen: &mut Pen<'_>) -> Result<(), Illegal> {
    pen.op.life.not_sent()?;
    pen.note("submit.not_sent");
    gave_up(pen).map(|_| ())
}

pub(super) fn lost(pen: &mut Pen<'_>) -> Result<(), Illegal> {
    if bites(Tooth::UnknownIsRefused) {
        pen.op.life.refused()?;
    } else if bites(Tooth::ForgetUnresolved) {
        pen.op.life.not_sent()?;
    } else {
        pen.op.life.lost()?;
    }
    pen.note("submit.lost").purpose = Some(Purpose::Submit);
    unknown(pen, None, WaitReason::Backoff)?;
    // A browser does not say why: whether the service is there at all tells a person more.
    let asks = pen.profile.calls.diagnose.is_some() && pen.op.counters.failures > 1;
    if asks && pen.waits_to_send_again() {
        pen.wait(REQUEST_FLOOR_MS, WaitReason::Diagnosis)?;
    }
    Ok(())
}

/// Whether the service answers at all has been asked. Nothing follows from it for the submission.
pub(super) fn diagnosed(pen: &mut Pen<'_>, answers: bool) -> Result<(), Illegal> {
    if !is_diagnosing(&pen.op) {
        return Err(Illegal);
    }
    let event = if answers { "diagnose.answered" } else { "diagnose.lost" };
    pen.note(event).purpose = Some(Purpose::Diagnose);
    // The loss has been counted when it was heard of.
    let (length_ms, _) = pen.pause_ms(None);
    pen.wait(length_ms, WaitReason::Backoff)
}

/// The answer goes on coming. An id in it is proof of the acceptance, and kept at once.
pub(super) fn heard(pen: &mut Pen<'_>, said: &Said) -> Result<(), Illegal> {
    if matches!(pen.op.life.stage, Stage::Result { .. }) {
        pen.heard(said);
        return Ok(());
    }
    let silence_ms = pen.profile.calls.submit.silence_ms();
    pen.op.life.goes_on(pen.now.after(silence_ms + SEND_BEFORE_MS))?;
    pen.heard(said);
    if said.job.is_some() && said.job.as_ref() != pen.op.life.job() {
        pen.op.life.seen(said.job.clone(), AcceptedHow::Answered, pen.now)?;
        pen.strictly();
        pen.claim_job();
        pen.note("accepted");
    }
    Ok(())
}

pub(super) fn answered(pen: &mut Pen<'_>, verdict: &Verdict) -> Result<(), Illegal> {
    pen.note_answer("submit.answered", Purpose::Submit, &verdict.said);
    if let (Finding::Other(meaning), Some(id)) = (&verdict.finding, &verdict.said.existing)
        && matches!(meaning, Meaning::InProgress | Meaning::RunningOrFailed | Meaning::Consumed)
    {
        // The service names the job that this very key has led to.
        return accepted(pen, id, &verdict.said);
    }
    let said = &verdict.said;
    match &verdict.finding {
        Finding::Accepted(id) => accepted(pen, id, said),
        Finding::Kept(result) => {
            fulfilled(pen, said)?;
            result::kept(pen, said, result)
        }
        Finding::Incomplete(result) => {
            fulfilled(pen, said)?;
            result::incomplete(pen, said, result.clone())
        }
        Finding::Job(JobState::Failed) => {
            fulfilled(pen, said)?;
            work::failed_job(pen, said, said.class)
        }
        Finding::Job(JobState::Cancelled) => {
            fulfilled(pen, said)?;
            pen.end(Ending::Cancelled)
        }
        Finding::Job(JobState::Expired) => {
            fulfilled(pen, said)?;
            pen.end(Ending::Expired(said.fault.clone()))
        }
        Finding::Unreadable(_) => {
            pen.op.life.lost()?;
            if said.job.is_some() {
                pen.op.life.seen(said.job.clone(), AcceptedHow::Answered, pen.now)?;
                pen.claim_job();
                pen.strictly();
            }
            unknown(pen, Some(said), WaitReason::Backoff)
        }
        // The key brings this answer whenever it is asked.
        Finding::Other(Meaning::Transient) if said.replayed || is_kept(pen, said) => {
            refused(pen, Meaning::Consumed, said)
        }
        Finding::Other(meaning) => refused(pen, *meaning, said),
        Finding::Redirected
        | Finding::Job(JobState::Active | JobState::Completed | JobState::Partial)
        | Finding::Listed(_)
        | Finding::Paged(_)
        | Finding::Done => {
            pen.op.life.lost()?;
            reconcile::unknowable(pen)
        }
    }
}

/// Whether the service keeps this failure of its own under the key. A gateway has statuses of others.
fn is_kept(pen: &Pen<'_>, said: &Said) -> bool {
    pen.profile.key.as_ref().is_some_and(|key| key.keeps_errors) && said.fault.status == Some(500)
}

/// The answer to the submission is the result, or says that there will be none.
fn fulfilled(pen: &mut Pen<'_>, said: &Said) -> Result<(), Illegal> {
    if pen.op.life.evidence.current.is_none() {
        return Err(Illegal);
    }
    let expires_at = pen.expiry_told(Some(said));
    pen.op.life.fulfilled(said.job.clone(), AcceptedHow::Answered, pen.now, expires_at)?;
    pen.claim_job();
    Ok(())
}

/// What became of the attempt is not known. Work whose id has been seen is read by that; else the
/// same request is sent again.
fn unknown(pen: &mut Pen<'_>, said: Option<&Said>, reason: WaitReason) -> Result<(), Illegal> {
    match pen.op.life.job().cloned().filter(|_| pen.profile.reads_jobs()) {
        Some(id) => {
            pen.taken_on(&id, AcceptedHow::Answered, said)?;
            pen.note("accepted");
            pen.back_off(said, reason)
        }
        None => try_again(pen, said, reason),
    }
}

pub(super) fn accepted(pen: &mut Pen<'_>, id: &JobId, said: &Said) -> Result<(), Illegal> {
    pen.taken_on(id, AcceptedHow::Answered, Some(said))?;
    pen.ease();
    pen.op.counters.authorizations = 0;
    pen.note("accepted");
    if pen.is_submitting() {
        return try_again(pen, Some(said), WaitReason::InProgress);
    }
    if pen.op.life.cancel.is_some() {
        return Ok(());
    }
    pen.wait_for_poll(0, said, WaitReason::Poll)
}

/// Two operations with one job: which of them it serves is for a person to say.
pub(super) fn job_taken(pen: &mut Pen<'_>) -> Result<(), Illegal> {
    if pen.op.life.evidence.current.is_some() {
        pen.op.life.lost()?;
    }
    if !pen.op.life.may_be_accepted() {
        return Err(Illegal);
    }
    pen.note("submit.job_taken");
    pen.op.taken = true;
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
        Meaning::Transient | Meaning::Undelivered => {
            pen.op.life.lost()?;
            try_again(pen, Some(said), WaitReason::Backoff)
        }
        Meaning::InProgress if bites(Tooth::ConflictIsRefusal) => {
            pen.op.life.refused()?;
            rejected(pen, said)
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
        Meaning::Rejected | Meaning::NotFound => {
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
            // It is in progress or it has failed: waiting tells, and has a bound. Either way the
            // service has taken it on, and no later refusal can say that it did not.
            pen.op.life.lost()?;
            pen.op.life.seen(None, AcceptedHow::Answered, pen.now)?;
            pen.strictly();
            pen.op.counters.not_ready += 1;
            if pen.op.counters.not_ready > pen.profile.not_ready_max {
                return reconcile::unknowable(pen);
            }
            unknown(pen, Some(said), WaitReason::InProgress)
        }
        Meaning::Failed => {
            fulfilled(pen, said)?;
            work::failed_job(pen, said, said.class)
        }
        Meaning::SourceBlocked => {
            fulfilled(pen, said)?;
            work::failed_job(pen, said, FailureClass::Target)
        }
        // The replay of what has been done: there is nothing left to wait for.
        Meaning::Expired if pen.profile.calls.poll.is_none() => {
            fulfilled(pen, said)?;
            pen.end(Ending::Expired(said.fault.clone()))
        }
        Meaning::Consumed
        | Meaning::NotReady
        | Meaning::Expired
        | Meaning::AlreadyEnded
        | Meaning::Unknown => {
            pen.op.life.lost()?;
            reconcile::unknowable(pen)
        }
    }
}

/// A refusal ends the operation only when no attempt at all can have been accepted.
fn rejected(pen: &mut Pen<'_>, said: &Said) -> Result<(), Illegal> {
    if bites(Tooth::RejectAfterUnknown) {
        pen.op.life.disproved()?;
    }
    if !pen.op.life.evidence.may_be_accepted() {
        return pen.end(Ending::Rejected(said.fault.clone()));
    }
    pen.op.counters.refusals += 1;
    if pen.op.counters.refusals >= REFUSALS_MAX {
        return reconcile::unknowable(pen);
    }
    try_again(pen, Some(said), WaitReason::Backoff)
}

fn try_again(pen: &mut Pen<'_>, said: Option<&Said>, reason: WaitReason) -> Result<(), Illegal> {
    if bites(Tooth::ParkAtOnce) {
        return pen.park(ParkReason::OutcomeUnknown);
    }
    let keyless = pen.profile.key.is_none() && !bites(Tooth::ResendWithoutKey);
    if keyless && pen.op.life.evidence.unresolved.is_some() {
        return reconcile::unknowable(pen);
    }
    if gave_up(pen)? { Ok(()) } else { pen.back_off(said, reason) }
}

/// A wish to cancel ends the sending: at once where nothing can have been accepted; where something
/// may have been, it is never sent again to learn the id: it is looked up, or a person is asked.
pub(super) fn gave_up(pen: &mut Pen<'_>) -> Result<bool, Illegal> {
    let resend = bites(Tooth::ResendCancelled) && pen.op.life.evidence.may_be_accepted();
    if pen.op.life.cancel.is_none() || resend {
        return Ok(false);
    }
    if pen.op.life.evidence.may_be_accepted() {
        reconcile::unknowable(pen)?;
    } else {
        pen.end(Ending::Cancelled)?;
    }
    Ok(true)
}
