//! Waiting for what JS code tells by calling back.

use std::pin::Pin;

use js_sys::{Function, Promise, Reflect};
use wasm_bindgen::prelude::*;
use wasm_bindgen_futures::{JsFuture, future_to_promise};

use super::sys;

/// A promise of what a call comes to. All go through one type, or each would bring the whole
/// machinery again.
pub(crate) fn promise(call: impl Future<Output = Result<JsValue, JsValue>> + 'static) -> Promise {
    let call: Pin<Box<dyn Future<Output = Result<JsValue, JsValue>>>> = Box::pin(call);
    future_to_promise(call)
}

/// Waits until one of the two functions is called that `listen` gets: the first means success, the
/// second failure. After `limit_ms` the failure is `undefined`. The listening begins at once, the
/// waiting with the first poll.
pub(super) fn settled(
    limit_ms: u32,
    listen: &mut dyn FnMut(&Function, &Function),
) -> impl Future<Output = Result<JsValue, JsValue>> + use<> {
    let mut timeout = None;
    let promise = Promise::new(&mut |resolve, reject| {
        listen(&resolve, &reject);
        timeout = Some(Timeout::new(&reject, limit_ms));
    });
    let outcome = JsFuture::from(promise);
    async move {
        let _timeout = timeout;
        outcome.await
    }
}

/// Waits for a promise, as [`settled`] does.
pub(super) fn within(
    limit_ms: u32,
    promise: &JsValue,
) -> impl Future<Output = Result<JsValue, JsValue>> + use<> {
    settled(limit_ms, &mut |resolve, reject| {
        let then = property(promise, "then");
        let attached = then.dyn_ref::<Function>().map(|then| then.call2(promise, resolve, reject));
        if !matches!(attached, Some(Ok(_))) {
            // What is no promise never settles: it fails at once.
            let _ = reject.call0(&JsValue::UNDEFINED);
        }
    })
}

/// One timeout, cleared when dropped.
pub(super) struct Timeout(JsValue);

impl Timeout {
    /// Calls back after `delay_ms`, or after the longest delay that hosts know (2^31 - 1 ms) if
    /// that is sooner: beyond it they would call at once.
    pub(super) fn new(callback: &Function, delay_ms: u32) -> Self {
        Self(sys::set_timeout(callback, i32::try_from(delay_ms).unwrap_or(i32::MAX)))
    }
}

impl Drop for Timeout {
    fn drop(&mut self) {
        sys::clear_timeout(&self.0);
    }
}

/// A property of a value from outside; `undefined` where there is none.
pub(super) fn property(value: &JsValue, name: &str) -> JsValue {
    Reflect::get(value, &name.into()).unwrap_or_default()
}

/// A plain object.
pub(super) fn object<'a>(fields: impl IntoIterator<Item = (&'a str, JsValue)>) -> JsValue {
    let object = js_sys::Object::new();
    for (name, value) in fields {
        // Setting a property of a fresh plain object cannot fail.
        let _ = Reflect::set(&object, &name.into(), &value);
    }
    object.into()
}

/// What is told of an exception: its name (a `DOMException`'s says what happened, and its message
/// may quote anything), or the text itself where text was thrown.
pub(super) fn reason(error: &JsValue) -> String {
    let name = property(error, "name").as_string().or_else(|| error.as_string());
    name.unwrap_or_else(|| "no answer".into())
}
