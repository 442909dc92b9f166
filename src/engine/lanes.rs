//! Lanes: owning them, losing them, and knowing what is due in them.

use super::Engine;
use super::entry::Entry;
use super::reply::CallError;
use super::shelves::Shelf;
use crate::model::ids::{Account, Epoch, LaneId, ServiceName};
use crate::model::lane::Lane;
use crate::model::policy::Rate;
use crate::model::storage::{Queue, StoreError};
use crate::model::time::{Timestamp, Wait};
use crate::rules::bounds::{EXCHANGE_TIMEOUT_MS, LEASE_GRACE_MS, SEND_BEFORE_MS};
use crate::rules::teeth::{Tooth, bites};

/// Longest time from the point at which an exchange is due to the write of its answer, in
/// milliseconds: the owner of a lane has written again by then, or it is dead.
pub(super) const ACTION_MS: u64 = EXCHANGE_TIMEOUT_MS + SEND_BEFORE_MS;

/// What is due later than this is no promise to write, in milliseconds: a lane whose owner may be
/// idle for days, until some tombstone goes, is free for whoever has work in it.
pub(super) const LEASE_AHEAD_MS: u64 = 3_600_000;

/// How soon a lane that another context holds is looked at again, in milliseconds: when its owner is
/// closed, another has taken over and sent within 5 s.
pub(super) const CLAIM_AGAIN_MS: u64 = 3_000;

/// How soon a store that failed is asked again, in milliseconds.
pub(super) const STORE_AGAIN_MS: u64 = 5_000;

/// What this context knows of one lane.
#[derive(Clone, Debug)]
pub(super) struct LaneState {
    pub(super) ownership: Ownership,
    pub(super) gate: Option<Wait>,
    /// How many requests its service takes.
    pub(super) rate: Option<Rate>,
    /// By when this context has promised to have written again.
    pub(super) lease_until: Timestamp,
    /// The promise was not kept, and the store is asked whether the lane is still its own.
    pub(super) doubted: bool,
    /// Not before this point is it asked again, where it did not say.
    pub(super) doubt_again: Timestamp,
    /// Until then nothing is begun, for a context that somebody looks at wants the lane.
    pub(super) wanted_until: Timestamp,
    /// Under which epoch, and when, it was last given to whoever wanted it.
    pub(super) given: Option<(Epoch, Timestamp)>,
    /// When the store was last asked for work.
    pub(super) read_at: Timestamp,
    pub(super) work: Shelf,
    pub(super) delivery: Shelf,
}

#[derive(Clone, Debug)]
pub(super) enum Ownership {
    /// Not before this point is it worth asking.
    Other {
        ask_at: Timestamp,
    },
    Asking,
    Own(Epoch),
}

impl LaneState {
    const fn new(rate: Option<Rate>, ask_at: Timestamp) -> Self {
        Self {
            ownership: Ownership::Other { ask_at },
            gate: None,
            rate,
            lease_until: Timestamp(0),
            doubted: false,
            doubt_again: Timestamp(0),
            wanted_until: Timestamp(0),
            given: None,
            read_at: Timestamp(0),
            work: Shelf::new(),
            delivery: Shelf::new(),
        }
    }

    pub(super) const fn epoch(&self) -> Option<Epoch> {
        match self.ownership {
            Ownership::Own(epoch) => Some(epoch),
            Ownership::Other { .. } | Ownership::Asking => None,
        }
    }

    /// What was promised by the clock before its jump says nothing.
    pub(super) const fn promise_anew(&mut self) {
        self.lease_until = Timestamp(0);
        self.doubt_again = Timestamp(0);
        self.wanted_until = Timestamp(0);
        self.given = None;
    }

    pub(super) const fn shelf(&mut self, queue: Queue) -> &mut Shelf {
        match queue {
            Queue::Work => &mut self.work,
            Queue::Delivery => &mut self.delivery,
        }
    }
}

impl Engine {
    /// Everything of the former account leaves memory; it stays in the store.
    pub(super) fn switch_account(&mut self, account: Option<Account>) {
        let keep = bites(Tooth::KeepAccount) && self.account.is_some();
        if self.account == account || keep {
            return;
        }
        self.forget_lanes(&CallError::AccountChanged);
        self.account = account;
        self.set_up_lanes(Timestamp(0));
    }

    pub(super) fn set_up_lanes(&mut self, ask_at: Timestamp) {
        let Some(account) = &self.account else { return };
        for (_, service) in &self.services {
            let id = LaneId::of(account, &service.name, &service.origin);
            self.lanes.insert(id, LaneState::new(service.profile.rate, ask_at));
        }
    }

    pub(super) fn forget_lanes(&mut self, why: &CallError) {
        for (id, lane) in core::mem::take(&mut self.lanes) {
            match lane.epoch() {
                Some(epoch) => self.return_lane(&id, epoch),
                None => drop(self.sent.remove(&id)),
            }
        }
        let ids: Vec<_> = self.entries.iter().map(|(id, _)| id.clone()).collect();
        for id in ids {
            self.abandon_entry(&id, why);
        }
    }

    pub(super) fn claimed(
        &mut self,
        now: Timestamp,
        id: &LaneId,
        claimed: Result<Lane, StoreError>,
    ) {
        let Some(lane) = self.lanes.get_mut(id) else {
            return;
        };
        let owned = lane.epoch().is_some();
        // Given away, or lost, while it was asked for: what the store has of that is given back as it was.
        let given = matches!(lane.ownership, Ownership::Other { .. });
        let doubted = core::mem::take(&mut lane.doubted);
        match claimed {
            Ok(row) if given && row.owner.as_ref() == Some(&self.context) => {
                self.return_lane(id, row.epoch);
            }
            Ok(row) if row.owner.as_ref() == Some(&self.context) => {
                if lane.epoch() == Some(row.epoch) {
                    lane.lease_until = lane.lease_until.max(row.lease_until);
                    return;
                }
                // It was lost in between: what has left here under the old epoch is nobody's.
                if owned {
                    self.lose(now, id);
                }
                self.win(now, id, row);
            }
            // A renewal that came too late: what is in memory of it is worth nothing.
            Ok(_) if owned => self.lose(now, id),
            Ok(row) => {
                let soon = now.after(CLAIM_AGAIN_MS);
                lane.ownership = Ownership::Other { ask_at: soon.min(row.lease_until.max(now)) };
                if row.lease_until <= now {
                    lane.ownership = Ownership::Other { ask_at: soon };
                }
            }
            // A renewal that failed took nothing away: whoever takes over is known by its epoch. A doubt stays one: it
            // may have been another's meanwhile, and be this context's own again by a commit that was said to fail.
            Err(_) if owned && doubted => lane.doubt_again = now.after(STORE_AGAIN_MS),
            Err(_) if owned => {}
            Err(_) => {
                lane.ownership = Ownership::Other { ask_at: now.after(STORE_AGAIN_MS) };
            }
        }
    }

    /// The lane has just become ours: whoever owned it before may have driven what is in memory of it,
    /// also what waits for a credential since.
    fn win(&mut self, now: Timestamp, id: &LaneId, row: Lane) {
        if let Some(lane) = self.lanes.get_mut(id) {
            lane.ownership = Ownership::Own(row.epoch);
            lane.lease_until = row.lease_until;
            lane.gate = row.gate;
            lane.work.changed_hands();
            lane.delivery.changed_hands();
        }
        self.take_over(now, id, row.sent);
        let at_rest = self.entries.iter().filter(|(_, own)| own.lane == *id && own.is_at_rest());
        let at_rest: Vec<_> = at_rest.map(|(own, _)| own.clone()).collect();
        for own in at_rest {
            self.shelve(now, &own);
        }
    }

    /// Asks for a lane in which something is due.
    pub(super) fn ask_for(&mut self, now: Timestamp, id: &LaneId) {
        let Some(lane) = self.lanes.get_mut(id) else {
            return;
        };
        match lane.ownership {
            Ownership::Other { ask_at } if ask_at <= now => {
                lane.ownership = Ownership::Asking;
                self.claim(now, id, now.after(ACTION_MS + LEASE_GRACE_MS));
            }
            Ownership::Other { ask_at } => self.wake(ask_at),
            Ownership::Asking | Ownership::Own(_) => {}
        }
    }

    /// The lane has another owner: what is in memory of it is worth nothing.
    pub(super) fn lose(&mut self, now: Timestamp, id: &LaneId) {
        if let Some(lane) = self.lanes.get_mut(id) {
            lane.ownership = Ownership::Other { ask_at: now.after(CLAIM_AGAIN_MS) };
            lane.wanted_until = Timestamp(0);
            self.sent.remove(id);
            lane.work.look_at_all(Timestamp(0));
            lane.delivery.look_at_all(Timestamp(0));
        }
        // What is being written hears from its own write what became of it.
        let entries = self.entries.iter().filter(|(_, entry)| {
            entry.lane == *id && entry.writing.is_none() && entry.birth.is_none()
        });
        let ids: Vec<_> = entries.map(|(own, _)| own.clone()).collect();
        for own in ids {
            self.leave_entry(now, &own);
        }
    }

    /// The lane of a service, where it is configured and somebody is signed in.
    pub(super) fn lane_of(&self, service: &ServiceName) -> Option<LaneId> {
        let own = self.services.get(service)?;
        Some(LaneId::of(self.account.as_ref()?, service, &own.origin))
    }

    /// Whether this context owns a lane, as far as it knows.
    pub(super) fn owns(&self, id: &LaneId) -> bool {
        self.lanes.get(id).is_some_and(|lane| lane.epoch().is_some())
    }

    pub(super) fn in_lane(&self, id: &LaneId) -> impl Iterator<Item = &Entry> {
        let entries = self.entries.iter().map(|(_, entry)| entry);
        entries.filter(move |entry| entry.lane == *id)
    }
}
