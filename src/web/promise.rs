//! Waiting for what JS code tells by calling back.

use js_sys::{Function, Promise, Reflect};
use wasm_bindgen::prelude::*;
use wasm_bindgen_futures::JsFuture;

use super::sys;

/// Waits until one of the two functions is called that `listen` gets: the first means success, the
/// second failure. After `limit_ms` the failure is `undefined`.
pub(super) async fn settled(
    limit_ms: i32,
    listen: &mut dyn FnMut(&Function, &Function),
) -> Result<JsValue, JsValue> {
    let mut timer = JsValue::UNDEFINED;
    let promise = Promise::new(&mut |resolve, reject| {
        listen(&resolve, &reject);
        timer = sys::set_timeout(&reject, limit_ms);
    });
    let outcome = JsFuture::from(promise).await;
    sys::clear_timeout(&timer);
    outcome
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
