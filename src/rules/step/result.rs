//! Bringing a result home before the service drops it.

use super::pen::Pen;
use super::{trouble, work};
use crate::model::ending::{Ending, Fault, ResultRef};
use crate::model::hold::{ParkReason, WaitReason};
use crate::model::life::{Illegal, Stage};
use crate::model::pages::Paged;
use crate::model::profile::{JobState, Meaning, Purpose};
use crate::rules::bounds::{
    PARTS_MISSED_MAX, PROGRESS_BYTES_MIN, REQUEST_FLOOR_MS, RESTARTS_MAX, RESULT_FAILURES_MAX,
    UNREADABLE_RESULTS_MAX,
};
use crate::rules::classify::{Finding, Said, Verdict};
use crate::rules::digest::disagrees;
use crate::rules::teeth::{Tooth, bites};

pub(super) fn answered(pen: &mut Pen<'_>, verdict: &Verdict) -> Result<(), Illegal> {
    let said = &verdict.said;
    pen.note_answer("result.answered", Purpose::Result, said);
    match &verdict.finding {
        Finding::Kept(result) => kept(pen, said, result),
        Finding::Paged(so_far) if so_far.pages == 0 => broke_off(pen, so_far, said),
        Finding::Paged(so_far) => paged(pen, so_far),
        Finding::Incomplete(result) => incomplete(pen, said, result.clone()),
        Finding::Unreadable(Some(result)) if pen.op.counters.misses >= UNREADABLE_RESULTS_MAX => {
            incomplete(pen, said, Some(result.clone()))
        }
        Finding::Unreadable(Some(_)) => missed(pen, said),
        Finding::Other(meaning) => other(pen, *meaning, said),
        Finding::Redirected => trouble::redirected(pen, said, failed),
        Finding::Unreadable(None)
        | Finding::Accepted(_)
        | Finding::Job(JobState::Active | JobState::Completed | JobState::Partial)
        | Finding::Listed(_)
        | Finding::Done => failed(pen, Some(said)),
        // The answer that holds the result also tells when there is none after all.
        Finding::Job(JobState::Failed) => work::failed_job(pen, said, said.class),
        Finding::Job(JobState::Cancelled) => pen.end(Ending::Cancelled),
        Finding::Job(JobState::Expired) => pen.end(Ending::Expired(said.fault.clone())),
    }
}

/// The result is at hand.
pub(super) fn kept(pen: &mut Pen<'_>, said: &Said, result: &ResultRef) -> Result<(), Illegal> {
    if lacks(pen, said, Some(result)).is_some() {
        return incomplete(pen, said, Some(result.clone()));
    }
    pen.end(Ending::Succeeded { result: result.clone(), replayed: said.replayed })
}

/// A page that is not the last: its pieces are kept, and the next is due.
fn paged(pen: &mut Pen<'_>, so_far: &Paged) -> Result<(), Illegal> {
    let counters = &mut pen.op.counters;
    (counters.failures, counters.misses, counters.authorizations) = (0, 0, 0);
    pen.op.life.paged(Box::new(so_far.clone()))
}

/// What came of it is kept: the rest is asked for. Who serves it part by part has no failures; what does
/// not go on from what has come begins anew.
fn broke_off(pen: &mut Pen<'_>, so_far: &Paged, said: &Said) -> Result<(), Illegal> {
    pen.note("result.broke_off");
    if so_far.next.is_empty() {
        return begin_anew(pen, said);
    }
    let before = match &pen.op.life.stage {
        Stage::Result { pages: Some(own), .. } => own.kept.bytes,
        Stage::Result { .. } | Stage::Submit | Stage::Reconcile(_) | Stage::Work => 0,
        Stage::Ended { .. } => return Err(Illegal),
    };
    let goes_on = !so_far.kept.earlier.is_empty();
    if before > 0 && !goes_on && is_begun_too_often(pen) {
        return pen.park(ParkReason::BudgetExhausted);
    }
    pen.op.life.broke_off(Box::new(so_far.clone()))?;
    if goes_on && so_far.kept.bytes.saturating_sub(before) >= PROGRESS_BYTES_MIN {
        pen.op.counters.failures = 0;
    }
    failed(pen, Some(said))
}

/// An answer that is no result: only many of them in a row say that there is none.
fn missed(pen: &mut Pen<'_>, said: &Said) -> Result<(), Illegal> {
    pen.op.counters.misses += 1;
    failed(pen, Some(said))
}

/// A download that brought nothing whole is made again, sooner when the expiry is near. Where it has
/// passed, haste wins nothing: the service says itself when the result is gone.
pub(super) fn failed(pen: &mut Pen<'_>, said: Option<&Said>) -> Result<(), Illegal> {
    if said.is_none() {
        pen.note("result.lost").purpose = Some(Purpose::Result);
    }
    if is_spent(pen) {
        return pen.park(ParkReason::BudgetExhausted);
    }
    pen.count_failure();
    let own_ms = pen.own_pause_ms();
    let asked_ms = pen.asked_ms(said);
    let left_ms = expiry(pen).map_or(0, |at| at.since(pen.now));
    let hurried_ms = if left_ms > 0 { own_ms.min(left_ms / 2) } else { own_ms };
    let length_ms = hurried_ms.max(asked_ms.unwrap_or(REQUEST_FLOOR_MS));
    let told = asked_ms.is_some();
    pen.wait(length_ms, if told { WaitReason::ServerGuidance } else { WaitReason::Backoff })
}

fn other(pen: &mut Pen<'_>, meaning: Meaning, said: &Said) -> Result<(), Illegal> {
    match meaning {
        Meaning::NotReady if pen.profile.calls.poll.is_none() => still_running(pen, said),
        Meaning::NotReady if bites(Tooth::NotReadyIsExpired) => {
            pen.end(Ending::Expired(said.fault.clone()))
        }
        Meaning::NotReady | Meaning::RunningOrFailed | Meaning::InProgress => not_ready(pen, said),
        Meaning::Undelivered => undelivered(pen, said),
        Meaning::NotFound if has_begun(pen) && pen.op.counters.misses < PARTS_MISSED_MAX => {
            missed(pen, said)
        }
        Meaning::Failed | Meaning::NotFound | Meaning::Rejected if has_begun(pen) => {
            begin_anew(pen, said)
        }
        Meaning::Failed => work::failed_job(pen, said, said.class),
        Meaning::Expired if bites(Tooth::SwallowExpired) => failed(pen, Some(said)),
        Meaning::Expired => pen.end(Ending::Expired(said.fault.clone())),
        // Clocks jump ahead, and a service may be slow to find it: one such answer alone says nothing.
        Meaning::NotFound if pen.op.counters.misses >= UNREADABLE_RESULTS_MAX => {
            if expiry(pen).is_some_and(|at| at <= pen.now) {
                return pen.end(Ending::Expired(said.fault.clone()));
            }
            pen.park(ParkReason::JobNotFound)
        }
        Meaning::NotFound => missed(pen, said),
        Meaning::RateLimited if is_spent(pen) => pen.park(ParkReason::BudgetExhausted),
        Meaning::RateLimited => pen.rate_limited(said),
        Meaning::NeedsCredential | Meaning::NeedsAccess | Meaning::NeedsCredit => {
            trouble::needs(pen, meaning)
        }
        Meaning::Rejected | Meaning::SourceBlocked => pen.park(ParkReason::NeedsAccess),
        Meaning::Transient
        | Meaning::Consumed
        | Meaning::KeyConflict
        | Meaning::VersionMoved
        | Meaning::AlreadyEnded
        | Meaning::Unknown => failed(pen, Some(said)),
    }
}

/// Where the result is all that can be read, asking for it is polling: it goes on until the deadline.
fn still_running(pen: &mut Pen<'_>, said: &Said) -> Result<(), Illegal> {
    if pen.op.total_until() <= pen.now {
        return pen.park(ParkReason::DeadlineExceeded);
    }
    let counters = &mut pen.op.counters;
    counters.polls += 1;
    (counters.failures, counters.misses, counters.authorizations) = (0, 0, 0);
    pen.wait_for_poll(pen.op.counters.polls, said, WaitReason::ResultNotReady)
}

/// The same request is sent again, within the same bounds: its replay brings the result.
fn undelivered(pen: &mut Pen<'_>, said: &Said) -> Result<(), Illegal> {
    pen.op.counters.not_ready += 1;
    if pen.profile.key.is_none() || pen.op.counters.not_ready > pen.profile.not_ready_max {
        return pen.park(ParkReason::BudgetExhausted);
    }
    pen.op.life.again(pen.now, pen.op.identity.created_at)?;
    pen.strictly();
    pen.back_off(Some(said), WaitReason::ResultNotReady)
}

/// "Not ready" is a state of the job, never data: it is polled again, within bounds.
fn not_ready(pen: &mut Pen<'_>, said: &Said) -> Result<(), Illegal> {
    pen.op.counters.not_ready += 1;
    if pen.op.counters.not_ready > pen.profile.not_ready_max {
        return pen.park(ParkReason::BudgetExhausted);
    }
    // A service that cannot be polled is asked for the result itself again.
    if pen.profile.calls.poll.is_some() {
        pen.op.life.not_ready()?;
    }
    pen.wait_for_poll(pen.op.counters.not_ready, said, WaitReason::ResultNotReady)
}

/// Who refuses the rest of a result does not say that the job failed, or that it is not there (its cursor is stale,
/// perhaps): it is read from its beginning, within bounds.
fn begin_anew(pen: &mut Pen<'_>, said: &Said) -> Result<(), Illegal> {
    if is_begun_too_often(pen) {
        return pen.park(ParkReason::BudgetExhausted);
    }
    pen.op.counters.misses = 0;
    pen.op.life.anew()?;
    failed(pen, Some(said))
}

/// Counts another beginning.
const fn is_begun_too_often(pen: &mut Pen<'_>) -> bool {
    pen.op.counters.restarts += 1;
    pen.op.counters.restarts > RESTARTS_MAX
}

pub(super) fn incomplete(
    pen: &mut Pen<'_>,
    said: &Said,
    result: Option<ResultRef>,
) -> Result<(), Illegal> {
    let message = said.fault.message.clone();
    let why = lacks(pen, said, result.as_ref()).unwrap_or("the result is not readable");
    let message = message.or_else(|| Some(why.into()));
    pen.end(Ending::Incomplete { fault: Fault { message, ..said.fault.clone() }, result })
}

/// What is wrong with a result, by what has been said of it before and with it.
fn lacks(pen: &Pen<'_>, said: &Said, result: Option<&ResultRef>) -> Option<&'static str> {
    let declared = pen.op.reported.record_count.as_ref().and_then(|text| text.parse::<u64>().ok());
    let is_other = |(name, told): &(String, String)| {
        pen.op.carried.iter().any(|(own, sent)| own == name && sent != told)
    };
    // Of many pages, each holds its own: what all of them hold is compared with `pages.total`.
    let records = said.records.filter(|_| pen.profile.pages.is_none());
    // So is a digest: that of many pages is of how they are kept here.
    let kept = result.filter(|_| pen.profile.pages.is_none());
    let digest = pen.op.reported.digest.as_ref().zip(kept);
    let is_other_digest = digest.is_some_and(|(told, own)| disagrees(told, &own.sha256));
    if matches!(pen.op.life.stage, Stage::Result { partial: true, .. }) {
        Some("the job ended with a part of its result")
    } else if records.is_some() && declared.is_some() && records != declared {
        Some("the result does not hold as many records as are declared")
    } else if is_other_digest {
        Some("the result has another digest than is declared")
    } else if said.echoes.iter().any(is_other) {
        Some("the result is of another request or version than was submitted")
    } else {
        None
    }
}

/// Whether some of the result has come.
fn has_begun(pen: &Pen<'_>) -> bool {
    matches!(pen.op.life.stage, Stage::Result { pages: Some(_), .. })
}

const fn is_spent(pen: &Pen<'_>) -> bool {
    pen.op.counters.failures >= RESULT_FAILURES_MAX
}

fn expiry(pen: &Pen<'_>) -> Option<crate::model::time::Timestamp> {
    match pen.op.life.stage {
        Stage::Result { expires_at, .. } => expires_at,
        Stage::Submit | Stage::Reconcile(_) | Stage::Work | Stage::Ended { .. } => None,
    }
}
