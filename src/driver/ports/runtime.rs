//! The ports to time, randomness, tasks and the lives of other contexts.

use core::future::Future;

use crate::model::ids::ContextId;
use crate::model::time::Timestamp;

/// Wall time.
pub trait Clock {
    /// The time.
    fn now(&self) -> Timestamp;
}

/// One timer for the whole outbox.
pub trait Timer {
    /// Calls the driver's `wake` once, about `delay_ms` from now, and forgets any earlier order;
    /// `None` orders nothing. A call too soon or too often does no harm.
    fn arm(&self, delay_ms: Option<u32>);
}

/// Randomness fit for keys.
pub trait Entropy {
    /// 16 fresh bytes; `None` when the host has none, and then nothing may be submitted.
    fn bytes(&self) -> Option<[u8; 16]>;
}

/// Tasks that go on by themselves.
pub trait Spawn {
    /// Runs a future to its end on this thread. It may start at once or later.
    fn spawn(&self, task: impl Future<Output = ()> + 'static);
}

/// Points at which a test may end the process, announced by their names.
pub trait FailPoints {
    /// This point is reached. Called in builds with the feature `fail-points` only.
    fn reach(&self, _point: &str) {}
}

/// News of the death of other contexts. Only makes takeover quicker: a host without locks answers
/// "not known", and the lease decides.
#[expect(async_fn_in_trait, reason = "single-threaded hosts only; no Send bound is wanted")]
pub trait Locks {
    /// Shows that this context lives, for as long as it lives or until [`Locks::release`].
    fn hold(&self, own: &ContextId);
    /// Stops showing it.
    fn release(&self);
    /// Whether that context is known to be dead.
    async fn is_dead(&self, other: &ContextId) -> bool;
}
