//! Bounds and paces, with units and defaults.

use super::money::Credits;

/// Growing waits: `first_ms × factor^n`, at most `cap_ms`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Backoff {
    /// The first wait, in milliseconds.
    pub first_ms: u64,
    /// Growth from wait to wait, in tenths: 16 is ×1.6.
    pub factor_tenths: u32,
    /// The longest wait, in milliseconds.
    pub cap_ms: u64,
}

/// How many requests a service takes in a while.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rate {
    /// So many at most, 1 to 10,000.
    pub requests: u32,
    /// In any stretch of this length, in milliseconds.
    pub per_ms: u64,
}

/// The app's bounds on one operation and its lineage.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// No first sending later than this after the submit, in milliseconds.
    pub send_within_ms: u64,
    /// It parks when it is not over this long after the submit, in milliseconds.
    pub total_ms: u64,
    /// Most state-changing attempts over the lineage.
    pub attempts: u32,
    /// Most credits over the lineage.
    pub cost: Option<Credits>,
    /// Whether it may be submitted a second time by itself.
    pub on_unknown: OnUnknown,
}

/// What follows when an outcome is unknown and the service's listing proves that nothing ran.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OnUnknown {
    /// A person decides.
    #[default]
    Park,
    /// It is submitted again, once.
    Resubmit,
}

/// One day in milliseconds.
pub const DAY_MS: u64 = 86_400_000;

/// How long what has ended is kept here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Retention {
    /// Body, result and journal go this long after the app has taken the ending, in milliseconds;
    /// `None`: they stay until they are deleted.
    pub result_ms: Option<u64>,
    /// They go this long after the ending, taken or not, in milliseconds; `None`: they stay.
    pub age_ms: Option<u64>,
    /// The tombstone goes this long after them, in milliseconds.
    pub tombstone_ms: u64,
}

impl Default for Retention {
    fn default() -> Self {
        Self { result_ms: None, age_ms: None, tombstone_ms: 400 * DAY_MS }
    }
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            send_within_ms: DAY_MS,
            total_ms: DAY_MS,
            attempts: 100,
            cost: None,
            on_unknown: OnUnknown::Park,
        }
    }
}

/// Other bounds than the given ones; what is `None` stays.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LimitsPatch {
    /// See [`Limits::send_within_ms`].
    pub send_within_ms: Option<u64>,
    /// See [`Limits::total_ms`].
    pub total_ms: Option<u64>,
    /// See [`Limits::attempts`].
    pub attempts: Option<u32>,
    /// See [`Limits::cost`].
    pub cost: Option<Credits>,
}

impl LimitsPatch {
    /// The given bounds with these in their places.
    pub fn apply(self, base: Limits) -> Limits {
        Limits {
            send_within_ms: self.send_within_ms.unwrap_or(base.send_within_ms),
            total_ms: self.total_ms.unwrap_or(base.total_ms),
            attempts: self.attempts.unwrap_or(base.attempts),
            cost: self.cost.or(base.cost),
            on_unknown: base.on_unknown,
        }
    }
}
