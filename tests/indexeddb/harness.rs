//! The store in a database of a browser.

use holdfast::web::store::{Database, HostStore};
use wasm_bindgen::prelude::*;

#[wasm_bindgen(module = "/pkg-template/idb-database.js")]
extern "C" {
    #[wasm_bindgen(js_name = Database)]
    type Opening;
    #[wasm_bindgen(constructor, js_class = "Database")]
    fn new(name: &str) -> Opening;
}

#[wasm_bindgen(module = "/pkg-template/idb-transaction.js")]
extern "C" {
    #[wasm_bindgen(js_name = storeIn)]
    fn store_in(opening: &Opening) -> Database;
}

/// The store in the database of this name.
pub(crate) fn open(name: &str) -> HostStore {
    HostStore::new(store_in(&Opening::new(name)))
}

/// A name for a database that is new in every run.
pub(crate) fn fresh(name: &str) -> String {
    format!("{name} {}", js_sys::Date::now())
}
