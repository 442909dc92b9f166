//! The scripts that open the database and run its transactions.

use js_sys::{Array, Promise};
use wasm_bindgen::prelude::*;

#[wasm_bindgen]
extern "C" {
    /// A database, as the host's scripts give it; it is opened by its first transaction.
    pub type Database;

    /// Begins what the script has under this name, once the database is open.
    #[wasm_bindgen(method)]
    pub(super) fn run(this: &Database, what: &str, arguments: &Array) -> Run;

    /// Closes it; the next transaction opens it again.
    #[wasm_bindgen(method)]
    pub(super) fn forget(this: &Database);

    /// A transaction under way.
    pub(super) type Run;

    /// What it has found, once it is complete.
    #[wasm_bindgen(method, getter)]
    pub(super) fn done(this: &Run) -> Promise;

    /// Aborts it, unless it is over.
    #[wasm_bindgen(method)]
    pub(super) fn drop(this: &Run);
}
