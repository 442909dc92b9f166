//! The timer, by one `setTimeout`, or by a function of the host.

use std::cell::RefCell;

use js_sys::Function;
use wasm_bindgen::prelude::*;

use super::promise::Timeout;
use super::runtime::WebRuntime;
use crate::driver::ports::Timer;

/// One timeout, and what it calls.
#[derive(Default)]
pub(super) struct WakeTimer {
    /// Told the delay, or nothing, in the place of a timeout: it wakes the client by itself.
    arm: Option<Function>,
    /// Dropped before what it calls.
    pending: RefCell<Option<Timeout>>,
    wake: RefCell<Option<Closure<dyn Fn()>>>,
}

impl WakeTimer {
    pub(super) fn over(arm: Option<Function>) -> Self {
        Self { arm, ..Self::default() }
    }

    pub(super) fn call(&self, wake: impl Fn() + 'static) {
        self.pending.replace(None);
        self.wake.replace(Some(Closure::new(wake)));
    }
}

impl Timer for WebRuntime {
    fn arm(&self, delay_ms: Option<u32>) {
        if let Some(arm) = &self.timer.arm {
            // What the host throws here concerns nothing that is stored.
            let _ = arm.call1(&JsValue::UNDEFINED, &delay_ms.into());
            return;
        }
        let wake = self.timer.wake.borrow();
        let pending = delay_ms
            .zip(wake.as_ref())
            .map(|(delay_ms, wake)| Timeout::new(wake.as_ref().unchecked_ref(), delay_ms));
        self.timer.pending.replace(pending);
    }
}
