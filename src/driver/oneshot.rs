//! One value for one waiter.

use std::cell::RefCell;
use std::rc::Rc;
use std::task::{Context, Poll, Waker};

/// Resolves once; awaiting it gives the value.
pub(super) struct Oneshot<T>(Rc<RefCell<(Option<T>, Option<Waker>)>>);

impl<T> Clone for Oneshot<T> {
    fn clone(&self) -> Self {
        Self(Rc::clone(&self.0))
    }
}

impl<T> Oneshot<T> {
    pub(super) fn new() -> Self {
        Self(Rc::new(RefCell::new((None, None))))
    }

    pub(super) fn resolve(&self, value: T) {
        let waker = {
            let mut slot = self.0.borrow_mut();
            slot.0 = Some(value);
            slot.1.take()
        };
        if let Some(waker) = waker {
            waker.wake();
        }
    }
}

impl<T> Future for Oneshot<T> {
    type Output = T;

    fn poll(self: core::pin::Pin<&mut Self>, context: &mut Context<'_>) -> Poll<T> {
        let mut slot = self.0.borrow_mut();
        match slot.0.take() {
            Some(value) => Poll::Ready(value),
            None => {
                slot.1 = Some(context.waker().clone());
                Poll::Pending
            }
        }
    }
}
