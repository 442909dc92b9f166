//! What people and code may ask of an operation.

use super::Refused;
use super::pen::Pen;
use super::{reconcile, submit};
use crate::model::ending::Ending;
use crate::model::evidence::AcceptedHow;
use crate::model::hold::{Hold, ParkReason};
use crate::model::ids::JobId;
use crate::model::life::{Delivery, Stage};
use crate::model::money::Amount;
use crate::model::policy::LimitsPatch;
use crate::model::storage::Erase;
use crate::rules::exits::{may_be_disproved, may_be_found, may_be_revised};
use crate::rules::next::is_priced;

/// A wish.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Command {
    /// Stop the job.
    Cancel,
    /// Go on after a park.
    Resume {
        /// New bounds.
        limits: Option<LimitsPatch>,
        /// A second execution is accepted, should the first have happened.
        accept_duplicate: bool,
    },
    /// Settle what cannot be learned by asking.
    Resolve(Resolution),
    /// The app has what it needs of the ending.
    Acknowledge,
    /// Remove content, here and at the service.
    Delete,
    /// Remove the tombstone too: the intent is free again.
    Forget,
}

/// How a person settles what cannot be learned by asking.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Resolution {
    /// The work was taken on, under this id.
    Found(JobId),
    /// No attempt was executed.
    NotExecuted,
    /// Give it up.
    Abandon,
}

pub(super) fn carry_out(pen: &mut Pen<'_>, command: Command) -> Result<(), Refused> {
    pen.strictly();
    match command {
        Command::Cancel => cancel(pen),
        Command::Resume { limits, accept_duplicate } => resume(pen, limits, accept_duplicate),
        Command::Resolve(resolution) => resolve(pen, resolution),
        Command::Acknowledge => acknowledge(pen),
        Command::Delete => delete(pen),
        Command::Forget => forget(pen),
    }
}

fn cancel(pen: &mut Pen<'_>) -> Result<(), Refused> {
    if pen.op.life.is_ended() || pen.op.life.cancel.is_some() {
        return Ok(());
    }
    // What is only looked up is kept from being sent again, and that needs no call.
    let taken_on = !matches!(pen.op.life.stage, Stage::Submit | Stage::Reconcile(_));
    if taken_on && pen.profile.calls.cancel.is_none() {
        return Err(Refused::NotAllowed(
            "this service has no call that stops a job; let it end, or resolve(\"abandon\")",
        ));
    }
    pen.op.life.want_cancel(pen.now)?;
    pen.note("cancel.wanted");
    let parked = matches!(pen.op.life.hold, Hold::Parked { .. });
    if pen.is_submitting() && pen.op.life.evidence.current.is_none() {
        submit::gave_up(pen)?;
    } else if !pen.is_submitting() || !parked {
        pen.op.life.release()?;
        reconcile::count_again(pen)?;
    }
    Ok(())
}

fn resume(
    pen: &mut Pen<'_>,
    limits: Option<LimitsPatch>,
    accept_duplicate: bool,
) -> Result<(), Refused> {
    let Hold::Parked { reason, .. } = pen.op.life.hold else {
        return if pen.op.life.is_ended() {
            Err(Refused::NotAllowed("it is over; nothing is left to resume"))
        } else {
            Ok(())
        };
    };
    if accept_duplicate && !may_be_disproved(&pen.op) {
        return Err(Refused::NotAllowed("there is no risk to accept: nothing of it is unknown"));
    }
    match reason {
        ParkReason::NeedsCredential
        | ParkReason::NeedsCredit
        | ParkReason::NeedsAccess
        | ParkReason::JobNotFound => {}
        // Without the risk it goes on only under the scope that it was first sent under.
        ParkReason::ScopeChanged if accept_duplicate => disprove(pen)?,
        ParkReason::ScopeChanged => {}
        ParkReason::DeadlineExceeded | ParkReason::BudgetExhausted => {
            if limits.is_none() {
                return Err(Refused::NotAllowed(
                    "a bound is reached: give new ones, as in resume({limits: {totalMs: …}})",
                ));
            }
        }
        ParkReason::OutcomeUnknown | ParkReason::Ambiguous => {
            if !accept_duplicate {
                return Err(Refused::NotAllowed(
                    "the outcome is unknown: resolve it, or accept a possible second execution \
                     with resume({acceptRisk: \"duplicate\"})",
                ));
            }
            disprove(pen)?;
        }
        ParkReason::CancelUnconfirmed | ParkReason::KeyConflict | ParkReason::VersionMoved => {
            return Err(Refused::NotAllowed("only resolve() leads on from here"));
        }
    }
    if let Some(limits) = limits {
        pen.op.limits = limits.apply(pen.op.limits);
    }
    pen.op.ledger.duplicated |= accept_duplicate;
    if is_priced(&pen.op, pen.profile) {
        // Prices change while people think.
        pen.op.ledger.set(Amount::Quoted, None);
    }
    let counters = &mut pen.op.counters;
    (counters.failures, counters.authorizations, counters.not_ready) = (0, 0, 0);
    (counters.refusals, counters.misses) = (0, 0);
    (counters.redirects, counters.restarts) = (0, 0);
    pen.op.life.release()?;
    reconcile::count_again(pen)?;
    pen.note("resumed");
    if pen.is_submitting() {
        submit::gave_up(pen)?;
    }
    Ok(())
}

fn resolve(pen: &mut Pen<'_>, resolution: Resolution) -> Result<(), Refused> {
    if !matches!(pen.op.life.hold, Hold::Parked { .. }) || pen.op.life.is_ended() {
        return Err(Refused::NotAllowed("only a parked operation can be resolved"));
    }
    match resolution {
        Resolution::Found(id) => {
            if !may_be_found(&pen.op) {
                return Err(Refused::NotAllowed(
                    "no attempt of it can be at the service under another id",
                ));
            }
            pen.taken_on(&id, AcceptedHow::Found, None)?;
            pen.note("resolved.found");
        }
        Resolution::NotExecuted => {
            if !may_be_disproved(&pen.op) {
                return Err(Refused::NotAllowed("there is no attempt to disprove"));
            }
            disprove(pen)?;
            pen.op.counters.refusals = 0;
            pen.note("resolved.not_executed");
            submit::gave_up(pen)?;
        }
        Resolution::Abandon => pen.end(Ending::Abandoned)?,
    }
    Ok(())
}

/// Nothing of it ran, or what ran is taken for nothing: its key is as good as new.
fn disprove(pen: &mut Pen<'_>) -> Result<(), Refused> {
    pen.op.life.disproved()?;
    pen.op.keyless = pen.profile.key.is_none();
    pen.op.taken = false;
    Ok(())
}

/// What is under way is stopped first; what is stored goes when it is over.
fn delete(pen: &mut Pen<'_>) -> Result<(), Refused> {
    if pen.op.life.purged.is_some() {
        return Ok(());
    }
    if !matches!(pen.op.life.stage, Stage::Result { .. } | Stage::Ended { .. }) {
        cancel(pen)?;
    }
    pen.op.life.want_delete(pen.now)?;
    if pen.op.life.is_ended() {
        (pen.op.counters.failures, pen.op.counters.authorizations) = (0, 0);
    }
    pen.note("delete.wanted");
    Ok(())
}

fn forget(pen: &mut Pen<'_>) -> Result<(), Refused> {
    if !pen.op.life.is_ended() {
        return Err(Refused::NotAllowed(
            "it is not over yet: forgotten now, it could be submitted and charged a second time; \
             cancel() or delete() it first",
        ));
    }
    if pen.op.life.deletion.is_some() {
        return Err(Refused::NotAllowed("its deletion is under way; wait until it is deleted"));
    }
    pen.note("forgotten");
    pen.erase(Erase::Everything);
    Ok(())
}

/// Corrected work takes the operation's place, in the same transaction.
pub(super) fn revised(pen: &mut Pen<'_>) -> Result<(), Refused> {
    if pen.op.life.is_ended() || !may_be_revised(&pen.op) {
        return Err(Refused::NotAllowed(
            "only work of which it is proven that nothing ran can be revised; submit corrected \
             work under a new intent",
        ));
    }
    pen.strictly();
    pen.note("revised");
    pen.end(Ending::Abandoned)?;
    Ok(())
}

fn acknowledge(pen: &mut Pen<'_>) -> Result<(), Refused> {
    match pen.op.life.stage {
        Stage::Ended { .. } => {
            pen.op.life.deliver(Delivery::Acknowledged(pen.now))?;
            pen.note("acknowledged");
            Ok(())
        }
        Stage::Submit | Stage::Reconcile(_) | Stage::Work | Stage::Result { .. } => {
            Err(Refused::NotAllowed("it is not over yet; wait for its outcome()"))
        }
    }
}
