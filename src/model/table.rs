//! A small ordered map and queue: working sets are a few dozen entries, for which a sorted list is
//! as quick as a tree, and its code a twentieth.

use core::borrow::Borrow;

/// An ordered map in one list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Table<K, V>(Vec<(K, V)>);

impl<K, V> Default for Table<K, V> {
    fn default() -> Self {
        Self::new()
    }
}

impl<K, V> Table<K, V> {
    /// An empty table.
    pub const fn new() -> Self {
        Self(Vec::new())
    }

    /// All entries, by their keys' order.
    pub fn iter(&self) -> core::slice::Iter<'_, (K, V)> {
        self.0.iter()
    }

    /// All values, to be changed.
    pub fn values_mut(&mut self) -> impl Iterator<Item = &mut V> {
        self.0.iter_mut().map(|(_, value)| value)
    }
}

impl<K: Ord, V> Table<K, V> {
    /// Where a key is, or where it would be.
    fn place<Q: Ord + ?Sized>(&self, key: &Q) -> Result<usize, usize>
    where
        K: Borrow<Q>,
    {
        self.0.binary_search_by(|(own, _)| own.borrow().cmp(key))
    }

    /// The value of a key.
    pub fn get<Q: Ord + ?Sized>(&self, key: &Q) -> Option<&V>
    where
        K: Borrow<Q>,
    {
        Some(&self.0.get(self.place(key).ok()?)?.1)
    }

    /// The value of a key, to be changed.
    pub fn get_mut<Q: Ord + ?Sized>(&mut self, key: &Q) -> Option<&mut V>
    where
        K: Borrow<Q>,
    {
        let place = self.place(key).ok()?;
        Some(&mut self.0.get_mut(place)?.1)
    }

    /// Whether a key has a value.
    pub fn contains_key<Q: Ord + ?Sized>(&self, key: &Q) -> bool
    where
        K: Borrow<Q>,
    {
        self.place(key).is_ok()
    }

    /// Gives a key this value, in the place of what it had.
    pub fn insert(&mut self, key: K, value: V) {
        match self.place(&key) {
            Ok(place) => self.0[place].1 = value,
            Err(place) => self.0.insert(place, (key, value)),
        }
    }

    /// The value of a key, made where there is none.
    pub fn get_or_insert_with(&mut self, key: K, make: impl FnOnce() -> V) -> &mut V {
        let place = match self.place(&key) {
            Ok(place) => place,
            Err(place) => {
                self.0.insert(place, (key, make()));
                place
            }
        };
        &mut self.0[place].1
    }

    /// Takes out every key that is not to stay.
    pub fn retain(&mut self, stays: impl Fn(&K) -> bool) {
        self.0.retain(|(key, _)| stays(key));
    }

    /// Takes a key and its value out.
    pub fn remove<Q: Ord + ?Sized>(&mut self, key: &Q) -> Option<V>
    where
        K: Borrow<Q>,
    {
        let place = self.place(key).ok()?;
        Some(self.0.remove(place).1)
    }
}

impl<K, V> IntoIterator for Table<K, V> {
    type Item = (K, V);
    type IntoIter = std::vec::IntoIter<(K, V)>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.into_iter()
    }
}

impl<'a, K, V> IntoIterator for &'a Table<K, V> {
    type Item = &'a (K, V);
    type IntoIter = core::slice::Iter<'a, (K, V)>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.iter()
    }
}

/// Takes the first of a short queue.
pub fn take_first<T>(queue: &mut Vec<T>) -> Option<T> {
    if queue.is_empty() { None } else { Some(queue.remove(0)) }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn it_holds_what_a_tree_holds(moves in prop::collection::vec((0..12_u8, 0..3_u8), 0..80)) {
            let (mut table, mut tree) = (Table::new(), BTreeMap::new());
            for (index, (key, what)) in moves.into_iter().enumerate() {
                match what {
                    0 => prop_assert_eq!(table.remove(&key), tree.remove(&key)),
                    1 => {
                        table.insert(key, index);
                        tree.insert(key, index);
                    }
                    _ => {
                        let own = *table.get_or_insert_with(key, || index);
                        prop_assert_eq!(own, *tree.entry(key).or_insert(index));
                    }
                }
                prop_assert_eq!(table.get(&key), tree.get(&key));
                prop_assert_eq!(table.contains_key(&key), tree.contains_key(&key));
            }
            prop_assert_eq!(Vec::from_iter(table), Vec::from_iter(tree));
        }
    }

    #[test]
    fn a_queue_gives_its_oldest_first() {
        let mut queue = vec![1, 2];
        assert_eq!((take_first(&mut queue), take_first(&mut queue)), (Some(1), Some(2)));
        assert_eq!(take_first(&mut queue), None);
    }
}
