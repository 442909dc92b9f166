//! Fail points: a test's own function is told of them. It need not return, or may ask for a trap.

use super::runtime::WebRuntime;
use crate::driver::ports::FailPoints;

impl FailPoints for WebRuntime {
    #[cfg(feature = "fail-points")]
    fn reach(&self, point: &str) {
        use wasm_bindgen::{JsCast, JsValue};
        let hook = super::promise::property(&super::sys::global(), "holdfastFailPoint");
        if let Ok(hook) = hook.dyn_into::<js_sys::Function>() {
            // What a test's hook throws is no business of the code under test.
            let wish = hook.call1(&JsValue::UNDEFINED, &point.into()).unwrap_or_default();
            if wish == "trap" {
                std::process::abort();
            }
        }
    }
}
