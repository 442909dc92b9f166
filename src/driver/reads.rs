//! Reading stored operations: for the engine and for the app.

use super::Driver;
use super::ports::store::{Name, Row};
use super::ports::{Ports, Store};
use crate::engine::{CallError, LoadError, Reply};
use crate::model::error::{Code, Error};
use crate::model::ids::{LaneId, OperationId};
use crate::model::operation::{Operation, Request};
use crate::model::storage::{Queue, StoreError};
use crate::model::time::Timestamp;
use crate::record::{self, DecodeError};
use crate::rules::profile;

impl<P: Ports> Driver<P> {
    pub(super) async fn read_due(
        &self,
        lane: &LaneId,
        queue: Queue,
        before: Timestamp,
        limit: u32,
    ) -> Result<(Vec<Operation>, Option<Timestamp>), StoreError> {
        let mut wanted = limit;
        loop {
            let due = self.0.ports.store().due(lane, queue, before, wanted).await?;
            let rows = u32::try_from(due.rows.len()).unwrap_or(u32::MAX);
            let mut operations = Vec::with_capacity(due.rows.len());
            for row in &due.rows {
                // A record that a later version wrote, or that is damaged, is shown and never
                // driven.
                if let Ok(operation) = record::decode(&row.document)
                    && self.learn_profile_of(&operation).await?
                {
                    operations.push(operation);
                }
            }
            let left_out = rows - u32::try_from(operations.len()).unwrap_or(rows);
            // Such records stay due for ever: they must not take the places of others.
            if due.next.is_none() || rows < wanted || wanted >= limit.saturating_add(left_out) {
                return Ok((operations, due.next));
            }
            wanted = limit.saturating_add(left_out);
        }
    }

    pub(super) async fn load_for_engine(
        &self,
        id: &OperationId,
    ) -> Result<Option<Box<Operation>>, LoadError> {
        let row = self.0.ports.store().load(id).await.map_err(LoadError::Store)?;
        let Some(row) = row else {
            return Ok(None);
        };
        let operation = record::decode(&row.document).map_err(|error| match error {
            DecodeError::Newer => LoadError::Newer,
            DecodeError::Damaged => LoadError::Damaged,
        })?;
        self.learn_profile_of(&operation).await.map_err(LoadError::Store)?;
        Ok(Some(Box::new(operation)))
    }

    /// An operation goes by the profile that it was submitted under, whatever is configured since.
    async fn learn_profile_of(&self, operation: &Operation) -> Result<bool, StoreError> {
        let digest = &operation.identity.profile_digest;
        if self.0.engine.borrow().knows_profile(digest) {
            return Ok(true);
        }
        let text = self.0.ports.store().profile(digest).await?;
        let known = text.and_then(|text| profile::read(&text).ok());
        let Some(known) = known.filter(|known| known.digest == *digest) else {
            return Ok(false);
        };
        self.0.engine.borrow_mut().learn_profile(known);
        Ok(true)
    }

    /// The newest operation of an intent of the current account.
    ///
    /// # Errors
    /// `NO_ACCOUNT`, `STORAGE_UNAVAILABLE`, `NEWER_RECORD`.
    pub async fn find(&self, name: &Name) -> Result<Option<Operation>, Error> {
        let row = self.0.ports.store().find(name).await.map_err(storage)?;
        row.as_ref().map(decoded).transpose()
    }

    /// An operation of the current account by its id.
    ///
    /// # Errors
    /// `NO_ACCOUNT`, `STORAGE_UNAVAILABLE`, `NEWER_RECORD`.
    pub async fn load(&self, id: &OperationId) -> Result<Option<Operation>, Error> {
        let account = self.account()?;
        let row = self.0.ports.store().load(id).await.map_err(storage)?;
        row.filter(|row| row.account == account).as_ref().map(decoded).transpose()
    }
}

pub(super) fn decoded(row: &Row) -> Result<Operation, Error> {
    record::decode(&row.document).map_err(|error| {
        let (code, message, next_step) = match error {
            DecodeError::Newer => (
                Code::NewerRecord,
                "a later version of Holdfast wrote this operation",
                "reload the page to get that version",
            ),
            DecodeError::Damaged => (
                Code::StorageUnavailable,
                "this operation's record is damaged",
                "look at the service for its key, and report this",
            ),
        };
        Error { operation: Some(row.id.clone()), ..Error::new(code, message, next_step) }
    })
}

/// What to do about storage that does not take anything. It may only be slow, or in others' hands.
const UNAVAILABLE: &str = "nothing was sent; call again: it may have passed; else free some room or \
                           leave private mode; where it never opens again, there is resetStorage()";

pub(super) fn storage(error: StoreError) -> Error {
    Error::new(Code::StorageUnavailable, error.to_string(), UNAVAILABLE)
}

/// The intent stands for other work, or for the same at another address.
pub(super) fn intent_conflict(id: &OperationId, known: &Request, wanted: &Request) -> Error {
    let address = |own: &Request| String::from(own.url.split('?').next().unwrap_or_default());
    let (there, here) = (address(known), address(wanted));
    // What is adopted was submitted by others: nothing is known of where.
    let adopted = known.content_type.is_none() || wanted.content_type.is_none();
    let error = if there == here || adopted {
        let message = "this intent stands for another request or job";
        let next_step = "use another intent for other work; nothing was sent";
        Error::new(Code::IntentConflict, message, next_step)
    } else {
        let message = ["this intent stands for work at ", &there, ", and not at ", &here].concat();
        let next_step = "name its baseUrl and params again to go on with it, or end it (cancel, \
                         resolve) and use another intent; nothing was sent";
        Error::new(Code::IntentConflict, message, next_step)
    };
    Error { operation: Some(id.clone()), field: Some("intent".into()), ..error }
}

/// What the app wants to take for its own belongs to another operation.
fn taken(why: &CallError, field: &str, other: &OperationId) -> Error {
    let next_step =
        "use the operation of this error's operationId, or name another; nothing was sent";
    let error = Error::new(Code::KeyConflict, why.to_string(), next_step);
    Error { operation: Some(other.clone()), field: Some(field.into()), ..error }
}

/// The engine's answer to a call, as the app gets it.
pub(super) fn answered(reply: Reply, id: Option<&OperationId>) -> Result<Operation, Error> {
    let why = match reply {
        Ok(operation) => return Ok(*operation),
        Err(why) => why,
    };
    let (code, next_step) = match &why {
        CallError::KeyConflict(other) => return Err(taken(&why, "key", other)),
        CallError::JobConflict(other) => return Err(taken(&why, "jobId", other)),
        CallError::IntentConflict => {
            (Code::IntentConflict, "use another intent for another request")
        }
        CallError::NotAllowed(_) => (Code::NotAllowed, "look at the operation's status and exits"),
        CallError::NotFound => (Code::NotAllowed, "list() shows the operations there are"),
        CallError::UnknownService => {
            (Code::UnknownService, "configure its service in createHoldfast")
        }
        CallError::NewerRecord => (Code::NewerRecord, "reload the page to get that version"),
        CallError::StorageUnavailable(_) => (Code::StorageUnavailable, UNAVAILABLE),
        CallError::Unconfirmed(_) => {
            (Code::SubmitUnconfirmed, "make the same call again: it tells, and never does it twice")
        }
        CallError::AccountChanged => (Code::NoAccount, "sign in again, then call again"),
    };
    Err(Error { operation: id.cloned(), ..Error::new(code, why.to_string(), next_step) })
}
