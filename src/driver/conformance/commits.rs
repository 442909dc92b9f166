//! Members, batches, and what skipping whole means.

use super::fixtures::*;
use crate::driver::ports::store::{Beside, Durability, Queue, Row, Store, Unique, Write, Written};
use crate::model::ids::{Revision, WriteId};
use crate::model::time::Timestamp;

pub async fn an_empty_store_answers_with_nothing<S: Store>(open: impl Fn() -> S) {
    let store = open();
    let chunk =
        crate::driver::ports::store::ChunkId { operation: "a".into(), download: 0, index: 0 };
    assert_eq!(load(&store, "a").await, None);
    assert_eq!(store.find(&name("daily")).await, Ok(None));
    assert_eq!(store.lane(&lane_of("ann")).await, Ok(None));
    assert_eq!(store.body(&"a".into()).await, Ok(None));
    assert_eq!(store.chunk(&chunk).await, Ok(None));
    assert_eq!(store.journal(&"a".into()).await, Ok(vec![]));
    assert_eq!(due(&store, Queue::Work, u64::MAX, 10).await, (vec![], None));
    assert_eq!(due(&store, Queue::Delivery, u64::MAX, 10).await, (vec![], None));
    assert!(list(&store, "ann", None, 10).await.is_empty());
}

pub async fn an_empty_batch_is_complete<S: Store>(open: impl Fn() -> S) {
    assert_eq!(commit(&open(), &[]).await, vec![]);
}

pub async fn a_row_is_read_back_as_it_was_written<S: Store>(open: impl Fn() -> S) {
    let store = open();
    let full = Row { delivery_due: Some(Timestamp(3000)), ..row("full") };
    let bare = Row { due: None, document: "naïve \u{1F980} \0 \"\\\n".into(), ..row("bare") };
    for (row, durability) in [(&full, Durability::Strict), (&bare, Durability::Relaxed)] {
        let written = store.commit(&[write(row.clone())], durability).await;
        assert_eq!(written, Ok(vec![Written::Done]));
    }
    assert_eq!(load(&store, "full").await, Some(full));
    assert_eq!(load(&store, "bare").await, Some(bare));
}

pub async fn a_first_write_onto_a_stored_row_is_stale<S: Store>(open: impl Fn() -> S) {
    let store = open();
    put(&store, [row("a")]).await;
    let second = Row { write_id: WriteId::from("another"), document: "no".into(), ..row("a") };
    assert_eq!(one(&store, write(second)).await, Written::Stale);
    assert_eq!(load(&store, "a").await, Some(row("a")));
}

pub async fn a_write_replaces_the_revision_that_it_states<S: Store>(open: impl Fn() -> S) {
    let store = open();
    let next = Row { document: "newer".into(), due: Some(Timestamp(9)), ..after(&row("a")) };
    put(&store, [row("a"), next.clone()]).await;
    assert_eq!(load(&store, "a").await, Some(next));
}

pub async fn a_write_that_states_another_revision_is_stale<S: Store>(open: impl Fn() -> S) {
    let store = open();
    let second = after(&row("a"));
    put(&store, [row("a"), second.clone()]).await;
    for stated in [None, Some(Revision(1)), Some(Revision(3))] {
        let late = Write { replaces: stated, ..write(after(&second)) };
        assert_eq!(one(&store, late).await, Written::Stale);
    }
    assert_eq!(load(&store, "a").await, Some(second));
}

pub async fn a_write_that_replaces_a_missing_row_is_stale<S: Store>(open: impl Fn() -> S) {
    let store = open();
    assert_eq!(one(&store, write(after(&row("a")))).await, Written::Stale);
    assert_eq!(load(&store, "a").await, None);
}

pub async fn repeated_writes_change_nothing<S: Store>(open: impl Fn() -> S) {
    let store = open();
    put(&store, [row("a")]).await;
    let again = Write {
        name: Some((name("daily"), None)),
        body: Some(vec![1]),
        journal: vec![entry(1)],
        ..write(Row { document: "different".into(), due: None, ..row("a") })
    };
    assert_eq!(one(&store, again).await, Written::Done);
    assert_eq!(load(&store, "a").await, Some(row("a")));
    assert_eq!(store.find(&name("daily")).await, Ok(None));
    assert_eq!(store.body(&"a".into()).await, Ok(None));
    assert_eq!(store.journal(&"a".into()).await, Ok(vec![]));
    assert_eq!(due(&store, Queue::Work, 2000, 10).await, (vec!["a".into()], None));
}

/// What was written stays; what its writer would do next is another's to do.
pub async fn a_repeated_write_is_late_once_its_lane_is_lost<S: Store>(open: impl Fn() -> S) {
    let store = open();
    let lane = store.claim(&claim("tab 1", 0)).await.unwrap();
    let owned = Write { fence: Some(fence(&lane, 50)), ..write(row("a")) };
    assert_eq!(one(&store, owned.clone()).await, Written::Done);
    assert_eq!(one(&store, owned.clone()).await, Written::Done);
    let successor = store.claim(&claim("tab 2", 60)).await.unwrap();
    assert_eq!(one(&store, owned).await, Written::Late);
    assert_eq!(store.lane(&lane.id).await, Ok(Some(successor)));
    assert_eq!(load(&store, "a").await, Some(row("a")));
}

pub async fn a_write_that_was_replaced_since_is_stale<S: Store>(open: impl Fn() -> S) {
    let store = open();
    put(&store, [row("a"), after(&row("a"))]).await;
    assert_eq!(one(&store, write(row("a"))).await, Written::Stale);
}

pub async fn a_failing_member_is_skipped_whole<S: Store>(open: impl Fn() -> S) {
    let store = open();
    let lane = store.claim(&claim("tab 1", 0)).await.unwrap();
    put(&store, [row("holder")]).await;
    let failing = Write {
        replaces: Some(Revision(7)),
        fence: Some(fence(&lane, 5000)),
        name: Some((name("daily"), None)),
        body: Some(vec![1, 2, 3]),
        takes: vec![Unique::Job("profile".into(), "job_1".into())],
        journal: vec![entry(1)],
        profile: Some(("digest".into(), "text".into())),
        ..write(row("a"))
    };
    assert_eq!(one(&store, failing).await, Written::Stale);
    assert_eq!(load(&store, "a").await, None);
    assert_eq!(store.lane(&lane.id).await, Ok(Some(lane)));
    assert_eq!(store.find(&name("daily")).await, Ok(None));
    assert_eq!(store.body(&"a".into()).await, Ok(None));
    assert_eq!(store.journal(&"a".into()).await, Ok(vec![]));
    let heir =
        Write { takes: vec![Unique::Job("profile".into(), "job_1".into())], ..write(row("b")) };
    assert_eq!(one(&store, heir).await, Written::Done);
}

/// The first write of `b` that replaces `a` beside it.
fn in_the_place_of(row_beside: Row, replaces: u64) -> Write {
    let beside = Beside { row: row_beside, replaces: Revision(replaces), journal: vec![entry(1)] };
    Write { beside: Some(Box::new(beside)), ..write(row("b")) }
}

pub async fn two_operations_change_together<S: Store>(open: impl Fn() -> S) {
    let store = open();
    put(&store, [row("a")]).await;
    let ended = Row { document: "ended".into(), due: None, ..after(&row("a")) };
    let both = in_the_place_of(ended.clone(), 1);
    assert_eq!(one(&store, both.clone()).await, Written::Done);
    assert_eq!(load(&store, "a").await, Some(ended));
    assert_eq!(load(&store, "b").await, Some(row("b")));
    assert_eq!(store.journal(&"a".into()).await, Ok(vec![entry(1)]));
    assert_eq!(due(&store, Queue::Work, 2000, 10).await, (vec!["b".into()], None));
    assert_eq!(one(&store, both).await, Written::Done);
}

pub async fn of_two_that_change_together_neither_does_where_one_has_moved<S: Store>(
    open: impl Fn() -> S,
) {
    let store = open();
    put(&store, [row("a"), after(&row("a"))]).await;
    for replaces in [1, 3] {
        let stale = in_the_place_of(after(&after(&row("a"))), replaces);
        assert_eq!(one(&store, stale).await, Written::Stale);
    }
    let missing = Row { id: "nobody".into(), ..after(&row("a")) };
    assert_eq!(one(&store, in_the_place_of(missing, 1)).await, Written::Stale);
    assert_eq!(load(&store, "a").await, Some(after(&row("a"))));
    assert_eq!(load(&store, "b").await, None);
}

pub async fn a_failing_member_hinders_no_other<S: Store>(open: impl Fn() -> S) {
    let store = open();
    let batch = [write(row("a")), write(after(&row("missing"))), write(row("c"))];
    let written = commit(&store, &batch).await;
    assert_eq!(written, vec![Written::Done, Written::Stale, Written::Done]);
    assert_eq!(load(&store, "a").await, Some(row("a")));
    assert_eq!(load(&store, "missing").await, None);
    assert_eq!(load(&store, "c").await, Some(row("c")));
}

pub async fn members_see_what_earlier_members_wrote<S: Store>(open: impl Fn() -> S) {
    let store = open();
    let named = |row: Row| Write {
        name: Some((name("daily"), None)),
        takes: vec![Unique::Job("profile".into(), "job_1".into())],
        ..write(row)
    };
    let stale = Row { write_id: WriteId::from("late"), ..after(&row("a")) };
    let rival = Write { name: None, ..named(row("c")) };
    let batch = [named(row("a")), write(after(&row("a"))), write(stale), named(row("b")), rival];
    let expected = [
        Written::Done,
        Written::Done,
        Written::Stale,
        Written::NameTaken("a".into()),
        Written::JobTaken("a".into()),
    ];
    assert_eq!(commit(&store, &batch).await, expected);
    assert_eq!(load(&store, "a").await, Some(after(&row("a"))));
}
