//! Giving lanes away: where the page leaves, to a context that somebody looks at, and to one that may have the credential
//! that this one lacks.

use super::Engine;
use super::entry::Entry;
use super::lanes::{ACTION_MS, CLAIM_AGAIN_MS, LaneState, Ownership};
use super::output::Output;
use super::reply::CallError;
use crate::model::ids::{Epoch, LaneId, ServiceName};
use crate::model::lane::Fence;
use crate::model::time::Timestamp;

/// How soon an owner gives way once more because its lane is wanted elsewhere, in milliseconds, where that was in vain:
/// a stream that goes on for hours, an `onSettled` that hangs, or one who asks and cannot take the lane, must not keep
/// all else waiting.
const WANTED_AGAIN_MS: u64 = 300_000;

impl LaneState {
    /// Whether it was given away a while ago, and nobody has taken it.
    fn came_back(&self, now: Timestamp) -> bool {
        self.given.is_some_and(|(epoch, at)| {
            self.epoch() == Some(Epoch(epoch.0 + 1)) && now.since(at) < WANTED_AGAIN_MS
        })
    }
}

impl Engine {
    /// Gives every lane back, for others to take up at once; asks for them again later, or when it is woken.
    pub(super) fn give_back_all(&mut self, now: Timestamp) {
        self.forget_lanes(&CallError::Unconfirmed("the page went away".into()));
        self.set_up_lanes(now.after(CLAIM_AGAIN_MS));
        self.yielded = true;
    }

    /// Gives the lanes to a context that somebody looks at, for this one may be throttled; or the lane of one service, to
    /// one that says that it can go on, for here is no credential for it. Where something is under way, that ends first,
    /// and nothing else is begun until then.
    pub(super) fn offer(&mut self, now: Timestamp, service: Option<&ServiceName>) {
        let one = service.and_then(|name| self.lane_of(name));
        let is_wanted = |(id, own): &&(LaneId, LaneState)| match service {
            Some(_) => one.as_ref() == Some(id),
            None => !own.came_back(now),
        };
        let ids = self.lanes.iter().filter(is_wanted).map(|(id, _)| id.clone());
        for id in ids.collect::<Vec<_>>() {
            if self.owns(&id)
                && !self.give_at_rest(now, &id)
                && let Some(lane) = self.lanes.get_mut(&id)
                && now.since(lane.wanted_until) >= WANTED_AGAIN_MS
            {
                lane.wanted_until = now.after(ACTION_MS);
            }
        }
    }

    /// Gives a lane back where nothing has left this context that has not come back; whether it did.
    fn give_at_rest(&mut self, now: Timestamp, id: &LaneId) -> bool {
        let Some(epoch) = self.lanes.get(id).and_then(LaneState::epoch) else {
            return false;
        };
        let at_rest = self.in_lane(id).all(Entry::is_at_rest);
        if at_rest {
            self.return_lane(id, epoch);
            self.lose(now, id);
            if let Some(lane) = self.lanes.get_mut(id) {
                lane.given = Some((epoch, now));
                // Whoever wants it asks every 3 s, and comes first so.
                let ask_at = now.after(2 * CLAIM_AGAIN_MS);
                lane.ownership = Ownership::Other { ask_at };
                self.wake(ask_at);
            }
        }
        at_rest
    }

    /// Whether nothing is begun in a lane of this context, for another wants it; it is given away when that can be.
    pub(super) fn gives_way(&mut self, now: Timestamp, id: &LaneId) -> bool {
        let until = self.wanted_until(id);
        if now < until && !self.give_at_rest(now, id) {
            self.wake(until);
        }
        now < until
    }

    pub(super) fn wanted_until(&self, id: &LaneId) -> Timestamp {
        self.lanes.get(id).map_or(Timestamp(0), |lane| lane.wanted_until)
    }

    pub(super) fn return_lane(&mut self, id: &LaneId, epoch: Epoch) {
        let sent = self.sent.remove(id).unwrap_or_default();
        self.outputs.push(Output::GiveBack(Fence {
            lane: id.clone(),
            context: self.context.clone(),
            epoch,
            now: Timestamp(0),
            lease_until: Timestamp(0),
            gate: None,
            sent,
        }));
    }

    /// What was given back is asked for again: whether somebody else has it since is for the store to say.
    pub(super) fn begin_anew(&mut self, now: Timestamp) {
        if !core::mem::take(&mut self.yielded) {
            return;
        }
        for lane in self.lanes.values_mut() {
            if let Ownership::Other { ask_at } = &mut lane.ownership {
                *ask_at = now;
            }
        }
    }
}
