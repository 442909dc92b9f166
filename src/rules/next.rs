//! What an operation wants to do now.

use super::bounds::{CLOCK_JUMP_MS, SEND_BEFORE_MS};
use super::step::Bound;
use super::teeth::{Tooth, bites};
use crate::model::evidence::Attempt;
use crate::model::hold::{Hold, WaitReason};
use crate::model::life::{Delivery, Stage};
use crate::model::money::{Amount, Credits};
use crate::model::operation::Operation;
use crate::model::profile::{Profile, Purpose};
use crate::model::time::Timestamp;

/// What an operation wants to do now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next {
    /// Make this exchange.
    Exchange(Purpose),
    /// Take up an attempt that an earlier context wrote down: its answer is lost.
    TakeUp(Purpose),
    /// Park: a bound is reached.
    Park(Bound),
    /// Remove what is kept of it: its content, or with a tombstone all of it.
    Remove,
    /// Nothing before this point.
    Wait(Timestamp),
    /// Nothing, until a person or code moves it.
    Nothing,
}

/// What an operation wants to do at `now`, when no exchange of this context's is under way for it.
pub fn next(operation: &Operation, profile: &Profile, now: Timestamp) -> Next {
    let life = &operation.life;
    if let Some(settlement) = &life.settlement {
        return when(&settlement.hold, now, || read(operation, profile, Purpose::Settle));
    }
    if life.is_ended() && bites(Tooth::PollAfterEnding) && life.job().is_some() {
        return Next::Exchange(Purpose::Poll);
    }
    if life.is_ended() {
        return ended(operation, profile, now);
    }
    let cancel = life.cancel.as_ref();
    for (out, purpose) in [
        (life.evidence.current.as_ref(), Purpose::Submit),
        (cancel.and_then(|cancel| cancel.current.as_ref()), Purpose::Cancel),
    ] {
        if let Some(attempt) = out {
            return written(attempt, purpose, now);
        }
    }
    when(&life.hold, now, || match life.stage {
        Stage::Submit => submit(operation, profile, now),
        Stage::Reconcile(_) => reconcile(operation, profile, now),
        Stage::Work if operation.deadline().is_some_and(|deadline| deadline <= now) => {
            Next::Park(Bound::Deadline)
        }
        Stage::Work => match cancel {
            Some(cancel) if !cancel.settled && cancel.read && profile.calls.cancel.is_some() => {
                Next::Exchange(Purpose::Cancel)
            }
            Some(_) | None => read(operation, profile, Purpose::Poll),
        },
        Stage::Result { .. } => read(operation, profile, Purpose::Result),
        Stage::Ended { .. } => Next::Nothing,
    })
}

/// An attempt is written down: the context that wrote it may still send it until its time is over.
fn written(attempt: &Attempt, purpose: Purpose, now: Timestamp) -> Next {
    let over = now < attempt.written_at || attempt.send_before <= now;
    if over { Next::TakeUp(purpose) } else { Next::Wait(attempt.send_before) }
}

/// What is over wants to be deleted where that was asked for, else to be kept for its time.
fn ended(operation: &Operation, profile: &Profile, now: Timestamp) -> Next {
    let Some(deletion) = &operation.life.deletion else {
        return match operation.kept_until() {
            Some(at) if at <= now => Next::Remove,
            Some(at) => Next::Wait(at),
            None => Next::Nothing,
        };
    };
    if let Some(attempt) = &deletion.current {
        return written(attempt, Purpose::Delete, now);
    }
    if profile.calls.delete.is_none() || operation.life.job().is_none() {
        return Next::Remove;
    }
    let purpose = if deletion.read { Purpose::Delete } else { Purpose::Settle };
    when(&deletion.hold, now, || Next::Exchange(purpose))
}

/// Whether the clock has jumped back behind the setting of something that the operation waits for:
/// such a wait must be set anew ([`super::step::Input::ClockJumpedBack`]), or it would only be over
/// when the clock has caught up.
pub fn is_behind(operation: &Operation, now: Timestamp) -> bool {
    let life = &operation.life;
    let settlement = life.settlement.as_ref().map(|open| &open.hold);
    let delivery = match &life.delivery {
        Some(Delivery::Pending(hold)) => Some(hold),
        Some(Delivery::Delivered(_) | Delivery::Acknowledged(_)) | None => None,
    };
    let deletion = life.deletion.as_ref().map(|own| &own.hold);
    [Some(life.hold()), settlement, delivery, deletion].into_iter().flatten().any(|hold| match hold
    {
        Hold::Until { wait, .. } => now < wait.set_at && !bites(Tooth::StretchWaits),
        Hold::Ready | Hold::Parked { .. } => false,
    })
}

/// Whether how much is left of the key's lifetime can no longer be told: the outcome is unknown, and
/// the clock is far behind what it has been since.
pub fn lost_count(operation: &Operation, profile: &Profile, now: Timestamp) -> bool {
    let evidence = &operation.life.evidence;
    let attempt = evidence.current.as_ref().map(|attempt| attempt.written_at);
    let wait = match &operation.life.hold {
        Hold::Until { wait, .. } => Some(wait.set_at),
        Hold::Ready | Hold::Parked { .. } => None,
    };
    let first = evidence.unresolved.as_ref().map(|own| own.first_at);
    operation.life.stage == Stage::Submit
        && profile.key_retention_ms().is_some()
        && first.or(attempt).is_some()
        && first.max(attempt).max(wait).is_some_and(|last| now.after(CLOCK_JUMP_MS) < last)
}

/// Sends only within every bound: the app's deadlines and counts, and the service's own memory of
/// keys, past which a repetition could be a second execution.
fn submit(operation: &Operation, profile: &Profile, now: Timestamp) -> Next {
    let evidence = &operation.life.evidence;
    let keyless = profile.key.is_none() && !bites(Tooth::ResendWithoutKey);
    if evidence.unresolved.is_some() && keyless {
        return Next::Park(Bound::NoKey);
    }
    if let (Some(unresolved), Some(retention_ms)) =
        (&evidence.unresolved, profile.key_retention_ms())
    {
        // A request that leaves now may arrive this much later.
        let arrives_by = now.after(SEND_BEFORE_MS + profile.calls.submit.timeout_ms);
        let over = unresolved.first_at.after(retention_ms) <= arrives_by
            || lost_count(operation, profile, now);
        if over && !bites(Tooth::IgnoreKeyLifetime) {
            return Next::Park(Bound::KeyLifetime);
        }
    }
    let send_within = operation.identity.created_at.after(operation.limits.send_within_ms);
    let too_late = evidence.attempts == evidence.refused && send_within <= now;
    if too_late || operation.deadline().is_some_and(|deadline| deadline <= now) {
        return Next::Park(Bound::Deadline);
    }
    if is_diagnosing(operation) {
        return Next::Exchange(Purpose::Diagnose);
    }
    let attempts = operation.spent.attempts.saturating_add(evidence.attempts);
    if attempts >= operation.limits.attempts && !bites(Tooth::NoAttemptLimit) {
        return Next::Park(Bound::Attempts);
    }
    let quoted = operation.ledger.get(Amount::Quoted);
    if quoted.is_none() && is_priced(operation, profile) {
        return Next::Exchange(Purpose::Quote);
    }
    // What may have been accepted is charged, if at all, whether it is sent again or not.
    let price = quoted.unwrap_or(Credits::LEAST);
    let too_dear = operation.is_too_dear(price) && !bites(Tooth::IgnoreCost);
    if !evidence.may_be_accepted() && too_dear {
        return Next::Park(Bound::Cost);
    }
    Next::Exchange(Purpose::Submit)
}

/// Whether it waits to ask whether the service is there at all.
pub const fn is_diagnosing(operation: &Operation) -> bool {
    matches!(operation.life.hold(), Hold::Until { reason: WaitReason::Diagnosis, .. })
}

/// Reads that cost are made within what the lineage may cost, save the one before a deletion.
fn read(operation: &Operation, profile: &Profile, purpose: Purpose) -> Next {
    let cost = profile.call(purpose).and_then(|call| call.cost);
    if cost.is_some_and(|cost| operation.is_too_dear(cost)) {
        Next::Park(Bound::Cost)
    } else {
        Next::Exchange(purpose)
    }
}

/// Whether the service is asked for the price first: the cost is bounded, and nothing is accepted. A
/// rerun has no body to ask with: its parent's price holds.
pub fn is_priced(operation: &Operation, profile: &Profile) -> bool {
    operation.limits.cost.is_some()
        && profile.calls.quote.is_some()
        && operation.request.content_type.is_some()
        && !operation.life.may_be_accepted()
}

/// The listing is read only when every attempt is over and would show in it.
fn reconcile(operation: &Operation, profile: &Profile, now: Timestamp) -> Next {
    let unresolved = operation.life.evidence.unresolved.as_ref();
    let (Some(rule), Some(unresolved)) = (&profile.reconcile, unresolved) else {
        return Next::Park(Bound::NoKey);
    };
    let deadline = operation.deadline().unwrap_or(now);
    if deadline <= now {
        return Next::Park(Bound::Deadline);
    }
    let shown_at = unresolved.abort_at.after(rule.lag_ms);
    // Dates of a clock that has jumped back since would be waited for without end: then it is the hold
    // that counts this wait.
    let lags = now < shown_at && !bites(Tooth::ListTooSoon);
    if lags && unresolved.first_at <= now {
        Next::Wait(shown_at.min(deadline))
    } else {
        read(operation, profile, Purpose::Reconcile)
    }
}

fn when(hold: &Hold, now: Timestamp, due: impl FnOnce() -> Next) -> Next {
    match hold {
        Hold::Ready => due(),
        Hold::Until { wait, .. } if wait.is_over(now) => due(),
        Hold::Until { wait, .. } => Next::Wait(wait.seen_at(now).until()),
        Hold::Parked { .. } => Next::Nothing,
    }
}
