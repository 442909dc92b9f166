//! Answers to calls of the app.

use crate::model::ids::OperationId;
use crate::model::operation::Operation;

/// Names one call of the app until it is answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct CallId(pub u64);

/// The answer to a call: the operation as it is stored, or why not.
pub type Reply = Result<Box<Operation>, CallError>;

/// Why a call changed nothing. Each says what to do next.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CallError {
    /// The intent stands for another request.
    #[error("this intent stands for another request; nothing was sent")]
    IntentConflict,
    /// The key belongs to another operation: this one.
    #[error("this key belongs to another operation; nothing was sent")]
    KeyConflict(OperationId),
    /// The job belongs to another operation: this one.
    #[error("this job belongs to another operation")]
    JobConflict(OperationId),
    /// The state does not allow it.
    #[error("{0}")]
    NotAllowed(&'static str),
    /// There is no such operation of the current account.
    #[error("there is no such operation of the current account")]
    NotFound,
    /// No service of that name is configured here.
    #[error("no service of that name is configured here")]
    UnknownService,
    /// The record was written by a later version, which must drive it.
    #[error("a later version wrote this operation; only that version may change it")]
    NewerRecord,
    /// Storage did not take it; nothing was sent.
    #[error("storage did not take it, nothing was sent: {0}")]
    StorageUnavailable(String),
    /// Whether storage took it is not known.
    #[error("whether storage took it is not known: {0}")]
    Unconfirmed(String),
    /// The account changed while it was under way.
    #[error("the account changed while this was under way")]
    AccountChanged,
}
