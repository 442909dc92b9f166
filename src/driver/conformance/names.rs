//! Intents and service ids: each stands for one operation.

use super::fixtures::*;
use crate::driver::ports::store::{Name, Row, Store, Unique, Write, Written};
use crate::model::ids::OperationId;

/// The first write of an operation that takes the name over from another (`None`: the name is new).
fn named(id: &str, name: Name, from: Option<&str>) -> Write {
    Write { name: Some((name, from.map(OperationId::from))), ..write(row(id)) }
}

/// The first write of an operation that takes a key.
fn keyed(id: &str, account: &str, service: &str, key: &str) -> Write {
    let key = Unique::Key(account.into(), service.into(), key.into());
    Write { takes: vec![key], ..write(row(id)) }
}

/// The first write of an operation that takes a service's id.
fn adopting(id: &str, profile: &str, job: &str) -> Write {
    Write { takes: vec![Unique::Job(profile.into(), job.into())], ..write(row(id)) }
}

pub async fn a_name_finds_its_operation<S: Store>(open: impl Fn() -> S) {
    let store = open();
    assert_eq!(one(&store, named("a", name("daily"), None)).await, Written::Done);
    put(&store, [after(&row("a"))]).await;
    assert_eq!(store.find(&name("daily")).await, Ok(Some(after(&row("a")))));
}

pub async fn a_taken_name_is_refused_with_its_operation<S: Store>(open: impl Fn() -> S) {
    let store = open();
    assert_eq!(one(&store, named("a", name("daily"), None)).await, Written::Done);
    let second = one(&store, named("b", name("daily"), None)).await;
    assert_eq!(second, Written::NameTaken("a".into()));
    assert_eq!(load(&store, "b").await, None);
    assert_eq!(store.find(&name("daily")).await, Ok(Some(row("a"))));
}

pub async fn a_name_moves_to_the_newest_operation<S: Store>(open: impl Fn() -> S) {
    let store = open();
    assert_eq!(one(&store, named("a", name("daily"), None)).await, Written::Done);
    assert_eq!(one(&store, named("b", name("daily"), Some("a"))).await, Written::Done);
    assert_eq!(store.find(&name("daily")).await, Ok(Some(row("b"))));
    assert_eq!(load(&store, "a").await, Some(row("a")));
}

pub async fn a_name_does_not_move_from_where_it_does_not_stand<S: Store>(open: impl Fn() -> S) {
    let store = open();
    assert_eq!(one(&store, named("a", name("daily"), None)).await, Written::Done);
    assert_eq!(one(&store, named("b", name("daily"), Some("a"))).await, Written::Done);
    let late = one(&store, named("c", name("daily"), Some("a"))).await;
    assert_eq!(late, Written::NameTaken("b".into()));
    let groundless = one(&store, named("d", name("weekly"), Some("a"))).await;
    assert_eq!(groundless, Written::Stale);
    assert_eq!(store.find(&name("weekly")).await, Ok(None));
}

pub async fn an_operation_may_state_its_own_name_again<S: Store>(open: impl Fn() -> S) {
    let store = open();
    assert_eq!(one(&store, named("a", name("daily"), None)).await, Written::Done);
    let again = Write { row: after(&row("a")), ..named("a", name("daily"), None) };
    let again = Write { replaces: Some(row("a").revision), ..again };
    assert_eq!(one(&store, again).await, Written::Done);
    assert_eq!(store.find(&name("daily")).await, Ok(Some(after(&row("a")))));
}

pub async fn names_are_apart_by_account_and_service<S: Store>(open: impl Fn() -> S) {
    let store = open();
    let of_bob = Name { account: "bob".into(), ..name("daily") };
    let of_maps = Name { service: "maps".into(), ..name("daily") };
    let bobs = Row { account: "bob".into(), lane: lane_of("bob"), ..row("b") };
    let batch = [
        named("a", name("daily"), None),
        Write { row: bobs.clone(), ..named("b", of_bob.clone(), None) },
        named("c", of_maps.clone(), None),
    ];
    assert_eq!(commit(&store, &batch).await, vec![Written::Done; 3]);
    assert_eq!(store.find(&name("daily")).await, Ok(Some(row("a"))));
    assert_eq!(store.find(&of_bob).await, Ok(Some(bobs)));
    assert_eq!(store.find(&of_maps).await, Ok(Some(row("c"))));
}

pub async fn a_service_id_belongs_to_one_operation<S: Store>(open: impl Fn() -> S) {
    let store = open();
    assert_eq!(one(&store, adopting("a", "harvester", "job_1")).await, Written::Done);
    let second = one(&store, adopting("b", "harvester", "job_1")).await;
    assert_eq!(second, Written::JobTaken("a".into()));
    assert_eq!(load(&store, "b").await, None);
}

pub async fn an_operation_may_take_its_own_service_id_again<S: Store>(open: impl Fn() -> S) {
    let store = open();
    assert_eq!(one(&store, adopting("a", "harvester", "job_1")).await, Written::Done);
    let again =
        Write { takes: adopting("a", "harvester", "job_1").takes, ..write(after(&row("a"))) };
    assert_eq!(one(&store, again).await, Written::Done);
}

pub async fn service_ids_are_apart_by_profile<S: Store>(open: impl Fn() -> S) {
    let store = open();
    let batch = [
        adopting("a", "harvester", "job_1"),
        adopting("b", "other", "job_1"),
        adopting("c", "harvester", "9007199254740993"),
        adopting("d", "harvester", "9007199254740992"),
    ];
    assert_eq!(commit(&store, &batch).await, vec![Written::Done; 4]);
}

pub async fn a_key_belongs_to_one_operation<S: Store>(open: impl Fn() -> S) {
    let store = open();
    assert_eq!(one(&store, keyed("a", "ann", "reports", "k")).await, Written::Done);
    let second = keyed("b", "ann", "reports", "k");
    assert_eq!(one(&store, second).await, Written::KeyTaken("a".into()));
    assert_eq!(load(&store, "b").await, None);
    let again = Write { takes: keyed("a", "ann", "reports", "k").takes, ..write(after(&row("a"))) };
    assert_eq!(one(&store, again).await, Written::Done);
}

pub async fn keys_are_apart_by_account_and_service_and_from_service_ids<S: Store>(
    open: impl Fn() -> S,
) {
    let store = open();
    let batch = [
        keyed("a", "ann", "reports", "k"),
        keyed("b", "bob", "reports", "k"),
        keyed("c", "ann", "maps", "k"),
        adopting("d", "reports", "k"),
    ];
    assert_eq!(commit(&store, &batch).await, vec![Written::Done; 4]);
}

pub async fn of_a_write_that_is_refused_for_one_thing_nothing_is_taken<S: Store>(
    open: impl Fn() -> S,
) {
    let store = open();
    assert_eq!(one(&store, adopting("a", "harvester", "job_1")).await, Written::Done);
    let mut both = keyed("b", "ann", "reports", "k");
    both.takes.extend(adopting("b", "harvester", "job_1").takes);
    assert_eq!(one(&store, both).await, Written::JobTaken("a".into()));
    assert_eq!(one(&store, keyed("c", "ann", "reports", "k")).await, Written::Done);
}
