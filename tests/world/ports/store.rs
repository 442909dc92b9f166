//! The store, as one context uses it.

use holdfast::driver::memory::MemoryStore;
use holdfast::driver::ports::store::{
    ChunkId, Due, Durability, JournalRow, Name, Queue, Row, Store, StoreError, Unique, Write,
    Written,
};
use holdfast::model::ids::{Account, Epoch, LaneId, OperationId};
use holdfast::model::lane::{Claim, Fence, Lane};
use holdfast::model::time::Timestamp;
use holdfast::record::decode;

use super::SimPorts;
use crate::world::host::one_turn;
use crate::world::settings::strikes;

impl SimPorts {
    fn reading(&self) -> Result<&MemoryStore, StoreError> {
        self.world.0.commits.reading()
    }

    /// Stops here when a test wants that, until it thaws.
    async fn perhaps_freeze(&self, batch: &[Write]) {
        let freezes = self.world.0.freeze_when.borrow().as_ref().is_some_and(|wanted| {
            batch.iter().any(|write| decode(&write.row.document).is_ok_and(|own| wanted(&own)))
        });
        if freezes {
            self.world.0.freeze_when.borrow_mut().take();
            self.being.frozen.set(true);
            one_turn().await;
        }
    }
}

impl Store for SimPorts {
    async fn commit(
        &self,
        batch: &[Write],
        durability: Durability,
    ) -> Result<Vec<Written>, StoreError> {
        let commit_ms = self.world.0.settings.borrow().commit_ms;
        self.world.0.clock.sleep(commit_ms).await;
        self.point().await;
        let written = self.world.0.commits.commit(batch, durability).await;
        if let Ok(written) = &written {
            self.world.0.log.committed(batch, durability, written);
        }
        self.perhaps_freeze(batch).await;
        self.point().await;
        written
    }

    async fn claim(&self, claim: &Claim) -> Result<Lane, StoreError> {
        let commit_ms = self.world.0.settings.borrow().commit_ms;
        self.world.0.clock.sleep(commit_ms).await;
        self.point().await;
        let lane = self.reading()?.claim(claim).await;
        self.point().await;
        lane
    }

    async fn give_back(&self, fence: &Fence) -> Result<(), StoreError> {
        // After what was begun before.
        let commit_ms = self.world.0.settings.borrow().commit_ms;
        self.world.0.clock.sleep(commit_ms).await;
        self.point().await;
        self.reading()?.give_back(fence).await
    }

    async fn lane(&self, id: &LaneId) -> Result<Option<Lane>, StoreError> {
        self.reading()?.lane(id).await
    }

    async fn load(&self, id: &OperationId) -> Result<Option<Row>, StoreError> {
        self.point().await;
        self.reading()?.load(id).await
    }

    async fn find(&self, name: &Name) -> Result<Option<Row>, StoreError> {
        self.point().await;
        self.reading()?.find(name).await
    }

    async fn due(
        &self,
        lane: &LaneId,
        queue: Queue,
        before: Timestamp,
        limit: u32,
    ) -> Result<Due, StoreError> {
        self.point().await;
        let due = self.reading()?.due(lane, queue, before, limit).await?;
        let rows = &self.world.0.commits.rows_due;
        rows.set(rows.get() + due.rows.len());
        Ok(due)
    }

    async fn list(
        &self,
        account: &Account,
        cursor: Option<&(Timestamp, OperationId)>,
        limit: u32,
    ) -> Result<Vec<Row>, StoreError> {
        self.reading()?.list(account, cursor, limit).await
    }

    async fn body(&self, id: &OperationId) -> Result<Option<Vec<u8>>, StoreError> {
        self.point().await;
        self.reading()?.body(id).await
    }

    async fn profile(&self, digest: &str) -> Result<Option<String>, StoreError> {
        self.reading()?.profile(digest).await
    }

    async fn journal(&self, id: &OperationId) -> Result<Vec<JournalRow>, StoreError> {
        self.reading()?.journal(id).await
    }

    async fn owner(&self, unique: &Unique) -> Result<Option<OperationId>, StoreError> {
        self.reading()?.owner(unique).await
    }

    async fn put_chunk(
        &self,
        lane: &LaneId,
        epoch: Epoch,
        chunk: &ChunkId,
        bytes: &[u8],
    ) -> Result<bool, StoreError> {
        self.point().await;
        let put = self.reading()?.put_chunk(lane, epoch, chunk, bytes).await;
        self.point().await;
        put
    }

    async fn chunk(&self, chunk: &ChunkId) -> Result<Option<Vec<u8>>, StoreError> {
        if strikes(&mut self.world.0.settings.borrow_mut().evicted) {
            return Ok(None);
        }
        self.reading()?.chunk(chunk).await
    }

    fn forget_connection(&self) {
        let reconnects = &self.world.0.commits.reconnects;
        reconnects.set(reconnects.get() + 1);
    }
}
