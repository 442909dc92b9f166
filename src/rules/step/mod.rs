//! `step`: the only writer of an operation's state.
//!
//! Pure: the same operation, time, dice and input always give the same operation and effects. The
//! engine persists the new operation first and carries out the effects only when that is durable.

mod cancel;
mod command;
mod delete;
mod delivery;
mod pen;
mod quote;
mod reconcile;
mod result;
mod settle;
mod submit;
mod trouble;
mod work;

pub use command::{Command, Resolution};

use pen::Pen;

use super::classify::{Finding, Said, Verdict};
use super::next::lost_count;
use crate::model::dice::Dice;
use crate::model::hold::ParkReason;
use crate::model::ids::{JobId, Scope};
use crate::model::journal::Entry;
use crate::model::life::Illegal;
use crate::model::operation::Operation;
use crate::model::profile::{Profile, Purpose};
use crate::model::storage::{Durability, Erase};
use crate::model::time::{Timestamp, Wait};

/// What can happen to an operation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Input {
    /// A credential for a state-changing exchange is at hand: write the attempt ahead.
    Send {
        /// Submit, cancel or delete.
        purpose: Purpose,
        /// Whom the credential speaks for.
        scope: Option<Scope>,
    },
    /// The attempt that was written ahead did not leave.
    NotSent(Purpose),
    /// The exchange cannot be made: where to ask was not told, or may not be asked.
    NoAddress(Purpose),
    /// The exchange has no readable answer.
    Lost(Purpose),
    /// The exchange was answered.
    Answered(Purpose, Box<Verdict>),
    /// The answer that brings the result is still coming, and has told this.
    Heard(Box<Said>),
    /// A credential could not be had.
    Unauthorized(Purpose),
    /// A bound of time or count is reached (see [`super::next`]).
    OutOfBounds(Bound),
    /// The clock has jumped back behind the setting of a wait: it begins anew.
    ClockJumpedBack,
    /// The id that the service gave belongs to another operation already.
    JobTaken(JobId),
    /// The credential speaks for somebody else than the attempts whose outcome is unknown.
    ScopeChanged,
    /// `onSettled` resolved, or failed.
    Delivered(bool),
    /// Its time here is over, or nothing stands against its deletion: its content goes, or with a
    /// tombstone all of it.
    Removed,
    /// Corrected work takes its place.
    Revised,
    /// A person or code wants something.
    Command(Command),
}

/// Which bound is reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bound {
    /// A deadline of the app.
    Deadline,
    /// The count of state-changing attempts.
    Attempts,
    /// What the lineage may cost.
    Cost,
    /// The service's own lifetime of keys.
    KeyLifetime,
    /// The service knows no keys: a second sending may be a second execution.
    NoKey,
}

/// The operation after an input, and what follows from it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    /// The operation.
    pub operation: Operation,
    /// How durable it must be before the effects may follow.
    pub durability: Durability,
    /// What goes into the journal.
    pub entries: Vec<Entry>,
    /// The exchange to make.
    pub send: Option<Purpose>,
    /// The service refuses everything of the lane for this long.
    pub gate: Option<Wait>,
    /// The service's id that the operation now claims for its own.
    pub job: Option<JobId>,
    /// What goes of what is stored.
    pub erase: Erase,
}

/// Why an input changes nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refused {
    /// The input does not fit the state: it came too late, or twice.
    #[error(transparent)]
    Illegal(#[from] Illegal),
    /// A command that this state does not allow; the text says what would be.
    #[error("{0}")]
    NotAllowed(&'static str),
}

/// Carries one input into an operation.
pub fn step(
    operation: &Operation,
    profile: &Profile,
    now: Timestamp,
    dice: &mut Dice,
    input: Input,
) -> Result<Step, Refused> {
    let lost_count = lost_count(operation, profile, now);
    let mut pen = Pen::new(operation.clone(), profile, now, dice);
    match input {
        Input::Send { purpose, scope } => match purpose {
            Purpose::Submit => submit::send(&mut pen, scope)?,
            Purpose::Cancel => cancel::send(&mut pen)?,
            Purpose::Delete => delete::send(&mut pen)?,
            Purpose::Poll
            | Purpose::Result
            | Purpose::Settle
            | Purpose::Reconcile
            | Purpose::Quote
            | Purpose::Diagnose => return Err(Illegal.into()),
        },
        Input::NotSent(purpose) => match purpose {
            Purpose::Submit => submit::not_sent(&mut pen)?,
            Purpose::Cancel => pen.op.life.cancel_answered(false)?,
            Purpose::Delete => delete::not_sent(&mut pen)?,
            Purpose::Poll
            | Purpose::Result
            | Purpose::Settle
            | Purpose::Reconcile
            | Purpose::Quote
            | Purpose::Diagnose => return Err(Illegal.into()),
        },
        Input::NoAddress(Purpose::Poll | Purpose::Result) => trouble::no_address(&mut pen)?,
        Input::NoAddress(Purpose::Cancel) => cancel::no_address(&mut pen)?,
        Input::NoAddress(purpose) | Input::Lost(purpose) => lost(&mut pen, purpose)?,
        Input::Answered(purpose, verdict) => answered(&mut pen, purpose, &verdict)?,
        Input::Heard(said) => submit::heard(&mut pen, &said)?,
        Input::Unauthorized(purpose) => trouble::unauthorized(&mut pen, purpose)?,
        Input::OutOfBounds(bound) => trouble::out_of_bounds(&mut pen, bound)?,
        Input::ClockJumpedBack => trouble::clock_jumped_back(&mut pen)?,
        Input::JobTaken(_) if pen.is_submitting() => submit::job_taken(&mut pen)?,
        Input::JobTaken(id) => reconcile::job_taken(&mut pen, id)?,
        Input::ScopeChanged => pen.park(ParkReason::ScopeChanged)?,
        Input::Delivered(done) => delivery::delivered(&mut pen, done)?,
        Input::Removed => delete::removed(&mut pen)?,
        Input::Revised => command::revised(&mut pen)?,
        Input::Command(command) => command::carry_out(&mut pen, command)?,
    }
    // The times that tell of the jump may be written anew by now.
    if lost_count && pen.waits_to_send_again() {
        reconcile::lapsed(&mut pen)?;
    }
    Ok(pen.finish())
}

/// An answer that is lost may have been billed all the same.
fn lost(pen: &mut Pen<'_>, purpose: Purpose) -> Result<(), Refused> {
    pen.count_read(purpose, None);
    match purpose {
        Purpose::Submit => submit::lost(pen)?,
        Purpose::Cancel => cancel::lost(pen)?,
        Purpose::Delete => delete::lost(pen)?,
        Purpose::Poll => work::failed(pen, None)?,
        Purpose::Result => result::failed(pen, None)?,
        Purpose::Settle if pen.op.life.settlement.is_none() => delete::failed(pen, None)?,
        Purpose::Settle => settle::failed(pen)?,
        Purpose::Reconcile => reconcile::failed(pen, None)?,
        Purpose::Quote => quote::failed(pen, None)?,
        Purpose::Diagnose => submit::diagnosed(pen, false)?,
    }
    Ok(())
}

fn answered(pen: &mut Pen<'_>, purpose: Purpose, verdict: &Verdict) -> Result<(), Refused> {
    pen.heard(&verdict.said);
    pen.count_read(purpose, Some(&verdict.said));
    if verdict.finding != Finding::Redirected {
        pen.op.counters.redirects = 0;
    }
    match purpose {
        Purpose::Submit => submit::answered(pen, verdict)?,
        Purpose::Poll => work::answered(pen, verdict)?,
        Purpose::Result => result::answered(pen, verdict)?,
        Purpose::Cancel => cancel::answered(pen, verdict)?,
        Purpose::Settle if pen.op.life.settlement.is_none() => delete::read(pen, verdict)?,
        Purpose::Settle => settle::answered(pen, verdict)?,
        Purpose::Delete => delete::answered(pen, verdict)?,
        Purpose::Reconcile => reconcile::answered(pen, verdict)?,
        Purpose::Quote => quote::answered(pen, verdict)?,
        Purpose::Diagnose => submit::diagnosed(pen, true)?,
    }
    Ok(())
}
