//! Virtual time: nothing waits, everything happens at its point.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::rc::Rc;
use std::task::{Poll, Waker};

use super::tasks::Being;

/// What happens at a point in time.
enum Alarm {
    Wake(Waker),
    Call { being: Rc<Being>, owner: usize, call: Rc<dyn Fn()> },
}

/// The clock.
pub struct Clock {
    now: Cell<u64>,
    sequence: Cell<u64>,
    alarms: RefCell<BTreeMap<(u64, u64), Alarm>>,
}

impl Clock {
    pub fn at(now: u64) -> Self {
        Self { now: Cell::new(now), sequence: Cell::new(0), alarms: RefCell::default() }
    }

    pub fn now(&self) -> u64 {
        self.now.get()
    }

    /// When the next thing happens.
    pub fn next(&self) -> Option<u64> {
        self.alarms.borrow().keys().next().map(|(at, _)| *at)
    }

    /// Jumps to a point and lets everything happen that is due by then.
    pub fn advance(&self, to: u64) {
        self.now.set(self.now.get().max(to));
        loop {
            let due = self.alarms.borrow().keys().next().copied().filter(|(at, _)| *at <= to);
            let Some(key) = due else { break };
            let alarm = self.alarms.borrow_mut().remove(&key);
            match alarm {
                Some(Alarm::Wake(waker)) => waker.wake(),
                Some(Alarm::Call { being, .. }) if being.frozen.get() => being.missed.set(true),
                Some(Alarm::Call { being, call, .. }) if being.alive.get() => call(),
                Some(Alarm::Call { .. }) | None => {}
            }
        }
    }

    /// Lets a task sleep.
    pub async fn sleep(&self, length_ms: u64) {
        let at = self.now() + length_ms;
        std::future::poll_fn(|context| {
            if self.now() >= at {
                return Poll::Ready(());
            }
            let waker = context.waker().clone();
            self.alarms.borrow_mut().insert((at, self.ticket()), Alarm::Wake(waker));
            Poll::Pending
        })
        .await;
    }

    /// The one timer of an owner: a new order replaces the old one.
    pub fn order(&self, owner: usize, being: &Rc<Being>, at: Option<u64>, call: Rc<dyn Fn()>) {
        self.alarms.borrow_mut().retain(|_, alarm| match alarm {
            Alarm::Wake(_) => true,
            Alarm::Call { owner: own, .. } => *own != owner,
        });
        if let Some(at) = at {
            let alarm = Alarm::Call { being: Rc::clone(being), owner, call };
            self.alarms.borrow_mut().insert((at, self.ticket()), alarm);
        }
    }

    pub fn drop_dead(&self) {
        self.alarms.borrow_mut().retain(|_, alarm| match alarm {
            Alarm::Wake(_) => true,
            Alarm::Call { being, .. } => being.alive.get(),
        });
    }

    fn ticket(&self) -> u64 {
        let ticket = self.sequence.get();
        self.sequence.set(ticket + 1);
        ticket
    }
}
