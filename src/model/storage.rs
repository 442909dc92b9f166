//! The vocabulary of durable storage.

use super::ids::{Account, Intent, OperationId, ServiceName};

/// What *complete* promises.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Durability {
    /// Survives the end of the process.
    Relaxed,
    /// Has reached the disk.
    Strict,
}

/// An intent in full: unique in a store.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Name {
    /// Whose.
    pub account: Account,
    /// For which service.
    pub service: ServiceName,
    /// Which work.
    pub intent: Intent,
}

/// How one member went.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Written {
    /// Written, or found already written.
    Done,
    /// Another revision is stored: read it again.
    Stale,
    /// The name stands for another operation: this one.
    NameTaken(OperationId),
    /// The service's id belongs to another operation: this one.
    JobTaken(OperationId),
    /// The lane has another owner.
    Fenced,
}

/// Which of a lane's two indexes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Queue {
    /// By `Row::due`.
    Work,
    /// By `Row::delivery_due`.
    Delivery,
}

/// Why a store did not do what it was asked.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum StoreError {
    /// It cannot be opened, or not any more. Nothing was written.
    #[error("storage cannot be opened: {0}")]
    Unavailable(String),
    /// No room. Nothing was written.
    #[error("storage is full: {0}")]
    Full(String),
    /// The transaction was aborted. Nothing was written.
    #[error("the transaction was aborted: {0}")]
    Aborted(String),
    /// Whether the transaction is complete is not known.
    #[error("the fate of the transaction is unknown: {0}")]
    Unknown(String),
}
