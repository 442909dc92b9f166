//! An account's operations, page by page.

use super::fixtures::*;
use crate::driver::ports::store::{Row, Store};
use crate::model::time::Timestamp;

fn created_at(id: &str, created_at: u64) -> Row {
    Row { created_at: Timestamp(created_at), ..row(id) }
}

pub async fn a_list_begins_with_the_newest<S: Store>(open: impl Fn() -> S) {
    let store = open();
    put(&store, [created_at("a", 30), created_at("b", 4), created_at("c", 100)]).await;
    assert_eq!(list(&store, "ann", None, 10).await, ["c", "a", "b"]);
    assert_eq!(list(&store, "ann", None, 2).await, ["c", "a"]);
    assert!(list(&store, "ann", None, 0).await.is_empty());
}

pub async fn a_list_gives_whole_rows_whether_due_or_not<S: Store>(open: impl Fn() -> S) {
    let store = open();
    let ended = Row { due: None, ..row("a") };
    put(&store, [ended.clone()]).await;
    assert_eq!(store.list(&"ann".into(), None, 10).await, Ok(vec![ended]));
}

pub async fn pages_of_a_list_have_every_row_once<S: Store>(open: impl Fn() -> S) {
    let store = open();
    let times = [("a", 10), ("b", 20), ("c", 20), ("d", 20), ("e", 30)];
    put(&store, times.map(|(id, at)| created_at(id, at))).await;
    for size in 1..=6 {
        let (mut seen, mut cursor) = (Vec::new(), None);
        loop {
            let page = store.list(&"ann".into(), cursor.as_ref(), size).await.unwrap();
            let Some(last) = page.last() else { break };
            cursor = Some((last.created_at, last.id.clone()));
            seen.extend(page.into_iter().map(|row| row.id.0));
        }
        assert_eq!(seen, ["e", "d", "c", "b", "a"], "in pages of {size}");
    }
}

pub async fn a_cursor_needs_no_row_of_its_own<S: Store>(open: impl Fn() -> S) {
    let store = open();
    put(&store, [created_at("a", 10), created_at("c", 10), created_at("b", 30)]).await;
    let between = (Timestamp(10), "b".into());
    assert_eq!(list(&store, "ann", Some(&between), 10).await, ["a"]);
    let before_all = (Timestamp(40), "a".into());
    assert_eq!(list(&store, "ann", Some(&before_all), 10).await, ["b", "c", "a"]);
    assert!(list(&store, "ann", Some(&(Timestamp(1), "a".into())), 10).await.is_empty());
}

pub async fn the_work_of_one_account_is_not_listed_for_another<S: Store>(open: impl Fn() -> S) {
    let store = open();
    let of = |account: &str, id| Row { account: account.into(), ..row(id) };
    put(&store, [of("ann", "a"), of("anna", "b"), of("an", "c"), of("", "d")]).await;
    assert_eq!(list(&store, "ann", None, 10).await, ["a"]);
    assert_eq!(list(&store, "anna", None, 10).await, ["b"]);
    assert_eq!(list(&store, "", None, 10).await, ["d"]);
    let cursor = (Timestamp(9999), "z".into());
    assert_eq!(list(&store, "ann", Some(&cursor), 10).await, ["a"]);
    assert!(list(&store, "bob", None, 10).await.is_empty());
}
