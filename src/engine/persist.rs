//! Writing: each input becomes one step, each step one write, and its effects wait for that write.

use std::rc::Rc;

use super::Engine;
use super::births::told_of;
use super::calls::MOVED_ON;
use super::entry::Phase;
use super::event::Event;
use super::fold::fold;
use super::output::{Output, Ticket, WriteSet};
use super::reply::{CallError, CallId};
use super::request::{download_name, epoch_of, request, so_far};
use crate::model::ids::{JobId, OperationId, WriteId};
use crate::model::journal::Entry as JournalEntry;
use crate::model::operation::Operation;
use crate::model::profile::Purpose;
use crate::model::storage::{Durability, Erase, Piece, StoreError, Unique, Written};
use crate::model::table::take_first;
use crate::model::time::{Timestamp, Wait};
use crate::rules::bounds::{LEASE_GRACE_MS, REQUEST_FLOOR_MS};
use crate::rules::step::{self, Refused, Step, step};
use crate::rules::teeth::{Tooth, bites};

/// A write that is not yet answered, and what follows from it.
#[derive(Clone, Debug)]
pub(super) struct PendingWrite {
    pub(super) id: OperationId,
    pub(super) operation: Operation,
    pub(super) input: Option<step::Input>,
    pub(super) call: Option<CallId>,
    send: Option<Purpose>,
    gate: Option<Wait>,
    pub(super) entries: Vec<JournalEntry>,
    /// Nothing of it is stored any more.
    pub(super) erased: bool,
}

impl PendingWrite {
    pub(super) const fn identity(&self) -> &crate::model::operation::Identity {
        &self.operation.identity
    }
}

/// What belongs to an operation alone: its key, from its birth on, and its job.
fn takes(operation: &Operation, with_key: bool, job: Option<JobId>) -> Vec<Unique> {
    let identity = &operation.identity;
    let mut all = Vec::new();
    if with_key && !identity.key.as_str().is_empty() {
        let (account, service) = (identity.account.clone(), identity.service.clone());
        all.push(Unique::Key(account, service, identity.key.clone()));
    }
    if let Some(job) = job {
        all.push(Unique::Job(identity.jobs(), job));
    }
    all
}

/// The last piece of a result that has come and is not stored yet.
pub(super) fn last_piece(input: Option<&step::Input>) -> Option<&Rc<Piece>> {
    match input {
        Some(step::Input::Answered(_, verdict)) => verdict.last_piece.as_ref(),
        Some(_) | None => None,
    }
}

impl Engine {
    /// Carries an input into an operation, now or when the write under way is answered.
    pub(super) fn apply(
        &mut self,
        now: Timestamp,
        id: &OperationId,
        input: step::Input,
        call: Option<CallId>,
    ) {
        let Some(entry) = self.entries.get_mut(id) else {
            return self.refuse(call, CallError::NotFound);
        };
        if entry.writing.is_some() || entry.reloading {
            entry.inbox.push((input, call));
            return;
        }
        if let step::Input::Send { purpose, .. } = &input
            && !self.still_wants(now, id, *purpose)
        {
            self.exchange_over(id);
            return;
        }
        let owned = self.entries.get(id).is_some_and(|entry| self.owns(&entry.lane));
        if !owned && !matches!(input, step::Input::Command(_)) {
            // It waited for a write, and the lane was lost meanwhile: its owner finds out by itself.
            return;
        }
        let Some(entry) = self.entries.get_mut(id) else {
            return;
        };
        let Some(profile) = self.profiles.get(&entry.operation.identity.profile_digest) else {
            return self.refuse(call, CallError::UnknownService);
        };
        match step(&entry.operation, profile, now, &mut self.dice, input.clone()) {
            Ok(done) => self.write(now, id, done, Some(input), call),
            Err(Refused::NotAllowed(why)) => self.refuse(call, CallError::NotAllowed(why)),
            Err(Refused::Illegal(_)) => {
                if matches!(input, step::Input::Send { .. }) {
                    entry.exchange = None;
                    // Whatever refuses it: the app is not asked for credentials without a pause.
                    entry.not_before = now.after(REQUEST_FLOOR_MS);
                }
                self.refuse(call, MOVED_ON);
            }
        }
    }

    pub(super) fn write(
        &mut self,
        now: Timestamp,
        id: &OperationId,
        done: Step,
        input: Option<step::Input>,
        call: Option<CallId>,
    ) {
        let mut operation = done.operation;
        let fence = self.fence(now, &operation, done.gate).filter(|_| !bites(Tooth::ForgetFence));
        if let Some(fence) = &fence {
            self.promised(now, &fence.lane, fence.lease_until);
        }
        let Some(entry) = self.entries.get_mut(id) else {
            return;
        };
        self.tickets += 1;
        let ticket = Ticket(self.tickets);
        let stored = entry.operation.revision;
        let newborn = entry.birth.as_ref();
        let write_id = [self.context.as_str(), ":", &self.tickets.to_string()].concat();
        operation.revision = stored.next();
        let journal = fold(&mut operation, entry.last_line.as_ref(), &done.entries);
        let erased = done.erase == Erase::Everything;
        let job = if erased { operation.life.job().cloned() } else { done.job };
        let takes = takes(&operation, newborn.is_some() || erased, job);
        let answer_by = fence.is_none().then(|| now.after(LEASE_GRACE_MS));
        if bites(Tooth::TellEarly) {
            let event = Event { operation: operation.clone(), entries: Vec::new() };
            self.outputs.push(Output::Event(Box::new(event)));
        }
        if bites(Tooth::SendBeforePersist) && done.send.is_some() {
            entry.operation = operation.clone();
        }
        self.outputs.push(Output::Persist(Box::new(WriteSet {
            ticket,
            replaces: newborn.is_none().then_some(stored),
            write_id: WriteId(write_id),
            durability: if newborn.is_some() { Durability::Strict } else { done.durability },
            fence,
            answer_by,
            name: newborn.map(|birth| birth.succeeds.clone()).or_else(|| erased.then_some(None)),
            beside: newborn.and_then(|birth| birth.replaces.clone()),
            body: newborn.and_then(|birth| birth.body.clone()),
            profile: newborn.and_then(|birth| birth.profile.clone()),
            piece: last_piece(input.as_ref()).filter(|_| done.erase == Erase::Nothing).cloned(),
            takes,
            erase: if bites(Tooth::KeepContent) { Erase::Nothing } else { done.erase },
            journal: journal.clone(),
            operation: operation.clone(),
        })));
        entry.writing = Some(ticket);
        if let (Some(step::Input::Send { .. }), Some(exchange)) = (&input, &mut entry.exchange) {
            exchange.phase = Phase::Writing;
        }
        let early = done.send.filter(|_| bites(Tooth::SendBeforePersist));
        let pending = PendingWrite {
            id: id.clone(),
            operation,
            input,
            call,
            send: done.send,
            gate: done.gate,
            entries: done.entries,
            erased,
        };
        if let Some(last) = journal.last() {
            entry.last_line = Some(last.clone());
        }
        self.writes.insert(ticket, pending);
        if early.is_some() {
            self.start_sending(now, id, early);
        }
    }

    pub(super) fn persisted(
        &mut self,
        now: Timestamp,
        ticket: Ticket,
        result: Result<Written, StoreError>,
    ) {
        let Some(pending) = self.writes.remove(&ticket) else {
            return;
        };
        let Some(entry) = self.entries.get_mut(&pending.id).filter(|e| e.writing == Some(ticket))
        else {
            return self.left_meanwhile(pending, &result);
        };
        entry.writing = None;
        match result {
            Ok(Written::Done) => self.carry_on(now, pending, true),
            Ok(Written::Late) => self.carry_on(now, pending, false),
            Ok(Written::Stale) => self.read_again(now, pending),
            Ok(Written::NameTaken(other)) => self.name_taken(now, pending, other),
            Ok(Written::JobTaken(other)) => {
                let taken = CallError::JobConflict(other);
                if entry.birth.is_some() {
                    return self.stillborn(&pending.id, taken);
                }
                if pending.call.is_some() {
                    self.refuse(pending.call, taken);
                    return self.next_in_inbox(now, &pending.id);
                }
                if let Some(job) = pending.operation.life.job().cloned() {
                    self.apply(now, &pending.id, step::Input::JobTaken(job), None);
                }
                // Where that was refused, no write of its own goes on with what waits.
                self.next_in_inbox(now, &pending.id);
            }
            Ok(Written::KeyTaken(other)) => {
                self.stillborn(&pending.id, CallError::KeyConflict(other));
            }
            Ok(Written::Fenced) => self.fenced(now, pending),
            Err(error) => self.not_stored(now, pending, &error),
        }
    }

    /// It is written: who waits for it is told, and where the lane is still ours, its work goes on.
    fn carry_on(&mut self, now: Timestamp, pending: PendingWrite, owned: bool) {
        let (id, lane_id) = (pending.id, pending.operation.lane());
        let Some(entry) = self.entries.get_mut(&id) else {
            return;
        };
        entry.operation = pending.operation.clone();
        entry.reloads = 0;
        let birth = entry.birth.take();
        let lane = self.lanes.get_mut(&lane_id);
        if let (Some(lane), Some(gate)) = (lane, pending.gate) {
            lane.gate = Some(gate);
        }
        let boxed = Box::new(pending.operation.clone());
        if pending.erased {
            if let Some(call) = pending.call {
                self.outputs.push(Output::Reply(call, Ok(boxed)));
            }
            return self.leave_entry(now, &id);
        }
        let entries = told_of(birth.is_some(), &pending.operation, pending.entries);
        let event = Event { operation: pending.operation, entries };
        self.outputs.push(Output::Event(Box::new(event)));
        if let Some(replaced) = birth.as_ref().and_then(|birth| birth.replaces.clone()) {
            self.replaced(*replaced);
        }
        for call in [birth.map(|birth| birth.call), pending.call].into_iter().flatten() {
            self.outputs.push(Output::Reply(call, Ok(boxed.clone())));
        }
        if !owned {
            return self.lose(now, &lane_id);
        }
        self.start_sending(now, &id, pending.send);
        self.leave_stream(now, &id);
        self.next_in_inbox(now, &id);
    }

    /// A job that is to be cancelled is not listened to any more, where there is a call that stops it.
    fn leave_stream(&mut self, now: Timestamp, id: &OperationId) {
        let Some(entry) = self.entries.get_mut(id) else {
            return;
        };
        let life = &entry.operation.life;
        let profile = self.profiles.get(&entry.operation.identity.profile_digest);
        let stops = life.cancel.is_some() && life.job().is_some() && !life.is_ended();
        let submits = entry.exchange.as_ref().is_some_and(|own| own.purpose == Purpose::Submit);
        if stops && submits && profile.is_some_and(|own| own.calls.cancel.is_some()) {
            // Its name is not used again: a piece of what comes may be under way to the store.
            entry.exchange = None;
            self.apply(now, id, step::Input::Lost(Purpose::Submit), None);
        }
    }

    /// The attempt is durable: it may leave.
    fn start_sending(&mut self, now: Timestamp, id: &OperationId, send: Option<Purpose>) {
        let Some(entry) = self.entries.get_mut(id) else {
            return;
        };
        match send {
            Some(purpose) => {
                if let Some(exchange) = &mut entry.exchange {
                    exchange.phase = Phase::OnWire;
                }
                self.transmit(now, id, purpose);
            }
            None => {
                entry.exchange = entry.exchange.take().filter(|own| own.phase != Phase::Writing)
            }
        }
    }

    pub(super) fn transmit(&mut self, now: Timestamp, id: &OperationId, purpose: Purpose) {
        let Some(entry) = self.entries.get_mut(id) else {
            return;
        };
        let operation = &entry.operation;
        let lane = self.lanes.get(&operation.lane());
        let transmit = lane.and_then(super::lanes::LaneState::epoch).and_then(|epoch| {
            let profile = self.profiles.get(&operation.identity.profile_digest)?;
            let service = self.services.get(&operation.identity.service)?;
            // A name is used again by who has its epoch, and not where what it has written is still wanted.
            let wanted =
                so_far(operation).filter(|own| own.pages == 0).map(|own| own.kept.download);
            let named = entry.download.take();
            let named = named.filter(|own| epoch_of(*own) == epoch && Some(*own) != wanted);
            let download = named.unwrap_or_else(|| {
                self.tickets += 1;
                download_name(epoch, self.tickets)
            });
            if let Some(exchange) = &mut entry.exchange {
                exchange.download = Some(download);
            }
            request(operation, profile, &service.base_url, purpose, download, now)
        });
        if !bites(Tooth::LoseFloor) {
            entry.not_before = now.after(REQUEST_FLOOR_MS);
        }
        match transmit {
            Some(transmit) => {
                self.count_request(now, &transmit.lane);
                self.outputs.push(Output::Transmit(Box::new(transmit)));
            }
            None => self.not_addressable(now, id, purpose),
        }
    }

    pub(super) fn next_in_inbox(&mut self, now: Timestamp, id: &OperationId) {
        let next = self.entries.get_mut(id).filter(|entry| entry.writing.is_none());
        if let Some((input, call)) = next.and_then(|entry| take_first(&mut entry.inbox)) {
            self.apply(now, id, input, call);
            self.next_in_inbox(now, id);
        }
    }
}
