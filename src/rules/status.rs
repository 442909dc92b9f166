//! The public status of an operation, derived from its state.

use crate::model::ending::Ending;
use crate::model::hold::Hold;
use crate::model::life::Stage;
use crate::model::operation::Operation;

/// How an operation is going.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    /// Stored, not yet sent.
    Queued,
    /// Being handed to the service.
    Submitting,
    /// Being looked up in the service's listing, after a lost answer.
    Reconciling,
    /// Taken on; the job is under way.
    Active,
    /// Complete; the result is being fetched.
    Retrieving,
    /// Waiting for a person or code.
    Parked,
    /// The result is kept.
    Succeeded,
    /// Refused, and nothing ran.
    Rejected,
    /// Ran and failed.
    Failed,
    /// Cancelled, or never left.
    Cancelled,
    /// Completed, and the result is no longer to be had.
    Expired,
    /// Completed, and the result is not what it should be.
    Incomplete,
    /// Given up.
    Abandoned,
}

impl Status {
    /// Every status.
    pub const ALL: &[Self] = &[
        Self::Queued,
        Self::Submitting,
        Self::Reconciling,
        Self::Active,
        Self::Retrieving,
        Self::Parked,
        Self::Succeeded,
        Self::Rejected,
        Self::Failed,
        Self::Cancelled,
        Self::Expired,
        Self::Incomplete,
        Self::Abandoned,
    ];

    /// Its public name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Queued => "queued",
            Self::Submitting => "submitting",
            Self::Reconciling => "reconciling",
            Self::Active => "active",
            Self::Retrieving => "retrieving",
            Self::Parked => "parked",
            Self::Succeeded => "succeeded",
            Self::Rejected => "rejected",
            Self::Failed => "failed",
            Self::Cancelled => "cancelled",
            Self::Expired => "expired",
            Self::Incomplete => "incomplete",
            Self::Abandoned => "abandoned",
        }
    }
}

/// How an operation is going. What is over is never parked.
pub const fn status(operation: &Operation) -> Status {
    let life = &operation.life;
    match life.stage() {
        Stage::Ended { ending, .. } => match ending {
            Ending::Succeeded { .. } => Status::Succeeded,
            Ending::Rejected(_) => Status::Rejected,
            Ending::Failed(_) => Status::Failed,
            Ending::Cancelled => Status::Cancelled,
            Ending::Expired(_) => Status::Expired,
            Ending::Incomplete { .. } => Status::Incomplete,
            Ending::Abandoned => Status::Abandoned,
        },
        Stage::Submit | Stage::Reconcile(_) | Stage::Work | Stage::Result { .. }
            if matches!(life.hold(), Hold::Parked { .. }) =>
        {
            Status::Parked
        }
        Stage::Submit if life.attempts() == 0 => Status::Queued,
        Stage::Submit => Status::Submitting,
        Stage::Reconcile(_) => Status::Reconciling,
        Stage::Work => Status::Active,
        Stage::Result { .. } => Status::Retrieving,
    }
}
