//! What the engine is told.

use super::output::Ticket;
use super::reply::CallId;
use crate::model::answer::Answer;
use crate::model::ids::{Account, IdempotencyKey, LaneId, OperationId, Scope, ServiceName};
use crate::model::lane::Lane;
use crate::model::operation::Operation;
use crate::model::policy::LimitsPatch;
use crate::model::profile::Purpose;
use crate::model::storage::{Queue, StoreError, Written};
use crate::model::time::Timestamp;
use crate::rules::step::Command;

/// One thing that has happened.
#[derive(Debug)]
pub enum Input {
    /// Whose work may be driven now. Repeating it does no harm.
    Account(Option<Account>),
    /// An exchange was answered.
    Answered(OperationId, Purpose, Box<Answer>),
    /// A credential is at hand.
    Authorized(OperationId, Purpose, Option<Scope>),
    /// A lane was asked for: this is its row now.
    Claimed(LaneId, Result<Lane, StoreError>),
    /// The app wants something of an operation.
    Command(CallId, OperationId, Command),
    /// `onSettled` resolved (true) or failed.
    Delivered(OperationId, bool),
    /// What is due in a lane, and when the next is.
    Due(LaneId, Queue, Result<(Vec<Operation>, Option<Timestamp>), StoreError>),
    /// What an answer that is still coming has told so far.
    Heard(OperationId, Box<Answer>),
    /// Another context says that something of this service has changed.
    Hint(ServiceName),
    /// An operation was read; `None`: there is none that may be driven here.
    Loaded(OperationId, Result<Option<Box<Operation>>, LoadError>),
    /// An exchange has no readable answer.
    Lost(OperationId, Purpose),
    /// An exchange did not leave.
    NotSent(OperationId, Purpose),
    /// A write was answered.
    Persisted(Ticket, Result<Written, StoreError>),
    /// An exchange has to wait for others elsewhere, this many milliseconds.
    Postponed(OperationId, Purpose, u32),
    /// The app wants a failed job run again.
    Retry(CallId, OperationId, Box<Rerun>),
    /// The app corrects work of which nothing ran.
    Revise(CallId, OperationId, Box<Newborn>),
    /// The page is going away: give every lane back, until the next `Wake` or for a while.
    Yield,
    /// Somebody looks at another context, and nobody at this one; or, of one service, another can go on where this one
    /// has no credential: give the lanes back as soon as nothing is under way.
    Offer(Option<ServiceName>),
    /// The app submits.
    Submit(CallId, Box<Newborn>),
    /// Time has passed. Too often does no harm.
    Tick,
    /// A credential could not be had.
    Unauthorized(OperationId, Purpose),
    /// The page is there again, or its app wants something: lanes that were given back are wanted at once.
    Wake,
}

/// An operation that is not stored yet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Newborn {
    /// The operation.
    pub operation: Operation,
    /// Its exact body; `None` for a job that exists already.
    pub body: Option<Vec<u8>>,
    /// Digest and text of its profile.
    pub profile: (String, String),
}

/// A rerun of a failed job.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rerun {
    /// The failure that was read.
    pub reviewed: String,
    /// Run again although the input is unchanged.
    pub anyway: bool,
    /// Other bounds than its parent's.
    pub limits: LimitsPatch,
    /// Name of the new operation.
    pub id: OperationId,
    /// Its key.
    pub key: IdempotencyKey,
}

/// Why an operation could not be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LoadError {
    /// Storage failed.
    Store(StoreError),
    /// A later version wrote it.
    Newer,
    /// It is damaged.
    Damaged,
}
