//! A store in memory: for tests, simulations, and hosts that have nothing better.

mod index;
mod tables;
#[cfg(all(test, not(target_arch = "wasm32")))]
mod tests;

use core::cell::RefCell;
use std::rc::Rc;

use super::admission::Stored;
use super::ports::store::{
    ChunkId, Due, Durability, JournalRow, Name, Queue, Row, Store, StoreError, Unique, Write,
    Written,
};
use crate::model::ids::{Account, Epoch, LaneId, OperationId};
use crate::model::lane::{Claim, Fence, Lane};
use crate::model::time::Timestamp;
use crate::rules::lease;
use crate::rules::teeth::{Tooth, bites};
use tables::Tables;

/// A store that lives as long as its last handle. A clone is another handle on the same storage, as
/// another tab is on the same database; both durabilities promise the same here.
#[derive(Clone, Debug, Default)]
pub struct MemoryStore {
    tables: Rc<RefCell<Tables>>,
}

/// The whole content of a [`MemoryStore`] at one moment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Snapshot(Tables);

impl MemoryStore {
    /// An empty store.
    pub fn new() -> Self {
        Self::default()
    }

    /// A store of its own with this content.
    pub fn from_snapshot(snapshot: Snapshot) -> Self {
        Self { tables: Rc::new(RefCell::new(snapshot.0)) }
    }

    /// A copy of the content.
    pub fn snapshot(&self) -> Snapshot {
        Snapshot(self.tables.borrow().clone())
    }

    /// Puts this content in the place of what is stored, for all handles.
    pub fn restore(&self, snapshot: Snapshot) {
        self.tables.replace(snapshot.0);
    }
}

impl Store for MemoryStore {
    async fn commit(
        &self,
        batch: &[Write],
        _durability: Durability,
    ) -> Result<Vec<Written>, StoreError> {
        let mut tables = self.tables.borrow_mut();
        Ok(batch.iter().map(|write| tables.apply(write)).collect())
    }

    async fn claim(&self, claim: &Claim) -> Result<Lane, StoreError> {
        let mut tables = self.tables.borrow_mut();
        let stored = tables.lanes.get(&claim.lane);
        match (lease::claimed(stored, claim), stored) {
            (Some(lane), _) => {
                tables.lanes.insert(lane.id.clone(), lane.clone());
                Ok(lane)
            }
            (None, Some(held)) => Ok(held.clone()),
            (None, None) => Err(StoreError::Aborted("a new lane was refused".into())),
        }
    }

    async fn give_back(&self, fence: &Fence) -> Result<(), StoreError> {
        let mut tables = self.tables.borrow_mut();
        if let Some(lane) = lease::renewed(tables.lanes.get(&fence.lane), fence) {
            tables.lanes.insert(lane.id.clone(), Lane { owner: None, ..lane });
        }
        Ok(())
    }

    async fn lane(&self, id: &LaneId) -> Result<Option<Lane>, StoreError> {
        Ok(self.tables.borrow().lanes.get(id).cloned())
    }

    async fn load(&self, id: &OperationId) -> Result<Option<Row>, StoreError> {
        Ok(self.tables.borrow().row(id).cloned())
    }

    async fn find(&self, name: &Name) -> Result<Option<Row>, StoreError> {
        let tables = self.tables.borrow();
        Ok(tables.names.get(name).and_then(|id| tables.row(id)).cloned())
    }

    async fn due(
        &self,
        lane: &LaneId,
        queue: Queue,
        before: Timestamp,
        limit: u32,
    ) -> Result<Due, StoreError> {
        Ok(self.tables.borrow().due(lane, queue, before, limit))
    }

    async fn list(
        &self,
        account: &Account,
        cursor: Option<&(Timestamp, OperationId)>,
        limit: u32,
    ) -> Result<Vec<Row>, StoreError> {
        Ok(self.tables.borrow().list(account, cursor, limit))
    }

    async fn body(&self, id: &OperationId) -> Result<Option<Vec<u8>>, StoreError> {
        Ok(self.tables.borrow().bodies.get(id).cloned())
    }

    async fn profile(&self, digest: &str) -> Result<Option<String>, StoreError> {
        Ok(self.tables.borrow().profiles.get(digest).cloned())
    }

    async fn journal(&self, id: &OperationId) -> Result<Vec<JournalRow>, StoreError> {
        Ok(self.tables.borrow().journal(id))
    }

    async fn owner(&self, unique: &Unique) -> Result<Option<OperationId>, StoreError> {
        Ok(Stored::owner(&*self.tables.borrow(), unique).cloned())
    }

    async fn put_chunk(
        &self,
        lane: &LaneId,
        epoch: Epoch,
        chunk: &ChunkId,
        bytes: &[u8],
    ) -> Result<bool, StoreError> {
        let mut tables = self.tables.borrow_mut();
        let owned = bites(Tooth::KeepLateBytes)
            || tables.lanes.get(lane).is_some_and(|own| own.is_driven_under(epoch));
        if owned {
            tables.chunks.insert(chunk.clone(), bytes.to_vec());
        }
        Ok(owned)
    }

    async fn chunk(&self, chunk: &ChunkId) -> Result<Option<Vec<u8>>, StoreError> {
        Ok(self.tables.borrow().chunks.get(chunk).cloned())
    }

    fn forget_connection(&self) {}
}
