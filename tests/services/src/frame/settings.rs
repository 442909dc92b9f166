//! What can be set of every model.
use std::collections::BTreeSet;

/// The settings that all models have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settings {
    /// Tokens (API keys) that are let in; `demo-token` by default.
    pub tokens: BTreeSet<String>,
    /// Credits at the start; 100 by default.
    pub balance: u64,
    /// Credits that one execution costs; 5 by default.
    pub price: u64,
    /// How long work takes whose request does not say so; 3 s by default.
    pub duration_ms: u64,
    /// How long a key is remembered; 24 h by default.
    pub key_retention_ms: u64,
    /// How long the billing of a cancelled job stays open; 0 by default.
    pub settle_after_ms: u64,
    /// What ids begin with; each model has its own.
    pub id_prefix: String,
    /// What links in answers begin with: an origin, a path, or nothing (the default).
    pub link_base: String,
}

impl Settings {
    /// The defaults, with what ids begin with.
    pub fn with_ids(prefix: &str) -> Self {
        Self {
            tokens: BTreeSet::from(["demo-token".to_owned()]),
            balance: 100,
            price: 5,
            duration_ms: 3000,
            key_retention_ms: 86_400_000,
            settle_after_ms: 0,
            id_prefix: prefix.to_owned(),
            link_base: String::new(),
        }
    }
}
