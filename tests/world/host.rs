//! What the hosts of all these worlds have in common.
#![allow(dead_code, unused_imports, unused_macros, reason = "each world's host uses its own part")]

use std::future::poll_fn;
use std::task::Poll;

use holdfast::model::dice::Dice;

/// A host that is each of its ports itself, and that no test ends by a named point.
macro_rules! is_its_own_ports {
    ($host:ty) => {
        impl holdfast::driver::ports::Ports for $host {
            type App = Self;
            type Runtime = Self;
            type Store = Self;
            type Transport = Self;

            fn store(&self) -> &Self {
                self
            }

            fn transport(&self) -> &Self {
                self
            }

            fn app(&self) -> &Self {
                self
            }

            fn runtime(&self) -> &Self {
                self
            }
        }

        impl holdfast::driver::ports::FailPoints for $host {}
    };
}
pub(crate) use is_its_own_ports;

/// Randomness that a seed decides.
pub fn entropy(dice: &mut Dice) -> [u8; 16] {
    let (high, low) = (dice.roll(), dice.roll());
    ((u128::from(high) << 64) | u128::from(low)).to_be_bytes()
}

/// Lets everything else that is ready have a turn.
pub async fn one_turn() {
    let mut seen = false;
    poll_fn(|context| {
        context.waker().wake_by_ref();
        if std::mem::replace(&mut seen, true) { Poll::Ready(()) } else { Poll::Pending }
    })
    .await;
}
