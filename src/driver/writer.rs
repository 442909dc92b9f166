//! Group commit: writes that are waiting share one transaction.

use super::Driver;
use super::ports::store::{Beside, JournalRow, Name, Row, Write};
use super::ports::{Ports, Store};
use crate::engine::output::Line;
use crate::engine::{Input, WriteSet};
use crate::model::ids::WriteId;
use crate::model::operation::Operation;
use crate::model::storage::{Durability, StoreError, Written};
use crate::record;
use crate::rules::teeth::{Tooth, bites};

/// Members of one transaction at most.
const BATCH_MAX: usize = 64;

impl<P: Ports> Driver<P> {
    /// Writes until nothing waits. Only one such task runs at a time.
    pub(super) async fn write_all(&self) {
        loop {
            let batch: Vec<WriteSet> = {
                let mut writes = self.0.writes.borrow_mut();
                let count = writes.len().min(BATCH_MAX);
                writes.drain(..count).collect()
            };
            if batch.is_empty() {
                self.0.writing.set(false);
                return;
            }
            let durability = batch.iter().map(|set| set.durability).max();
            let durability = durability.unwrap_or(Durability::Strict);
            let (mut tickets, mut rows) = (Vec::new(), Vec::new());
            for set in batch {
                tickets.push(set.ticket);
                rows.push(Write::from(set));
            }
            self.reach("commit.before");
            let results = self.commit(&rows, durability).await;
            self.reach("commit.after");
            for (ticket, result) in tickets.into_iter().zip(results) {
                self.feed(Input::Persisted(ticket, result));
            }
        }
    }

    /// Commits a batch; a transaction that aborts is run again member by member, so that one
    /// member's fault is no other's.
    async fn commit(
        &self,
        batch: &[Write],
        durability: Durability,
    ) -> Vec<Result<Written, StoreError>> {
        match self.commit_surely(batch, durability).await {
            Ok(written) => written.into_iter().map(Ok).collect(),
            Err(error) if batch.len() == 1 => vec![Err(error)],
            Err(_) => {
                let mut results = Vec::with_capacity(batch.len());
                for member in batch {
                    let alone = self.commit_surely(core::slice::from_ref(member), durability).await;
                    results.push(alone.and_then(one));
                }
                results
            }
        }
    }

    /// A commit whose fate is unknown is made again on a fresh connection: what was written then
    /// is found by its write id and counts as done, or as late where its lane has another owner since.
    async fn commit_surely(
        &self,
        batch: &[Write],
        durability: Durability,
    ) -> Result<Vec<Written>, StoreError> {
        let store = self.0.ports.store();
        match store.commit(batch, durability).await {
            Err(StoreError::Unknown(why)) => {
                store.forget_connection();
                store.commit(batch, durability).await.map_err(|_| StoreError::Unknown(why))
            }
            settled => settled,
        }
    }
}

fn one(written: Vec<Written>) -> Result<Written, StoreError> {
    written.into_iter().next().ok_or_else(|| StoreError::Unknown("no answer".into()))
}

fn row_of(operation: &Operation, write_id: WriteId) -> Row {
    let identity = &operation.identity;
    Row {
        id: identity.id.clone(),
        account: identity.account.clone(),
        lane: operation.lane(),
        created_at: identity.created_at,
        due: operation.due().filter(|_| !bites(Tooth::LoseDue)),
        delivery_due: operation.delivery_due(),
        revision: operation.revision,
        write_id,
        document: record::encode(operation),
    }
}

fn lines(lines: &[Line]) -> Vec<JournalRow> {
    let mut rows = Vec::with_capacity(lines.len());
    for line in lines {
        let document = record::journal::encode_line(line);
        rows.push(JournalRow { number: line.number, document });
    }
    rows
}

impl From<WriteSet> for Write {
    fn from(set: WriteSet) -> Self {
        let operation = &set.operation;
        let identity = &operation.identity;
        let name = set.name.map(|succeeds| {
            let name = Name {
                account: identity.account.clone(),
                service: identity.service.clone(),
                intent: identity.intent.clone(),
            };
            (name, succeeds)
        });
        let beside = set.beside.map(|own| {
            Box::new(Beside {
                row: row_of(&own.operation, set.write_id.clone()),
                replaces: own.replaces,
                journal: lines(&own.journal),
            })
        });
        Self {
            row: row_of(operation, set.write_id),
            beside,
            replaces: set.replaces,
            fence: set.fence,
            answer_by: set.answer_by,
            name,
            body: set.body,
            piece: set.piece,
            takes: set.takes,
            erase: set.erase,
            journal: lines(&set.journal),
            profile: set.profile,
        }
    }
}
