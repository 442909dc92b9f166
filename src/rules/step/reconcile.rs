//! Looking a submission up in the service's listing, when its answer was lost and sending it again
//! could be a second execution.

use super::pen::Pen;
use super::trouble;
use crate::model::ending::Ending;
use crate::model::evidence::AcceptedHow;
use crate::model::hold::{ParkReason, WaitReason};
use crate::model::ids::JobId;
use crate::model::life::{Illegal, Stage};
use crate::model::listing::{LISTED_IDS_MAX, Listing, Page};
use crate::model::policy::OnUnknown;
use crate::model::profile::{Meaning, Purpose};
use crate::rules::bounds::{LISTING_FAILURES_MAX, LISTING_READS_MAX};
use crate::rules::classify::{Finding, Said, Verdict};
use crate::rules::listing::sought;
use crate::rules::teeth::{Tooth, bites};

/// Whether an attempt was accepted cannot be learned by sending it again: the listing tells, or a
/// person does.
pub(super) fn unknowable(pen: &mut Pen<'_>) -> Result<(), Illegal> {
    if let Some(sought) = sought(&pen.op, pen.profile).filter(|_| pen.is_submitting()) {
        pen.note("reconcile.begun");
        // Those of the submission say nothing of the listing.
        pen.op.counters.failures = 0;
        pen.op.life.reconcile(pen.now, sought.rule.lag_ms)?;
        if bites(Tooth::ListTooSoon) {
            pen.op.life.release()?;
        }
        pen.strictly();
        return Ok(());
    }
    let cancelled = pen.op.life.cancel.is_some();
    pen.park(if cancelled { ParkReason::CancelUnconfirmed } else { ParkReason::OutcomeUnknown })
}

/// The service keeps the key no longer: sent again, it could be a second execution, and nothing is
/// replayed any more.
pub(super) fn lapsed(pen: &mut Pen<'_>) -> Result<(), Illegal> {
    pen.op.keyless = true;
    unknowable(pen)
}

/// Its hold was released, and the clock has jumped back since the first attempt: when every attempt is
/// over and listed can only be counted from here.
pub(super) fn count_again(pen: &mut Pen<'_>) -> Result<(), Illegal> {
    let unresolved = pen.op.life.evidence.unresolved.as_ref();
    let (Stage::Reconcile(_), Some(rule), Some(unresolved)) =
        (&pen.op.life.stage, &pen.profile.reconcile, unresolved)
    else {
        return Ok(());
    };
    if unresolved.first_at <= pen.now {
        return Ok(());
    }
    let length_ms = unresolved.shown_in(pen.now, rule.lag_ms);
    pen.wait(length_ms, WaitReason::ListingLag)
}

pub(super) fn answered(pen: &mut Pen<'_>, verdict: &Verdict) -> Result<(), Illegal> {
    let said = &verdict.said;
    pen.note_answer("reconcile.answered", Purpose::Reconcile, said);
    match &verdict.finding {
        Finding::Listed(page) => listed(pen, page, said),
        Finding::Other(Meaning::RateLimited) => {
            if is_spent(pen) {
                give_up(pen)
            } else {
                pen.rate_limited(said)
            }
        }
        Finding::Other(
            meaning @ (Meaning::NeedsCredential | Meaning::NeedsAccess | Meaning::NeedsCredit),
        ) => trouble::needs(pen, *meaning),
        Finding::Other(_)
        | Finding::Unreadable(_)
        | Finding::Redirected
        | Finding::Accepted(_)
        | Finding::Job(_)
        | Finding::Kept(_)
        | Finding::Paged(_)
        | Finding::Incomplete(_)
        | Finding::Done => failed(pen, Some(said)),
    }
}

/// A page that cannot be had is asked for again, a number of times.
pub(super) fn failed(pen: &mut Pen<'_>, said: Option<&Said>) -> Result<(), Illegal> {
    if said.is_none() {
        pen.note("reconcile.lost").purpose = Some(Purpose::Reconcile);
    }
    if is_spent(pen) { give_up(pen) } else { pen.back_off(said, WaitReason::Backoff) }
}

/// A run that looked like this operation's belongs to another.
pub(super) fn job_taken(pen: &mut Pen<'_>, id: JobId) -> Result<(), Illegal> {
    pen.note("reconcile.not_ours");
    pen.op.life.not_ours(id)?;
    let foreign = listing(pen).map_or(0, |own| own.foreign.len());
    if foreign > LISTED_IDS_MAX { pen.park(ParkReason::Ambiguous) } else { Ok(()) }
}

fn listed(pen: &mut Pen<'_>, page: &Page, said: &Said) -> Result<(), Illegal> {
    let counters = &mut pen.op.counters;
    (counters.failures, counters.authorizations) = (0, 0);
    pen.op.life.listed(page)?;
    let Some(rule) = &pen.profile.reconcile else {
        return give_up(pen);
    };
    let through = page.reaches_back || page.next.is_none();
    let pages = listing(pen).map_or(0, |own| own.pages);
    if through || pages >= rule.pages_max { conclude(pen, through, said) } else { Ok(()) }
}

/// The listing was read, back past the first attempt or as far as it may be.
fn conclude(pen: &mut Pen<'_>, through: bool, said: &Said) -> Result<(), Illegal> {
    let Some(Listing { found, doubtful, .. }) = listing(pen).cloned() else {
        return Err(Illegal);
    };
    // Nobody else's run bears the operation's id, or repeats the job that it repeats; others may look the same.
    let exact = sought(&pen.op, pen.profile).is_some_and(|own| own.exact);
    // Two runs that bear it are two executions.
    pen.op.ledger.duplicated |= exact && found.len() > 1;
    match found.as_slice() {
        [id] if !doubtful && (through || exact) => adopt(pen, id, said),
        [] if !doubtful && through => absent(pen),
        [] | [_] if !doubtful => read_again(pen),
        _ => pen.park(ParkReason::Ambiguous),
    }
}

fn adopt(pen: &mut Pen<'_>, id: &JobId, said: &Said) -> Result<(), Illegal> {
    pen.op.life.accepted(Some(id.clone()), AcceptedHow::Listed, pen.now)?;
    pen.strictly();
    pen.claim_job();
    pen.note("reconcile.found");
    if pen.op.life.cancel.is_some() {
        return Ok(());
    }
    pen.wait_for_poll(0, said, WaitReason::Poll)
}

/// Nothing ran. It is submitted again only where the app has said so, and only once: what follows
/// from a listing that errs is bounded by that.
fn absent(pen: &mut Pen<'_>) -> Result<(), Illegal> {
    pen.op.life.not_listed()?;
    pen.strictly();
    pen.note("reconcile.absent");
    let taken_on = pen.op.life.evidence.accepted.is_some();
    if pen.op.life.cancel.is_some() && !taken_on {
        pen.op.life.disproved()?;
        return pen.end(Ending::Cancelled);
    }
    let resubmits = pen.op.limits.on_unknown == OnUnknown::Resubmit
        && pen.profile.key.is_none()
        && !taken_on
        && !pen.op.life.evidence.disproved;
    if resubmits {
        pen.note("reconcile.resubmit");
        pen.op.ledger.duplicated = true;
        return pen.op.life.disproved();
    }
    pen.park(ParkReason::OutcomeUnknown)
}

/// It was not read back far enough, or others may hide among what was not read.
fn read_again(pen: &mut Pen<'_>) -> Result<(), Illegal> {
    if listing(pen).is_some_and(|own| own.short + 1 >= LISTING_READS_MAX) {
        return give_up(pen);
    }
    pen.op.life.list_again()?;
    pen.note("reconcile.short");
    pen.back_off(None, WaitReason::Backoff)
}

fn is_spent(pen: &Pen<'_>) -> bool {
    pen.op.counters.failures >= LISTING_FAILURES_MAX
}

fn give_up(pen: &mut Pen<'_>) -> Result<(), Illegal> {
    pen.note("reconcile.given_up");
    pen.park(ParkReason::OutcomeUnknown)
}

fn listing<'p>(pen: &'p Pen<'_>) -> Option<&'p Listing> {
    match &pen.op.life.stage {
        Stage::Reconcile(listing) => Some(listing),
        Stage::Submit | Stage::Work | Stage::Result { .. } | Stage::Ended { .. } => None,
    }
}
