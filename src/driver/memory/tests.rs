//! Indexes against the plainest oracle: sort everything.

use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;

use super::MemoryStore;
use crate::driver::conformance::fixtures::write;
use crate::driver::ports::store::{Durability, Queue, Row, Store, Written};
use crate::model::ids::{LaneId, OperationId, Revision, WriteId};
use crate::model::time::Timestamp;

fn lane(account: u8) -> LaneId {
    LaneId::from_key(["lane", &account.to_string()].join("\n"))
}

prop_compose! {
    fn any_row()(
        id in 0..30_u8,
        account in 0..3_u8,
        created_at in 0..8_u64,
        due in option::of(0..8_u64),
        delivery_due in option::of(0..8_u64),
    ) -> Row {
        Row {
            id: OperationId(id.to_string()),
            account: account.to_string().as_str().into(),
            lane: lane(account),
            created_at: Timestamp(created_at),
            due: due.map(Timestamp),
            delivery_due: delivery_due.map(Timestamp),
            revision: Revision(1),
            write_id: "".into(),
            document: String::new(),
        }
    }
}

/// A store that these rows went into one after the other, and what it must hold.
fn filled(rows: Vec<Row>) -> (MemoryStore, Vec<Row>) {
    let store = MemoryStore::new();
    let mut kept: Vec<Row> = Vec::new();
    for (number, row) in (0_u32..).zip(rows) {
        let replaces = kept.iter().find(|old| old.id == row.id).map(|old| old.revision);
        let revision = replaces.map_or(Revision(1), Revision::next);
        let row = Row { revision, write_id: WriteId(number.to_string()), ..row };
        kept.retain(|old| old.id != row.id);
        kept.push(row.clone());
        let written = pollster::block_on(store.commit(&[write(row)], Durability::Strict));
        assert_eq!(written, Ok(vec![Written::Done]));
    }
    (store, kept)
}

proptest! {
    #[test]
    fn what_is_due_is_the_head_of_the_sorted_lane(
        rows in vec(any_row(), 0..60),
        delivery in any::<bool>(),
        before in 0..9_u64,
        limit in 0..6_u32,
    ) {
        let (store, mut kept) = filled(rows);
        let queue = if delivery { Queue::Delivery } else { Queue::Work };
        let time_of = |row: &Row| if delivery { row.delivery_due } else { row.due };
        kept.retain(|row| row.lane == lane(1) && time_of(row).is_some());
        kept.sort_by_key(|row| (time_of(row), row.id.clone()));
        let ready = kept.iter().filter(|row| time_of(row) <= Some(Timestamp(before))).count();
        let rest = kept.split_off(ready.min(limit as usize));

        let lane = lane(1);
        let due = store.due(&lane, queue, Timestamp(before), limit);
        let due = pollster::block_on(due).unwrap();
        prop_assert_eq!(due.rows, kept);
        prop_assert_eq!(due.next, rest.first().and_then(time_of));
    }

    #[test]
    fn a_list_is_a_stretch_of_the_sorted_account(
        rows in vec(any_row(), 0..60),
        cursor in option::of((0..9_u64, 0..30_u8)),
        limit in 0..40_u32,
    ) {
        let (store, mut kept) = filled(rows);
        let cursor = cursor.map(|(at, id)| (Timestamp(at), OperationId(id.to_string())));
        let place = |row: &Row| (row.created_at, row.id.clone());
        kept.retain(|row| row.account.as_str() == "1");
        kept.retain(|row| cursor.as_ref().is_none_or(|cursor| place(row) < *cursor));
        kept.sort_by_key(|row| core::cmp::Reverse(place(row)));
        kept.truncate(limit as usize);
        let account = "1".into();
        let listed = pollster::block_on(store.list(&account, cursor.as_ref(), limit));
        prop_assert_eq!(listed, Ok(kept));
    }

    #[test]
    fn a_fork_and_its_origin_go_apart(rows in vec(any_row(), 1..9), more in any_row()) {
        let (store, _) = filled(rows);
        let snapshot = store.snapshot();
        let fork = MemoryStore::from_snapshot(snapshot.clone());
        let other_handle = fork.clone();
        let new = write(Row { id: "new".into(), ..more });
        pollster::block_on(fork.commit(&[new], Durability::Strict)).unwrap();
        prop_assert_eq!(&store.snapshot(), &snapshot);
        prop_assert_ne!(&other_handle.snapshot(), &snapshot);
        other_handle.restore(snapshot.clone());
        prop_assert_eq!(fork.snapshot(), snapshot);
    }
}
