//! The store on IndexedDB in a dedicated worker, where there is no window.
#![cfg(target_arch = "wasm32")]
#![allow(missing_docs, reason = "a test")]

#[path = "indexeddb/harness.rs"]
mod harness;

use harness::{fresh, open};
use holdfast::driver::conformance;
use wasm_bindgen_test::{wasm_bindgen_test, wasm_bindgen_test_configure};

wasm_bindgen_test_configure!(run_in_dedicated_worker);

macro_rules! of_the_store_in_a_worker {
    ($($name:ident)*) => {$(
        #[wasm_bindgen_test]
        async fn $name() {
            let name = fresh(concat!("worker ", stringify!($name)));
            conformance::$name(|| open(&name)).await;
        }
    )*};
}
holdfast::store_behaviours!(of_the_store_in_a_worker);
