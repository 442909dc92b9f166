//! Who drives a lane: one context at a time, by a lease whose overdue date is the sign of death.

use super::ids::{ContextId, Epoch, LaneId};
use super::time::{Timestamp, Wait};

/// One lane's durable row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lane {
    /// Which lane.
    pub id: LaneId,
    /// Who drives it; `None` when given back.
    pub owner: Option<ContextId>,
    /// How often it has changed hands.
    pub epoch: Epoch,
    /// When the owner last said that it lives.
    pub renewed_at: Timestamp,
    /// By when the owner will have written again, if it lives.
    pub lease_until: Timestamp,
    /// Until when the service refuses everything of this lane (429).
    pub gate: Option<Wait>,
    /// What has left in this lane, where its service states a rate.
    pub sent: Sent,
}

impl Lane {
    /// Whether it is driven under an epoch.
    pub fn is_driven_under(&self, epoch: Epoch) -> bool {
        self.owner.is_some() && self.epoch == epoch
    }
}

/// How many requests left, and by when, oldest first: those that left close together are told as one,
/// by the time of the last. Empty where no rate is stated.
pub type Sent = Vec<(Timestamp, u32)>;

/// A context's wish to drive a lane.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Claim {
    /// Which lane.
    pub lane: LaneId,
    /// Who asks.
    pub context: ContextId,
    /// When.
    pub now: Timestamp,
    /// By when the asker will have written again, if it lives.
    pub lease_until: Timestamp,
    /// An owner that is known to be dead (its Web Lock is free).
    pub dead: Option<ContextId>,
}

/// The owner's proof, checked in the transaction of each write, with the lease's new end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fence {
    /// Which lane.
    pub lane: LaneId,
    /// Who writes.
    pub context: ContextId,
    /// Under which epoch; another in the store means that the lane has a new owner.
    pub epoch: Epoch,
    /// When.
    pub now: Timestamp,
    /// The lease's new end.
    pub lease_until: Timestamp,
    /// The lane's gate from now on; `None` leaves it.
    pub gate: Option<Wait>,
    /// What has left in the lane, as its owner knows it; nothing leaves what is stored.
    pub sent: Sent,
}
