//! The store on IndexedDB, in windows and in workers.

mod codec;
mod commit;
mod connection;
mod failure;
mod read;
mod schema;
mod transaction;

use std::cell::RefCell;
use std::rc::Rc;

use js_sys::Uint8Array;
use wasm_bindgen::prelude::*;

use crate::driver::ports::store::{
    ChunkId, Due, Durability, JournalRow, Name, Queue, Row, Store, StoreError, Write, Written,
};
use crate::model::ids::{Account, LaneId, OperationId};
use crate::model::lane::{Claim, Fence, Lane};
use crate::model::time::Timestamp;
use crate::rules::lease;
use codec::{float, key, lane_from_js, lane_to_js};
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

/// Where a step leaves what it found.
type Found<T> = Rc<RefCell<Option<T>>>;

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
    ) -> Result<(), StoreError> {
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
    ) -> Result<(), Failure> {
        let database = self.connection.database().await.map_err(Failure::Open)?;
        let raw = connection::begin(&database, scope).map_err(Failure::Begin)?;
        transaction::run(raw, begin).await
    }

    /// Runs a transaction that only reads.
    async fn read<T: 'static>(
        &self,
        stores: &[&str],
        begin: impl Fn(&Transaction, Found<T>) -> Result<Step, JsValue>,
    ) -> Result<T, StoreError> {
        let found = Found::default();
        let scope = Scope { stores, durability: None };
        self.run(&scope, &|transaction| begin(transaction, found.clone())).await?;
        found.take().ok_or_else(|| StoreError::Aborted("nothing was read".into()))
    }

    /// Reads one value.
    async fn get<T: 'static>(
        &self,
        store: &str,
        key: &JsValue,
        decode: fn(&JsValue) -> Result<T, JsValue>,
    ) -> Result<T, StoreError> {
        self.read(&[store], |transaction, found| {
            transaction.follow(&transaction.store(store)?.get(key)?);
            Ok(read::into(found, decode))
        })
        .await
    }

    /// Changes a lane by a rule, and gives it as it is then.
    async fn change_lane(
        &self,
        id: &LaneId,
        rule: impl Fn(Option<&Lane>) -> Option<Lane> + Clone + 'static,
    ) -> Result<Option<Lane>, StoreError> {
        let found = Found::default();
        let scope = Scope { stores: &[LANES], durability: Some(Durability::Strict) };
        self.run(&scope, &|transaction| {
            transaction.follow(&transaction.store(LANES)?.get(&id.as_str().into())?);
            let (id, rule, found) = (id.clone(), rule.clone(), found.clone());
            Ok(Box::new(move |transaction, value| {
                let stored = lane_from_js(&id, &value)?;
                let changed = rule(stored.as_ref());
                if let Some(lane) = &changed {
                    let store = transaction.store(LANES)?;
                    store.put_with_key(&lane_to_js(lane), &id.as_str().into())?;
                }
                found.replace(changed.or(stored));
                Ok(())
            }))
        })
        .await?;
        Ok(found.take())
    }
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
        let (batch, answers) = (Rc::from(batch), Rc::default());
        let scope = Scope { stores: &commit::STORES, durability: Some(durability) };
        self.run(&scope, &|transaction| commit::begin(transaction, &batch, &answers)).await?;
        Ok(answers.take())
    }

    async fn claim(&self, claim: &Claim) -> Result<Lane, StoreError> {
        let wish = claim.clone();
        let lane = self.change_lane(&claim.lane, move |lane| lease::claimed(lane, &wish)).await?;
        lane.ok_or_else(|| StoreError::Aborted("a new lane was refused".into()))
    }

    async fn give_back(&self, fence: &Fence) -> Result<(), StoreError> {
        let proof = fence.clone();
        self.change_lane(&fence.lane, move |lane| {
            lease::renewed(lane, &proof).map(|lane| Lane { owner: None, ..lane })
        })
        .await?;
        Ok(())
    }

    async fn lane(&self, id: &LaneId) -> Result<Option<Lane>, StoreError> {
        self.read(&[LANES], |transaction, found| {
            transaction.follow(&transaction.store(LANES)?.get(&id.as_str().into())?);
            let id = id.clone();
            Ok(read::into(found, move |value| lane_from_js(&id, value)))
        })
        .await
    }

    async fn load(&self, id: &OperationId) -> Result<Option<Row>, StoreError> {
        self.get(OPERATIONS, &id.as_str().into(), read::row).await
    }

    async fn find(&self, name: &Name) -> Result<Option<Row>, StoreError> {
        self.read(&[NAMES, OPERATIONS], |transaction, found| read::find(transaction, name, found))
            .await
    }

    async fn due(
        &self,
        lane: &LaneId,
        queue: Queue,
        before: Timestamp,
        limit: u32,
    ) -> Result<Due, StoreError> {
        self.read(&[OPERATIONS], |transaction, found| {
            read::due(transaction, lane, queue, before, limit, found)
        })
        .await
    }

    async fn list(
        &self,
        account: &Account,
        cursor: Option<&(Timestamp, OperationId)>,
        limit: u32,
    ) -> Result<Vec<Row>, StoreError> {
        self.read(&[OPERATIONS], |transaction, found| {
            read::list(transaction, account, cursor, limit, found)
        })
        .await
    }

    async fn body(&self, id: &OperationId) -> Result<Option<Vec<u8>>, StoreError> {
        self.get(BODIES, &id.as_str().into(), codec::bytes_from_js).await
    }

    async fn profile(&self, digest: &str) -> Result<Option<String>, StoreError> {
        self.get(PROFILES, &digest.into(), codec::text_from_js).await
    }

    async fn journal(&self, id: &OperationId) -> Result<Vec<JournalRow>, StoreError> {
        self.read(&[JOURNAL], |transaction, found| read::journal(transaction, id, found)).await
    }

    async fn put_chunk(&self, chunk: &ChunkId, bytes: &[u8]) -> Result<(), StoreError> {
        let (key, value) = (chunk_key(chunk), Uint8Array::from(bytes));
        let scope = Scope { stores: &[CHUNKS], durability: Some(Durability::Relaxed) };
        self.run(&scope, &|transaction| {
            transaction.store(CHUNKS)?.put_with_key(&value, &key)?;
            Ok(Box::new(|_, _| Ok(())))
        })
        .await
    }

    async fn chunk(&self, chunk: &ChunkId) -> Result<Option<Vec<u8>>, StoreError> {
        self.get(CHUNKS, &chunk_key(chunk), codec::bytes_from_js).await
    }

    fn forget_connection(&self) {
        self.connection.forget();
    }
}

fn chunk_key(chunk: &ChunkId) -> JsValue {
    let (download, index) = (float(chunk.download.into()), float(chunk.index.into()));
    key([chunk.operation.as_str().into(), download, index])
}
