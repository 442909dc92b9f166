//! An index in memory: for each owner, its operations in the order of a time.

use std::collections::{BTreeMap, BTreeSet};

use crate::model::ids::OperationId;
use crate::model::time::Timestamp;

/// Where an operation stands in an index.
pub(super) type Place = (Timestamp, OperationId);

/// For each owner (a lane, an account), its operations in the order of a time, then of their ids.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Index<K>(BTreeMap<K, BTreeSet<Place>>);

impl<K: Ord> Default for Index<K> {
    fn default() -> Self {
        Self(BTreeMap::new())
    }
}

impl<K: Ord + Clone> Index<K> {
    pub(super) fn insert(&mut self, owner: &K, at: Timestamp, id: &OperationId) {
        self.0.entry(owner.clone()).or_default().insert((at, id.clone()));
    }

    pub(super) fn remove(&mut self, owner: &K, at: Timestamp, id: &OperationId) {
        if let Some(places) = self.0.get_mut(owner) {
            places.remove(&(at, id.clone()));
            if places.is_empty() {
                self.0.remove(owner);
            }
        }
    }

    /// The owner's operations, soonest first.
    pub(super) fn of(&self, owner: &K) -> impl Iterator<Item = &Place> {
        self.0.get(owner).into_iter().flatten()
    }

    /// The owner's operations before a place, latest first.
    pub(super) fn back_from(&self, owner: &K, end: Option<&Place>) -> impl Iterator<Item = &Place> {
        self.0.get(owner).into_iter().flat_map(move |places| {
            end.map_or_else(|| places.range::<Place, _>(..), |end| places.range(..end)).rev()
        })
    }
}
