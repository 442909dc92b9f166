//! Several handles on one storage, and work that overlaps.

use super::fixtures::*;
use crate::driver::ports::store::{Store, Write, Written};
use crate::model::ids::WriteId;

pub async fn what_one_handle_writes_another_reads<S: Store>(open: impl Fn() -> S) {
    let (one, two) = (open(), open());
    put(&one, [row("a")]).await;
    assert_eq!(load(&two, "a").await, Some(row("a")));
    put(&two, [after(&row("a"))]).await;
    assert_eq!(load(&one, "a").await, Some(after(&row("a"))));
}

pub async fn of_two_handles_one_gets_the_name<S: Store>(open: impl Fn() -> S) {
    let stores = [open(), open()];
    let named = |id| Write { name: Some((name("daily"), None)), ..write(row(id)) };
    let written = both(one(&stores[0], named("a")), one(&stores[1], named("b"))).await;
    let expected = if written[0] == Written::Done {
        [Written::Done, Written::NameTaken("a".into())]
    } else {
        [Written::NameTaken("b".into()), Written::Done]
    };
    assert_eq!(written, expected);
}

pub async fn of_two_handles_one_replaces_the_revision<S: Store>(open: impl Fn() -> S) {
    let stores = [open(), open()];
    put(&stores[0], [row("a")]).await;
    let next = |write_id: &str| {
        let mut next = write(after(&row("a")));
        next.row.write_id = WriteId::from(write_id);
        next
    };
    let mut written = both(one(&stores[0], next("x")), one(&stores[1], next("y"))).await;
    written.sort_by_key(|written| *written == Written::Stale);
    assert_eq!(written, [Written::Done, Written::Stale]);
}

pub async fn of_two_handles_one_gets_the_lane<S: Store>(open: impl Fn() -> S) {
    let stores = [open(), open()];
    let (mine, yours) = (claim("tab 1", 0), claim("tab 2", 0));
    let lanes = both(stores[0].claim(&mine), stores[1].claim(&yours)).await;
    assert!(lanes[0].is_ok());
    assert_eq!(lanes[0], lanes[1]);
}

pub async fn calls_on_one_handle_may_overlap<S: Store>(open: impl Fn() -> S) {
    let store = open();
    let written = both(one(&store, write(row("a"))), one(&store, write(row("b")))).await;
    assert_eq!(written, [Written::Done, Written::Done]);
    assert_eq!(both(load(&store, "a"), load(&store, "b")).await, [Some(row("a")), Some(row("b"))]);
}

pub async fn a_dropped_connection_loses_nothing<S: Store>(open: impl Fn() -> S) {
    let store = open();
    store.forget_connection();
    put(&store, [row("a")]).await;
    store.forget_connection();
    store.forget_connection();
    assert_eq!(load(&store, "a").await, Some(row("a")));
}
