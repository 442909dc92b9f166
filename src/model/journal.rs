//! The journal: what happened to an operation, in fields that cannot hold a secret.

use super::money::Credits;
use super::profile::Purpose;
use super::time::Timestamp;

/// What a journal entry tells. Only these fields exist: no body, no header, no URL can enter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// When (of the first, where several are folded).
    pub at: Timestamp,
    /// What happened.
    pub event: &'static str,
    /// In which exchange.
    pub purpose: Option<Purpose>,
    /// HTTP status.
    pub status: Option<u16>,
    /// The service's code.
    pub code: Option<String>,
    /// The service's word for the job's state.
    pub state: Option<String>,
    /// How long it waits now, in milliseconds, and why.
    pub wait: Option<(u64, &'static str)>,
    /// What the operation has cost so far, where that has just changed.
    pub cost: Option<Credits>,
}

impl Entry {
    /// An event of which nothing more is known.
    pub const fn new(at: Timestamp, event: &'static str) -> Self {
        Self {
            at,
            event,
            purpose: None,
            status: None,
            code: None,
            state: None,
            wait: None,
            cost: None,
        }
    }
}

/// Most entries kept for an operation; the oldest go first.
pub const JOURNAL_MAX: u32 = 200;
