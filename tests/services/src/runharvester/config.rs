//! What can be set of the model.
use std::collections::BTreeSet;

/// The model's settings.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Config {
    /// Bearer tokens that are let in; `demo-token` by default.
    pub tokens: BTreeSet<String>,
    /// Credits at the start; 100 by default.
    pub balance: u64,
    /// Credits that one job costs; 5 by default.
    pub base: u64,
    /// How long an idempotency key is remembered; 24 h by default.
    pub key_retention_ms: u64,
    /// How long the billing of a cancelled job stays open; 2 s by default.
    pub settle_after_ms: u64,
    /// What ids begin with; `req_` by default.
    pub id_prefix: String,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            tokens: BTreeSet::from(["demo-token".to_owned()]),
            balance: 100,
            base: 5,
            key_retention_ms: 86_400_000,
            settle_after_ms: 2000,
            id_prefix: "req_".to_owned(),
        }
    }
}
