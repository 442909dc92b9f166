//! The behaviours that every store must show, for a script to run where a host's database really is.

use std::rc::Rc;

use js_sys::{Function, Promise};
use wasm_bindgen::prelude::*;

use crate::driver::conformance;
use crate::web::promise::promise;
use crate::web::store::{Database, HostStore};

/// Runs them all: `open` gives a database by the storage's name, `passed` is told the name of each
/// behaviour that the store shows. The first that it does not show ends the module.
#[wasm_bindgen(js_name = storeConformance)]
pub fn store_conformance(open: Function, passed: Function) -> Promise {
    let open = Rc::new(open);
    promise(Box::pin(async move {
        let database = |name: &str| {
            let given = open.call1(&JsValue::UNDEFINED, &name.into()).unwrap_or_default();
            HostStore::new(given.unchecked_into::<Database>())
        };
        let tell = |name: &str| drop(passed.call1(&JsValue::UNDEFINED, &name.into()));
        conformance::all(database, tell).await;
        Ok(JsValue::UNDEFINED)
    }))
}
