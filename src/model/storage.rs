//! The vocabulary of durable storage.

use super::ids::{Account, IdempotencyKey, Intent, JobId, OperationId, ServiceName};

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

/// What belongs to one operation of a store, and to no other.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Unique {
    /// A service's id, under this name of a service: its profile and origin.
    Job(String, JobId),
    /// A key, within account and service.
    Key(Account, ServiceName, IdempotencyKey),
}

impl Unique {
    /// Its parts as texts, which tell it from every other.
    pub fn parts(&self) -> Vec<&str> {
        match self {
            Self::Job(profile, id) => vec![profile, id.as_str()],
            Self::Key(account, service, key) => {
                vec![account.as_str(), service.as_str(), key.as_str()]
            }
        }
    }

    /// The answer to a member that takes it, where it belongs to `other`.
    pub fn taken(&self, other: OperationId) -> Written {
        match self {
            Self::Job(..) => Written::JobTaken(other),
            Self::Key(..) => Written::KeyTaken(other),
        }
    }
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
    /// The key belongs to another operation: this one.
    KeyTaken(OperationId),
    /// The lane has another owner: nothing is written.
    Fenced,
    /// Found already written, and the lane has another owner since: what shall follow it is another's to do.
    Late,
}

/// What a write takes away of what is stored of its operation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Erase {
    /// Nothing.
    #[default]
    Nothing,
    /// Body, pieces of results, and earlier journal entries.
    Content,
    /// The row too, its name where that stands for it, and what it has taken for its own.
    Everything,
}

/// A piece of what has come of a result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Piece {
    /// Which download ([`super::ending::ResultRef::download`]).
    pub download: u64,
    /// Which piece, from 0.
    pub index: u32,
    /// What has come.
    pub bytes: Vec<u8>,
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
