//! The port to durable storage.

use std::rc::Rc;

use crate::model::ids::{Account, Epoch, LaneId, OperationId, Revision, WriteId};
use crate::model::lane::{Claim, Fence, Lane};
pub use crate::model::storage::{
    Durability, Erase, Name, Piece, Queue, StoreError, Unique, Written,
};
use crate::model::time::Timestamp;

/// Durable storage, shared by all contexts of one app on one machine.
///
/// Every method is one transaction. Nothing in a store decides anything: rows go in and out, and
/// lanes change hands by [`crate::rules::lease`]. A value that a method returns is a copy.
#[expect(async_fn_in_trait, reason = "single-threaded hosts only; no Send bound is wanted")]
pub trait Store {
    /// Writes all members that may be written, in one transaction, and tells of each how it went.
    ///
    /// A member whose condition does not hold is skipped whole and hinders no other. Resolves only
    /// when the transaction is *complete*; with [`Durability::Strict`] that means on the disk.
    /// Writing a member again whose `write_id` is already in the store changes nothing and is
    /// [`Written::Done`], or [`Written::Late`] where its lane is lost since: this is how an unknown commit is
    /// settled.
    async fn commit(
        &self,
        batch: &[Write],
        durability: Durability,
    ) -> Result<Vec<Written>, StoreError>;

    /// Claims a lane by [`crate::rules::lease::claimed`]; gives the lane as it is then.
    async fn claim(&self, claim: &Claim) -> Result<Lane, StoreError>;

    /// Gives a lane back, if this fence still holds.
    async fn give_back(&self, fence: &Fence) -> Result<(), StoreError>;

    /// The lane's row, if there is one.
    async fn lane(&self, id: &LaneId) -> Result<Option<Lane>, StoreError>;

    /// The operation's row.
    async fn load(&self, id: &OperationId) -> Result<Option<Row>, StoreError>;

    /// The newest operation that this name stands for.
    async fn find(&self, name: &Name) -> Result<Option<Row>, StoreError>;

    /// The lane's operations that are due at `before` or earlier, soonest first, at most `limit`,
    /// read by index; with the due time of the first that is later (or beyond the limit).
    async fn due(
        &self,
        lane: &LaneId,
        queue: Queue,
        before: Timestamp,
        limit: u32,
    ) -> Result<Due, StoreError>;

    /// The account's operations, newest first, at most `limit`, beginning after `cursor`
    /// (the `(created_at, id)` of the last row of the page before).
    async fn list(
        &self,
        account: &Account,
        cursor: Option<&(Timestamp, OperationId)>,
        limit: u32,
    ) -> Result<Vec<Row>, StoreError>;

    /// The request body that was written with the operation.
    async fn body(&self, id: &OperationId) -> Result<Option<Vec<u8>>, StoreError>;

    /// The text of a profile that some operation was submitted under, by its digest.
    async fn profile(&self, digest: &str) -> Result<Option<String>, StoreError>;

    /// The operation's journal entries, oldest first.
    async fn journal(&self, id: &OperationId) -> Result<Vec<JournalRow>, StoreError>;

    /// The operation that something unique belongs to.
    async fn owner(&self, unique: &Unique) -> Result<Option<OperationId>, StoreError>;

    /// Writes a piece of a result that goes on, if the lane is still driven under the epoch in which its download began;
    /// false when it is not (relaxed: the ending's strict commit carries it to the disk).
    async fn put_chunk(
        &self,
        lane: &LaneId,
        epoch: Epoch,
        chunk: &ChunkId,
        bytes: &[u8],
    ) -> Result<bool, StoreError>;

    /// Reads one piece of a result.
    async fn chunk(&self, chunk: &ChunkId) -> Result<Option<Vec<u8>>, StoreError>;

    /// Drops the connection, so that the next call opens a fresh one.
    fn forget_connection(&self);
}

/// One operation's stored row: what is indexed, and the record's text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Row {
    /// The record's name.
    pub id: OperationId,
    /// Whose it is.
    pub account: Account,
    /// The lane that drives it.
    pub lane: LaneId,
    /// When it was submitted.
    pub created_at: Timestamp,
    /// When it is due; `None` keeps it out of the index.
    pub due: Option<Timestamp>,
    /// When its ending is due for delivery; `None` keeps it out of the index.
    pub delivery_due: Option<Timestamp>,
    /// How often it has been written.
    pub revision: Revision,
    /// Which write this is.
    pub write_id: WriteId,
    /// The record (see `crate::record`).
    pub document: String,
}

/// One member of a transaction: everything that changes together for one operation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Write {
    /// The new row.
    pub row: Row,
    /// What must be stored under its id: nothing (`None`), or exactly this revision.
    pub replaces: Option<Revision>,
    /// Ownership that must hold, renewed by this write; `None` for a context that does not drive
    /// the lane.
    pub fence: Option<Fence>,
    /// For a write without a fence: by when the lane's owner must take the change up
    /// ([`crate::rules::lease::poked`]).
    pub answer_by: Option<Timestamp>,
    /// The name that shall stand for this operation, and the operation that it must stand for now
    /// (`None`: the name must be new).
    pub name: Option<(Name, Option<OperationId>)>,
    /// Another operation that changes together with this one: its new row, the revision that it
    /// replaces, and its journal entries.
    pub beside: Option<Box<Beside>>,
    /// The request body. Only what is new has one to keep ([`Write::new_body`]).
    pub body: Option<Vec<u8>>,
    /// A piece of its result, which is there with this write, or not at all.
    pub piece: Option<Rc<Piece>>,
    /// What goes of what is stored, before the rest of this write is. Of [`Erase::Everything`], the
    /// row, the name and what was taken are those that this write states; where the row is gone
    /// already, that is [`Written::Done`].
    pub erase: Erase,
    /// What this operation takes for its own. Taking again what is its own already is fine.
    pub takes: Vec<Unique>,
    /// Journal entries to write; an entry with the number of an earlier one replaces it.
    pub journal: Vec<JournalRow>,
    /// The profile that the operation was submitted under: its digest and text, written once.
    pub profile: Option<(String, String)>,
}

impl Write {
    /// The body to keep. It is written once: what replaces something stored brings none.
    pub fn new_body(&self) -> Option<&[u8]> {
        self.body.as_deref().filter(|_| self.replaces.is_none())
    }
}

/// An operation that changes together with another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Beside {
    /// Its new row.
    pub row: Row,
    /// The revision that must be stored.
    pub replaces: Revision,
    /// Its journal entries.
    pub journal: Vec<JournalRow>,
}

/// One journal entry. The entry is kept under `number % JOURNAL_MAX`: the newest replace the oldest.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JournalRow {
    /// Its number, from 1.
    pub number: u32,
    /// The entry's text.
    pub document: String,
}

/// What is due.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Due {
    /// The rows.
    pub rows: Vec<Row>,
    /// When the first that is not among them is due.
    pub next: Option<Timestamp>,
}

/// One piece of one download of a result.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ChunkId {
    /// Whose result.
    pub operation: OperationId,
    /// Which download ([`crate::model::ending::ResultRef::download`]).
    pub download: u64,
    /// Which piece, from 0.
    pub index: u32,
}

impl ChunkId {
    /// The name of a piece of this operation's result.
    pub fn of(operation: &OperationId, piece: &Piece) -> Self {
        Self { operation: operation.clone(), download: piece.download, index: piece.index }
    }
}
