//! Missing credentials and reached bounds: the ways to a park that all stages share.

use super::delete;
use super::pen::Pen;
use super::reconcile;
use crate::model::ending::Fault;
use crate::model::hold::{Hold, ParkReason, WaitReason};
use crate::model::life::{Delivery, Illegal, Settlement};
use crate::model::profile::{Meaning, Purpose};
use crate::model::time::Wait;
use crate::rules::backoff;
use crate::rules::bounds::{AUTHORIZATIONS_MAX, REDIRECTS_MAX, REQUEST_FLOOR_MS};
use crate::rules::classify::Said;
use crate::rules::next::{Next, next};
use crate::rules::step::Bound;

/// The service refuses the credential, or what it may do. A refused credential is asked for anew
/// once, in case it was only stale.
pub(super) fn needs(pen: &mut Pen<'_>, meaning: Meaning) -> Result<(), Illegal> {
    match meaning {
        Meaning::NeedsCredit => pen.park(ParkReason::NeedsCredit),
        Meaning::NeedsAccess => pen.park(ParkReason::NeedsAccess),
        Meaning::NeedsCredential
        | Meaning::RateLimited
        | Meaning::Transient
        | Meaning::Rejected
        | Meaning::SourceBlocked
        | Meaning::InProgress
        | Meaning::RunningOrFailed
        | Meaning::Consumed
        | Meaning::KeyConflict
        | Meaning::VersionMoved
        | Meaning::Failed
        | Meaning::NotFound
        | Meaning::Undelivered
        | Meaning::NotReady
        | Meaning::Expired
        | Meaning::AlreadyEnded
        | Meaning::Unknown => {
            if pen.op.counters.authorizations > 0 {
                return pen.park(ParkReason::NeedsCredential);
            }
            pen.op.counters.authorizations += 1;
            pen.wait(REQUEST_FLOOR_MS, WaitReason::Authorization)
        }
    }
}

/// The job is known, and not where to ask for it.
pub(super) fn no_address(pen: &mut Pen<'_>) -> Result<(), Illegal> {
    const WHY: &str = "the job's address was not told, or is at another origin than its service";
    astray(pen, None, WHY)
}

/// An address that leads elsewhere, again and again. Where it leads is not followed.
pub(super) fn redirected(
    pen: &mut Pen<'_>,
    said: &Said,
    failed: impl Fn(&mut Pen<'_>, Option<&Said>) -> Result<(), Illegal>,
) -> Result<(), Illegal> {
    if pen.op.counters.redirects >= REDIRECTS_MAX {
        return astray(pen, said.fault.status, "the job's address redirects elsewhere");
    }
    pen.op.counters.redirects += 1;
    failed(pen, Some(said))
}

fn astray(pen: &mut Pen<'_>, status: Option<u16>, why: &str) -> Result<(), Illegal> {
    let message = Some(why.into());
    pen.op.reported.fault = Some(Fault { status, message, ..Fault::default() });
    pen.park(ParkReason::NeedsAccess)
}

/// The app could not give a credential: it is asked again, then a person is.
/// No news where the exchange is not wanted any more.
pub(super) fn unauthorized(pen: &mut Pen<'_>, purpose: Purpose) -> Result<(), Illegal> {
    if next(&pen.op, pen.profile, pen.now) != Next::Exchange(purpose) {
        return Err(Illegal);
    }
    pen.note("unauthorized").purpose = Some(purpose);
    let index = pen.op.counters.authorizations;
    pen.op.counters.authorizations = index.saturating_add(1);
    let length_ms = backoff::poll_delay(&pen.profile.retry, index, pen.dice);
    if pen.op.life.settlement.is_some() {
        return wait_for_settlement(pen, length_ms);
    }
    if pen.op.life.deletion.is_some() && pen.op.life.is_ended() {
        return delete::unauthorized(pen, length_ms);
    }
    if pen.op.counters.authorizations >= AUTHORIZATIONS_MAX {
        return pen.park(ParkReason::NeedsCredential);
    }
    pen.wait(length_ms, WaitReason::Authorization)
}

/// Parks at a bound, if what is stored has really reached it: it may have moved on since that was
/// found out.
pub(super) fn out_of_bounds(pen: &mut Pen<'_>, bound: Bound) -> Result<(), Illegal> {
    if next(&pen.op, pen.profile, pen.now) != Next::Park(bound) {
        return Err(Illegal);
    }
    match bound {
        Bound::Cost if pen.op.life.is_ended() => {
            pen.note("settlement.given_up");
            pen.op.life.settle(None)
        }
        Bound::Deadline => pen.park(ParkReason::DeadlineExceeded),
        Bound::Attempts | Bound::Cost => pen.park(ParkReason::BudgetExhausted),
        Bound::KeyLifetime => reconcile::lapsed(pen),
        Bound::NoKey => reconcile::unknowable(pen),
    }
}

/// Waits that were set by the clock before its jump begin anew: none is longer than it was meant to
/// be, counted from the jump.
pub(super) fn clock_jumped_back(pen: &mut Pen<'_>) -> Result<(), Illegal> {
    let now = pen.now;
    let anew = |hold: &Hold| match hold {
        Hold::Until { wait, reason } => Hold::Until { wait: wait.seen_at(now), reason: *reason },
        Hold::Ready | Hold::Parked { .. } => hold.clone(),
    };
    pen.note("clock.jumped_back");
    if let Some(open) = pen.op.life.settlement.clone() {
        let hold = anew(&open.hold);
        pen.op.life.settle(Some(Settlement { hold, ..open }))?;
    }
    if let Some(deletion) = &pen.op.life.deletion {
        let hold = anew(&deletion.hold);
        pen.op.life.hold_deletion(hold)?;
    }
    if let Some(Delivery::Pending(hold)) = &pen.op.life.delivery {
        let hold = anew(hold);
        pen.op.life.deliver(Delivery::Pending(hold))?;
    }
    match &pen.op.life.hold {
        Hold::Until { wait, reason } => {
            let (length_ms, reason) = (wait.length_ms, *reason);
            if now < wait.set_at { pen.op.life.wait(now, length_ms, reason) } else { Ok(()) }
        }
        Hold::Ready | Hold::Parked { .. } => Ok(()),
    }
}

fn wait_for_settlement(pen: &mut Pen<'_>, length_ms: u64) -> Result<(), Illegal> {
    let Some(open) = pen.op.life.settlement.clone() else {
        return Ok(());
    };
    let reads = open.reads + 1;
    let wait = Wait::new(pen.now, length_ms);
    let more = pen.profile.settlement.as_ref().is_some_and(|policy| reads < policy.reads_max);
    pen.op.life.settle(more.then_some(Settlement {
        hold: Hold::Until { wait, reason: WaitReason::Settlement },
        reads,
    }))
}
