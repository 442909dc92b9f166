//! Handing the ending to its consumer, at least once.

use super::pen::Pen;
use crate::model::hold::{Hold, WaitReason};
use crate::model::life::{Delivery, Illegal};
use crate::model::policy::Backoff;
use crate::model::time::Wait;
use crate::rules::backoff;

/// Pace of deliveries that fail: soon at first, then every ten minutes or so.
const PACE: Backoff = Backoff { first_ms: 1_000, factor_tenths: 20, cap_ms: 600_000 };

pub(super) fn delivered(pen: &mut Pen<'_>, done: bool) -> Result<(), Illegal> {
    if done {
        pen.note("delivered");
        return pen.op.life.deliver(Delivery::Delivered(pen.now));
    }
    let length_ms = backoff::poll_delay(&PACE, pen.op.counters.deliveries, pen.dice);
    pen.op.counters.deliveries = pen.op.counters.deliveries.saturating_add(1);
    pen.note("delivery.failed").wait = Some((length_ms, WaitReason::Delivery.name()));
    pen.op.life.deliver(Delivery::Pending(Hold::Until {
        wait: Wait::new(pen.now, length_ms),
        reason: WaitReason::Delivery,
    }))
}
