//! A store that fails when it is told to.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;

use holdfast::driver::memory::MemoryStore;
use holdfast::driver::ports::store::{Durability, Store, StoreError, Write, Written};

/// How one commit fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CommitFault {
    /// It does not fail.
    Pass,
    /// The database cannot be opened.
    Refused,
    /// The transaction is aborted.
    Aborted,
    /// There is no room.
    Full,
    /// It reaches the disk, and nobody is told.
    UnknownDone,
    /// It does not reach the disk, and nobody is told.
    UnknownLost,
}

/// The commits of a store, with the faults that are set.
pub struct FaultyStore {
    pub inner: MemoryStore,
    next: RefCell<VecDeque<CommitFault>>,
    /// Reads fail while this is set.
    pub unreadable: Cell<bool>,
    /// There is no room for a piece of a result while this is set.
    pub full_for_pieces: Cell<bool>,
    /// Nobody is told what became of a commit with a piece of a result while this is set; it does not reach the disk.
    pub silent_of_pieces: Cell<bool>,
    /// How often the connection was dropped.
    pub reconnects: Cell<u32>,
    /// How many members were found written whose lane was lost since.
    pub late: Cell<u32>,
    /// How many rows were read as due.
    pub rows_due: Cell<usize>,
}

impl FaultyStore {
    pub fn over(inner: MemoryStore) -> Self {
        Self {
            inner,
            next: RefCell::default(),
            unreadable: Cell::new(false),
            full_for_pieces: Cell::new(false),
            silent_of_pieces: Cell::new(false),
            reconnects: Cell::new(0),
            late: Cell::new(0),
            rows_due: Cell::new(0),
        }
    }

    /// The next commits fail like this, one after the other.
    pub fn fail(&self, faults: &[CommitFault]) {
        self.next.borrow_mut().extend(faults.iter().copied());
    }

    /// Whether some fault has not struck yet.
    pub fn is_pending(&self) -> bool {
        !self.next.borrow().is_empty()
    }

    pub async fn commit(
        &self,
        batch: &[Write],
        durability: Durability,
    ) -> Result<Vec<Written>, StoreError> {
        let fault = self.next.borrow_mut().pop_front().unwrap_or(CommitFault::Pass);
        let why = "as the test wants".to_owned();
        if batch.iter().any(|write| write.piece.is_some()) {
            if self.full_for_pieces.get() {
                return Err(StoreError::Full(why));
            }
            if self.silent_of_pieces.get() {
                return Err(StoreError::Unknown(why));
            }
        }
        match fault {
            CommitFault::Pass => {
                let written = self.inner.commit(batch, durability).await?;
                let late = written.iter().map(|own| u32::from(*own == Written::Late)).sum::<u32>();
                self.late.set(self.late.get() + late);
                Ok(written)
            }
            CommitFault::Refused => Err(StoreError::Unavailable(why)),
            CommitFault::Aborted => Err(StoreError::Aborted(why)),
            CommitFault::Full => Err(StoreError::Full(why)),
            CommitFault::UnknownDone => {
                self.inner.commit(batch, durability).await?;
                Err(StoreError::Unknown(why))
            }
            CommitFault::UnknownLost => Err(StoreError::Unknown(why)),
        }
    }

    /// The store for reads, unless they fail too.
    pub fn reading(&self) -> Result<&MemoryStore, StoreError> {
        if self.unreadable.get() {
            Err(StoreError::Unavailable("as the test wants".into()))
        } else {
            Ok(&self.inner)
        }
    }
}
