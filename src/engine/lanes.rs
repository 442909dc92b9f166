//! Lanes: owning them, losing them, and knowing what is due in them.

use super::Engine;
use super::entry::Entry;
use super::output::Output;
use super::reply::CallError;
use super::shelves::Shelf;
use crate::model::ids::{Account, Epoch, LaneId};
use crate::model::lane::{Fence, Lane};
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

/// How soon an owner gives way once more because its lane is wanted elsewhere, in milliseconds, where that was in vain:
/// a stream that goes on for hours, an `onSettled` that hangs, or one who asks and cannot take the lane, must not keep
/// all else waiting.
const WANTED_AGAIN_MS: u64 = 300_000;

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
    given: Option<(Epoch, Timestamp)>,
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

    /// Whether it was given away a while ago, and nobody has taken it.
    fn came_back(&self, now: Timestamp) -> bool {
        self.given.is_some_and(|(epoch, at)| {
            self.epoch() == Some(Epoch(epoch.0 + 1)) && now.since(at) < WANTED_AGAIN_MS
        })
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

    /// Gives every lane back, for others to take up at once; asks for them again later, or when it is woken.
    pub(super) fn give_back_all(&mut self, now: Timestamp) {
        self.forget_lanes(&CallError::Unconfirmed("the page went away".into()));
        self.set_up_lanes(now.after(CLAIM_AGAIN_MS));
        self.yielded = true;
    }

    /// Gives the lanes to a context that somebody looks at, for this one may be throttled. Where something is under way,
    /// that ends first, and nothing else is begun until then.
    pub(super) fn offer(&mut self, now: Timestamp) {
        let owned =
            self.lanes.iter().filter(|(_, own)| own.epoch().is_some() && !own.came_back(now));
        let ids: Vec<LaneId> = owned.map(|(id, _)| id.clone()).collect();
        for id in ids {
            if !self.give_at_rest(now, &id)
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
                lane.ownership = Ownership::Other { ask_at: now.after(2 * CLAIM_AGAIN_MS) };
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

    fn return_lane(&mut self, id: &LaneId, epoch: Epoch) {
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

    fn set_up_lanes(&mut self, ask_at: Timestamp) {
        let Some(account) = &self.account else { return };
        for (_, service) in &self.services {
            let id = LaneId::of(account, &service.name, &service.origin);
            self.lanes.insert(id, LaneState::new(service.profile.rate, ask_at));
        }
    }

    fn forget_lanes(&mut self, why: &CallError) {
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
        let doubted = core::mem::take(&mut lane.doubted);
        match claimed {
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
            lane.gate = row.gate.map(|gate| gate.seen_at(now));
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

    /// Whether this context owns a lane, as far as it knows.
    pub(super) fn owns(&self, id: &LaneId) -> bool {
        self.lanes.get(id).is_some_and(|lane| lane.epoch().is_some())
    }

    pub(super) fn in_lane(&self, id: &LaneId) -> impl Iterator<Item = &Entry> {
        let entries = self.entries.iter().map(|(_, entry)| entry);
        entries.filter(move |entry| entry.lane == *id)
    }
}
