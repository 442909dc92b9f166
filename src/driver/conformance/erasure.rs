//! What goes of what is stored, and what stays.

use super::fixtures::*;
use crate::driver::ports::store::{ChunkId, Erase, Store, Unique, Write, Written};

fn taken(id: &str) -> Vec<Unique> {
    let key = Unique::Key("ann".into(), "reports".into(), id.into());
    vec![key, Unique::Job("harvester".into(), id.into())]
}

fn piece(id: &str, download: u64) -> ChunkId {
    ChunkId { operation: id.into(), download, index: 3 }
}

/// Stores an operation with all that can be stored of one.
async fn store_whole(store: &impl Store, id: &str) {
    let whole = Write {
        name: Some((name(id), None)),
        body: Some(vec![1, 2]),
        takes: taken(id),
        journal: vec![entry(1), entry(2)],
        ..write(row(id))
    };
    assert_eq!(one(store, whole).await, Written::Done);
    for download in [0, 1] {
        keep(store, &piece(id, download), &[7]).await;
    }
}

/// The write that erases what [`store_whole`] has stored.
fn erasing(id: &str, erase: Erase) -> Write {
    let whole = erase == Erase::Everything;
    Write {
        erase,
        name: whole.then(|| (name(id), None)),
        takes: if whole { taken(id) } else { Vec::new() },
        journal: vec![entry(3)],
        ..write(after(&row(id)))
    }
}

pub async fn content_goes_and_the_rest_stays<S: Store>(open: impl Fn() -> S) {
    let store = open();
    store_whole(&store, "a").await;
    store_whole(&store, "b").await;
    assert_eq!(one(&store, erasing("a", Erase::Content)).await, Written::Done);
    assert_eq!(store.find(&name("a")).await, Ok(Some(after(&row("a")))));
    assert_eq!(store.body(&"a".into()).await, Ok(None));
    assert_eq!(store.journal(&"a".into()).await, Ok(vec![entry(3)]));
    let late = Write { takes: taken("a"), ..write(row("c")) };
    assert_eq!(one(&store, late).await, Written::KeyTaken("a".into()));
    for download in [0, 1] {
        assert_eq!(store.chunk(&piece("a", download)).await, Ok(None));
        assert_eq!(store.chunk(&piece("b", download)).await, Ok(Some(vec![7])));
    }
    assert_eq!(store.body(&"b".into()).await, Ok(Some(vec![1, 2])));
    assert_eq!(store.journal(&"b".into()).await, Ok(vec![entry(1), entry(2)]));
}

pub async fn everything_goes_and_is_free_again<S: Store>(open: impl Fn() -> S) {
    let store = open();
    store_whole(&store, "a").await;
    store_whole(&store, "b").await;
    assert_eq!(one(&store, erasing("a", Erase::Everything)).await, Written::Done);
    assert_eq!(load(&store, "a").await, None);
    assert_eq!(store.find(&name("a")).await, Ok(None));
    assert_eq!(store.body(&"a".into()).await, Ok(None));
    assert_eq!(store.journal(&"a".into()).await, Ok(vec![]));
    assert_eq!(store.chunk(&piece("a", 0)).await, Ok(None));
    assert_eq!(list(&store, "ann", None, 10).await, ["b"]);
    let heir = Write { name: Some((name("a"), None)), takes: taken("a"), ..write(row("c")) };
    assert_eq!(one(&store, heir).await, Written::Done);
    assert_eq!(load(&store, "b").await, Some(row("b")));
}

pub async fn erasing_everything_again_is_done<S: Store>(open: impl Fn() -> S) {
    let store = open();
    store_whole(&store, "a").await;
    for _ in 0..2 {
        assert_eq!(one(&store, erasing("a", Erase::Everything)).await, Written::Done);
    }
}

pub async fn erasing_leaves_what_has_come_to_stand_for_others<S: Store>(open: impl Fn() -> S) {
    let store = open();
    store_whole(&store, "a").await;
    let heir = Write { name: Some((name("a"), Some("a".into()))), ..write(row("b")) };
    assert_eq!(one(&store, heir).await, Written::Done);
    assert_eq!(one(&store, erasing("a", Erase::Everything)).await, Written::Done);
    assert_eq!(store.find(&name("a")).await, Ok(Some(row("b"))));
}

pub async fn what_has_moved_on_is_not_erased<S: Store>(open: impl Fn() -> S) {
    let store = open();
    store_whole(&store, "a").await;
    put(&store, [after(&row("a"))]).await;
    for erase in [Erase::Content, Erase::Everything] {
        let stale = Write {
            row: crate::driver::ports::store::Row { write_id: "late".into(), ..after(&row("a")) },
            ..erasing("a", erase)
        };
        assert_eq!(one(&store, stale).await, Written::Stale);
    }
    assert_eq!(store.body(&"a".into()).await, Ok(Some(vec![1, 2])));
}
