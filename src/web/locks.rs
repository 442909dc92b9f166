//! News of deaths, by Web Locks: a context holds a lock of its own name for as long as it lives.

use std::cell::RefCell;

use js_sys::{Function, Promise};
use wasm_bindgen::prelude::*;

use super::promise::{object, outcome, property};
use super::runtime::WebRuntime;
use super::sys::LockManager;
use crate::driver::ports::Locks;
use crate::model::ids::ContextId;

/// What gives the lock up that is held now.
#[derive(Default)]
pub(super) struct HeldLock(RefCell<Option<Function>>);

impl Locks for WebRuntime {
    fn hold(&self, own: &ContextId) {
        self.release();
        let mut release = None;
        let held = Promise::new(&mut |resolve, _| release = Some(resolve));
        let hold = Closure::once_into_js(move |_lock: JsValue| held);
        if let Some(over) = request(own, &[], hold.unchecked_ref()) {
            self.lock.0.replace(release);
            // Fails where locks are forbidden, and then nobody is told dead either.
            drop(outcome(&over));
        }
    }

    fn release(&self) {
        let release = self.lock.0.borrow_mut().take();
        if let Some(release) = release {
            let _ = release.call0(&JsValue::UNDEFINED);
        }
    }

    async fn is_dead(&self, other: &ContextId) -> bool {
        // Shared, so that those who ask at the same time all get the answer.
        let options = [("ifAvailable", true.into()), ("mode", "shared".into())];
        let is_free = Closure::once_into_js(|lock: JsValue| JsValue::from(!lock.is_null()));
        match request(other, &options, is_free.unchecked_ref()) {
            Some(answer) => outcome(&answer).await.is_ok_and(|is_free| is_free == true),
            None => false,
        }
    }
}

impl Drop for HeldLock {
    fn drop(&mut self) {
        if let Some(release) = self.0.take() {
            let _ = release.call0(&JsValue::UNDEFINED);
        }
    }
}

/// Asks for the lock of a context; `None` where the host has no locks.
fn request(
    context: &ContextId,
    options: &[(&str, JsValue)],
    callback: &Function,
) -> Option<Promise> {
    let locks = property(&property(&super::sys::global(), "navigator"), "locks");
    if !locks.is_object() {
        return None;
    }
    let name = ["holdfast:", context.as_str()].concat();
    locks.unchecked_ref::<LockManager>().request(&name, &object(options), callback).ok()
}
