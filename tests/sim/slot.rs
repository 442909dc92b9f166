//! A place for one value that a task of the world brings and a task of a context waits for.

use std::cell::RefCell;
use std::future::poll_fn;
use std::rc::Rc;
use std::task::{Poll, Waker};

pub struct Slot<T>(Rc<RefCell<Inner<T>>>);

struct Inner<T> {
    value: Option<T>,
    waker: Option<Waker>,
    filled: bool,
}

impl<T> Clone for Slot<T> {
    fn clone(&self) -> Self {
        Self(Rc::clone(&self.0))
    }
}

impl<T> Slot<T> {
    pub fn new() -> Self {
        Self(Rc::new(RefCell::new(Inner { value: None, waker: None, filled: false })))
    }

    /// Brings the value; false when another came first.
    pub fn fill(&self, value: T) -> bool {
        let waker = {
            let mut own = self.0.borrow_mut();
            if std::mem::replace(&mut own.filled, true) {
                return false;
            }
            own.value = Some(value);
            own.waker.take()
        };
        if let Some(waker) = waker {
            waker.wake();
        }
        true
    }

    pub async fn wait(&self) -> T {
        poll_fn(|context| {
            let mut own = self.0.borrow_mut();
            match own.value.take() {
                Some(value) => Poll::Ready(value),
                None => {
                    own.waker = Some(context.waker().clone());
                    Poll::Pending
                }
            }
        })
        .await
    }
}
