//! Missing credentials and reached bounds: the ways to a park that all stages share.

use super::pen::Pen;
use crate::model::hold::{Hold, ParkReason, WaitReason};
use crate::model::life::{Illegal, Settlement};
use crate::model::profile::{Meaning, Purpose};
use crate::model::time::Wait;
use crate::rules::backoff;
use crate::rules::bounds::{AUTHORIZATIONS_MAX, REQUEST_FLOOR_MS};
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
        | Meaning::KeyConflict
        | Meaning::NotFound
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

/// The app could not give a credential: it is asked again, then a person is.
pub(super) fn unauthorized(pen: &mut Pen<'_>, purpose: Purpose) -> Result<(), Illegal> {
    pen.note("unauthorized").purpose = Some(purpose);
    let index = pen.op.counters.authorizations;
    pen.op.counters.authorizations = index.saturating_add(1);
    let length_ms = backoff::poll_delay(&pen.profile.retry, index, pen.dice);
    if pen.op.life.is_ended() {
        return wait_for_settlement(pen, length_ms);
    }
    if pen.op.counters.authorizations >= AUTHORIZATIONS_MAX {
        return pen.park(ParkReason::NeedsCredential);
    }
    pen.wait(length_ms, WaitReason::Authorization)
}

pub(super) fn out_of_bounds(pen: &mut Pen<'_>, bound: Bound) -> Result<(), Illegal> {
    pen.park(match bound {
        Bound::Deadline => ParkReason::DeadlineExceeded,
        Bound::Attempts => ParkReason::BudgetExhausted,
        Bound::KeyLifetime => ParkReason::OutcomeUnknown,
    })
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
