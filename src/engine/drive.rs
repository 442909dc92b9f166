//! Driving: what is due is begun, soonest expiry first, within the lanes that are ours.

use super::Engine;
use super::lanes::{ACTION_MS, Ownership};
use super::output::Output;
use super::shelves::WORKING_SET_MAX;
use crate::model::ids::{LaneId, OperationId};
use crate::model::profile::Purpose;
use crate::model::storage::Queue;
use crate::model::time::{Timestamp, Wait};
use crate::rules::bounds::IN_FLIGHT_MAX;
use crate::rules::next::{Next, is_behind, next};
use crate::rules::step::{self};
use crate::rules::teeth::{Tooth, bites};

/// An operation that does nothing for this long leaves memory, in milliseconds.
const KEEP_MS: u64 = 60_000;

/// The same where others wait for its place.
const KEEP_CROWDED_MS: u64 = 250;

/// The same for one whose submission is not settled: others of its kind stand behind it.
const KEEP_UNSETTLED_MS: u64 = 600_000;

/// How soon a host without a network is looked at again, in milliseconds: it tells when it has one, but
/// not everywhere.
const ONLINE_AGAIN_MS: u64 = 30_000;

impl Engine {
    /// Begins everything that can be begun, and finds out when there is more.
    pub(super) fn drive(&mut self, now: Timestamp) {
        self.wake_at = None;
        self.write_late_newborns(now);
        let lanes: Vec<LaneId> = self.lanes.iter().map(|(id, _)| id.clone()).collect();
        for lane in &lanes {
            self.look_around(now, lane);
            self.read_shelf(now, lane, Queue::Work);
            if self.consumes {
                self.read_shelf(now, lane, Queue::Delivery);
            }
            if !self.owns(lane) {
                self.follow(now, lane);
            } else if !self.gives_way(now, lane) {
                self.drive_lane(now, lane);
            }
        }
    }

    pub(super) fn wake(&mut self, at: Timestamp) {
        self.wake_at = Some(self.wake_at.map_or(at, |own| own.min(at)));
    }

    /// A newborn is written in time, whether or not its credential has come.
    fn write_late_newborns(&mut self, now: Timestamp) {
        let mut unborn = Vec::new();
        for (id, entry) in &self.entries {
            if let (Some(birth), None) = (&entry.birth, entry.writing) {
                unborn.push((birth.write_by, id.clone()));
            }
        }
        for (write_by, id) in unborn {
            if write_by <= now {
                self.write_newborn(now, &id);
            } else {
                self.wake(write_by);
            }
        }
    }

    /// A lane of another context: something due in memory is a reason to ask for it.
    fn follow(&mut self, now: Timestamp, lane: &LaneId) {
        let mut due = None;
        let mut idle = Vec::new();
        for (id, entry) in &self.entries {
            if entry.lane == *lane && entry.is_idle() {
                idle.push(id.clone());
                let queues = [Queue::Work, Queue::Delivery].into_iter();
                let own = queues.filter_map(|queue| self.due_at(now, queue, &entry.operation));
                due = own.chain(due).min();
            }
        }
        if due.is_some_and(|due| due <= now) {
            self.ask_for(now, lane);
        } else if let Some(due) = due {
            self.wake(due);
        }
        let asking =
            self.lanes.get(lane).is_some_and(|own| matches!(own.ownership, Ownership::Asking));
        if !asking {
            // They are the owner's; the shelf brings them back when they are due here.
            for id in idle {
                self.shelve(now, &id);
            }
        }
    }

    fn drive_lane(&mut self, now: Timestamp, lane: &LaneId) {
        let mut candidates = Vec::new();
        for (id, entry) in &self.entries {
            if entry.lane == *lane && entry.is_settled() {
                // Whoever has waited longest goes first, so that a rate keeps nobody for ever.
                candidates.push((entry.urgency(), entry.not_before, id.clone()));
            }
        }
        candidates.sort_unstable();
        let crowded = self.is_crowded(lane, Queue::Work);
        let keep_ms = if crowded { KEEP_CROWDED_MS } else { KEEP_MS };
        // In this walk exchanges begin, and none ends: they are counted anew only when one has begun.
        let mut full = self.is_full(lane);
        let mut working = 0;
        for (_, _, id) in candidates {
            // What is delivered, or is to be, has places of its own.
            let works = self
                .entries
                .get(&id)
                .is_some_and(|own| !own.delivering && own.operation.delivery_due().is_none());
            working += usize::from(works);
            if works && working > WORKING_SET_MAX && self.may_leave(&id) {
                self.shelve(now, &id);
                continue;
            }
            self.drive_one(now, lane, &id, keep_ms, full);
            full = full || self.is_exchanging(&id) && self.is_full(lane);
        }
    }

    fn drive_one(
        &mut self,
        now: Timestamp,
        lane: &LaneId,
        id: &OperationId,
        keep_ms: u64,
        full: bool,
    ) {
        if self.entries.get(id).is_some_and(|entry| is_behind(&entry.operation, now)) {
            return self.apply(now, id, step::Input::ClockJumpedBack, None);
        }
        self.deliver(now, id);
        let Some(entry) = self.entries.get(id).filter(|entry| entry.exchange.is_none()) else {
            return;
        };
        let Some(profile) = self.profiles.get(&entry.operation.identity.profile_digest) else {
            return;
        };
        match next(&entry.operation, profile, now) {
            Next::Exchange(purpose) => {
                let not_before = entry.not_before;
                if now < not_before {
                    self.wake(not_before);
                } else if full {
                    // Nothing may begin; while the lane is closed, its lease is kept all the same.
                    self.is_open(now, lane);
                } else if !self.stands_behind(lane, id, purpose)
                    && self.may_start(now, lane)
                    && (purpose.is_written_ahead() || self.is_sure(now, lane))
                {
                    self.authorize(now, id, purpose);
                }
            }
            Next::TakeUp(purpose) => self.apply(now, id, step::Input::Lost(purpose), None),
            Next::Park(bound) => self.apply(now, id, step::Input::OutOfBounds(bound), None),
            Next::Remove => self.apply(now, id, step::Input::Removed, None),
            Next::Wait(at) => {
                let waits_for = entry.is_unsettled() && keep_ms == KEEP_MS;
                let keep_ms = if waits_for { KEEP_UNSETTLED_MS } else { keep_ms };
                if entry.is_idle() && at > now.after(keep_ms) {
                    self.shelve(now, id);
                } else {
                    self.wake(at);
                }
            }
            Next::Nothing => {
                if entry.is_idle() {
                    self.shelve(now, id);
                }
            }
        }
    }

    /// Whether an operation can wait in the store: nothing is under way with it, and no other stands behind it.
    fn may_leave(&self, id: &OperationId) -> bool {
        self.entries.get(id).is_some_and(|entry| entry.is_idle() && !entry.is_unsettled())
    }

    /// Whether a submission waits for another of the very same request, where no key tells the two
    /// apart: they are handed over one at a time.
    pub(super) fn stands_behind(&self, lane: &LaneId, id: &OperationId, purpose: Purpose) -> bool {
        let Some(own) = self.entries.get(id).filter(|_| purpose == Purpose::Submit) else {
            return false;
        };
        let identity = &own.operation.identity;
        let keyless = self
            .profiles
            .get(&identity.profile_digest)
            .is_some_and(|profile| profile.key.is_none());
        keyless
            && self.in_lane(lane).any(|other| {
                let theirs = &other.operation.identity;
                theirs.id != identity.id
                    && theirs.fingerprint == identity.fingerprint
                    && other.is_unsettled()
            })
    }

    /// Whether the lane lets another exchange begin: nobody else wants it, it is open, and not too many are out.
    pub(super) fn may_start(&mut self, now: Timestamp, lane: &LaneId) -> bool {
        self.wanted_until(lane) <= now
            && self.is_open(now, lane)
            && !self.is_full(lane)
            && self.is_within_rate(now, lane, 0)
    }

    /// Whether as many exchanges are out as may be.
    fn is_full(&self, lane: &LaneId) -> bool {
        let out = self.in_lane(lane).filter(|entry| entry.exchange.is_some());
        out.count() >= IN_FLIGHT_MAX as usize
    }

    fn is_exchanging(&self, id: &OperationId) -> bool {
        self.entries.get(id).is_some_and(|entry| entry.exchange.is_some())
    }

    /// Whether there is a network, and the lane's gate is open.
    pub(super) fn is_open(&mut self, now: Timestamp, lane: &LaneId) -> bool {
        let gate = self.lanes.get_mut(lane).and_then(|own| {
            // Set by a clock that has jumped back since, it begins anew, once.
            own.gate = own.gate.map(|gate| gate.seen_at(now));
            own.gate
        });
        let mut until = gate.map_or(now, Wait::until);
        if !self.online && !lane.is_local() {
            // The same point however often it is asked: each later one would renew the lease.
            until = until.max(now.after(ONLINE_AGAIN_MS - now.0 % ONLINE_AGAIN_MS));
        }
        if until > now {
            // Nothing is written while it is closed: that is no sign of death.
            self.cover(now, lane, until.after(ACTION_MS));
            self.wake(until);
            return false;
        }
        true
    }

    fn deliver(&mut self, now: Timestamp, id: &OperationId) {
        let consumes = self.consumes;
        let Some(entry) = self.entries.get_mut(id).filter(|entry| !entry.delivering) else {
            return;
        };
        let wanted = consumes && !bites(Tooth::NeverDeliver);
        match entry.operation.delivery_due().filter(|_| wanted) {
            Some(due) if due <= now => {
                entry.delivering = true;
                let operation = Box::new(entry.operation.clone());
                self.outputs.push(Output::Deliver(operation));
            }
            Some(due) => self.wake(due),
            None => {}
        }
    }

    /// Takes an operation out of memory until it is due; the store has all of it.
    pub(super) fn shelve(&mut self, now: Timestamp, id: &OperationId) {
        let Some(entry) = self.entries.remove(id) else {
            return;
        };
        let work = self.due_at(now, Queue::Work, &entry.operation);
        let delivery = self.due_at(now, Queue::Delivery, &entry.operation);
        if let Some(lane) = self.lanes.get_mut(&entry.operation.lane()) {
            for shelf in [&mut lane.work, &mut lane.delivery] {
                shelf.stale |= shelf.reading;
            }
            if let Some(due) = work {
                lane.work.look_at(due);
            }
            if let Some(due) = delivery {
                lane.delivery.look_at(due);
            }
            let next = [lane.work.next, lane.delivery.next.filter(|_| self.consumes)];
            if let Some(at) = next.into_iter().flatten().min() {
                self.wake(at);
            }
        }
    }
}
