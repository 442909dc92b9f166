//! Why an operation does not move right now.

use super::time::{Timestamp, Wait};

/// What an operation waits for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Hold {
    /// Nothing: it is due.
    Ready,
    /// A point in time.
    Until {
        /// From when, how long.
        wait: Wait,
        /// Why.
        reason: WaitReason,
    },
    /// A person or code.
    Parked {
        /// Why.
        reason: ParkReason,
        /// Since when.
        at: Timestamp,
    },
}

/// Why an operation waits for a point in time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WaitReason {
    /// Own backoff after a failed exchange.
    Backoff,
    /// The job is under way; the next poll is not due.
    Poll,
    /// The service said how long to wait.
    ServerGuidance,
    /// The service refuses everything of this lane for a while (429).
    RateLimit,
    /// The service cannot find the job yet, so soon after accepting it.
    NotFoundGrace,
    /// The service says that the result is not ready although the job is complete.
    ResultNotReady,
    /// `authorize` failed; it is asked again.
    Authorization,
    /// The same key is in progress at the service.
    InProgress,
    /// A lost attempt may not show in the service's listing yet.
    ListingLag,
    /// Billing may still settle.
    Settlement,
    /// `onSettled` failed; it is called again.
    Delivery,
    /// Submissions are not answered: whether the service is there at all is asked next.
    Diagnosis,
}

/// Why an operation waits for a person or code. Its identity is kept; every reason has exits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ParkReason {
    /// The credential was refused or could not be had.
    NeedsCredential,
    /// The credential is good and may not do this, or the source needs access.
    NeedsAccess,
    /// No credit left at the service.
    NeedsCredit,
    /// A point in time that the app set has passed.
    DeadlineExceeded,
    /// A count or a cost that the app set is used up.
    BudgetExhausted,
    /// Whether the service took the work on cannot be learned by asking.
    OutcomeUnknown,
    /// Several jobs of the service may be this operation's.
    Ambiguous,
    /// The credential's scope changed while the outcome was unknown.
    ScopeChanged,
    /// Whether the cancellation took effect cannot be learned by asking.
    CancelUnconfirmed,
    /// The service says that this key belongs to another request.
    KeyConflict,
    /// What the request was made against has changed at the service.
    VersionMoved,
    /// The service no longer knows the job.
    JobNotFound,
}
