//! Clock, timer, randomness, tasks and locks of a browser, in one hand.

use super::locks::HeldLock;
use super::timer::WakeTimer;

/// The host's own services. Each port is implemented beside what it needs, in a module of its own;
/// making one touches nothing.
#[derive(Default)]
pub struct WebRuntime {
    pub(super) timer: WakeTimer,
    pub(super) lock: HeldLock,
}

impl WebRuntime {
    /// A runtime whose timer wakes nobody yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Says what the timer calls, in the place of what it called before.
    pub fn on_wake(&self, wake: impl Fn() + 'static) {
        self.timer.call(wake);
    }
}
