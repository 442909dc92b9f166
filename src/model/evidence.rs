//! What is known of whether the service took the work on.

use super::ids::{JobId, Scope};
use super::time::Timestamp;

/// One state-changing exchange, written down before it leaves.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Attempt {
    /// 1 for the first, counted over the operation.
    pub number: u32,
    /// When it was written.
    pub written_at: Timestamp,
    /// It may leave only before this point.
    pub send_before: Timestamp,
    /// By this point it has been answered or broken off.
    pub abort_at: Timestamp,
}

/// Attempts that may have been accepted and whose answers are not known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unresolved {
    /// When the first of them was written.
    pub first_at: Timestamp,
    /// When the last of them is over for certain.
    pub abort_at: Timestamp,
}

impl Unresolved {
    /// How long it takes from now until all of them are over and something that lags behind shows them,
    /// in milliseconds: where the clock has jumped back behind them, as long as it can take.
    pub fn shown_in(&self, now: Timestamp, lag_ms: u64) -> u64 {
        self.abort_at.after(lag_ms).since(now.max(self.first_at))
    }
}

/// Proof that the service took the work on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Accepted {
    /// The job's id, where the service gives one.
    pub id: Option<JobId>,
    /// How that became known.
    pub how: AcceptedHow,
    /// When that became known.
    pub at: Timestamp,
}

/// How an acceptance became known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AcceptedHow {
    /// The service answered the submission.
    Answered,
    /// A person or code named the job.
    Found,
    /// The service's listing shows the job.
    Listed,
}

/// Everything known of acceptance. Grows only: what may have been accepted stays so until it is
/// proven or a person disproves it; a refusal settles its own attempt and no other.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Evidence {
    /// The attempt that is written ahead and not yet settled.
    pub current: Option<Attempt>,
    /// Earlier attempts that may have been accepted.
    pub unresolved: Option<Unresolved>,
    /// Proof of acceptance.
    pub accepted: Option<Accepted>,
    /// How many attempts were written, settled or not.
    pub attempts: u32,
    /// How many attempts were definitely refused, or never left.
    pub refused: u32,
    /// The credential scope that the first attempt that may have been accepted was sent under.
    pub scope: Option<Scope>,
    /// A person or the service's listing has said that none of the unresolved attempts was executed,
    /// or a second execution was accepted: nothing sends again by itself after that.
    pub disproved: bool,
}

impl Evidence {
    /// Whether a credential speaks for somebody else than those attempts whose outcome is unknown.
    pub fn is_of_another(&self, scope: Option<&Scope>) -> bool {
        self.unresolved.is_some() && self.scope.is_some() && self.scope.as_ref() != scope
    }

    /// Whether the service can have taken the work on, as far as is known.
    pub const fn may_be_accepted(&self) -> bool {
        self.current.is_some() || self.unresolved.is_some() || self.accepted.is_some()
    }
}
