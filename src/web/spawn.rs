//! Tasks, by the host's queue of microtasks.
//!
//! All tasks share one waker, and whenever it is called all of them are polled, in the next
//! microtask. There are only a few dozen, and a poll too many costs next to nothing; a waker for
//! each would cost every visitor's download.

use std::cell::{Cell, RefCell};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Wake, Waker};

use js_sys::Function;
use wasm_bindgen::prelude::*;

use super::runtime::WebRuntime;
use super::sys::queue_microtask;
use crate::driver::ports::Spawn;

/// What runs by itself.
type Task = Pin<Box<dyn Future<Output = ()>>>;

thread_local! {
    static TASKS: RefCell<Vec<Task>> = const { RefCell::new(Vec::new()) };
    static IS_SCHEDULED: Cell<bool> = const { Cell::new(false) };
    static POLL_ALL: Function =
        Closure::<dyn Fn()>::new(poll_all).into_js_value().unchecked_into();
}

impl Spawn for WebRuntime {
    fn spawn(&self, task: impl Future<Output = ()> + 'static) {
        spawn(Box::pin(task));
    }
}

/// Runs a task to its end, from the next microtask on.
pub(super) fn spawn(task: Task) {
    TASKS.with_borrow_mut(|tasks| tasks.push(task));
    schedule();
}

fn schedule() {
    if !IS_SCHEDULED.replace(true) {
        POLL_ALL.with(queue_microtask);
    }
}

fn poll_all() {
    IS_SCHEDULED.set(false);
    let waker = Waker::from(Arc::new(Anyone));
    let mut context = Context::from_waker(&waker);
    let mut tasks = TASKS.take();
    tasks.retain_mut(|task| task.as_mut().poll(&mut context).is_pending());
    // What was spawned meanwhile comes after what was there.
    TASKS.with_borrow_mut(|spawned| {
        tasks.append(spawned);
        *spawned = tasks;
    });
}

struct Anyone;

impl Wake for Anyone {
    fn wake(self: Arc<Self>) {
        schedule();
    }
}
