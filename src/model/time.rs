//! Points in time and lengths of time, in whole milliseconds.

/// A point in time: milliseconds since the Unix epoch.
///
/// Deadlines are stored and must mean the same after a restart, so time is always wall time here.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Timestamp(pub u64);

impl Timestamp {
    /// The point `length_ms` later; saturates at the end of time.
    pub const fn after(self, length_ms: u64) -> Self {
        Self(self.0.saturating_add(length_ms))
    }

    /// Milliseconds from `earlier` to `self`; 0 when `earlier` is not earlier.
    pub const fn since(self, earlier: Self) -> u64 {
        self.0.saturating_sub(earlier.0)
    }
}

/// A wait, kept as when it was set and how long it is, so that a clock that jumps back cannot
/// stretch it: it is over at `set_at + length_ms`, or `length_ms` from now if that is sooner.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wait {
    /// When the wait was set.
    pub set_at: Timestamp,
    /// How long it is, in milliseconds.
    pub length_ms: u64,
}

impl Wait {
    /// A wait of `length_ms` that begins at `now`.
    pub const fn new(now: Timestamp, length_ms: u64) -> Self {
        Self { set_at: now, length_ms }
    }

    /// When the wait is over, as the clock of its setting counted.
    pub const fn until(self) -> Timestamp {
        self.set_at.after(self.length_ms)
    }

    /// The wait as seen at `now`: set anew when the clock has jumped back behind its setting.
    pub fn seen_at(self, now: Timestamp) -> Self {
        if now < self.set_at { Self::new(now, self.length_ms) } else { self }
    }

    /// Whether the wait is over at `now`.
    pub fn is_over(self, now: Timestamp) -> bool {
        self.seen_at(now).until() <= now
    }
}
