//! Clock, timer, randomness, tasks and locks of a host, in one hand.

use js_sys::Function;
use wasm_bindgen::JsValue;

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

    /// A runtime whose timer is the host's own function, and whose locks are another `LockManager`
    /// than the navigator's; where they are absent, as [`WebRuntime::new`].
    pub fn over(arm: Option<Function>, locks: JsValue) -> Self {
        Self { timer: WakeTimer::over(arm), lock: HeldLock::of(locks) }
    }

    /// Says what the timer calls, in the place of what it called before.
    pub fn on_wake(&self, wake: impl Fn() + 'static) {
        self.timer.call(wake);
    }
}
