//! Values that the behaviours are made of.

use core::future::{Future, poll_fn};
use core::pin::pin;
use core::task::Poll;

use crate::driver::ports::store::{
    ChunkId, Durability, Erase, JournalRow, Name, Queue, Row, Store, Write, Written,
};
use crate::model::ids::{Account, ContextId, Epoch, LaneId, OperationId, Revision, WriteId};
use crate::model::lane::{Claim, Fence, Lane};
use crate::model::time::Timestamp;

/// The lane of an account.
pub(super) fn lane_of(account: &str) -> LaneId {
    LaneId::of(&account.into(), &"reports".into(), "https://api.example.com")
}

/// The first row of an operation of ann's, created at 1000 and due at 2000.
pub(super) fn row(id: &str) -> Row {
    Row {
        id: id.into(),
        account: "ann".into(),
        lane: lane_of("ann"),
        created_at: Timestamp(1000),
        due: Some(Timestamp(2000)),
        delivery_due: None,
        revision: Revision(1),
        write_id: WriteId([id, "1"].join("#")),
        document: ["the record of", id].join(" "),
    }
}

/// The row that follows another.
pub(super) fn after(row: &Row) -> Row {
    let revision = row.revision.next();
    let write_id = WriteId([row.id.as_str(), &revision.0.to_string()].join("#"));
    Row { revision, write_id, ..row.clone() }
}

/// The write of a row that replaces the row of the revision before, and nothing besides.
pub(in crate::driver) fn write(row: Row) -> Write {
    Write {
        replaces: row.revision.0.checked_sub(1).filter(|before| *before > 0).map(Revision),
        row,
        fence: None,
        answer_by: None,
        beside: None,
        erase: Erase::Nothing,
        name: None,
        body: None,
        piece: None,
        takes: Vec::new(),
        journal: Vec::new(),
        profile: None,
    }
}

/// An intent of ann's.
pub(super) fn name(intent: &str) -> Name {
    Name { account: "ann".into(), service: "reports".into(), intent: intent.into() }
}

/// A journal entry.
pub(super) fn entry(number: u32) -> JournalRow {
    JournalRow { number, document: ["entry", &number.to_string()].join(" ") }
}

/// A claim of ann's lane with a lease of 100 ms.
pub(super) fn claim(context: &str, now: u64) -> Claim {
    Claim {
        lane: lane_of("ann"),
        context: context.into(),
        now: Timestamp(now),
        lease_until: Timestamp(now + 100),
        dead: None,
    }
}

/// The proof of who owns that lane, with a lease until `lease_until`.
pub(super) fn fence(lane: &Lane, lease_until: u64) -> Fence {
    Fence {
        lane: lane.id.clone(),
        context: lane.owner.clone().unwrap_or_else(|| ContextId::from("nobody")),
        epoch: lane.epoch,
        now: lane.renewed_at,
        lease_until: Timestamp(lease_until),
        gate: None,
        sent: Vec::new(),
    }
}

/// Keeps a piece of a result in ann's lane, as its owner.
pub(super) async fn keep(store: &impl Store, chunk: &ChunkId, bytes: &[u8]) {
    let lane = store.claim(&claim("keeper", 0)).await.unwrap();
    assert_eq!(store.put_chunk(&lane.id, lane.epoch, chunk, bytes).await, Ok(true));
}

/// A proof under an epoch that is not the stored one.
pub(super) fn former(fence: Fence) -> Fence {
    Fence { epoch: Epoch(fence.epoch.0.wrapping_sub(1)), ..fence }
}

/// Commits a batch.
pub(super) async fn commit(store: &impl Store, batch: &[Write]) -> Vec<Written> {
    store.commit(batch, Durability::Strict).await.unwrap()
}

/// Commits one member, and tells how it went.
pub(super) async fn one(store: &impl Store, write: Write) -> Written {
    let mut written = commit(store, &[write]).await;
    assert_eq!(written.len(), 1, "one answer for one member");
    written.remove(0)
}

/// Commits rows that must go in.
pub(super) async fn put(store: &impl Store, rows: impl IntoIterator<Item = Row>) {
    let batch: Vec<Write> = rows.into_iter().map(write).collect();
    let written = commit(store, &batch).await;
    assert_eq!(written, vec![Written::Done; batch.len()]);
}

/// The stored row.
pub(super) async fn load(store: &impl Store, id: &str) -> Option<Row> {
    store.load(&id.into()).await.unwrap()
}

/// Ids of what is due in ann's lane, and when the next is.
pub(super) async fn due(
    store: &impl Store,
    queue: Queue,
    before: u64,
    limit: u32,
) -> (Vec<String>, Option<u64>) {
    let due = store.due(&lane_of("ann"), queue, Timestamp(before), limit).await.unwrap();
    (ids(due.rows), due.next.map(|next| next.0))
}

/// Ids of an account's operations, newest first.
pub(super) async fn list(
    store: &impl Store,
    account: &str,
    cursor: Option<&(Timestamp, OperationId)>,
    limit: u32,
) -> Vec<String> {
    ids(store.list(&Account::from(account), cursor, limit).await.unwrap())
}

fn ids(rows: Vec<Row>) -> Vec<String> {
    rows.into_iter().map(|row| row.id.0).collect()
}

/// Both futures' values, the two running at the same time.
pub(super) async fn both<T>(one: impl Future<Output = T>, two: impl Future<Output = T>) -> [T; 2] {
    let (mut one, mut two) = (pin!(one), pin!(two));
    let (mut first, mut second) = (None, None);
    poll_fn(|context| {
        if first.is_none()
            && let Poll::Ready(value) = one.as_mut().poll(context)
        {
            first = Some(value);
        }
        if second.is_none()
            && let Poll::Ready(value) = two.as_mut().poll(context)
        {
            second = Some(value);
        }
        match (first.take(), second.take()) {
            (Some(one), Some(two)) => Poll::Ready([one, two]),
            (left, right) => {
                (first, second) = (left, right);
                Poll::Pending
            }
        }
    })
    .await
}
