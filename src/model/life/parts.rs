//! The parts of a life, for reading and for the durable form.

use crate::model::ending::Ending;
use crate::model::evidence::{Attempt, Evidence};
use crate::model::hold::Hold;
use crate::model::listing::Listing;
use crate::model::pages::Paged;
use crate::model::time::Timestamp;

/// How far an operation has come.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Stage {
    /// Being handed to the service.
    Submit,
    /// Being looked up in the service's listing: an answer to the submission was lost.
    Reconcile(Listing),
    /// Taken on; the job is under way.
    Work,
    /// Complete at the service; the result is being fetched.
    Result {
        /// When the service will drop the result, where known.
        expires_at: Option<Timestamp>,
        /// Only a part of it is there: the operation ends incomplete.
        partial: bool,
        /// The pages of it that have come.
        pages: Option<Box<Paged>>,
    },
    /// Over.
    Ended {
        /// How.
        ending: Ending,
        /// Since when.
        at: Timestamp,
    },
}

/// A wish to cancel, followed like a submission of its own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cancel {
    /// When it was asked for.
    pub requested_at: Timestamp,
    /// The attempt that is written ahead and not yet settled.
    pub current: Option<Attempt>,
    /// How many attempts were written.
    pub attempts: u32,
    /// The job has been read since the last attempt: a lost answer is settled by reading first.
    pub read: bool,
    /// The service has taken it or ruled it out: it is not sent again, the job is read instead.
    pub settled: bool,
}

/// A wish to delete, followed like a submission of its own once the operation is over.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Deletion {
    /// When it was asked for.
    pub requested_at: Timestamp,
    /// The attempt that is written ahead and not yet settled.
    pub current: Option<Attempt>,
    /// How many attempts were written since it was last asked for.
    pub attempts: u32,
    /// The job is at the service, as far as is known: a lost answer is settled by reading first.
    pub read: bool,
    /// The service has taken it, and goes on with it: it is read until it is done.
    pub accepted: bool,
    /// What it waits for.
    pub hold: Hold,
}

/// Only a tombstone is left: body, result and journal are gone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Purged {
    /// Since when.
    pub at: Timestamp,
    /// The service's own copy is gone, or taken to be deleted where that cannot be read.
    pub at_service: bool,
}

/// Billing that may still change after the ending.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settlement {
    /// When it is read next.
    pub hold: Hold,
    /// How many reads were made.
    pub reads: u32,
}

/// Whether the ending has reached its consumer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Delivery {
    /// `onSettled` has not yet resolved for it.
    Pending(Hold),
    /// `onSettled` resolved.
    Delivered(Timestamp),
    /// The app has said that it has the result.
    Acknowledged(Timestamp),
}

/// The parts of a life, for reading and for the durable form.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Parts {
    /// What is known of acceptance.
    pub evidence: Evidence,
    /// How far it has come.
    pub stage: Stage,
    /// What it waits for.
    pub hold: Hold,
    /// The wish to cancel.
    pub cancel: Option<Cancel>,
    /// Billing that is still open.
    pub settlement: Option<Settlement>,
    /// Delivery of the ending; `None` until there is one.
    pub delivery: Option<Delivery>,
    /// The wish to delete.
    pub deletion: Option<Deletion>,
    /// Set when only a tombstone is left.
    pub purged: Option<Purged>,
}
