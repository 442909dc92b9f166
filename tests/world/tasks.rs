//! A single-threaded executor whose tasks die, and freeze, with their context.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::future::Future;
use std::pin::Pin;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Wake, Waker};

struct Flag(AtomicBool);

impl Wake for Flag {
    fn wake(self: Arc<Self>) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// How a context is.
#[derive(Debug)]
pub struct Being {
    pub alive: Cell<bool>,
    /// None of its tasks runs, and its timer is silent, until it thaws.
    pub frozen: Cell<bool>,
    /// Its timer would have fired while it was frozen.
    pub missed: Cell<bool>,
    /// Its app has no credential.
    pub signed_out: Cell<bool>,
    /// How often in a row it had none.
    pub lacked: Cell<u32>,
}

impl Being {
    /// Notes whether a credential was given; true where there was none twice in a row, which others hear.
    pub fn authorized(&self, given: bool) -> bool {
        self.lacked.set(if given { 0 } else { self.lacked.get() + 1 });
        self.lacked.get() > 1
    }

    /// Whether it says that it can go on where another has no credential.
    pub fn goes_on(&self) -> bool {
        self.alive.get() && !self.frozen.get() && self.lacked.get() == 0
    }

    pub fn new() -> Rc<Self> {
        let not = || Cell::new(false);
        let (frozen, missed, signed_out) = (not(), not(), not());
        let lacked = Cell::new(0);
        Rc::new(Self { alive: Cell::new(true), frozen, missed, signed_out, lacked })
    }
}

struct Task {
    being: Rc<Being>,
    ready: Arc<Flag>,
    future: Pin<Box<dyn Future<Output = ()>>>,
}

/// All tasks of all contexts.
#[derive(Default)]
pub struct Tasks {
    all: RefCell<VecDeque<Task>>,
    new: RefCell<Vec<Task>>,
}

impl Tasks {
    pub fn spawn(&self, being: Rc<Being>, future: impl Future<Output = ()> + 'static) {
        let ready = Arc::new(Flag(AtomicBool::new(true)));
        self.new.borrow_mut().push(Task { being, ready, future: Box::pin(future) });
    }

    /// Polls every task that is ready, once; false when none was.
    pub fn run_ready(&self) -> bool {
        self.all.borrow_mut().extend(self.new.borrow_mut().drain(..));
        let count = self.all.borrow().len();
        let mut ran = false;
        for _ in 0..count {
            let Some(mut task) = self.all.borrow_mut().pop_front() else { break };
            if !task.being.alive.get() {
                continue;
            }
            if task.being.frozen.get() || !task.ready.0.swap(false, Ordering::Relaxed) {
                self.all.borrow_mut().push_back(task);
                continue;
            }
            ran = true;
            let waker = Waker::from(Arc::clone(&task.ready));
            if task.future.as_mut().poll(&mut Context::from_waker(&waker)).is_pending() {
                self.all.borrow_mut().push_back(task);
            }
        }
        ran || !self.new.borrow().is_empty()
    }

    pub fn drop_dead(&self) {
        self.new.borrow_mut().retain(|task| task.being.alive.get());
    }
}
