//! Corrected work in the place of work of which nothing ran: both change in one transaction.

use super::Engine;
use super::births::{COMBINE_MS, spent_by};
use super::calls::MOVED_ON;
use super::entry::Birth;
use super::event::Event;
use super::fold::fold;
use super::input::Newborn;
use super::output::{BesideSet, Output};
use super::reply::{CallError, CallId};
use crate::model::ids::OperationId;
use crate::model::time::Timestamp;
use crate::rules::exits::may_be_revised;
use crate::rules::step::{self, Refused, step};

const NOT_REVISABLE: &str = "only work of which it is proven that nothing ran can be revised, \
                             or whose result is incomplete";

impl Engine {
    pub(super) fn revise(
        &mut self,
        now: Timestamp,
        id: &OperationId,
        call: CallId,
        newborn: Newborn,
    ) {
        let Some(entry) = self.entries.get(id) else {
            return;
        };
        if entry.writing.is_some() || entry.reloading {
            return self.refuse(Some(call), MOVED_ON);
        }
        let mut operation = newborn.operation;
        let parent = &entry.operation;
        if !may_be_revised(parent) {
            return self.refuse(Some(call), CallError::NotAllowed(NOT_REVISABLE));
        }
        match spent_by(parent, operation.limits) {
            Ok(spent) => operation.spent = spent,
            Err(why) => return self.refuse(Some(call), CallError::NotAllowed(why)),
        }
        let replaces = match self.end_revised(now, id) {
            Ok(replaces) => replaces,
            Err(why) => return self.refuse(Some(call), why),
        };
        let birth = Birth {
            call,
            body: newborn.body,
            profile: Some(newborn.profile),
            succeeds: Some(id.clone()),
            replaces,
            write_by: now.after(COMBINE_MS),
        };
        self.give_birth(now, operation, birth);
    }

    /// The end of the operation whose place is taken; nothing for one that has ended already.
    fn end_revised(
        &mut self,
        now: Timestamp,
        id: &OperationId,
    ) -> Result<Option<Box<BesideSet>>, CallError> {
        let entry = self.entries.get(id).ok_or(CallError::NotFound)?;
        if entry.operation.life.is_ended() {
            return Ok(None);
        }
        let digest = &entry.operation.identity.profile_digest;
        let profile = self.profiles.get(digest).ok_or(CallError::UnknownService)?;
        let input = step::Input::Revised;
        let done = step(&entry.operation, profile, now, &mut self.dice, input);
        let done = done.map_err(|refused| match refused {
            Refused::NotAllowed(why) => CallError::NotAllowed(why),
            Refused::Illegal(_) => MOVED_ON,
        })?;
        let (replaces, mut operation) = (entry.operation.revision, done.operation);
        let journal = fold(&mut operation, entry.last_line.as_ref(), &done.entries);
        operation.revision = replaces.next();
        Ok(Some(Box::new(BesideSet { operation, replaces, journal, entries: done.entries })))
    }

    /// Another has taken its place, durably.
    pub(super) fn replaced(&mut self, replaced: BesideSet) {
        let id = &replaced.operation.identity.id;
        if let Some(entry) = self.entries.get_mut(id).filter(|entry| entry.writing.is_none()) {
            entry.operation = replaced.operation.clone();
            entry.last_line = None;
        }
        if let Some(lane) = self.lanes.get_mut(&replaced.operation.lane()) {
            lane.delivery.look_at(Timestamp(0));
        }
        let event = Event { operation: replaced.operation, entries: replaced.entries };
        self.outputs.push(Output::Event(Box::new(event)));
    }
}
