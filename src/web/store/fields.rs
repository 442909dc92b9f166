//! Reads the members of a stored value one after the other. They are untrusted: anything may have
//! been written to the database.

use js_sys::Array;
use wasm_bindgen::prelude::*;

/// The members that are still to be read. What is not as it should be is remembered until
/// [`Fields::settle`]: what is read beside it is thrown away.
pub(super) struct Fields {
    all: JsValue,
    next: u32,
    is_malformed: bool,
}

impl Fields {
    /// Reads the members of a value as the script gives it.
    pub(super) const fn of(all: JsValue) -> Self {
        Self { all, next: 0, is_malformed: false }
    }

    /// The next member.
    pub(super) fn value(&mut self) -> JsValue {
        self.next += 1;
        match self.all.dyn_ref::<Array>() {
            Some(all) => all.get(self.next - 1),
            None => JsValue::UNDEFINED,
        }
    }

    /// How many members there are.
    pub(super) fn count(&mut self) -> u32 {
        let count = self.all.dyn_ref::<Array>().map(Array::length);
        self.is_malformed |= count.is_none();
        count.unwrap_or(0)
    }

    /// A text, which may be absent.
    pub(super) fn some_text(&mut self) -> Option<String> {
        let value = self.value();
        let text = value.as_string();
        self.is_malformed |= text.is_none() && !value.is_undefined();
        text
    }

    /// A text.
    pub(super) fn text(&mut self) -> String {
        let text = self.some_text();
        self.is_malformed |= text.is_none();
        text.unwrap_or_default()
    }

    /// A whole number, which may be absent.
    pub(super) fn some_number(&mut self) -> Option<u64> {
        let value = self.value();
        if value.is_undefined() {
            return None;
        }
        let number = value.as_f64().unwrap_or(-1.0);
        self.is_malformed |= !(number >= 0.0 && number.fract() == 0.0);
        // The cast saturates, so that the end of time comes back as the end of time.
        Some(number as u64)
    }

    /// A whole number.
    pub(super) fn number(&mut self) -> u64 {
        let number = self.some_number();
        self.is_malformed |= number.is_none();
        number.unwrap_or(0)
    }

    /// Notes a fault of the value.
    pub(super) fn refuse(&mut self) {
        self.is_malformed = true;
    }

    /// What was read, if all of it was as it should be.
    pub(super) fn settle<T>(&self, read: T) -> Result<T, JsValue> {
        if self.is_malformed { Err(malformed()) } else { Ok(read) }
    }
}

/// What is said of a stored value that this code has not written.
pub(super) fn malformed() -> JsValue {
    "malformed row".into()
}
