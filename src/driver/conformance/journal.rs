//! The journal: a ring of the newest entries.

use super::fixtures::*;
use crate::driver::ports::store::{JournalRow, Store, Write, Written};
use crate::model::journal::JOURNAL_MAX;

async fn numbers(store: &impl Store, id: &str) -> Vec<u32> {
    store.journal(&id.into()).await.unwrap().iter().map(|entry| entry.number).collect()
}

pub async fn journal_entries_come_oldest_first<S: Store>(open: impl Fn() -> S) {
    let store = open();
    let first = Write { journal: vec![entry(1), entry(2)], ..write(row("a")) };
    let second = Write { journal: vec![entry(3)], ..write(after(&row("a"))) };
    assert_eq!(commit(&store, &[first, second]).await, vec![Written::Done; 2]);
    assert_eq!(store.journal(&"a".into()).await, Ok(vec![entry(1), entry(2), entry(3)]));
}

pub async fn a_journal_entry_replaces_that_of_its_number<S: Store>(open: impl Fn() -> S) {
    let store = open();
    let folded = JournalRow { number: 2, document: "folded".into() };
    let first = Write { journal: vec![entry(1), entry(2)], ..write(row("a")) };
    let second = Write { journal: vec![folded.clone(), entry(3)], ..write(after(&row("a"))) };
    assert_eq!(commit(&store, &[first, second]).await, vec![Written::Done; 2]);
    assert_eq!(store.journal(&"a".into()).await, Ok(vec![entry(1), folded, entry(3)]));
}

pub async fn a_journal_keeps_the_newest_entries<S: Store>(open: impl Fn() -> S) {
    let store = open();
    let first = Write { journal: (1..=JOURNAL_MAX).map(entry).collect(), ..write(row("a")) };
    assert_eq!(one(&store, first).await, Written::Done);
    assert_eq!(numbers(&store, "a").await, (1..=JOURNAL_MAX).collect::<Vec<_>>());
    let more = (JOURNAL_MAX + 1..=JOURNAL_MAX + 51).map(entry).collect();
    let second = Write { journal: more, ..write(after(&row("a"))) };
    assert_eq!(one(&store, second).await, Written::Done);
    assert_eq!(numbers(&store, "a").await, (52..=JOURNAL_MAX + 51).collect::<Vec<_>>());
}

pub async fn journals_of_operations_are_apart<S: Store>(open: impl Fn() -> S) {
    let store = open();
    let a = Write { journal: vec![entry(1)], ..write(row("a")) };
    let ab = Write { journal: vec![entry(1), entry(2)], ..write(row("ab")) };
    assert_eq!(commit(&store, &[a, ab, write(row("b"))]).await, vec![Written::Done; 3]);
    assert_eq!(numbers(&store, "a").await, [1]);
    assert_eq!(numbers(&store, "ab").await, [1, 2]);
    assert!(numbers(&store, "b").await.is_empty());
}
