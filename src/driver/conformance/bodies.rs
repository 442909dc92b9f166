//! Bytes: request bodies and pieces of results.

use std::rc::Rc;

use super::fixtures::*;
use crate::driver::ports::store::{ChunkId, Durability, Piece, Store, Write, Written};
use crate::model::ids::Epoch;

fn chunk(operation: &str, download: u64, index: u32) -> ChunkId {
    ChunkId { operation: operation.into(), download, index }
}

pub async fn a_body_is_read_back_byte_for_byte<S: Store>(open: impl Fn() -> S) {
    let store = open();
    let bytes: Vec<u8> = (0..2_500_000_u32).map(|n| n as u8).collect();
    let full = Write { body: Some(bytes.clone()), ..write(row("a")) };
    let empty = Write { body: Some(Vec::new()), ..write(row("b")) };
    assert_eq!(commit(&store, &[full, empty, write(row("c"))]).await, vec![Written::Done; 3]);
    assert_eq!(store.body(&"a".into()).await, Ok(Some(bytes)));
    assert_eq!(store.body(&"b".into()).await, Ok(Some(Vec::new())));
    assert_eq!(store.body(&"c".into()).await, Ok(None));
}

pub async fn a_body_is_written_once<S: Store>(open: impl Fn() -> S) {
    let store = open();
    let first = Write { body: Some(vec![1]), ..write(row("a")) };
    let second = Write { body: Some(vec![2]), ..write(after(&row("a"))) };
    assert_eq!(one(&store, first).await, Written::Done);
    assert_eq!(one(&store, second).await, Written::Done);
    assert_eq!(one(&store, write(after(&after(&row("a"))))).await, Written::Done);
    assert_eq!(store.body(&"a".into()).await, Ok(Some(vec![1])));
}

pub async fn a_profile_may_be_stated_by_many_operations<S: Store>(open: impl Fn() -> S) {
    let store = open();
    let profiled =
        |id: &str| Write { profile: Some(("digest".into(), "the text".into())), ..write(row(id)) };
    let written = commit(&store, &[profiled("a"), profiled("b")]).await;
    assert_eq!(written, vec![Written::Done; 2]);
    assert_eq!(one(&store, profiled("c")).await, Written::Done);
}

pub async fn pieces_of_results_are_apart<S: Store>(open: impl Fn() -> S) {
    let store = open();
    let pieces =
        [chunk("a", 0, 0), chunk("a", 0, 1), chunk("a", 1, 0), chunk("b", 0, 0), chunk("a", 10, 0)];
    for (number, piece) in (0_u8..).zip(&pieces) {
        keep(&store, piece, &[number, 255, 0]).await;
    }
    for (number, piece) in (0_u8..).zip(&pieces) {
        assert_eq!(store.chunk(piece).await, Ok(Some(vec![number, 255, 0])));
    }
    assert_eq!(store.chunk(&chunk("a", 0, 2)).await, Ok(None));
}

pub async fn a_piece_of_a_result_may_be_written_again<S: Store>(open: impl Fn() -> S) {
    let store = open();
    keep(&store, &chunk("a", 0, 0), &[1, 2]).await;
    keep(&store, &chunk("a", 0, 0), &[3]).await;
    assert_eq!(store.chunk(&chunk("a", 0, 0)).await, Ok(Some(vec![3])));
}

pub async fn only_the_owner_of_the_lane_keeps_pieces<S: Store>(open: impl Fn() -> S) {
    let store = open();
    let (lane, piece) = (lane_of("ann"), chunk("a", 0, 0));
    let put = async |epoch| store.put_chunk(&lane, epoch, &piece, &[1]).await;
    assert_eq!(put(Epoch(0)).await, Ok(false), "nobody owns it");
    let first = store.claim(&claim("tab 1", 0)).await.unwrap();
    store.claim(&claim("tab 2", 100)).await.unwrap();
    assert_eq!(put(first.epoch).await, Ok(false), "it has another owner");
    let again = store.claim(&claim("tab 1", 300_000)).await.unwrap();
    assert_eq!(put(first.epoch).await, Ok(false), "it has had another owner since");
    assert_eq!(store.chunk(&piece).await, Ok(None));
    assert_eq!(put(again.epoch).await, Ok(true));
    assert_eq!(store.chunk(&piece).await, Ok(Some(vec![1])));
}

pub async fn the_last_piece_of_a_result_is_there_with_its_write_or_not_at_all<S: Store>(
    open: impl Fn() -> S,
) {
    let store = open();
    let lane = store.claim(&claim("tab 1", 0)).await.unwrap();
    let ending = |id: &str, fence| Write {
        fence: Some(fence),
        piece: Some(Rc::new(Piece { download: 7, index: 2, bytes: vec![1, 0, 255] })),
        ..write(row(id))
    };
    let batch = [
        ending("a", fence(&lane, 500)),
        ending("b", former(fence(&lane, 500))),
        ending("c", fence(&lane, 500)),
    ];
    let written = store.commit(&batch, Durability::Relaxed).await.unwrap();
    assert_eq!(written, [Written::Done, Written::Fenced, Written::Done]);
    let kept = async |id| store.chunk(&chunk(id, 7, 2)).await.unwrap();
    assert_eq!(kept("a").await, Some(vec![1, 0, 255]));
    assert_eq!(kept("b").await, None);
    assert_eq!(kept("c").await, kept("a").await);
}
