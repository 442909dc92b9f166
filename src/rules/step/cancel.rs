//! Stopping a job: a submission of its own, whose lost answers are settled by reading.

use super::pen::Pen;
use super::trouble;
use super::work::is_young;
use crate::model::hold::WaitReason;
use crate::model::life::Illegal;
use crate::model::profile::{Meaning, Purpose};
use crate::rules::bounds::{CANCEL_ATTEMPTS_MAX, EXCHANGE_TIMEOUT_MS, SEND_BEFORE_MS};
use crate::rules::classify::{Finding, Said, Verdict};

pub(super) fn send(pen: &mut Pen<'_>) -> Result<(), Illegal> {
    let call = pen.profile.calls.cancel.as_ref();
    let timeout_ms = call.map_or(EXCHANGE_TIMEOUT_MS, |call| call.timeout_ms);
    pen.op.life.write_cancel_ahead(pen.now, SEND_BEFORE_MS, timeout_ms + SEND_BEFORE_MS)?;
    pen.strictly();
    pen.note("cancel.written").purpose = Some(Purpose::Cancel);
    pen.send(Purpose::Cancel);
    Ok(())
}

pub(super) fn lost(pen: &mut Pen<'_>) -> Result<(), Illegal> {
    pen.note("cancel.lost").purpose = Some(Purpose::Cancel);
    unsettled(pen, None)
}

pub(super) fn answered(pen: &mut Pen<'_>, verdict: &Verdict) -> Result<(), Illegal> {
    let said = &verdict.said;
    pen.note_answer("cancel.answered", Purpose::Cancel, said);
    match &verdict.finding {
        Finding::Done => settled(pen),
        Finding::Other(meaning) => match meaning {
            Meaning::RateLimited => {
                close(pen, false)?;
                pen.rate_limited(said)
            }
            Meaning::NeedsCredential | Meaning::NeedsAccess | Meaning::NeedsCredit => {
                close(pen, false)?;
                trouble::needs(pen, *meaning)
            }
            Meaning::Transient
            | Meaning::InProgress
            | Meaning::RunningOrFailed
            | Meaning::Unknown => unsettled(pen, Some(said)),
            Meaning::NotFound if is_young(pen) => unsettled(pen, Some(said)),
            Meaning::AlreadyEnded
            | Meaning::Rejected
            | Meaning::NotFound
            | Meaning::Undelivered
            | Meaning::NotReady
            | Meaning::Expired
            | Meaning::SourceBlocked
            | Meaning::Failed
            | Meaning::Consumed
            | Meaning::VersionMoved
            | Meaning::KeyConflict => settled(pen),
        },
        Finding::Redirected
        | Finding::Unreadable(_)
        | Finding::Accepted(_)
        | Finding::Job(_)
        | Finding::Kept(_)
        | Finding::Paged(_)
        | Finding::Listed(_)
        | Finding::Incomplete(_) => unsettled(pen, Some(said)),
    }
}

/// The service has answered for good; the job's own end decides, so it is read at once.
fn settled(pen: &mut Pen<'_>) -> Result<(), Illegal> {
    close(pen, true)?;
    pen.op.counters.failures = 0;
    pen.op.life.release()
}

/// It cannot be asked for: the job is only read.
pub(super) fn no_address(pen: &mut Pen<'_>) -> Result<(), Illegal> {
    pen.note("cancel.given_up");
    settled(pen)
}

/// Whether it took effect is not known: the job is read before it is asked again.
fn unsettled(pen: &mut Pen<'_>, said: Option<&Said>) -> Result<(), Illegal> {
    close(pen, false)?;
    pen.back_off(said, WaitReason::Backoff)
}

/// The attempt is over. Whatever the answers were, there is a last one: then the job is only read.
fn close(pen: &mut Pen<'_>, settled: bool) -> Result<(), Illegal> {
    let attempts = pen.op.life.cancel.as_ref().map_or(0, |cancel| cancel.attempts);
    let spent = !settled && attempts >= CANCEL_ATTEMPTS_MAX;
    if spent {
        pen.note("cancel.given_up");
    }
    pen.strictly();
    pen.op.life.cancel_answered(settled || spent)
}
