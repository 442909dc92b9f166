//! What web-sys hides behind unstable flags, or brings only for windows.

use js_sys::{Array, Function, Promise};
use wasm_bindgen::prelude::*;

#[wasm_bindgen]
extern "C" {
    /// Calls back once; the handle is a number or, in Node, an object.
    #[wasm_bindgen(js_name = setTimeout)]
    pub(super) fn set_timeout(callback: &Function, delay_ms: i32) -> JsValue;

    #[wasm_bindgen(js_name = clearTimeout)]
    pub(super) fn clear_timeout(timer: &JsValue);

    /// `globalThis`.
    #[wasm_bindgen(thread_local_v2, js_name = globalThis)]
    static GLOBAL: JsValue;

    /// `Array.from()`, of whatever can be walked.
    #[wasm_bindgen(catch, js_namespace = Array, js_name = from)]
    pub(super) fn array_from(items: &JsValue) -> Result<Array, JsValue>;

    /// Calls back in the next microtask.
    #[wasm_bindgen(js_name = queueMicrotask)]
    pub(super) fn queue_microtask(callback: &Function);

    /// `LockManager` of Web Locks.
    pub(super) type LockManager;

    #[wasm_bindgen(method, catch)]
    pub(super) fn request(
        this: &LockManager,
        name: &str,
        options: &JsValue,
        callback: &Function,
    ) -> Result<Promise, JsValue>;
}

/// The global object.
pub(super) fn global() -> JsValue {
    GLOBAL.with(JsValue::clone)
}
