//! Tasks, by the host's queue of microtasks.

use super::runtime::WebRuntime;
use crate::driver::ports::Spawn;

impl Spawn for WebRuntime {
    fn spawn(&self, task: impl Future<Output = ()> + 'static) {
        wasm_bindgen_futures::spawn_local(task);
    }
}
