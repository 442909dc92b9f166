//! Waiting for what JS code tells by calling back.

use std::cell::RefCell;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll, Waker};

use js_sys::{Function, Promise, Reflect};
use wasm_bindgen::prelude::*;

use super::spawn::spawn;
use super::sys;

/// What a promise comes to.
type Outcome = Result<JsValue, JsValue>;

/// A promise of what a call comes to.
pub(crate) fn promise(call: Pin<Box<dyn Future<Output = Outcome>>>) -> Promise {
    let mut call = Some(call);
    Promise::new(&mut |resolve, reject| {
        if let Some(call) = call.take() {
            spawn(Box::pin(async move {
                let (settle, value) = match call.await {
                    Ok(value) => (resolve, value),
                    Err(error) => (reject, error),
                };
                let _ = settle.call1(&JsValue::UNDEFINED, &value);
            }));
        }
    })
}

/// Waits for a promise. The listening begins at once.
pub(crate) fn outcome(promise: &Promise) -> Awaited {
    let awaited = Awaited(Rc::default());
    let (done, failed) = (awaited.listener(Ok), awaited.listener(Err));
    // What it gives is a promise of nothing.
    let _ = promise.then2(&done, &failed);
    awaited.0.borrow_mut().listeners = Some((done, failed));
    awaited
}

/// The future of a promise. See [`outcome`].
pub(crate) struct Awaited(Rc<RefCell<Listening>>);

#[derive(Default)]
struct Listening {
    outcome: Option<Outcome>,
    waker: Option<Waker>,
    /// Kept by what they capture until one of them is called: a promise may outlive its future.
    listeners: Option<(Listener, Listener)>,
}

type Listener = Closure<dyn FnMut(JsValue)>;

impl Awaited {
    fn listener(&self, outcome: fn(JsValue) -> Outcome) -> Listener {
        let state = self.0.clone();
        Closure::new(move |value| {
            let mut listening = state.borrow_mut();
            listening.outcome = Some(outcome(value));
            let (waker, listeners) = (listening.waker.take(), listening.listeners.take());
            drop(listening);
            if let Some(waker) = waker {
                waker.wake();
            }
            drop(listeners);
        })
    }
}

impl Future for Awaited {
    type Output = Outcome;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Outcome> {
        let mut listening = self.0.borrow_mut();
        match listening.outcome.take() {
            Some(outcome) => Poll::Ready(outcome),
            None => {
                listening.waker = Some(context.waker().clone());
                Poll::Pending
            }
        }
    }
}

/// Waits until one of the two functions is called that `listen` gets: the first means success, the
/// second failure. After `limit_ms` the failure is `undefined`. The listening begins at once, the
/// waiting with the first poll.
pub(super) fn settled(
    limit_ms: u32,
    listen: &mut dyn FnMut(&Function, &Function),
) -> impl Future<Output = Result<JsValue, JsValue>> + use<> {
    let mut timeout = None;
    let promise = Promise::new(&mut |resolve, reject| {
        listen(&resolve, &reject);
        timeout = Some(Timeout::new(&reject, limit_ms));
    });
    let outcome = outcome(&promise);
    async move {
        let _timeout = timeout;
        outcome.await
    }
}

/// Waits for a promise, as [`settled`] does.
pub(super) fn within(
    limit_ms: u32,
    promise: &JsValue,
) -> impl Future<Output = Result<JsValue, JsValue>> + use<> {
    settled(limit_ms, &mut |resolve, reject| {
        let then = property(promise, "then");
        let attached = then.dyn_ref::<Function>().map(|then| then.call2(promise, resolve, reject));
        if !matches!(attached, Some(Ok(_))) {
            // What is no promise never settles: it fails at once.
            let _ = reject.call0(&JsValue::UNDEFINED);
        }
    })
}

/// One timeout, cleared when dropped.
pub(super) struct Timeout(JsValue);

impl Timeout {
    /// Calls back after `delay_ms`, or after the longest delay that hosts know (2^31 - 1 ms) if
    /// that is sooner: beyond it they would call at once.
    pub(super) fn new(callback: &Function, delay_ms: u32) -> Self {
        Self(sys::set_timeout(callback, i32::try_from(delay_ms).unwrap_or(i32::MAX)))
    }
}

impl Drop for Timeout {
    fn drop(&mut self) {
        sys::clear_timeout(&self.0);
    }
}

/// A property of a value from outside; `undefined` where there is none.
pub(super) fn property(value: &JsValue, name: &str) -> JsValue {
    Reflect::get(value, &name.into()).unwrap_or_default()
}

/// A plain object.
pub(super) fn object(fields: &[(&str, JsValue)]) -> JsValue {
    let object = js_sys::Object::new().into();
    for (name, value) in fields {
        set(&object, name, value);
    }
    object
}

/// Sets a property of a plain object that nobody else has seen, which cannot fail.
pub(super) fn set(object: &JsValue, name: &str, value: &JsValue) {
    let _ = Reflect::set(object, &name.into(), value);
}

/// An array.
pub(super) fn list(items: &[JsValue]) -> js_sys::Array {
    let list = js_sys::Array::new();
    for item in items {
        list.push(item);
    }
    list
}
