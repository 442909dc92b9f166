//! Deleting, at the service and here. What is left of an operation then is a tombstone.

use super::{Deletion, Illegal, Life, Purged};
use crate::model::evidence::Attempt;
use crate::model::hold::Hold;
use crate::model::time::Timestamp;

impl Life {
    /// Notes the wish to delete; asked again, it goes on from where it waits for a person.
    pub fn want_delete(&mut self, now: Timestamp) -> Result<(), Illegal> {
        if self.0.purged.is_some() {
            return Err(Illegal);
        }
        let deletion = self.0.deletion.get_or_insert(Deletion {
            requested_at: now,
            current: None,
            attempts: 0,
            read: true,
            accepted: false,
            hold: Hold::Ready,
        });
        if matches!(deletion.hold, Hold::Parked { .. }) {
            deletion.hold = Hold::Ready;
            deletion.attempts = 0;
        }
        Ok(())
    }

    /// Writes the next deletion attempt down; it may be sent once this is durable.
    pub fn write_delete_ahead(
        &mut self,
        now: Timestamp,
        send_before_ms: u64,
        abort_ms: u64,
    ) -> Result<(), Illegal> {
        let over = self.is_ended() && self.0.settlement.is_none();
        let deletion = self.0.deletion.as_mut().filter(|own| own.current.is_none() && own.read);
        let deletion = deletion.filter(|_| over).ok_or(Illegal)?;
        deletion.attempts += 1;
        deletion.current = Some(Attempt::new(deletion.attempts, now, send_before_ms, abort_ms));
        deletion.hold = Hold::Ready;
        Ok(())
    }

    /// The deletion attempt is over; `known` when it is certain that the job is still there.
    pub fn delete_answered(&mut self, known: bool) -> Result<(), Illegal> {
        let deletion = self.0.deletion.as_mut().ok_or(Illegal)?;
        deletion.current.take().ok_or(Illegal)?;
        deletion.read = known;
        Ok(())
    }

    /// The service has taken the deletion, and goes on with it: whether it is done is read.
    pub fn delete_accepted(&mut self) -> Result<(), Illegal> {
        self.delete_answered(false)?;
        self.0.deletion.as_mut().map(|own| own.accepted = true).ok_or(Illegal)
    }

    /// The job has been read, and is still there: a lost deletion did not take effect.
    pub fn outlived_deletion(&mut self) -> Result<(), Illegal> {
        self.0.deletion.as_mut().map(|own| own.read = true).ok_or(Illegal)
    }

    /// Moves what the deletion waits for.
    pub fn hold_deletion(&mut self, hold: Hold) -> Result<(), Illegal> {
        self.0.deletion.as_mut().map(|own| own.hold = hold).ok_or(Illegal)
    }

    /// Body, result and journal go; what is left is a tombstone.
    pub fn purge(&mut self, now: Timestamp, at_service: bool) -> Result<(), Illegal> {
        let sending = self.0.deletion.as_ref().is_some_and(|own| own.current.is_some());
        if !self.is_ended() || self.0.purged.is_some() || sending {
            return Err(Illegal);
        }
        self.0.deletion = None;
        self.0.purged = Some(Purged { at: now, at_service });
        Ok(())
    }
}
