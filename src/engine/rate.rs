//! The rate that a profile states, kept over all requests that drive a lane. Its owner writes down with
//! each write what has left, and another that takes the lane over goes on from there.

use super::Engine;
use super::entry::Phase;
use super::lanes::ACTION_MS;
use crate::model::ids::{LaneId, ServiceName};
use crate::model::lane::{Lane, Sent};
use crate::model::time::Timestamp;

/// Requests are told apart by their times up to this many; beyond it, the nearest are taken together.
const SENT_MAX: usize = 32;

impl Engine {
    /// Whether the lane's service takes another request now; else it is looked at again when it does.
    /// `others` are requests that have left elsewhere.
    pub(super) fn is_within_rate(&mut self, now: Timestamp, id: &LaneId, others: u32) -> bool {
        let Some(rate) = self.lanes.get(id).and_then(|lane| lane.rate) else {
            return true;
        };
        let preparing = self.preparing(id);
        let sent = self.sent.get_or_insert_with(id.clone(), Vec::new);
        sent.retain(|(at, _)| now < at.after(rate.per_ms));
        let before = preparing.saturating_add(others);
        let count = sent.iter().fold(before, |sum, (_, count)| sum.saturating_add(*count));
        if count < rate.requests {
            return true;
        }
        if let Some((first, _)) = sent.first() {
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
            add(self.sent.get_or_insert_with(id.clone(), Vec::new), now, 1);
        }
    }

    /// The lane of a service that another context may drive: what that has sent, and whether the service
    /// refuses everything, is in the store alone.
    pub fn lane_of_another(&self, service: &ServiceName) -> Option<LaneId> {
        self.lane_of(service).filter(|lane| !self.owns(lane))
    }

    /// Whether the app may ask the service something now that belongs to no operation, by what is known
    /// here and by the lane as another context has left it (see [`Engine::lane_of_another`]). What may be
    /// asked is counted, here: its owner does not learn of it.
    pub fn may_ask(&mut self, now: Timestamp, service: &ServiceName, told: Option<&Lane>) -> bool {
        let Some(lane) = self.lane_of(service) else {
            return true;
        };
        let gate = told.and_then(|told| told.gate);
        // One of a clock that has jumped back since would last until that is there again.
        if gate.is_some_and(|gate| gate.set_at <= now && now < gate.until()) {
            return false;
        }
        let rate = self.lanes.get(&lane).and_then(|own| own.rate);
        let mut others = 0_u32;
        for (at, count) in told.map(|told| told.sent.as_slice()).unwrap_or_default() {
            if rate.is_some_and(|rate| now < at.after(rate.per_ms)) {
                others = others.saturating_add(*count);
            }
        }
        let may = self.is_open(now, &lane) && self.is_within_rate(now, &lane, others);
        if may {
            self.count_request(now, &lane);
        }
        may
    }

    /// What has left in a lane, and what may leave before its owner writes again; empty where no rate
    /// is stated.
    pub(super) fn sent_in(&self, now: Timestamp, id: &LaneId) -> Sent {
        if self.lanes.get(id).is_none_or(|lane| lane.rate.is_none()) {
            return Sent::new();
        }
        let mut sent = self.sent.get(id).cloned().unwrap_or_default();
        add(&mut sent, now, self.preparing(id));
        sent
    }

    /// What another owner has sent counts here too. No time is later than now, by whatever clock.
    pub(super) fn take_over(&mut self, now: Timestamp, id: &LaneId, sent: Sent) {
        for (at, count) in sent {
            add(self.sent.get_or_insert_with(id.clone(), Vec::new), at.min(now), count);
        }
    }

    /// How many exchanges of a lane are being prepared.
    fn preparing(&self, id: &LaneId) -> u32 {
        let mut count = 0;
        for entry in self.in_lane(id) {
            let exchange = entry.exchange.as_ref();
            count += u32::from(exchange.is_some_and(|own| own.phase != Phase::OnWire));
        }
        count
    }
}

/// Adds requests. Where there are too many times, the two that are nearest become the later one.
fn add(sent: &mut Sent, at: Timestamp, count: u32) {
    let later = sent.iter().position(|(own, _)| *own > at);
    sent.insert(later.unwrap_or(sent.len()), (at, count));
    if sent.len() > SENT_MAX {
        let gap = |index: usize| sent[index + 1].0.since(sent[index].0);
        let mut nearest = 0;
        for index in 0..SENT_MAX {
            if gap(index) < gap(nearest) {
                nearest = index;
            }
        }
        let (_, earlier) = sent.remove(nearest);
        sent[nearest].1 = sent[nearest].1.saturating_add(earlier);
    }
}
