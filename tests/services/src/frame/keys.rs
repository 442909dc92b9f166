//! Idempotency keys: what each stands for, for as long as it is remembered.
use std::collections::BTreeMap;

/// The keys that are remembered, each with what it led to.
#[derive(Clone, Debug)]
pub(crate) struct Keys<V> {
    kept_ms: u64,
    entries: BTreeMap<String, Entry<V>>,
}

#[derive(Clone, Debug)]
struct Entry<V> {
    created_ms: u64,
    /// What the first request with the key was, in the service's own terms.
    identity: String,
    value: V,
}

/// What is known of a key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Known<V> {
    /// It came with another request before.
    Changed,
    /// It has not come before, or is forgotten.
    New,
    /// It came with the same request before, which led to this.
    Same(V),
}

impl<V: Clone> Keys<V> {
    pub(crate) fn kept_for(ms: u64) -> Self {
        Self { kept_ms: ms, entries: BTreeMap::new() }
    }

    pub(crate) fn look(&mut self, now_ms: u64, key: &str, identity: &str) -> Known<V> {
        let kept_ms = self.kept_ms;
        self.entries.retain(|_, entry| now_ms < entry.created_ms.saturating_add(kept_ms));
        match self.entries.get(key) {
            None => Known::New,
            Some(entry) if entry.identity == identity => Known::Same(entry.value.clone()),
            Some(_) => Known::Changed,
        }
    }

    pub(crate) fn keep(&mut self, now_ms: u64, key: &str, identity: String, value: V) {
        self.entries.insert(key.to_owned(), Entry { created_ms: now_ms, identity, value });
    }

    pub(crate) fn clear(&mut self) {
        self.entries.clear();
    }
}
