//! A long random life, in which a store must answer as the store in memory does.

use std::rc::Rc;

use super::fixtures::*;
use crate::driver::memory::MemoryStore;
use crate::driver::ports::store::{
    ChunkId, Erase, Piece, Queue, Row, Store, Unique, Write, Written,
};
use crate::model::ids::{OperationId, Revision, WriteId};
use crate::model::lane::{Claim, Fence};
use crate::model::time::{Timestamp, Wait};

/// Steps of the life.
const STEPS: u32 = 300;

/// Small random numbers, the same in every run (a linear congruential generator).
struct Dice(u32);

impl Dice {
    fn below(&mut self, sides: u32) -> u32 {
        self.0 = self.0.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (self.0 >> 16) % sides
    }

    fn pick<'a>(&mut self, words: &[&'a str]) -> &'a str {
        words[self.below(words.len() as u32) as usize]
    }

    fn maybe<T>(&mut self, make: impl FnOnce(&mut Self) -> T) -> Option<T> {
        (self.below(2) == 0).then(|| make(self))
    }

    fn time(&mut self) -> Timestamp {
        Timestamp(self.below(20).into())
    }

    fn fence(&mut self, lane: &str) -> Fence {
        Fence {
            lane: lane_of(lane),
            context: self.pick(&["tab 1", "tab 2"]).into(),
            epoch: crate::model::ids::Epoch(self.below(6).into()),
            now: self.time(),
            lease_until: self.time(),
            gate: self.maybe(|dice| Wait { set_at: dice.time(), length_ms: dice.below(9).into() }),
            sent: self.maybe(|dice| (dice.time(), dice.below(4))).into_iter().collect(),
        }
    }

    fn claim(&mut self) -> Claim {
        Claim {
            lane: lane_of(self.pick(&["ann", "bob"])),
            context: self.pick(&["tab 1", "tab 2"]).into(),
            now: self.time(),
            lease_until: self.time(),
            dead: self.maybe(|dice| dice.pick(&["tab 1", "tab 2"]).into()),
        }
    }

    /// A write that fits what is stored more often than not.
    fn takes(&mut self) -> Vec<Unique> {
        match self.below(8) {
            0 | 1 => vec![Unique::Job("p".into(), self.pick(&["1", "2"]).into())],
            2 => vec![Unique::Key("ann".into(), "p".into(), self.pick(&["1", "2"]).into())],
            _ => Vec::new(),
        }
    }

    fn write(&mut self, stored: impl Fn(&OperationId) -> Option<Revision>) -> Write {
        let account = self.pick(&["ann", "bob"]);
        let id: OperationId = [account, self.pick(&["/1", "/2", "/3"])].concat().as_str().into();
        let replaces = if self.below(8) == 0 { None } else { stored(&id) };
        let row = Row {
            account: account.into(),
            lane: lane_of(account),
            created_at: self.time(),
            due: self.maybe(Self::time),
            delivery_due: self.maybe(Self::time),
            revision: replaces.unwrap_or_default().next(),
            write_id: WriteId(self.below(50).to_string()),
            document: self.below(1000).to_string(),
            ..row(id.as_str())
        };
        Write {
            replaces,
            fence: (self.below(4) == 0).then(|| self.fence(account)),
            answer_by: self.maybe(Self::time),
            beside: None,
            erase: match self.below(10) {
                0 => Erase::Everything,
                1 => Erase::Content,
                _ => Erase::Nothing,
            },
            name: (self.below(4) == 0).then(|| {
                let from = self.maybe(|dice| ["ann", dice.pick(&["/1", "/2"])].concat());
                (name(self.pick(&["x", "y"])), from.as_deref().map(OperationId::from))
            }),
            body: self.maybe(|dice| vec![dice.below(256) as u8]),
            piece: self.maybe(|dice| {
                let (index, bytes) = (dice.below(2), vec![dice.below(256) as u8]);
                Rc::new(Piece { download: 1, index, bytes })
            }),
            takes: self.takes(),
            journal: self.maybe(|dice| entry(1 + dice.below(500))).into_iter().collect(),
            profile: None,
            row,
        }
    }
}

/// All that can be read of both stores is the same.
async fn assert_alike(store: &impl Store, model: &MemoryStore, dice: &mut Dice) {
    for account in ["ann", "bob"] {
        let lane = lane_of(account);
        assert_eq!(store.lane(&lane).await, model.lane(&lane).await);
        let (before, limit) = (dice.time(), dice.below(4));
        for queue in [Queue::Work, Queue::Delivery] {
            let expected = model.due(&lane, queue, before, limit).await;
            assert_eq!(store.due(&lane, queue, before, limit).await, expected);
        }
        let rows = model.list(&account.into(), None, 10).await.unwrap();
        let cursor = (dice.time(), [account, "/2"].concat().as_str().into());
        let page = model.list(&account.into(), Some(&cursor), limit).await;
        assert_eq!(store.list(&account.into(), Some(&cursor), limit).await, page);
        for row in &rows {
            assert_eq!(store.body(&row.id).await, model.body(&row.id).await);
            assert_eq!(store.journal(&row.id).await, model.journal(&row.id).await);
            for index in 0..2 {
                let chunk = ChunkId { operation: row.id.clone(), download: 1, index };
                assert_eq!(store.chunk(&chunk).await, model.chunk(&chunk).await);
            }
        }
        assert_eq!(store.list(&account.into(), None, 10).await, Ok(rows));
    }
    for intent in ["x", "y"] {
        assert_eq!(store.find(&name(intent)).await, model.find(&name(intent)).await);
    }
}

pub async fn a_store_answers_as_the_store_in_memory_does<S: Store>(open: impl Fn() -> S) {
    let (store, model, mut dice) = (open(), MemoryStore::new(), Dice(1));
    let mut seen = Vec::new();
    for step in 0..STEPS {
        match dice.below(5) {
            0 => {
                let claim = dice.claim();
                assert_eq!(store.claim(&claim).await, model.claim(&claim).await);
            }
            1 => {
                let lane = dice.pick(&["ann", "bob"]);
                let fence = dice.fence(lane);
                assert_eq!(store.give_back(&fence).await, model.give_back(&fence).await);
            }
            _ => {
                let mut rows = model.list(&"ann".into(), None, 10).await.unwrap();
                rows.extend(model.list(&"bob".into(), None, 10).await.unwrap());
                let revision = |id: &OperationId| {
                    rows.iter().find(|row| row.id == *id).map(|row| row.revision)
                };
                let batch: Vec<_> = (0..dice.below(4)).map(|_| dice.write(revision)).collect();
                let expected = commit(&model, &batch).await;
                assert_eq!(commit(&store, &batch).await, expected, "step {step}: {batch:?}");
                seen.extend(expected.iter().map(core::mem::discriminant));
            }
        }
        assert_alike(&store, &model, &mut dice).await;
    }
    for kind in [
        Written::Done,
        Written::Stale,
        Written::Fenced,
        Written::NameTaken("".into()),
        Written::JobTaken("".into()),
        Written::KeyTaken("".into()),
    ] {
        assert!(seen.contains(&core::mem::discriminant(&kind)), "the life never meets {kind:?}");
    }
}
