//! Ownership: claims, fences, and pokes.

use super::fixtures::*;
use crate::driver::ports::store::{Store, Write, Written};
use crate::model::ids::{ContextId, Epoch};
use crate::model::lane::{Claim, Fence, Lane};
use crate::model::time::{Timestamp, Wait};
use crate::rules::bounds::IN_FLIGHT_MAX;

const GATE: Wait = Wait { set_at: Timestamp(7), length_ms: 60_000 };

fn poke(id: &str, answer_by: u64) -> Write {
    Write { answer_by: Some(Timestamp(answer_by)), ..write(row(id)) }
}

fn fenced(id: &str, fence: Fence) -> Write {
    Write { fence: Some(fence), ..write(row(id)) }
}

async fn stored(store: &impl Store) -> Option<Lane> {
    store.lane(&lane_of("ann")).await.unwrap()
}

pub async fn a_new_lane_is_claimed<S: Store>(open: impl Fn() -> S) {
    let store = open();
    let lane = store.claim(&claim("tab 1", 10)).await.unwrap();
    let expected = Lane {
        id: lane_of("ann"),
        owner: Some("tab 1".into()),
        epoch: Epoch(1),
        renewed_at: Timestamp(10),
        lease_until: Timestamp(110),
        gate: None,
        sent: Vec::new(),
    };
    assert_eq!(lane, expected);
    assert_eq!(stored(&store).await, Some(expected));
    assert_eq!(store.lane(&lane_of("bob")).await, Ok(None));
}

pub async fn a_held_lane_stays_as_it_is<S: Store>(open: impl Fn() -> S) {
    let store = open();
    let held = store.claim(&claim("tab 1", 0)).await.unwrap();
    assert_eq!(store.claim(&claim("tab 2", 99)).await, Ok(held.clone()));
    assert_eq!(stored(&store).await, Some(held));
}

pub async fn a_lease_of_a_clock_that_jumped_back_begins_anew<S: Store>(open: impl Fn() -> S) {
    let store = open();
    let held = store.claim(&claim("tab 1", 5_000)).await.unwrap();
    let anew = Lane { renewed_at: Timestamp(7), lease_until: Timestamp(107), ..held };
    assert_eq!(store.claim(&claim("tab 2", 7)).await, Ok(anew.clone()));
    assert_eq!(stored(&store).await, Some(anew));
}

pub async fn an_overdue_lane_changes_hands<S: Store>(open: impl Fn() -> S) {
    let store = open();
    store.claim(&claim("tab 1", 0)).await.unwrap();
    let lane = store.claim(&claim("tab 2", 100)).await.unwrap();
    assert_eq!((lane.owner, lane.epoch), (Some("tab 2".into()), Epoch(2)));
}

pub async fn a_dead_owners_lane_changes_hands_at_once<S: Store>(open: impl Fn() -> S) {
    let store = open();
    store.claim(&claim("tab 1", 0)).await.unwrap();
    let wrong = Claim { dead: Some("tab 3".into()), ..claim("tab 2", 1) };
    assert_eq!(store.claim(&wrong).await.unwrap().owner, Some("tab 1".into()));
    let right = Claim { dead: Some("tab 1".into()), ..claim("tab 2", 1) };
    assert_eq!(store.claim(&right).await.unwrap().owner, Some("tab 2".into()));
}

pub async fn an_owner_claims_again_under_its_epoch<S: Store>(open: impl Fn() -> S) {
    let store = open();
    store.claim(&claim("tab 1", 0)).await.unwrap();
    let again = store.claim(&claim("tab 1", 50)).await.unwrap();
    assert_eq!((again.epoch, again.lease_until), (Epoch(1), Timestamp(150)));
}

pub async fn an_owners_write_renews_its_lease<S: Store>(open: impl Fn() -> S) {
    let store = open();
    let lane = store.claim(&claim("tab 1", 0)).await.unwrap();
    assert_eq!(one(&store, fenced("a", fence(&lane, 5000))).await, Written::Done);
    let renewed = Lane { lease_until: Timestamp(5000), ..lane };
    assert_eq!(stored(&store).await, Some(renewed));
}

pub async fn a_gate_stays_until_another_is_set<S: Store>(open: impl Fn() -> S) {
    let store = open();
    let lane = store.claim(&claim("tab 1", 0)).await.unwrap();
    let gating = Fence { gate: Some(GATE), ..fence(&lane, 200) };
    assert_eq!(one(&store, fenced("a", gating)).await, Written::Done);
    assert_eq!(one(&store, fenced("b", fence(&lane, 300))).await, Written::Done);
    assert_eq!(stored(&store).await.and_then(|lane| lane.gate), Some(GATE));
    let successor = store.claim(&claim("tab 2", 300)).await.unwrap();
    assert_eq!(successor.gate, Some(GATE));
}

pub async fn what_has_left_in_a_lane_is_known_to_its_next_owner<S: Store>(open: impl Fn() -> S) {
    let store = open();
    let lane = store.claim(&claim("tab 1", 0)).await.unwrap();
    let sent = vec![(Timestamp(3), 2), (Timestamp(5), 1)];
    let told = Fence { sent: sent.clone(), ..fence(&lane, 200) };
    assert_eq!(one(&store, fenced("a", told)).await, Written::Done);
    assert_eq!(one(&store, fenced("b", fence(&lane, 300))).await, Written::Done);
    assert_eq!(stored(&store).await.map(|lane| lane.sent), Some(sent.clone()));
    assert_eq!(store.give_back(&fence(&lane, 0)).await, Ok(()));
    let second = store.claim(&claim("tab 2", 300)).await.unwrap();
    assert_eq!(second.sent, sent, "given back, all of it is told");
    let third = store.claim(&claim("tab 3", 400)).await.unwrap();
    let unknown = [sent, vec![(Timestamp(400), IN_FLIGHT_MAX)]].concat();
    assert_eq!(third.sent, unknown, "what the dead one sent last is not");
}

pub async fn a_former_owner_writes_nothing<S: Store>(open: impl Fn() -> S) {
    let store = open();
    let former = store.claim(&claim("tab 1", 0)).await.unwrap();
    let successor = store.claim(&claim("tab 2", 100)).await.unwrap();
    assert_eq!(one(&store, fenced("a", fence(&former, 500))).await, Written::Fenced);
    assert_eq!(load(&store, "a").await, None);
    assert_eq!(stored(&store).await, Some(successor));
}

pub async fn an_older_epoch_of_the_same_context_is_fenced<S: Store>(open: impl Fn() -> S) {
    let store = open();
    store.claim(&claim("tab 1", 0)).await.unwrap();
    store.claim(&claim("tab 2", 100)).await.unwrap();
    let third = store.claim(&claim("tab 1", 200)).await.unwrap();
    assert_eq!(one(&store, fenced("a", former(fence(&third, 500)))).await, Written::Fenced);
    assert_eq!(one(&store, fenced("a", fence(&third, 500))).await, Written::Done);
}

pub async fn a_write_to_a_lane_that_nobody_owns_is_fenced<S: Store>(open: impl Fn() -> S) {
    let store = open();
    let fence = Fence {
        lane: lane_of("ann"),
        context: ContextId::from("tab 1"),
        epoch: Epoch(1),
        now: Timestamp(0),
        lease_until: Timestamp(100),
        gate: None,
        sent: Vec::new(),
    };
    assert_eq!(one(&store, fenced("a", fence)).await, Written::Fenced);
    assert_eq!(stored(&store).await, None);
}

pub async fn being_fenced_is_told_before_being_stale<S: Store>(open: impl Fn() -> S) {
    let store = open();
    let lane = store.claim(&claim("tab 1", 0)).await.unwrap();
    store.claim(&claim("tab 2", 100)).await.unwrap();
    let late = Write { fence: Some(fence(&lane, 500)), ..write(after(&row("a"))) };
    assert_eq!(one(&store, late).await, Written::Fenced);
}

pub async fn a_lane_that_is_given_back_is_free<S: Store>(open: impl Fn() -> S) {
    let store = open();
    let lane = store.claim(&claim("tab 1", 0)).await.unwrap();
    assert_eq!(store.give_back(&Fence { gate: Some(GATE), ..fence(&lane, 90) }).await, Ok(()));
    assert_eq!(stored(&store).await.map(|lane| lane.owner), Some(None));
    assert_eq!(one(&store, fenced("a", fence(&lane, 90))).await, Written::Fenced);
    let successor = store.claim(&claim("tab 2", 1)).await.unwrap();
    assert_eq!((successor.epoch, successor.gate), (Epoch(2), Some(GATE)));
}

pub async fn a_former_owner_gives_nothing_back<S: Store>(open: impl Fn() -> S) {
    let store = open();
    let former = store.claim(&claim("tab 1", 0)).await.unwrap();
    let successor = store.claim(&claim("tab 2", 100)).await.unwrap();
    assert_eq!(store.give_back(&fence(&former, 0)).await, Ok(()));
    assert_eq!(stored(&store).await, Some(successor));
}

pub async fn another_contexts_write_shortens_the_lease<S: Store>(open: impl Fn() -> S) {
    let store = open();
    let lane = store.claim(&claim("tab 1", 0)).await.unwrap();
    assert_eq!(one(&store, poke("a", 60)).await, Written::Done);
    let shortened = Lane { lease_until: Timestamp(60), ..lane };
    assert_eq!(stored(&store).await, Some(shortened.clone()));
    assert_eq!(one(&store, poke("b", 90)).await, Written::Done);
    assert_eq!(stored(&store).await, Some(shortened));
}

pub async fn a_write_that_pokes_nobody_leaves_the_lane<S: Store>(open: impl Fn() -> S) {
    let store = open();
    assert_eq!(one(&store, poke("a", 60)).await, Written::Done);
    assert_eq!(stored(&store).await, None);
    let lane = store.claim(&claim("tab 1", 0)).await.unwrap();
    assert_eq!(one(&store, write(row("b"))).await, Written::Done);
    assert_eq!(stored(&store).await, Some(lane));
}
