//! The timer, by one `setTimeout`.

use std::cell::RefCell;

use wasm_bindgen::prelude::*;

use super::promise::Timeout;
use super::runtime::WebRuntime;
use crate::driver::ports::Timer;

/// One timeout, and what it calls.
#[derive(Default)]
pub(super) struct WakeTimer {
    /// Dropped before what it calls.
    pending: RefCell<Option<Timeout>>,
    wake: RefCell<Option<Closure<dyn Fn()>>>,
}

impl WakeTimer {
    pub(super) fn call(&self, wake: impl Fn() + 'static) {
        self.pending.replace(None);
        self.wake.replace(Some(Closure::new(wake)));
    }
}

impl Timer for WebRuntime {
    fn arm(&self, delay_ms: Option<u32>) {
        let wake = self.timer.wake.borrow();
        let pending = delay_ms
            .zip(wake.as_ref())
            .map(|(delay_ms, wake)| Timeout::new(wake.as_ref().unchecked_ref(), delay_ms));
        self.timer.pending.replace(pending);
    }
}
