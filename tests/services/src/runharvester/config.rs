//! What can be set of the model.
use std::collections::BTreeSet;

use crate::Settings;

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
    /// Credits that each read of a status or a result costs; none by default.
    pub read_price: u64,
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
            read_price: 0,
            id_prefix: "req_".to_owned(),
        }
    }
}

impl From<Config> for Settings {
    fn from(config: Config) -> Self {
        Self {
            tokens: config.tokens,
            balance: config.balance,
            price: config.base,
            key_retention_ms: config.key_retention_ms,
            settle_after_ms: config.settle_after_ms,
            ..Self::with_ids(&config.id_prefix)
        }
    }
}
