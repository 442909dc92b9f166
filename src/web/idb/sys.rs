//! The scripts that open the database and run its transactions.

use js_sys::{Array, Promise};
use wasm_bindgen::prelude::*;

#[wasm_bindgen(module = "/pkg-template/idb-database.js")]
extern "C" {
    /// A database; making one touches nothing.
    pub(super) type Database;

    #[wasm_bindgen(constructor)]
    pub(super) fn new(name: &str) -> Database;

    #[wasm_bindgen(method)]
    pub(super) fn forget(this: &Database);
}

#[wasm_bindgen(module = "/pkg-template/idb-transaction.js")]
extern "C" {
    /// A transaction under way.
    pub(super) type Run;

    /// Begins what the script has under this name, once the database is open.
    #[wasm_bindgen(constructor)]
    pub(super) fn new(database: &Database, what: &str, arguments: &Array) -> Run;

    /// What it has found, once it is complete.
    #[wasm_bindgen(method, getter)]
    pub(super) fn done(this: &Run) -> Promise;

    /// Aborts it, unless it is over.
    #[wasm_bindgen(method)]
    pub(super) fn drop(this: &Run);
}
