//! Asking for the price before work is handed over whose cost is bounded.

use super::pen::Pen;
use super::trouble;
use crate::model::ending::Ending;
use crate::model::hold::{ParkReason, WaitReason};
use crate::model::life::Illegal;
use crate::model::money::Amount;
use crate::model::profile::{Meaning, Purpose};
use crate::rules::bounds::QUOTE_FAILURES_MAX;
use crate::rules::classify::{Finding, Said, Verdict};

/// The price is kept with what else was said; whether it is within the limit is looked at next.
pub(super) fn answered(pen: &mut Pen<'_>, verdict: &Verdict) -> Result<(), Illegal> {
    if !pen.is_submitting() || pen.op.life.may_be_accepted() {
        return Err(Illegal);
    }
    let said = &verdict.said;
    pen.note_answer("quote.answered", Purpose::Quote, said);
    if verdict.finding != Finding::Done {
        // A refusal that names a number names no price.
        pen.op.ledger.set(Amount::Quoted, None);
    }
    match &verdict.finding {
        Finding::Done => {
            (pen.op.counters.failures, pen.op.counters.authorizations) = (0, 0);
            pen.op.life.release()
        }
        Finding::Other(Meaning::RateLimited) if !is_spent(pen) => pen.rate_limited(said),
        Finding::Other(
            meaning @ (Meaning::NeedsCredential | Meaning::NeedsAccess | Meaning::NeedsCredit),
        ) => trouble::needs(pen, *meaning),
        Finding::Other(Meaning::Transient | Meaning::RateLimited) | Finding::Unreadable(_) => {
            failed(pen, Some(said))
        }
        // The input is wrong, and nothing was handed over.
        Finding::Other(Meaning::Rejected) => pen.end(Ending::Rejected(said.fault.clone())),
        Finding::Other(Meaning::SourceBlocked) => pen.park(ParkReason::NeedsAccess),
        Finding::Other(_)
        | Finding::Redirected
        | Finding::Accepted(_)
        | Finding::Job(_)
        | Finding::Kept(_)
        | Finding::Paged(_)
        | Finding::Incomplete(_)
        | Finding::Listed(_) => pen.park(ParkReason::BudgetExhausted),
    }
}

/// A price that cannot be had is asked for again, a number of times: without it nothing is sent.
pub(super) fn failed(pen: &mut Pen<'_>, said: Option<&Said>) -> Result<(), Illegal> {
    if said.is_none() {
        pen.note("quote.lost").purpose = Some(Purpose::Quote);
    }
    if is_spent(pen) {
        return pen.park(ParkReason::BudgetExhausted);
    }
    pen.back_off(said, WaitReason::Backoff)
}

const fn is_spent(pen: &Pen<'_>) -> bool {
    pen.op.counters.failures >= QUOTE_FAILURES_MAX
}
