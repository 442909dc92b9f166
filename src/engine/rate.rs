//! The rate that a profile states, kept over all requests that drive a lane, by its owner.
//! Another that takes the lane over begins anew: who sent what is in no store.

use super::Engine;
use super::entry::Phase;
use super::lanes::ACTION_MS;
use crate::model::ids::LaneId;
use crate::model::time::Timestamp;

impl Engine {
    /// Whether the lane's service takes another request now; else it is looked at again when it does.
    pub(super) fn is_within_rate(&mut self, now: Timestamp, id: &LaneId) -> bool {
        let Some(rate) = self.lanes.get(id).and_then(|lane| lane.rate) else {
            return true;
        };
        let preparing = self
            .in_lane(id)
            .filter(|entry| entry.exchange.as_ref().is_some_and(|own| own.phase != Phase::OnWire));
        let preparing = preparing.count();
        let sent = self.sent.get_or_insert_with(id.clone(), Vec::new);
        sent.retain(|at| now < at.after(rate.per_ms));
        if sent.len() + preparing < rate.requests as usize {
            return true;
        }
        if let Some(first) = sent.first() {
            let until = first.after(rate.per_ms);
            // Nothing is written meanwhile: that is no sign of death.
            self.cover(now, id, until.after(ACTION_MS));
            self.wake(until);
        }
        false
    }

    /// A request leaves.
    pub(super) fn count_request(&mut self, now: Timestamp, id: &LaneId) {
        if self.lanes.get(id).is_some_and(|lane| lane.rate.is_some()) {
            self.sent.get_or_insert_with(id.clone(), Vec::new).push(now);
        }
    }
}
