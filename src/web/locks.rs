//! News of deaths, by Web Locks: a context holds a lock of its own name for as long as it lives.

use std::cell::RefCell;

use js_sys::{Function, Promise};
use wasm_bindgen::prelude::*;

use super::promise::{object, outcome, property, within};
use super::runtime::WebRuntime;
use super::sys::LockManager;
use crate::driver::ports::Locks;
use crate::model::ids::ContextId;

/// How long news of a death is waited for, in milliseconds; without any, the lease's end tells.
const NEWS_MS: u32 = 5_000;

/// The locks, and what gives the lock up that is held now.
#[derive(Default)]
pub(super) struct HeldLock {
    /// A `LockManager` of the host's own; `undefined`: the navigator's.
    own: JsValue,
    release: RefCell<Option<Function>>,
}

impl HeldLock {
    pub(super) fn of(own: JsValue) -> Self {
        Self { own, release: RefCell::default() }
    }

    /// Asks for the lock of a context; `None` where the host has no locks.
    fn request(
        &self,
        context: &ContextId,
        options: &[(&str, JsValue)],
        callback: &Function,
    ) -> Option<Promise> {
        let usual = || property(&property(&super::sys::global(), "navigator"), "locks");
        let locks = if self.own.is_object() { self.own.clone() } else { usual() };
        if !locks.is_object() {
            return None;
        }
        let name = ["holdfast:", context.as_str()].concat();
        locks.unchecked_ref::<LockManager>().request(&name, &object(options), callback).ok()
    }
}

impl Locks for WebRuntime {
    fn hold(&self, own: &ContextId) {
        self.release();
        let mut release = None;
        let held = Promise::new(&mut |resolve, _| release = Some(resolve));
        let hold = Closure::once_into_js(move |_lock: JsValue| held);
        if let Some(over) = self.lock.request(own, &[], hold.unchecked_ref()) {
            self.lock.release.replace(release);
            // Fails where locks are forbidden, and then nobody is told dead either.
            drop(outcome(&over));
        }
    }

    fn release(&self) {
        let release = self.lock.release.borrow_mut().take();
        if let Some(release) = release {
            let _ = release.call0(&JsValue::UNDEFINED);
        }
    }

    async fn is_dead(&self, other: &ContextId) -> bool {
        // Shared, so that those who ask at the same time all get the answer.
        let options = [("ifAvailable", true.into()), ("mode", "shared".into())];
        let is_free = Closure::once_into_js(|lock: JsValue| JsValue::from(!lock.is_null()));
        match self.lock.request(other, &options, is_free.unchecked_ref()) {
            Some(answer) => within(NEWS_MS, &answer).await.is_ok_and(|is_free| is_free == true),
            None => false,
        }
    }
}

impl Drop for HeldLock {
    fn drop(&mut self) {
        if let Some(release) = self.release.take() {
            let _ = release.call0(&JsValue::UNDEFINED);
        }
    }
}
