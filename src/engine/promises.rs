//! What the owner of a lane promises: to have written again by the end of its lease. Overdue, it is sure of nothing.

use super::Engine;
use super::lanes::{ACTION_MS, LEASE_AHEAD_MS};
use super::output::Output;
use crate::model::ids::LaneId;
use crate::model::lane::{Claim, Fence};
use crate::model::operation::Operation;
use crate::model::storage::Queue;
use crate::model::time::{Timestamp, Wait};
use crate::rules::bounds::LEASE_GRACE_MS;

impl Engine {
    /// Asks the store for a lane, or for more time in it.
    pub(super) fn claim(&mut self, now: Timestamp, id: &LaneId, lease_until: Timestamp) {
        self.outputs.push(Output::Claim(Claim {
            lane: id.clone(),
            context: self.context.clone(),
            now,
            lease_until,
            dead: None,
        }));
    }

    /// What a write promises. Of one that is overdue, it says nothing: another may own the lane by now.
    pub(super) fn promised(&mut self, now: Timestamp, id: &LaneId, lease_until: Timestamp) {
        if let Some(lane) = self.lanes.get_mut(id)
            && now < lane.lease_until
        {
            lane.lease_until = lease_until;
        }
    }

    /// Renews the lease for an exchange that writes nothing before it begins and may outlast what
    /// was promised: others must not take a living owner for dead.
    pub(super) fn cover(&mut self, now: Timestamp, id: &LaneId, ends_by: Timestamp) {
        let lease_until = ends_by.after(LEASE_GRACE_MS);
        let short = self
            .lanes
            .get(id)
            .is_some_and(|lane| lane.epoch().is_some() && lane.lease_until < lease_until);
        if short {
            self.promised(now, id, lease_until);
            self.claim(now, id, lease_until);
        }
    }

    /// Whether the lane is still this context's own, as far as its promise goes. One that was frozen for longer would
    /// learn of another owner by its next write, and read before that what the other reads: it asks first.
    pub(super) fn is_sure(&mut self, now: Timestamp, id: &LaneId) -> bool {
        let Some(lane) = self.lanes.get_mut(id) else {
            return false;
        };
        if lane.doubted || now < lane.lease_until {
            return !lane.doubted;
        }
        let again = lane.doubt_again;
        if again <= now {
            lane.doubted = true;
            self.claim(now, id, now.after(ACTION_MS + LEASE_GRACE_MS));
        } else {
            self.wake(again);
        }
        false
    }

    /// The proof of ownership for a write, with a lease that ends when this context must have
    /// written again: everything under way is over, and what is due next has been done.
    pub(super) fn fence(
        &self,
        now: Timestamp,
        written: &Operation,
        gate: Option<Wait>,
    ) -> Option<Fence> {
        let id = written.lane();
        let lane = self.lanes.get(&id)?;
        let epoch = lane.epoch()?;
        const NEVER: Timestamp = Timestamp(u64::MAX);
        // Where endings are delivered here, that is work too.
        let delivery = |at: Option<Timestamp>| at.filter(|_| self.consumes).unwrap_or(NEVER);
        let work = |own: &Operation| self.due_at(now, Queue::Work, own).unwrap_or(NEVER);
        let due = |own: &Operation| work(own).min(delivery(own.delivery_due()));
        let mut next = lane.work.next.unwrap_or(NEVER).min(delivery(lane.delivery.next));
        let mut until = now;
        for entry in self.in_lane(&id) {
            if let Some(exchange) = &entry.exchange {
                until = until.max(exchange.ends_by);
            }
            // Sooner than now says nothing more.
            if next > now && entry.operation.identity.id != written.identity.id {
                next = next.min(due(&entry.operation));
            }
        }
        next = next.min(due(written));
        if next <= now.after(LEASE_AHEAD_MS) {
            until = until.max(next.max(now).after(ACTION_MS));
        }
        let lease_until = until.after(LEASE_GRACE_MS);
        let sent = self.sent_in(now, &id);
        Some(Fence { lane: id, context: self.context.clone(), epoch, now, lease_until, gate, sent })
    }
}
