//! What the app may ask of stored operations.

use super::ports::store::ChunkId;
use super::ports::{Entropy, Ports, Store};
use super::{Driver, reads, uuid_text};
use crate::engine::{CallError, Input, Rerun};
use crate::model::ending::{Ending, ResultRef};
use crate::model::error::{Code, Error};
use crate::model::ids::{IdempotencyKey, OperationId};
use crate::model::life::Stage;
use crate::model::operation::Operation;
use crate::model::policy::LimitsPatch;
use crate::model::time::Timestamp;
use crate::record::report::report;
use crate::rules::options::ListFilter;
use crate::rules::status::status;
use crate::rules::step::Command;

/// Rows read at a time while a filter is looked for.
const SCAN_ROWS: u32 = 100;

/// Rows looked at for one page of a filtered list; the cursor leads on from there.
const SCAN_ROWS_MAX: u32 = 1_000;

/// A page of operations, newest first.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Page {
    /// The operations.
    pub operations: Vec<Operation>,
    /// What stands among them and cannot be read: why each is left out.
    pub unreadable: Vec<Error>,
    /// Where the next page begins; `None` on the last.
    pub cursor: Option<(Timestamp, OperationId)>,
}

impl<P: Ports> Driver<P> {
    /// Carries a wish into an operation; gives the operation once that is durable.
    ///
    /// # Errors
    /// `NOT_ALLOWED` with what would be, `NO_ACCOUNT`, `NEWER_RECORD`, `STORAGE_UNAVAILABLE`.
    pub async fn command(&self, id: &OperationId, command: Command) -> Result<Operation, Error> {
        self.account()?;
        let reply = self.call(|call| Input::Command(call, id.clone(), command)).await;
        reads::answered(reply, Some(id))
    }

    /// Runs a failed job again, within its bounds or others; gives the new operation once it is durable.
    ///
    /// # Errors
    /// As [`Driver::command`].
    pub async fn retry(
        &self,
        id: &OperationId,
        reviewed: String,
        anyway: bool,
        limits: LimitsPatch,
    ) -> Result<Operation, Error> {
        self.account()?;
        let runtime = self.0.ports.runtime();
        let (Some(new_id), Some(key)) = (runtime.bytes(), runtime.bytes()) else {
            let why = "this host gives no randomness, and a key cannot be made without it";
            return Err(Error::new(Code::StorageUnavailable, why, "use a host that has it"));
        };
        let rerun = Rerun {
            reviewed,
            anyway,
            limits,
            id: OperationId(uuid_text(new_id)),
            key: IdempotencyKey(uuid_text(key)),
        };
        let reply = self.call(|call| Input::Retry(call, id.clone(), Box::new(rerun))).await;
        reads::answered(reply, Some(id))
    }

    /// A page of the current account's operations, newest first.
    ///
    /// # Errors
    /// `NO_ACCOUNT`, `STORAGE_UNAVAILABLE`.
    pub async fn list(
        &self,
        filter: &ListFilter,
        cursor: Option<(Timestamp, OperationId)>,
    ) -> Result<Page, Error> {
        let account = self.account()?;
        let mut page = Page { cursor, ..Page::default() };
        let mut seen = 0;
        loop {
            let store = self.0.ports.store();
            let rows = store.list(&account, page.cursor.as_ref(), SCAN_ROWS).await;
            let rows = rows.map_err(reads::storage)?;
            let last = rows.len() < SCAN_ROWS as usize;
            for row in rows {
                seen += 1;
                page.cursor = Some((row.created_at, row.id.clone()));
                match reads::decoded(&row) {
                    Ok(operation) if wanted(filter, &operation) => page.operations.push(operation),
                    Ok(_) => {}
                    Err(error) => page.unreadable.push(error),
                }
                if page.operations.len() >= filter.limit as usize {
                    return Ok(page);
                }
            }
            if last {
                return Ok(Page { cursor: None, ..page });
            }
            if seen >= SCAN_ROWS_MAX {
                return Ok(page);
            }
        }
    }

    /// An operation's journal, oldest first, each line as its stored text.
    ///
    /// # Errors
    /// `NO_ACCOUNT`, `STORAGE_UNAVAILABLE`.
    pub async fn journal(&self, id: &OperationId) -> Result<Vec<String>, Error> {
        if self.load(id).await?.is_none() {
            return Ok(Vec::new());
        }
        let rows = self.0.ports.store().journal(id).await.map_err(reads::storage)?;
        let mut lines = Vec::new();
        for row in rows {
            lines.push(row.document);
        }
        Ok(lines)
    }

    /// What may be sent to strangers who shall help with an operation: ids, codes, times and counts.
    ///
    /// # Errors
    /// `NOT_ALLOWED` where there is none of the current account, `NO_ACCOUNT`, `STORAGE_UNAVAILABLE`.
    pub async fn support_report(&self, id: &OperationId) -> Result<String, Error> {
        let Some(operation) = self.load(id).await? else {
            return reads::answered(Err(CallError::NotFound), Some(id)).map(|_| String::new());
        };
        Ok(report(&operation, &self.journal(id).await?))
    }

    /// One piece of an operation's kept result, from 0; `None` past the last.
    ///
    /// # Errors
    /// `NO_ACCOUNT`, `STORAGE_UNAVAILABLE` (also when a piece is missing).
    pub async fn chunk(&self, id: &OperationId, index: u32) -> Result<Option<Vec<u8>>, Error> {
        let operation = self.load(id).await?;
        let whole = operation.as_ref().filter(|own| own.life.purged.is_none());
        let Some(result) = whole.and_then(kept).filter(|own| index < own.chunks) else {
            return Ok(None);
        };
        let chunk = ChunkId { operation: id.clone(), download: result.download_of(index), index };
        let piece = self.0.ports.store().chunk(&chunk).await.map_err(reads::storage)?;
        piece.map(Some).ok_or_else(|| Error {
            operation: Some(id.clone()),
            ..Error::new(
                Code::StorageUnavailable,
                "a piece of this result is missing from storage",
                "the browser has evicted it: ask the service for the result again",
            )
        })
    }
}

/// What came of an operation's result.
fn kept(operation: &Operation) -> Option<&ResultRef> {
    match &operation.life.stage {
        Stage::Ended { ending: Ending::Succeeded { result, .. }, .. } => Some(result),
        Stage::Ended { ending: Ending::Incomplete { result, .. }, .. } => result.as_ref(),
        Stage::Ended { .. }
        | Stage::Submit
        | Stage::Reconcile(_)
        | Stage::Work
        | Stage::Result { .. } => None,
    }
}

fn wanted(filter: &ListFilter, operation: &Operation) -> bool {
    use crate::model::life::Delivery;
    let acknowledged = matches!(operation.life.delivery, Some(Delivery::Acknowledged(_)));
    filter.service.as_ref().is_none_or(|own| *own == operation.identity.service)
        && (filter.statuses.is_empty() || filter.statuses.contains(&status(operation)))
        && filter.acknowledged.is_none_or(|own| own == acknowledged)
}
