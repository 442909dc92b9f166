//! Writes that did not go through: another context was quicker, or storage failed.

use super::Engine;
use super::births::told_of;
use super::calls::Waiting;
use super::entry::{Entry, Inbox};
use super::event::Event;
use super::output::Output;
use super::persist::{PendingWrite, last_piece};
use super::reply::{CallError, CallId};
use crate::model::ids::{OperationId, Revision};
use crate::model::life::Life;
use crate::model::profile::Purpose;
use crate::model::storage::{StoreError, Written};
use crate::model::time::Timestamp;
use crate::rules::bounds::LEASE_GRACE_MS;
use crate::rules::classify::{Finding, Verdict};
use crate::rules::step;

/// How often in a row a record is read again because another context keeps writing it. Each time that
/// one's write went through, so that nobody waits for nobody; and on a busy machine its owner, who
/// writes several times a second, is quicker than a slow tab eight times in a row.
const RELOADS_MAX: u32 = 64;

impl Engine {
    /// Another context has written it: what this one knows is old. The input is carried into what
    /// is stored now, so that an answer is never lost to a race.
    pub(super) fn read_again(&mut self, now: Timestamp, pending: PendingWrite) {
        let owned = self.owns(&pending.operation.lane());
        if !owned && !matches!(pending.input, Some(step::Input::Command(_)) | None) {
            // The lane was lost while it was being written: only its owner writes what came of it.
            return self.fenced(now, pending);
        }
        let Some(entry) = self.entries.get_mut(&pending.id) else {
            return;
        };
        entry.reloads += 1;
        if entry.reloads > RELOADS_MAX {
            let why = CallError::StorageUnavailable("other tabs keep changing it".into());
            self.refuse(pending.call, why.clone());
            return self.abandon_entry(&pending.id, &why);
        }
        entry.reloading = true;
        if let Some(input) = pending.input {
            entry.inbox.insert(0, (input, pending.call));
        }
        self.outputs.push(Output::Load(pending.id));
    }

    /// This context no longer owns the lane. A wish of the app is written without ownership; all
    /// else is the new owner's to find out.
    pub(super) fn fenced(&mut self, now: Timestamp, pending: PendingWrite) {
        let lane = pending.operation.lane();
        let wish = match pending.input {
            Some(step::Input::Command(command)) => pending.call.map(|call| (call, command)),
            Some(_) | None => None,
        };
        let entry = self.entries.remove(&pending.id);
        self.lose(now, &lane);
        if let Some((call, command)) = wish {
            self.call_on(now, &pending.id, Waiting::Command(call, command));
        }
        let Some(entry) = entry else {
            return;
        };
        self.carry_over(now, &pending.id, entry.inbox);
        if let Some(birth) = entry.birth {
            let mut entry = Entry::new(pending.operation);
            if entry.operation.life.evidence.accepted.is_none() {
                entry.operation.life = Life::new();
            }
            entry.operation.revision = Revision::default();
            entry.operation.counters.journal = 0;
            entry.birth = Some(birth);
            self.entries.insert(pending.id.clone(), entry);
            self.write_newborn(now, &pending.id);
        }
    }

    pub(super) fn not_stored(&mut self, now: Timestamp, pending: PendingWrite, error: &StoreError) {
        let why = match error {
            StoreError::Unknown(why) => CallError::Unconfirmed(why.clone()),
            StoreError::Unavailable(why) | StoreError::Full(why) | StoreError::Aborted(why) => {
                CallError::StorageUnavailable(why.clone())
            }
        };
        if last_piece(pending.input.as_ref()).is_some() {
            return self.no_room(now, pending);
        }
        let lane = pending.operation.lane();
        self.refuse(pending.call, why.clone());
        self.abandon_entry(&pending.id, &why);
        if let Some(lane) = self.lanes.get_mut(&lane) {
            // What was to be written may have been a due time, set anew after a jump of the clock.
            lane.work.look_at_all(now.after(LEASE_GRACE_MS));
            lane.delivery.look_at_all(now.after(LEASE_GRACE_MS));
        }
    }

    /// A write with a piece of a result was not made, as far as is known. There may be room for less: the answer counts
    /// as lost, but for what that of a submission says besides, which may name the work. Where it was made all the same,
    /// the write of that finds what it has left.
    fn no_room(&mut self, now: Timestamp, pending: PendingWrite) {
        if !self.owns(&pending.operation.lane()) {
            return self.fenced(now, pending);
        }
        let left = match pending.input {
            Some(step::Input::Answered(Purpose::Submit, verdict)) => {
                let finding = Finding::Unreadable(None);
                let verdict = Verdict { finding, said: verdict.said, last_piece: None };
                step::Input::Answered(Purpose::Submit, Box::new(verdict))
            }
            Some(step::Input::Answered(purpose, _)) => step::Input::Lost(purpose),
            Some(_) | None => return,
        };
        if let Some(entry) = self.entries.get_mut(&pending.id) {
            entry.last_line = None;
        }
        self.apply(now, &pending.id, left, None);
        self.next_in_inbox(now, &pending.id);
    }

    /// It left memory while it was written: the app, and other contexts by it, hear what is stored all the same, if it
    /// is its own still.
    pub(super) fn left_meanwhile(
        &mut self,
        pending: PendingWrite,
        result: &Result<Written, StoreError>,
    ) {
        let owner = Some(&pending.operation.identity.account);
        let reply = if self.account.as_ref() != owner {
            Err(CallError::AccountChanged)
        } else if matches!(result, Ok(Written::Done | Written::Late)) {
            let operation = pending.operation;
            let reply = Ok(Box::new(operation.clone()));
            if !pending.erased {
                let is_first = operation.revision == Revision::default().next();
                let entries = told_of(is_first, &operation, pending.entries);
                self.outputs.push(Output::Event(Box::new(Event { operation, entries })));
            }
            reply
        } else {
            Err(CallError::Unconfirmed("it was let go of meanwhile".into()))
        };
        if let Some(call) = pending.call {
            self.outputs.push(Output::Reply(call, reply));
        }
    }

    pub(super) fn refuse(&mut self, call: Option<CallId>, why: CallError) {
        if let Some(call) = call {
            self.outputs.push(Output::Reply(call, Err(why)));
        }
    }

    /// Takes an operation out of memory; whoever still waits for it hears why.
    pub(super) fn abandon_entry(&mut self, id: &OperationId, why: &CallError) {
        let Some(entry) = self.entries.remove(id) else {
            return;
        };
        let waiting = entry.inbox.into_iter().map(|(_, call)| call);
        for call in waiting.chain([entry.birth.map(|birth| birth.call)]) {
            self.refuse(call, why.clone());
        }
    }

    /// Takes an operation out of memory that others go on with; what the app wishes of it is no less wished.
    pub(super) fn leave_entry(&mut self, now: Timestamp, id: &OperationId) {
        if let Some(entry) = self.entries.remove(id) {
            self.carry_over(now, id, entry.inbox);
        }
    }

    /// The wishes among what has waited are carried out on what is stored.
    fn carry_over(&mut self, now: Timestamp, id: &OperationId, inbox: Inbox) {
        for (input, call) in inbox {
            if let (step::Input::Command(command), Some(call)) = (input, call) {
                self.call_on(now, id, Waiting::Command(call, command));
            }
        }
    }
}
