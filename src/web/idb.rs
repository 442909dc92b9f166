//! The store on IndexedDB, in windows and in workers.

mod codec;
mod commit;
mod connection;
mod failure;
mod read;
mod schema;
mod transaction;

use std::rc::Rc;

use js_sys::Uint8Array;
use wasm_bindgen::prelude::*;

use super::promise::reason;
use crate::driver::ports::store::{
    ChunkId, Due, Durability, JournalRow, Name, Queue, Row, Store, StoreError, Write, Written,
};
use crate::model::ids::{Account, LaneId, OperationId};
use crate::model::lane::{Claim, Fence, Lane};
use crate::model::time::Timestamp;
use crate::rules::lease;
use codec::{elements, float, key, lane_from_js, lane_to_js, row_from_js, some_row_from_js};
use connection::{Connection, Scope};
use failure::Failure;
use schema::{BODIES, CHUNKS, JOURNAL, LANES, NAMES, OPERATIONS, PROFILES};
use transaction::{Step, Transaction};

/// A store in an IndexedDB database. Making one touches nothing: the database is opened, and made
/// where there is none, by the first call.
///
/// A handle that has died (the browser's storage process ended, another tab upgraded the database)
/// is dropped and replaced once within a call, unless something may have been written through it.
pub struct IndexedDbStore {
    connection: Connection,
}

impl IndexedDbStore {
    /// The store in the database of this name.
    pub fn new(name: &str) -> Self {
        Self { connection: Connection::new(name) }
    }

    /// Runs a transaction, a second time on a fresh handle where the first has died.
    async fn run(
        &self,
        scope: &Scope<'_>,
        begin: &dyn Fn(&Transaction) -> Result<Step, JsValue>,
    ) -> Result<JsValue, StoreError> {
        let writes = scope.durability.is_some();
        let mut outcome = self.attempt(scope, begin).await;
        if outcome.as_ref().is_err_and(|failure| failure.is_of_dead_handle(writes)) {
            self.connection.forget();
            outcome = self.attempt(scope, begin).await;
        }
        if matches!(outcome, Err(Failure::Silent | Failure::Begin(_))) {
            self.connection.forget();
        }
        outcome.map_err(|failure| failure.told(writes))
    }

    async fn attempt(
        &self,
        scope: &Scope<'_>,
        begin: &dyn Fn(&Transaction) -> Result<Step, JsValue>,
    ) -> Result<JsValue, Failure> {
        let database = self.connection.database().await.map_err(Failure::Open)?;
        let raw = connection::begin(&database, scope).map_err(Failure::Begin)?;
        transaction::run(raw, begin).await
    }

    /// Runs a transaction that only reads.
    async fn read(
        &self,
        stores: &[&str],
        begin: &dyn Fn(&Transaction) -> Result<Step, JsValue>,
    ) -> Result<JsValue, StoreError> {
        self.run(&Scope { stores, durability: None }, begin).await
    }

    /// Reads one value.
    async fn get(&self, store: &str, key: JsValue) -> Result<JsValue, StoreError> {
        self.read(&[store], &|transaction| {
            transaction.follow(&transaction.store(store)?.get(&key)?);
            Ok(read::leaving())
        })
        .await
    }

    /// Changes a lane by a rule, and gives it as it is then.
    async fn change_lane(&self, id: &LaneId, rule: LaneRule) -> Result<Option<Lane>, StoreError> {
        let scope = Scope { stores: &[LANES], durability: Some(Durability::Strict) };
        let begin = |transaction: &Transaction| -> Result<Step, JsValue> {
            transaction.follow(&transaction.store(LANES)?.get(&id.as_str().into())?);
            let (id, rule) = (id.clone(), rule.clone());
            Ok(Box::new(move |transaction, value| {
                let stored = lane_from_js(&id, &value)?;
                transaction.leave(match rule(stored.as_ref()) {
                    Some(lane) => {
                        let lane = lane_to_js(&lane);
                        transaction.store(LANES)?.put_with_key(&lane, &id.as_str().into())?;
                        lane
                    }
                    None => value,
                });
                Ok(())
            }))
        };
        let found = self.run(&scope, &begin).await?;
        decoded(lane_from_js(id, &found))
    }
}

/// What becomes of a lane; `None`: nothing.
type LaneRule = Rc<dyn Fn(Option<&Lane>) -> Option<Lane>>;

/// What is malformed tells so as an aborted transaction does.
fn decoded<T>(read: Result<T, JsValue>) -> Result<T, StoreError> {
    read.map_err(|error| StoreError::Aborted(reason(&error)))
}

impl Store for IndexedDbStore {
    async fn commit(
        &self,
        batch: &[Write],
        durability: Durability,
    ) -> Result<Vec<Written>, StoreError> {
        if batch.is_empty() {
            return Ok(Vec::new());
        }
        let stores = commit::stores(batch);
        let scope = Scope { stores, durability: Some(durability) };
        let (batch, answers) = (Rc::from(batch), Rc::default());
        self.run(&scope, &|transaction| commit::begin(transaction, &batch, &answers)).await?;
        Ok(answers.take())
    }

    async fn claim(&self, claim: &Claim) -> Result<Lane, StoreError> {
        let wish = claim.clone();
        let lane =
            self.change_lane(&claim.lane, Rc::new(move |lane| lease::claimed(lane, &wish))).await?;
        lane.ok_or_else(|| StoreError::Aborted("a new lane was refused".into()))
    }

    async fn give_back(&self, fence: &Fence) -> Result<(), StoreError> {
        let proof = fence.clone();
        let rule = Rc::new(move |lane: Option<&Lane>| {
            lease::renewed(lane, &proof).map(|lane| Lane { owner: None, ..lane })
        });
        self.change_lane(&fence.lane, rule).await?;
        Ok(())
    }

    async fn lane(&self, id: &LaneId) -> Result<Option<Lane>, StoreError> {
        decoded(lane_from_js(id, &self.get(LANES, id.as_str().into()).await?))
    }

    async fn load(&self, id: &OperationId) -> Result<Option<Row>, StoreError> {
        decoded(some_row_from_js(&self.get(OPERATIONS, id.as_str().into()).await?))
    }

    async fn find(&self, name: &Name) -> Result<Option<Row>, StoreError> {
        let stores = [NAMES, OPERATIONS];
        let begin = |transaction: &Transaction| read::find(transaction, name);
        let found = self.read(&stores, &begin).await?;
        decoded(some_row_from_js(&found))
    }

    async fn due(
        &self,
        lane: &LaneId,
        queue: Queue,
        before: Timestamp,
        limit: u32,
    ) -> Result<Due, StoreError> {
        let begin = |transaction: &Transaction| read::due(transaction, lane, queue, before, limit);
        let found = self.read(&[OPERATIONS], &begin).await?;
        decoded(read::due_from_js(&found, queue, limit))
    }

    async fn list(
        &self,
        account: &Account,
        cursor: Option<&(Timestamp, OperationId)>,
        limit: u32,
    ) -> Result<Vec<Row>, StoreError> {
        let begin = |transaction: &Transaction| read::list(transaction, account, cursor, limit);
        let found = self.read(&[OPERATIONS], &begin).await?;
        decoded(elements(&found, row_from_js))
    }

    async fn body(&self, id: &OperationId) -> Result<Option<Vec<u8>>, StoreError> {
        decoded(codec::bytes_from_js(&self.get(BODIES, id.as_str().into()).await?))
    }

    async fn profile(&self, digest: &str) -> Result<Option<String>, StoreError> {
        decoded(codec::text_from_js(&self.get(PROFILES, digest.into()).await?))
    }

    async fn journal(&self, id: &OperationId) -> Result<Vec<JournalRow>, StoreError> {
        let begin = |transaction: &Transaction| read::journal(transaction, id);
        let found = self.read(&[JOURNAL], &begin).await?;
        decoded(read::journal_from_js(&found))
    }

    async fn put_chunk(&self, chunk: &ChunkId, bytes: &[u8]) -> Result<(), StoreError> {
        let (key, value) = (chunk_key(chunk), Uint8Array::from(bytes));
        let scope = Scope { stores: &[CHUNKS], durability: Some(Durability::Relaxed) };
        self.run(&scope, &|transaction| {
            transaction.store(CHUNKS)?.put_with_key(&value, &key)?;
            Ok(Box::new(|_, _| Ok(())))
        })
        .await?;
        Ok(())
    }

    async fn chunk(&self, chunk: &ChunkId) -> Result<Option<Vec<u8>>, StoreError> {
        decoded(codec::bytes_from_js(&self.get(CHUNKS, chunk_key(chunk)).await?))
    }

    fn forget_connection(&self) {
        self.connection.forget();
    }
}

fn chunk_key(chunk: &ChunkId) -> JsValue {
    let (download, index) = (float(chunk.download), float(chunk.index.into()));
    key(&[chunk.operation.as_str().into(), download, index])
}
