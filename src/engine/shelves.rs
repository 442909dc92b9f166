//! Shelves: what the store holds of a lane that is not in memory, and when it is looked at.

use super::Engine;
use super::entry::Entry;
use super::lanes::{CLAIM_AGAIN_MS, LEASE_AHEAD_MS, Ownership, STORE_AGAIN_MS};
use super::output::Output;
use crate::model::ids::{LaneId, ServiceName};
use crate::model::operation::Operation;
use crate::model::storage::{Queue, StoreError};
use crate::model::time::Timestamp;
use crate::rules::bounds::REQUEST_FLOOR_MS;
use crate::rules::next::{Next, is_behind, next};

/// Operations of one lane in memory; the others wait in the store.
pub(super) const WORKING_SET_MAX: usize = 64;

/// Where so many are in memory, more are not read for each that leaves, but for some at a time.
const WORKING_SET_FEW: usize = 32;

/// How soon more are read where there are not few, in milliseconds.
const REFILL_MS: u64 = 250;

/// How far ahead of time work is read, in milliseconds: what is due one after the other comes by one read, where each
/// point in time would else read all anew that is due and in memory.
const READ_AHEAD_MS: u64 = 2_000;

/// How soon the store is looked at again although nothing in it is known to be due, in milliseconds:
/// other contexts write to it too, and may die before they say so.
const LOOK_AGAIN_MS: u64 = 30_000;

/// What the store holds of a lane that is not in memory.
#[derive(Clone, Debug)]
pub(super) struct Shelf {
    /// When the first of it is due; `None`: nothing is.
    pub(super) next: Option<Timestamp>,
    pub(super) reading: bool,
    /// Something has left memory since the reading began, or the lane has another owner: what is read may be older
    /// than that.
    pub(super) stale: bool,
    /// When it is looked at even though nothing is known to be due.
    look_again: Timestamp,
    /// The next look is at all of it: due times of a clock that has jumped back since say nothing.
    all: bool,
}

impl Shelf {
    pub(super) const fn new() -> Self {
        Self {
            next: Some(Timestamp(0)),
            reading: false,
            stale: false,
            look_again: Timestamp(0),
            all: true,
        }
    }

    pub(super) fn look_at_all(&mut self, at: Timestamp) {
        self.all = true;
        self.look_at(at);
    }

    /// The lane has just become this context's: what is being read may be older than what its former owner wrote.
    pub(super) fn changed_hands(&mut self) {
        self.stale |= self.reading;
        self.look_at_all(Timestamp(0));
    }

    /// When the store is looked at next.
    fn look(&self) -> Timestamp {
        self.next.map_or(self.look_again, |next| next.min(self.look_again))
    }

    pub(super) fn look_at(&mut self, at: Timestamp) {
        self.next = Some(self.next.map_or(at, |own| own.min(at)));
    }
}

impl Engine {
    /// Another context has changed something of the service: the store is looked at again.
    pub(super) fn hint(&mut self, service: &ServiceName) {
        if let Some(lane) = self.lane_of(service).and_then(|id| self.lanes.get_mut(&id)) {
            lane.work.look_at(Timestamp(0));
            lane.delivery.look_at(Timestamp(0));
        }
    }

    /// Whoever is awake with work of a lane looks now and then for work that others have added:
    /// an owner that keeps renewing its lease must not keep that waiting.
    pub(super) fn look_around(&mut self, now: Timestamp, id: &LaneId) {
        let busy = self.in_lane(id).next().is_some();
        if let Some(lane) = self.lanes.get_mut(id)
            && busy
            && now.since(lane.read_at) >= CLAIM_AGAIN_MS
        {
            lane.work.look_at(Timestamp(0));
        }
    }

    /// Whether this context drives what is due soon: only then is anything gained by knowing of its death.
    pub fn is_busy(&self, now: Timestamp) -> bool {
        let soon = now.after(LEASE_AHEAD_MS);
        let is_soon = |at: Option<Timestamp>| at.is_some_and(|at| at <= soon);
        let waits = |entry: &Entry| {
            let delivers = self.consumes && is_soon(entry.operation.delivery_due());
            delivers || is_soon(self.due_at(now, Queue::Work, &entry.operation))
        };
        self.lanes.iter().filter(|(_, lane)| lane.epoch().is_some()).any(|(id, lane)| {
            is_soon(lane.work.next)
                || self.consumes && is_soon(lane.delivery.next)
                || self.in_lane(id).any(|entry| !entry.is_idle() || waits(entry))
        })
    }

    /// Reads what is due, if anything may be; for a lane of another context only to see whether
    /// there is a reason to ask for it.
    pub(super) fn read_shelf(&mut self, now: Timestamp, id: &LaneId, queue: Queue) {
        let (known, count) = (self.in_lane(id).count(), self.count_in(id, queue));
        let Some(lane) = self.lanes.get_mut(id) else {
            return;
        };
        match lane.ownership {
            Ownership::Other { ask_at } if now < ask_at => return self.wake(ask_at),
            // What is due is known already; who drives it is being settled.
            Ownership::Asking => return,
            Ownership::Other { .. } | Ownership::Own(_) => {}
        }
        let works = queue == Queue::Work;
        let filled = (works && count >= WORKING_SET_FEW).then(|| lane.read_at.after(REFILL_MS));
        // Of another's lane, nothing is asked before its time; and where many are, those due have the places.
        let ahead = works && lane.epoch().is_some() && filled.is_none();
        let shelf = lane.shelf(queue);
        let at = shelf.look().max(filled.unwrap_or_default().min(now.after(REFILL_MS)));
        if at > now {
            self.wake(at);
        } else if !shelf.reading && count < WORKING_SET_MAX {
            shelf.reading = true;
            let all = core::mem::take(&mut shelf.all);
            let due_by = now.after(if ahead { READ_AHEAD_MS } else { 0 });
            let before = if all { Timestamp(u64::MAX) } else { due_by };
            if works {
                lane.read_at = now;
            }
            // As many new ones as there are places for: those in memory may come first, and be due still.
            let limit = known + (WORKING_SET_MAX - count);
            let (lane, limit) = (id.clone(), u32::try_from(limit).unwrap_or(u32::MAX));
            self.outputs.push(Output::ReadDue { lane, queue, before, limit });
        }
    }

    /// Whether a queue of a lane has as much in memory as it may. What is being delivered waits for
    /// the app, and must not keep work waiting.
    pub(super) fn is_crowded(&self, id: &LaneId, queue: Queue) -> bool {
        self.count_in(id, queue) >= WORKING_SET_MAX
    }

    fn count_in(&self, id: &LaneId, queue: Queue) -> usize {
        let delivering = queue == Queue::Delivery;
        self.in_lane(id).filter(|entry| entry.delivering == delivering).count()
    }

    /// The clock has jumped back: points in time that were set by the old one are set anew.
    pub(super) fn jumped_back(&mut self, before: Timestamp, now: Timestamp) {
        for lane in self.lanes.values_mut() {
            lane.promise_anew();
            if let Ownership::Other { ask_at } = &mut lane.ownership {
                *ask_at = (*ask_at).min(now.after(CLAIM_AGAIN_MS));
            }
            lane.work.look_at_all(Timestamp(0));
            lane.delivery.look_at_all(Timestamp(0));
        }
        for (at, _) in self.sent.values_mut().flatten() {
            *at = (*at).min(now);
        }
        for entry in self.entries.values_mut() {
            entry.not_before = entry.not_before.min(now.after(REQUEST_FLOOR_MS));
            if let Some(exchange) = &mut entry.exchange {
                exchange.ends_by = now.after(exchange.ends_by.since(before));
            }
        }
    }

    /// When an operation is due in a queue, by the clock as it is now.
    pub(super) fn due_at(
        &self,
        now: Timestamp,
        queue: Queue,
        operation: &Operation,
    ) -> Option<Timestamp> {
        if is_behind(operation, now) {
            return Some(now);
        }
        match queue {
            Queue::Work => {
                let profile = self.profiles.get(&operation.identity.profile_digest)?;
                match next(operation, profile, now) {
                    Next::Exchange(_) | Next::TakeUp(_) | Next::Park(_) | Next::Remove => Some(now),
                    Next::Wait(at) => Some(at),
                    Next::Nothing => None,
                }
            }
            Queue::Delivery => operation.delivery_due(),
        }
    }

    pub(super) fn read_due(
        &mut self,
        now: Timestamp,
        id: &LaneId,
        queue: Queue,
        due: Result<(Vec<Operation>, Option<Timestamp>), StoreError>,
    ) {
        let first = due.as_ref().ok().and_then(|(operations, _)| {
            operations.iter().filter_map(|own| self.due_at(now, queue, own)).min()
        });
        // The index has what is due now at a later time, where the clock was before its jump.
        let hidden = due.as_ref().is_ok_and(|(operations, _)| {
            operations.iter().any(|own| {
                let indexed = match queue {
                    Queue::Work => own.due(),
                    Queue::Delivery => own.delivery_due(),
                };
                indexed > Some(now) && self.due_at(now, queue, own).is_some_and(|at| at <= now)
            })
        });
        let Some(lane) = self.lanes.get_mut(id) else {
            return;
        };
        let owned = lane.epoch().is_some();
        let shelf = lane.shelf(queue);
        shelf.reading = false;
        shelf.look_again = now.after(LOOK_AGAIN_MS);
        let Ok((operations, next)) = due else {
            shelf.next = Some(now.after(STORE_AGAIN_MS));
            shelf.all = true;
            return;
        };
        if core::mem::take(&mut shelf.stale) {
            return shelf.look_at_all(now);
        }
        if !shelf.all {
            shelf.next = next;
        }
        if owned {
            for operation in operations {
                self.take_in(now, id, queue, operation);
            }
        } else if let Some(first) = first {
            if first <= now {
                shelf.next = Some(Timestamp(0));
                shelf.all |= hidden;
                self.ask_for(now, id);
            } else {
                shelf.look_at(first);
            }
        }
    }

    fn take_in(&mut self, now: Timestamp, id: &LaneId, queue: Queue, operation: Operation) {
        if self.is_crowded(id, queue) && !self.entries.contains_key(&operation.identity.id) {
            let due = self.due_at(now, queue, &operation).unwrap_or_default();
            if let Some(lane) = self.lanes.get_mut(id) {
                lane.shelf(queue).look_at(due);
            }
            return;
        }
        let key = operation.identity.id.clone();
        self.entries.get_or_insert_with(key, || Entry::loaded(operation, now));
    }
}
