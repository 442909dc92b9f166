//! A store whose relaxed writes are pending until a strict one, or nothing, carries them to the disk.

use std::cell::RefCell;

use holdfast::driver::memory::MemoryStore;
use holdfast::driver::ports::store::{ChunkId, Durability, Store, Write, Written};
use holdfast::model::ids::{Epoch, LaneId};
use holdfast::model::lane::{Claim, Fence, Lane};
use pollster::block_on;

/// One transaction that changes something.
#[derive(Clone, Debug)]
pub enum Change {
    Commit(Vec<Write>),
    Claim(Claim),
    GiveBack(Fence),
    Chunk(LaneId, Epoch, ChunkId, Vec<u8>),
}

/// What a change is answered with.
#[derive(Clone, Debug)]
pub enum Changed {
    Written(Vec<Written>),
    Lane(Lane),
    /// Whether a piece was kept.
    Chunk(bool),
    Nothing,
}

/// The store as contexts see it, and what of it is on the disk.
#[derive(Default)]
pub struct Disk {
    /// What contexts see.
    pub live: MemoryStore,
    /// What survives a loss of power.
    pub safe: MemoryStore,
    unsynced: RefCell<Vec<Change>>,
}

impl Disk {
    /// Carries a change out; a strict one takes everything before it to the disk with it.
    pub fn apply(&self, change: Change, durability: Durability) -> Changed {
        let changed = carry_out(&self.live, &change);
        self.unsynced.borrow_mut().push(change);
        if durability == Durability::Strict {
            for change in self.unsynced.take() {
                carry_out(&self.safe, &change);
            }
        }
        changed
    }

    pub fn unsynced(&self) -> usize {
        self.unsynced.borrow().len()
    }

    /// Power is lost: of what is pending the first few survive.
    pub fn lose_power(&self, survive: usize) {
        for change in self.unsynced.take().into_iter().take(survive) {
            carry_out(&self.safe, &change);
        }
        self.live.restore(self.safe.snapshot());
    }
}

fn carry_out(store: &MemoryStore, change: &Change) -> Changed {
    match change {
        Change::Commit(batch) => {
            let written = block_on(store.commit(batch, Durability::Strict));
            Changed::Written(written.unwrap_or_default())
        }
        Change::Claim(claim) => {
            block_on(store.claim(claim)).map_or(Changed::Nothing, Changed::Lane)
        }
        Change::GiveBack(fence) => {
            let _ = block_on(store.give_back(fence));
            Changed::Nothing
        }
        Change::Chunk(lane, epoch, id, bytes) => {
            Changed::Chunk(block_on(store.put_chunk(lane, *epoch, id, bytes)) == Ok(true))
        }
    }
}
