//! One transaction: it reads, decides inside the callback of its last read, writes, and is over
//! when it is complete.
//!
//! Nothing is awaited between a read and the write that rests on it. A transaction that has no
//! request left when control returns to the host commits by itself, so the whole of a
//! compare-and-set happens in one turn.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use js_sys::Function;
use wasm_bindgen::prelude::*;
use web_sys::{Event, IdbObjectStore, IdbRequest, IdbTransaction};

use super::failure::Failure;
use crate::web::promise::{property, settled};

/// How long a transaction may take, in milliseconds.
const COMPLETE_MS: u32 = 10_000;

/// What goes on when a followed request has succeeded. It gets the request's result; it may follow
/// further requests, and it may write. An error aborts the transaction.
pub(super) type Step = Box<dyn FnMut(&Transaction, JsValue) -> Result<(), JsValue>>;

/// A transaction under way. Dropped before its end, it is aborted.
pub(super) struct Transaction {
    raw: IdbTransaction,
    /// Listener of the followed requests.
    listener: RefCell<Option<Function>>,
    /// What the steps leave for the caller.
    found: RefCell<JsValue>,
    /// The error of a step.
    error: RefCell<Option<JsValue>>,
    has_stepped: Cell<bool>,
}

impl Transaction {
    /// An object store.
    pub(super) fn store(&self, name: &str) -> Result<IdbObjectStore, JsValue> {
        self.raw.object_store(name)
    }

    /// Takes the step when this request has succeeded. Requests succeed in the order in which they
    /// were made, so that following the last of several means waiting for all.
    pub(super) fn follow(&self, request: &IdbRequest) {
        request.set_onsuccess(self.listener.borrow().as_ref());
    }

    /// Leaves something for the caller, who gets it once the transaction is complete.
    pub(super) fn leave(&self, found: JsValue) {
        self.found.replace(found);
    }

    fn take_step(&self, step: &mut Step, event: &Event) {
        let target = event.target().map(JsValue::from).unwrap_or_default();
        self.has_stepped.set(true);
        if let Err(error) = step(self, property(&target, "result")) {
            self.error.replace(Some(error));
            let _ = self.raw.abort();
        }
    }
}

/// Runs a transaction to its end, and gives what its steps have left. `begin` makes the first requests and gives the step; where it
/// follows none of them, the step is never taken.
pub(super) async fn run(
    raw: IdbTransaction,
    begin: &dyn Fn(&Transaction) -> Result<Step, JsValue>,
) -> Result<JsValue, Failure> {
    let transaction = Rc::new(Transaction {
        raw,
        listener: RefCell::new(None),
        found: RefCell::default(),
        error: RefCell::new(None),
        has_stepped: Cell::new(false),
    });
    let step: Rc<RefCell<Option<Step>>> = Rc::default();
    let listener = Closure::<dyn FnMut(Event)>::new({
        let (transaction, step) = (transaction.clone(), step.clone());
        move |event| {
            if let Some(step) = step.borrow_mut().as_mut() {
                transaction.take_step(step, &event);
            }
        }
    });
    transaction.listener.replace(Some(listener.as_ref().unchecked_ref::<Function>().clone()));
    let guard = Guard(&transaction.raw);
    match begin(&transaction) {
        Ok(first) => step.replace(Some(first)),
        Err(error) => return Err(Failure::Aborted(error, false)),
    };
    let ended = settled(COMPLETE_MS, &mut |resolve, reject| {
        transaction.raw.set_oncomplete(Some(resolve));
        transaction.raw.set_onabort(Some(reject));
    })
    .await;
    let Err(event) = ended else {
        core::mem::forget(guard);
        return Ok(transaction.found.take());
    };
    if event.is_undefined() {
        return Err(Failure::Silent);
    }
    let own = transaction.error.take();
    let error = own.or_else(|| transaction.raw.error().map(JsValue::from)).unwrap_or_default();
    Err(Failure::Aborted(error, transaction.has_stepped.get()))
}

/// Aborts a transaction that its future no longer waits for.
struct Guard<'a>(&'a IdbTransaction);

impl Drop for Guard<'_> {
    fn drop(&mut self) {
        // Throws when there is nothing left to abort.
        let _ = self.0.abort();
    }
}
