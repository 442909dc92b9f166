//! Tasks, by the host's queue of microtasks.

use std::pin::Pin;

use super::runtime::WebRuntime;
use crate::driver::ports::Spawn;

impl Spawn for WebRuntime {
    fn spawn(&self, task: impl Future<Output = ()> + 'static) {
        spawn(task);
    }
}

/// Runs a task to its end. All go through one type, or each would bring the whole machinery again.
pub(super) fn spawn(task: impl Future<Output = ()> + 'static) {
    let task: Pin<Box<dyn Future<Output = ()>>> = Box::pin(task);
    wasm_bindgen_futures::spawn_local(task);
}
