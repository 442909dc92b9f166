//! The store on IndexedDB in a dedicated worker, where there is no window.
#![cfg(target_arch = "wasm32")]
#![allow(missing_docs, reason = "a test")]

use holdfast::driver::conformance;
use holdfast::web::store::{Database, HostStore};
use wasm_bindgen::prelude::*;
use wasm_bindgen_test::{wasm_bindgen_test, wasm_bindgen_test_configure};

wasm_bindgen_test_configure!(run_in_dedicated_worker);

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
fn open(name: &str) -> HostStore {
    HostStore::new(store_in(&Opening::new(name)))
}

macro_rules! of_the_store_in_a_worker {
    ($($name:ident)*) => {$(
        #[wasm_bindgen_test]
        async fn $name() {
            let name = format!("worker {} {}", stringify!($name), js_sys::Date::now());
            conformance::$name(|| open(&name)).await;
        }
    )*};
}
holdfast::store_behaviours!(of_the_store_in_a_worker);
