//! The store of a context: a disk that is slow, full or broken, and that goes on when its context has ended.

use std::rc::Rc;

use holdfast::driver::ports::store::{
    ChunkId, Due, Durability, JournalRow, Name, Queue, Row, Store, StoreError, Unique, Write,
    Written,
};
use holdfast::model::ids::{Account, Epoch, LaneId, OperationId};
use holdfast::model::lane::{Claim, Fence, Lane};
use holdfast::model::time::Timestamp;

use super::kinds::Kind;
use super::ports::SimPorts;
use super::slot::Slot;
use super::store::{Change, Changed};
use super::world::World;

impl SimPorts {
    /// When the disk has done what this context asks of it now.
    fn disk_turn(&self) -> u64 {
        let slow = self.world.strikes(Kind::SlowDisk, 1);
        let length_ms = if slow { self.world.up_to(8_000) } else { self.world.up_to(4) };
        let at = self.tab.disk_free_at.get().max(self.world.now() + length_ms);
        self.tab.disk_free_at.set(at);
        at
    }

    /// A transaction: it goes its own way whatever becomes of the context that began it.
    async fn transact<T: 'static>(
        &self,
        run: impl FnOnce(&World) -> Result<T, StoreError> + 'static,
    ) -> Result<T, StoreError> {
        self.point().await;
        let (slot, world, at) = (Slot::new(), self.world.clone(), self.disk_turn());
        let (filled, machine) = (slot.clone(), Rc::clone(&*self.world.0.machine.borrow()));
        self.world.0.tasks.spawn(machine, async move {
            world.0.clock.sleep(at.saturating_sub(world.now())).await;
            filled.fill(run(&world));
        });
        let result = slot.wait().await;
        self.point().await;
        result
    }

    async fn read<T: 'static>(
        &self,
        what: &str,
        read: impl FnOnce(&World) -> Result<T, StoreError> + 'static,
    ) -> Result<T, StoreError> {
        self.world.note(|| format!("tab {} reads {what}", self.tab.number));
        self.transact(|world| {
            if world.strikes(Kind::ReadFailed, 1) {
                return Err(StoreError::Unavailable("a read that fails".into()));
            }
            read(world)
        })
        .await
    }

    async fn change<T: 'static>(
        &self,
        change: Change,
        durability: Durability,
        take: impl FnOnce(Changed) -> T + 'static,
    ) -> Result<T, StoreError> {
        let tab = self.tab.number;
        self.transact(move |world| {
            let fails = |kind| world.strikes(kind, 1);
            let why = || "a commit that fails".to_owned();
            if fails(Kind::CommitRefused) {
                return Err(StoreError::Unavailable(why()));
            }
            if fails(Kind::CommitAborted) {
                return Err(StoreError::Aborted(why()));
            }
            if fails(Kind::CommitFull) {
                return Err(StoreError::Full(why()));
            }
            if fails(Kind::CommitUnknownLost) {
                return Err(StoreError::Unknown(why()));
            }
            let changed = world.apply(tab, change, durability);
            if fails(Kind::CommitUnknownDone) {
                return Err(StoreError::Unknown(why()));
            }
            Ok(take(changed))
        })
        .await
    }
}

macro_rules! live {
    ($world:ident.$method:ident($($argument:expr),*)) => {
        pollster::block_on($world.0.disk.live.$method($($argument),*))
    };
}

impl Store for SimPorts {
    async fn commit(
        &self,
        batch: &[Write],
        durability: Durability,
    ) -> Result<Vec<Written>, StoreError> {
        let take = |changed| match changed {
            Changed::Written(written) => written,
            Changed::Lane(_) | Changed::Chunk(_) | Changed::Nothing => Vec::new(),
        };
        self.change(Change::Commit(batch.to_vec()), durability, take).await
    }

    async fn claim(&self, claim: &Claim) -> Result<Lane, StoreError> {
        let take = |changed| match changed {
            Changed::Lane(lane) => Ok(lane),
            Changed::Written(_) | Changed::Chunk(_) | Changed::Nothing => {
                Err(StoreError::Aborted("no lane".into()))
            }
        };
        self.change(Change::Claim(claim.clone()), Durability::Strict, take).await?
    }

    async fn give_back(&self, fence: &Fence) -> Result<(), StoreError> {
        self.change(Change::GiveBack(fence.clone()), Durability::Strict, |_| ()).await
    }

    async fn lane(&self, id: &LaneId) -> Result<Option<Lane>, StoreError> {
        let id = id.clone();
        self.read("lane", move |world| live!(world.lane(&id))).await
    }

    async fn load(&self, id: &OperationId) -> Result<Option<Row>, StoreError> {
        let id = id.clone();
        self.read("load", move |world| live!(world.load(&id))).await
    }

    async fn find(&self, name: &Name) -> Result<Option<Row>, StoreError> {
        let name = name.clone();
        self.read("find", move |world| live!(world.find(&name))).await
    }

    async fn due(
        &self,
        lane: &LaneId,
        queue: Queue,
        before: Timestamp,
        limit: u32,
    ) -> Result<Due, StoreError> {
        let lane = lane.clone();
        self.read("due", move |world| live!(world.due(&lane, queue, before, limit))).await
    }

    async fn list(
        &self,
        account: &Account,
        cursor: Option<&(Timestamp, OperationId)>,
        limit: u32,
    ) -> Result<Vec<Row>, StoreError> {
        let (account, cursor) = (account.clone(), cursor.cloned());
        self.read("list", move |world| live!(world.list(&account, cursor.as_ref(), limit))).await
    }

    async fn body(&self, id: &OperationId) -> Result<Option<Vec<u8>>, StoreError> {
        let id = id.clone();
        self.read("body", move |world| live!(world.body(&id))).await
    }

    async fn profile(&self, digest: &str) -> Result<Option<String>, StoreError> {
        let digest = digest.to_owned();
        self.read("profile", move |world| live!(world.profile(&digest))).await
    }

    async fn journal(&self, id: &OperationId) -> Result<Vec<JournalRow>, StoreError> {
        let id = id.clone();
        self.read("journal", move |world| live!(world.journal(&id))).await
    }

    async fn owner(&self, unique: &Unique) -> Result<Option<OperationId>, StoreError> {
        let unique = unique.clone();
        self.read("owner", move |world| live!(world.owner(&unique))).await
    }

    async fn put_chunk(
        &self,
        lane: &LaneId,
        epoch: Epoch,
        chunk: &ChunkId,
        bytes: &[u8],
    ) -> Result<bool, StoreError> {
        let change = Change::Chunk(lane.clone(), epoch, chunk.clone(), bytes.to_vec());
        let kept = |changed| matches!(changed, Changed::Chunk(true));
        self.change(change, Durability::Relaxed, kept).await
    }

    async fn chunk(&self, chunk: &ChunkId) -> Result<Option<Vec<u8>>, StoreError> {
        let chunk = chunk.clone();
        self.read("chunk", move |world| live!(world.chunk(&chunk))).await
    }

    fn forget_connection(&self) {}
}
