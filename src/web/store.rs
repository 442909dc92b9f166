//! The store in whatever database the host has: IndexedDB, or SQLite.
//!
//! Scripts open the database and carry the transactions out (`pkg-template/idb-*.js`, `sql-*.js`); what
//! is written is decided here, inside the transaction.

mod codec;
mod commit;
mod fields;
mod sys;

use std::rc::Rc;

use js_sys::{Array, Uint8Array};
use wasm_bindgen::prelude::*;

use super::promise::{list, outcome};
use crate::driver::ports::store::{
    ChunkId, Due, Durability, JournalRow, Name, Queue, Row, Store, StoreError, Unique, Write,
    Written,
};
use crate::model::ids::{Account, Epoch, LaneId, OperationId};
use crate::model::lane::{Claim, Fence, Lane};
use crate::model::time::Timestamp;
use crate::rules::lease;
use codec::{float, lane_from_js, rows_from_js, some_row_from_js};
use sys::Run;

pub use sys::Database;

/// A store in a database of the host. Making one touches nothing: the database is opened, and made
/// where there is none, by the first call.
///
/// A handle that has died (the browser's storage process ended, another tab upgraded the database)
/// is dropped and replaced once within a call, unless something may have been written through it.
pub struct HostStore {
    database: Database,
}

/// What decides inside a transaction: from what was read to what is written.
type Decide = Closure<dyn FnMut(Array) -> Result<Array, JsValue>>;

impl HostStore {
    /// The store in this database.
    pub const fn new(database: Database) -> Self {
        Self { database }
    }

    /// Runs a transaction; dropped before its end, it is aborted.
    async fn run(&self, what: &str, arguments: &[JsValue]) -> Result<JsValue, StoreError> {
        let running = Running(self.database.run(what, &list(arguments)));
        outcome(&running.0.done()).await.map_err(|error| told(&error))
    }

    /// Changes something by a decision.
    async fn change(&self, what: &str, reads: Array, decide: Decide) -> Result<(), StoreError> {
        self.run(what, &[reads.into(), decide.as_ref().clone()]).await?;
        Ok(())
    }

    /// Changes a lane by a rule, and gives it as it is then.
    async fn change_lane(&self, id: &LaneId, rule: LaneRule) -> Result<Option<Lane>, StoreError> {
        let own = id.clone();
        let left = Rc::new(core::cell::RefCell::new(None));
        let leave = left.clone();
        let decide = Decide::new(move |found: Array| {
            let stored = lane_from_js(&own, found.get(0))?;
            let changed = rule(stored.as_ref());
            let puts = Array::new();
            if let Some(lane) = &changed {
                puts.push(&commit::lane_put(lane));
            }
            leave.replace(changed.or(stored));
            Ok(puts)
        });
        self.change("change", list(&[commit::lane_read(id)]), decide).await?;
        Ok(left.take())
    }
}

/// What becomes of a lane; `None`: nothing.
type LaneRule = Box<dyn Fn(Option<&Lane>) -> Option<Lane>>;

/// A transaction that somebody waits for.
struct Running(Run);

impl Drop for Running {
    fn drop(&mut self) {
        self.0.drop();
    }
}

/// A failure as the script tells it: its kind, a space, and a reason.
fn told(error: &JsValue) -> StoreError {
    let text = error.as_string().unwrap_or_default();
    let (kind, reason) = text.split_once(' ').unwrap_or_default();
    let tell = match kind {
        "full" => StoreError::Full,
        "aborted" => StoreError::Aborted,
        "unavailable" => StoreError::Unavailable,
        _ => StoreError::Unknown,
    };
    tell(reason.into())
}

/// What is malformed tells so as an aborted transaction does.
fn decoded<T>(read: Result<T, JsValue>) -> Result<T, StoreError> {
    read.map_err(|error| StoreError::Aborted(error.as_string().unwrap_or_default()))
}

impl Store for HostStore {
    async fn commit(
        &self,
        batch: &[Write],
        durability: Durability,
    ) -> Result<Vec<Written>, StoreError> {
        if batch.is_empty() {
            return Ok(Vec::new());
        }
        let answers = Rc::default();
        let decide = commit::decision(batch.into(), Rc::clone(&answers));
        self.change(commit::plan(batch, durability), commit::reads(batch), decide).await?;
        Ok(answers.take())
    }

    async fn claim(&self, claim: &Claim) -> Result<Lane, StoreError> {
        let wish = claim.clone();
        let rule = Box::new(move |lane: Option<&Lane>| lease::claimed(lane, &wish));
        let lane = self.change_lane(&claim.lane, rule).await?;
        lane.ok_or_else(|| StoreError::Aborted("a new lane was refused".into()))
    }

    async fn give_back(&self, fence: &Fence) -> Result<(), StoreError> {
        let proof = fence.clone();
        let rule = Box::new(move |lane: Option<&Lane>| {
            lease::renewed(lane, &proof).map(|lane| Lane { owner: None, ..lane })
        });
        self.change_lane(&fence.lane, rule).await?;
        Ok(())
    }

    async fn lane(&self, id: &LaneId) -> Result<Option<Lane>, StoreError> {
        decoded(lane_from_js(id, self.run("lane", &[id.as_str().into()]).await?))
    }

    async fn load(&self, id: &OperationId) -> Result<Option<Row>, StoreError> {
        decoded(some_row_from_js(self.run("load", &[id.as_str().into()]).await?))
    }

    async fn find(&self, name: &Name) -> Result<Option<Row>, StoreError> {
        decoded(some_row_from_js(self.run("find", &[codec::name_key(name)]).await?))
    }

    async fn due(
        &self,
        lane: &LaneId,
        queue: Queue,
        before: Timestamp,
        limit: u32,
    ) -> Result<Due, StoreError> {
        let index = match queue {
            Queue::Work => "by_due",
            Queue::Delivery => "by_delivery_due",
        };
        // One row more than wanted tells when the first is due that is not among them.
        let most = limit.saturating_add(1).into();
        let arguments = [index.into(), lane.as_str().into(), float(before.0), most];
        let found = self.run("due", &arguments).await?;
        decoded(codec::due_from_js(found, queue, limit))
    }

    async fn list(
        &self,
        account: &Account,
        cursor: Option<&(Timestamp, OperationId)>,
        limit: u32,
    ) -> Result<Vec<Row>, StoreError> {
        let mut arguments = vec![account.as_str().into(), limit.into()];
        if let Some((at, id)) = cursor {
            arguments.extend([float(at.0), id.as_str().into()]);
        }
        decoded(rows_from_js(self.run("list", &arguments).await?))
    }

    async fn body(&self, id: &OperationId) -> Result<Option<Vec<u8>>, StoreError> {
        decoded(codec::bytes_from_js(&self.run("body", &[id.as_str().into()]).await?))
    }

    async fn profile(&self, digest: &str) -> Result<Option<String>, StoreError> {
        decoded(codec::text_from_js(&self.run("profile", &[digest.into()]).await?))
    }

    async fn journal(&self, id: &OperationId) -> Result<Vec<JournalRow>, StoreError> {
        decoded(codec::entries_from_js(self.run("journal", &[id.as_str().into()]).await?))
    }

    async fn owner(&self, unique: &Unique) -> Result<Option<OperationId>, StoreError> {
        let found = self.run("owner", &[commit::unique_key(unique)]).await?;
        Ok(decoded(codec::text_from_js(&found))?.map(OperationId))
    }

    async fn put_chunk(
        &self,
        lane: &LaneId,
        epoch: Epoch,
        chunk: &ChunkId,
        bytes: &[u8],
    ) -> Result<bool, StoreError> {
        let put = codec::put("chunks", &Uint8Array::from(bytes).into(), &codec::chunk_key(chunk));
        let id = lane.clone();
        let kept = Rc::new(core::cell::Cell::new(false));
        let leave = kept.clone();
        let decide = Decide::new(move |found: Array| {
            let lane = lane_from_js(&id, found.get(0))?;
            leave.set(lane.is_some_and(|lane| lane.is_driven_under(epoch)));
            Ok(if leave.get() { list(std::slice::from_ref(&put)) } else { Array::new() })
        });
        self.change("put", list(&[commit::lane_read(lane)]), decide).await?;
        Ok(kept.get())
    }

    async fn chunk(&self, chunk: &ChunkId) -> Result<Option<Vec<u8>>, StoreError> {
        decoded(codec::bytes_from_js(&self.run("chunk", &[codec::chunk_key(chunk)]).await?))
    }

    fn forget_connection(&self) {
        self.database.forget();
    }
}

impl Drop for HostStore {
    fn drop(&mut self) {
        self.database.forget();
    }
}
