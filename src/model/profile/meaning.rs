//! What a service's words, codes and statuses mean.

use super::call::Purpose;
use crate::model::ending::FailureClass;

/// Where one named fact stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FactSource {
    /// The fact's name, see [`crate::rules::classify`].
    pub name: String,
    /// JSON pointers into the body (RFC 6901), or `header:Name`; the first that is there, and neither
    /// `null` nor empty, counts.
    pub places: Vec<String>,
}

/// What a status word of the service means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum JobState {
    /// Under way.
    Active,
    /// Complete.
    Completed,
    /// Over with a part of the result; what there is of it is fetched.
    Partial,
    /// Failed.
    Failed,
    /// Cancelled.
    Cancelled,
    /// Over, and its result is no longer kept.
    Expired,
}

/// One line of a service's table of meanings.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rule {
    /// Only in answers to these; empty: to all.
    pub purposes: Vec<Purpose>,
    /// Only with this code; `None`: with any.
    pub code: Option<String>,
    /// Only with this status; `None`: with any.
    pub status: Option<u16>,
    /// What it means.
    pub meaning: Meaning,
    /// What kind of failure it names, where the answer itself does not say.
    pub class: FailureClass,
}

/// What an answer that is not simply a success means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Meaning {
    /// The service refuses everything for a while.
    RateLimited,
    /// It may pass; of a state-changing request nothing is known.
    Transient,
    /// The request is wrong and was not executed.
    Rejected,
    /// The credential is refused.
    NeedsCredential,
    /// The credential may not do this, or the source needs access.
    NeedsAccess,
    /// No credit.
    NeedsCredit,
    /// The work was executed, and has failed.
    Failed,
    /// The source blocks for good: a failure that is never retried by itself.
    SourceBlocked,
    /// The same key is in progress.
    InProgress,
    /// The same key is in progress, or its work has failed: the service does not say which.
    RunningOrFailed,
    /// The key was used by an earlier request, whose answer is not replayed.
    Consumed,
    /// The key belongs to another request.
    KeyConflict,
    /// What the request was made against has changed; the saved version is never updated silently.
    VersionMoved,
    /// The job is not known.
    NotFound,
    /// The result is there and not delivered: the same request, sent again, brings it.
    Undelivered,
    /// The result is not ready yet.
    NotReady,
    /// The result is no longer kept.
    Expired,
    /// The job has already ended.
    AlreadyEnded,
    /// Whether it was executed cannot be learned by asking again.
    Unknown,
}
