//! The facade's side of the surface: what the module calls.

use js_sys::{Function, Promise, Uint8Array};
use wasm_bindgen::prelude::*;

use crate::web::store::Database;

#[wasm_bindgen]
extern "C" {
    /// The app's callbacks, as the facade gives them. None of them runs the app's code in the turn
    /// of the call.
    pub type Host;

    #[wasm_bindgen(method, catch)]
    pub fn account(this: &Host) -> Result<Option<String>, JsValue>;

    #[wasm_bindgen(method, catch)]
    pub fn authorize(
        this: &Host,
        service: &str,
        purpose: &str,
        refresh: bool,
    ) -> Result<Promise, JsValue>;

    #[wasm_bindgen(method, getter)]
    pub fn consumes(this: &Host) -> bool;

    #[wasm_bindgen(method, catch)]
    pub fn validates(this: &Host, service: &str) -> Result<bool, JsValue>;

    #[wasm_bindgen(method, catch)]
    pub fn validate(
        this: &Host,
        service: &str,
        result: &str,
        bytes: Uint8Array,
    ) -> Result<Promise, JsValue>;

    #[wasm_bindgen(method, catch)]
    pub fn settled(this: &Host, state: &str, account: &str) -> Result<Promise, JsValue>;

    #[wasm_bindgen(method, catch)]
    pub fn notify(this: &Host, state: &str, entries: &str, account: &str) -> Result<(), JsValue>;

    #[wasm_bindgen(method, getter)]
    pub fn fetch(this: &Host) -> Option<Function>;

    /// Who is asked before each exchange whether others elsewhere go first; absent: nobody does.
    #[wasm_bindgen(method, getter)]
    pub fn turn(this: &Host) -> Option<Function>;

    #[wasm_bindgen(method, getter)]
    pub fn database(this: &Host) -> Database;

    /// What is told when to wake the client; absent: one `setTimeout` does.
    #[wasm_bindgen(method, getter)]
    pub fn arm(this: &Host) -> Option<Function>;

    /// A `LockManager` of the host's own; absent: the navigator's, where it has one.
    #[wasm_bindgen(method, getter)]
    pub fn locks(this: &Host) -> JsValue;

    /// A credential as the facade gives it.
    pub type Credential;

    /// Pairs of name and value.
    #[wasm_bindgen(method, getter)]
    pub fn headers(this: &Credential) -> js_sys::Array;

    #[wasm_bindgen(method, getter)]
    pub fn scope(this: &Credential) -> Option<String>;
}
