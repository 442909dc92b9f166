//! Deleting a job that is over, and what is kept of it: a submission of its own, whose lost answers
//! are settled by reading.

use super::pen::Pen;
use crate::model::hold::{Hold, ParkReason, WaitReason};
use crate::model::life::Illegal;
use crate::model::profile::{Meaning, Purpose};
use crate::model::storage::Erase;
use crate::model::time::Wait;
use crate::rules::bounds::{
    AUTHORIZATIONS_MAX, DELETE_ATTEMPTS_MAX, EXCHANGE_TIMEOUT_MS, REQUEST_FLOOR_MS, SEND_BEFORE_MS,
};
use crate::rules::classify::{Finding, Said, Verdict};
use crate::rules::teeth::{Tooth, bites};

pub(super) fn send(pen: &mut Pen<'_>) -> Result<(), Illegal> {
    let call = pen.profile.calls.delete.as_ref();
    let timeout_ms = call.map_or(EXCHANGE_TIMEOUT_MS, |call| call.timeout_ms);
    if pen.op.life.deletion.as_ref().is_some_and(|own| own.attempts == 0) {
        pen.op.counters.failures = 0;
    }
    pen.op.life.write_delete_ahead(pen.now, SEND_BEFORE_MS, timeout_ms + SEND_BEFORE_MS)?;
    pen.strictly();
    pen.note("delete.written").purpose = Some(Purpose::Delete);
    pen.send(Purpose::Delete);
    Ok(())
}

/// It was written too late to leave: it counts like any attempt, for the next may be no faster.
pub(super) fn not_sent(pen: &mut Pen<'_>) -> Result<(), Illegal> {
    pen.op.life.delete_answered(true)?;
    pen.note("delete.not_sent").purpose = Some(Purpose::Delete);
    failed(pen, None)
}

pub(super) fn lost(pen: &mut Pen<'_>) -> Result<(), Illegal> {
    pen.note("delete.lost").purpose = Some(Purpose::Delete);
    unsettled(pen)?;
    failed(pen, None)
}

pub(super) fn answered(pen: &mut Pen<'_>, verdict: &Verdict) -> Result<(), Illegal> {
    let said = &verdict.said;
    pen.note_answer("delete.answered", Purpose::Delete, said);
    let meaning = match &verdict.finding {
        // Its cleanup goes on: where that can be read, it is.
        Finding::Done if said.fault.status == Some(202) && pen.profile.calls.poll.is_some() => {
            pen.op.life.delete_accepted()?;
            (pen.op.counters.failures, pen.op.counters.authorizations) = (0, 0);
            return failed(pen, Some(said));
        }
        Finding::Done => {
            pen.op.life.delete_answered(true)?;
            return gone(pen, true);
        }
        Finding::Other(meaning) => *meaning,
        Finding::Redirected
        | Finding::Unreadable(_)
        | Finding::Accepted(_)
        | Finding::Job(_)
        | Finding::Kept(_)
        | Finding::Paged(_)
        | Finding::Listed(_)
        | Finding::Incomplete(_) => Meaning::Unknown,
    };
    // What stands in its way may have changed by the time it is read.
    let known = !matches!(
        meaning,
        Meaning::Transient | Meaning::Unknown | Meaning::InProgress | Meaning::NotReady
    );
    if known {
        pen.op.life.delete_answered(true)?;
    } else {
        unsettled(pen)?;
    }
    refused(pen, meaning, said)
}

/// Whether the attempt took effect is read first, where jobs can be read; else it is made again:
/// deleting twice does no harm.
fn unsettled(pen: &mut Pen<'_>) -> Result<(), Illegal> {
    pen.op.life.delete_answered(pen.profile.calls.poll.is_none())
}

/// The job was read, because it is not known whether a deletion took effect, or is done.
pub(super) fn read(pen: &mut Pen<'_>, verdict: &Verdict) -> Result<(), Illegal> {
    let said = &verdict.said;
    pen.note_answer("delete.read", Purpose::Settle, said);
    match &verdict.finding {
        Finding::Job(_) => {
            if !is_accepted(pen) {
                pen.op.life.outlived_deletion()?;
            }
            failed(pen, Some(said))
        }
        Finding::Other(meaning) => refused(pen, *meaning, said),
        Finding::Redirected
        | Finding::Unreadable(_)
        | Finding::Accepted(_)
        | Finding::Kept(_)
        | Finding::Paged(_)
        | Finding::Incomplete(_)
        | Finding::Listed(_)
        | Finding::Done => failed(pen, Some(said)),
    }
}

fn refused(pen: &mut Pen<'_>, meaning: Meaning, said: &Said) -> Result<(), Illegal> {
    match meaning {
        Meaning::NotFound | Meaning::Expired => gone(pen, true),
        Meaning::RateLimited => {
            pen.op.counters.failures += 1;
            let own_ms = pen.own_pause_ms();
            let gate_ms = pen.asked_ms(Some(said)).unwrap_or(own_ms);
            pen.close_gate(gate_ms);
            wait(pen, gate_ms.max(own_ms), WaitReason::RateLimit)
        }
        Meaning::NeedsCredential if pen.op.counters.authorizations == 0 => {
            pen.op.counters.authorizations += 1;
            wait(pen, REQUEST_FLOOR_MS, WaitReason::Authorization)
        }
        Meaning::NeedsCredential => park(pen, ParkReason::NeedsCredential),
        Meaning::NeedsCredit => park(pen, ParkReason::NeedsCredit),
        Meaning::NeedsAccess
        | Meaning::Rejected
        | Meaning::SourceBlocked
        | Meaning::VersionMoved
        | Meaning::KeyConflict => park(pen, ParkReason::NeedsAccess),
        Meaning::Transient
        | Meaning::Undelivered
        | Meaning::InProgress
        | Meaning::NotReady
        | Meaning::AlreadyEnded
        | Meaning::Failed
        | Meaning::RunningOrFailed
        | Meaning::Consumed
        | Meaning::Unknown => failed(pen, Some(said)),
    }
}

/// Whether it took effect is not known, or it did not: within bounds it is tried again.
pub(super) fn failed(pen: &mut Pen<'_>, said: Option<&Said>) -> Result<(), Illegal> {
    pen.op.counters.failures += 1;
    let (length_ms, told) = pen.pause_ms(said);
    wait(pen, length_ms, if told { WaitReason::ServerGuidance } else { WaitReason::Backoff })
}

/// The app could not give a credential.
pub(super) fn unauthorized(pen: &mut Pen<'_>, length_ms: u64) -> Result<(), Illegal> {
    if pen.op.counters.authorizations >= AUTHORIZATIONS_MAX {
        return park(pen, ParkReason::NeedsCredential);
    }
    wait(pen, length_ms, WaitReason::Authorization)
}

/// What is kept goes: because nothing at the service stands against it, or its time is over.
pub(super) fn removed(pen: &mut Pen<'_>) -> Result<(), Illegal> {
    let due = pen.op.kept_until().is_some_and(|at| at <= pen.now);
    if !due && pen.op.life.deletion.is_none() {
        return Err(Illegal);
    }
    if pen.op.life.purged.is_none() {
        return gone(pen, false);
    }
    pen.note("tombstone.expired");
    pen.erase(Erase::Everything);
    Ok(())
}

fn gone(pen: &mut Pen<'_>, at_service: bool) -> Result<(), Illegal> {
    pen.op.life.purge(pen.now, at_service)?;
    pen.note("deleted");
    let all = bites(Tooth::DropTombstone);
    pen.erase(if all { Erase::Everything } else { Erase::Content });
    Ok(())
}

fn wait(pen: &mut Pen<'_>, length_ms: u64, reason: WaitReason) -> Result<(), Illegal> {
    let deletion = pen.op.life.deletion.as_ref();
    let attempts = deletion.filter(|own| own.read).map_or(0, |own| own.attempts);
    // A last attempt whose answer was lost is still read for.
    let failures = pen.op.counters.failures;
    if attempts >= DELETE_ATTEMPTS_MAX || failures >= 2 * DELETE_ATTEMPTS_MAX {
        return park(pen, ParkReason::BudgetExhausted);
    }
    pen.op.life.hold_deletion(Hold::Until { wait: Wait::new(pen.now, length_ms), reason })
}

/// What the service has taken needs nobody: that it is done could not be read, and that is all.
fn park(pen: &mut Pen<'_>, reason: ParkReason) -> Result<(), Illegal> {
    if is_accepted(pen) {
        pen.note("delete.unconfirmed").code = Some(reason.name().into());
        return gone(pen, false);
    }
    pen.strictly();
    pen.note("delete.parked").code = Some(reason.name().into());
    pen.op.life.hold_deletion(Hold::Parked { reason, at: pen.now })
}

fn is_accepted(pen: &Pen<'_>) -> bool {
    pen.op.life.deletion.as_ref().is_some_and(|own| own.accepted)
}
