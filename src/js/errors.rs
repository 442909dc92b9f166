//! Errors as plain objects, which the facade turns into `HoldfastError`s.

use js_sys::{Object, Reflect};
use wasm_bindgen::JsValue;

use crate::model::error::{Code, Error};
use crate::rules::reader::Fault;

pub(super) fn thrown(error: Error) -> JsValue {
    let object = Object::new();
    let set = |name: &str, value: &str| {
        // Setting a member of a new plain object cannot fail.
        let _ = Reflect::set(&object, &name.into(), &value.into());
    };
    set("code", error.code.name());
    set("message", &error.message);
    set("nextStep", error.next_step);
    if let Some(field) = &error.field {
        set("field", field);
    }
    if let Some(id) = &error.operation {
        set("operationId", id.as_str());
    }
    object.into()
}

/// All faults of one input, told at once; the first names the field.
pub(super) fn faulty(code: Code, faults: &[Fault]) -> Error {
    let mut message = String::new();
    for fault in faults {
        if !message.is_empty() {
            message.push_str("; ");
        }
        message.push_str(&fault.pointer);
        message.push_str(": ");
        message.push_str(&fault.message);
    }
    let next_step = "correct this and call again; nothing was stored or sent";
    let field = faults.first().map(|fault| fault.pointer.clone());
    Error { field, ..Error::new(code, message, next_step) }
}
