//! What is due, by index.

use super::fixtures::*;
use crate::driver::ports::store::{Queue, Row, Store};
use crate::model::ids::LaneId;
use crate::model::time::Timestamp;

fn due_at(id: &str, due: u64) -> Row {
    Row { due: Some(Timestamp(due)), ..row(id) }
}

pub async fn what_is_due_comes_soonest_first<S: Store>(open: impl Fn() -> S) {
    let store = open();
    // 30 sorts before 4 as text, and before 2^32 where a number is cut off.
    let rows = [due_at("a", 30), due_at("b", 4), due_at("c", 1 << 32), due_at("d", 0)];
    put(&store, rows).await;
    let found = due(&store, Queue::Work, 1 << 33, 10).await;
    assert_eq!(found, (vec!["d".into(), "b".into(), "a".into(), "c".into()], None));
}

pub async fn due_rows_come_whole<S: Store>(open: impl Fn() -> S) {
    let store = open();
    put(&store, [row("a")]).await;
    let due = store.due(&lane_of("ann"), Queue::Work, Timestamp(2000), 1).await.unwrap();
    assert_eq!(due.rows, [row("a")]);
}

pub async fn what_is_due_later_is_only_told_as_next<S: Store>(open: impl Fn() -> S) {
    let store = open();
    put(&store, [due_at("a", 10), due_at("b", 11), due_at("c", 12)]).await;
    assert_eq!(due(&store, Queue::Work, 9, 10).await, (vec![], Some(10)));
    assert_eq!(due(&store, Queue::Work, 10, 10).await, (vec!["a".into()], Some(11)));
    assert_eq!(due(&store, Queue::Work, 11, 10).await, (vec!["a".into(), "b".into()], Some(12)));
}

pub async fn what_is_due_beyond_the_limit_is_only_told_as_next<S: Store>(open: impl Fn() -> S) {
    let store = open();
    put(&store, [due_at("a", 10), due_at("b", 11), due_at("c", 12)]).await;
    assert_eq!(due(&store, Queue::Work, 99, 0).await, (vec![], Some(10)));
    assert_eq!(due(&store, Queue::Work, 99, 1).await, (vec!["a".into()], Some(11)));
    let all = vec!["a".into(), "b".into(), "c".into()];
    assert_eq!(due(&store, Queue::Work, 99, 3).await, (all, None));
}

pub async fn what_is_due_together_comes_by_id<S: Store>(open: impl Fn() -> S) {
    let store = open();
    put(&store, [due_at("b", 10), due_at("c", 10), due_at("a", 10)]).await;
    assert_eq!(due(&store, Queue::Work, 10, 2).await, (vec!["a".into(), "b".into()], Some(10)));
}

pub async fn a_row_that_is_not_due_is_in_no_queue<S: Store>(open: impl Fn() -> S) {
    let store = open();
    put(&store, [Row { due: None, ..row("a") }]).await;
    assert_eq!(due(&store, Queue::Work, u64::MAX, 10).await, (vec![], None));
    assert_eq!(due(&store, Queue::Delivery, u64::MAX, 10).await, (vec![], None));
}

pub async fn a_queue_follows_its_rows<S: Store>(open: impl Fn() -> S) {
    let store = open();
    let second = Row { due: Some(Timestamp(50)), ..after(&row("a")) };
    let third = Row { due: None, ..after(&second) };
    put(&store, [row("a"), second]).await;
    assert_eq!(due(&store, Queue::Work, 5000, 10).await, (vec!["a".into()], None));
    assert_eq!(due(&store, Queue::Work, 49, 10).await, (vec![], Some(50)));
    put(&store, [third]).await;
    assert_eq!(due(&store, Queue::Work, 5000, 10).await, (vec![], None));
}

pub async fn work_and_delivery_are_queues_apart<S: Store>(open: impl Fn() -> S) {
    let store = open();
    let delivering = Row { due: None, delivery_due: Some(Timestamp(20)), ..row("b") };
    let in_both = Row { delivery_due: Some(Timestamp(10)), ..due_at("c", 30) };
    put(&store, [due_at("a", 10), delivering, in_both]).await;
    let work = (vec!["a".into(), "c".into()], None);
    let delivery = (vec!["c".into(), "b".into()], None);
    assert_eq!(due(&store, Queue::Work, 99, 10).await, work);
    assert_eq!(due(&store, Queue::Delivery, 99, 10).await, delivery);
}

pub async fn queues_of_lanes_are_apart<S: Store>(open: impl Fn() -> S) {
    let store = open();
    let longer = LaneId::from_key([lane_of("ann").as_str(), "/more"].concat());
    let others = [
        Row { account: "bob".into(), lane: lane_of("bob"), ..row("b") },
        Row { lane: longer.clone(), ..row("c") },
    ];
    put(&store, [row("a")].into_iter().chain(others)).await;
    assert_eq!(due(&store, Queue::Work, 9999, 10).await, (vec!["a".into()], None));
    let due = store.due(&longer, Queue::Work, Timestamp(0), 10).await.unwrap();
    assert_eq!((due.rows.len(), due.next), (0, Some(Timestamp(2000))));
}
