//! Parks and endings: each only for a reason that the run can show. An avoidable park is a failure.

use holdfast::model::ending::Ending;
use holdfast::model::hold::{Hold, ParkReason};
use holdfast::model::ids::OperationId;
use holdfast::model::life::Stage;
use holdfast::model::money::Credits;
use holdfast::model::operation::Operation;
use holdfast::model::policy::OnUnknown;

use super::house::House;
use super::kinds::Kind;
use super::plan::{Ends, Work};
use super::world::World;

/// A wait may be refused because it would end this much later than the deadline, in milliseconds.
const LONGEST_WAIT_MS: u64 = 200_000;

/// How long before its end a key's lifetime counts as over, in milliseconds.
const KEY_MARGIN_MS: u64 = 40_000;

/// A write on a slow disk takes at most so long, in milliseconds.
const SLOWEST_WRITE_MS: u64 = 30_000;

/// Unreadable results, failed downloads and answers "not ready" before a person is asked.
const UNREADABLE_MAX: u64 = 5;
const DOWNLOADS_MAX: u32 = 40;
const NOT_READY_MAX: u32 = 20;

/// Failed readings of a listing, failed questions for a price, and answers "it runs, or has failed"
/// before a person is asked.
const LISTINGS_MAX: u32 = 8;
const QUOTES_MAX: u32 = 8;
const CONFLICTS_MAX: u32 = 6;

/// What a piece of work costs.
pub const PRICE: Credits = Credits(5_000_000);

/// Notes a park, and whether anything justifies it.
pub fn check(world: &World, before: Option<&Operation>, after: &Operation, events: &[String]) {
    let Hold::Parked { reason, .. } = after.life.hold else { return };
    let already = before.is_some_and(|own| matches!(own.life.hold, Hold::Parked { .. }));
    if already || after.life.is_ended() {
        return;
    }
    let id = &after.identity.id;
    {
        let mut oracle = world.0.oracle.borrow_mut();
        let wished = oracle.cancelled.contains(id) && reason == ParkReason::CancelUnconfirmed;
        if !wished {
            oracle.parked.entry(id.clone()).or_default().push(reason.name().into());
        }
    }
    let free = world.0.oracle.borrow().freed.contains(&world.whose(after).0);
    if !free && !is_justified(world, after, reason, events) {
        world.breach(|| format!("an avoidable park: {}", reason.name()));
    }
}

/// How far the clock was set back since a write that lands now can have been begun.
fn set_back_lately(world: &World) -> u64 {
    let oracle = world.0.oracle.borrow();
    let lately = world.now().saturating_sub(oracle.clock_set_at) < SLOWEST_WRITE_MS;
    oracle.clock_set_back.last().copied().filter(|_| lately).unwrap_or(0)
}

fn is_justified(world: &World, own: &Operation, reason: ParkReason, events: &[String]) -> bool {
    let wall = world.wall();
    let lies = |kind| world.lies(own, kind);
    let evidence = &own.life.evidence;
    match reason {
        ParkReason::NeedsCredential => {
            lies(Kind::Unauthorized) > 0 || own.counters.authorizations >= 4
        }
        ParkReason::NeedsCredit => lies(Kind::NoCredit) > 0,
        ParkReason::NeedsAccess | ParkReason::KeyConflict | ParkReason::VersionMoved => false,
        ParkReason::JobNotFound => lies(Kind::NotFound) > 0,
        ParkReason::DeadlineExceeded => {
            let length_ms = own.limits.total_ms.min(own.limits.send_within_ms);
            wall + set_back_lately(world) + LONGEST_WAIT_MS >= own.identity.created_at.0 + length_ms
        }
        ParkReason::BudgetExhausted => {
            let fetching = matches!(own.life.stage, Stage::Result { .. });
            own.spent.attempts + evidence.attempts >= own.limits.attempts
                || fetching && own.counters.failures >= DOWNLOADS_MAX && !world.is_gone(own)
                || own.counters.not_ready > NOT_READY_MAX
                || own.is_too_dear(PRICE)
                || world.0.plan.house == House::Priced && is_unpriced(world, own)
        }
        ParkReason::OutcomeUnknown => {
            let first_at = evidence.unresolved.as_ref().map_or(u64::MAX, |own| own.first_at.0);
            let margin_ms = if world.0.plan.house.has_jobs() { KEY_MARGIN_MS } else { 130_000 };
            let seen = wall + set_back_lately(world) + margin_ms;
            let over = first_at.saturating_add(world.0.plan.key_ms) <= seen;
            let jumped = world.0.oracle.borrow().clock_set_back.iter().sum::<u64>() > 60_000;
            // A refusal after a lost answer proves nothing: it is tried again, then a person is asked.
            let refused = lies(Kind::Refused) >= 3
                || world.work(own).is_some_and(|work| work.ends == Ends::Rejected);
            lies(Kind::Redirect) > 0
                || refused
                || over
                || jumped
                || is_unknowable(world, own, events)
        }
        // Two runs bear its name: how that could come is looked at when the second begins.
        ParkReason::Ambiguous => {
            world.0.oracle.borrow().executions.get(&world.whose(own)).is_some_and(|own| *own > 1)
        }
        ParkReason::ScopeChanged => world.0.oracle.borrow().scope_changes > 0,
        ParkReason::CancelUnconfirmed => {
            world.0.oracle.borrow().cancelled.contains(&own.identity.id)
        }
    }
}

/// Whether the service's contract leaves no way to learn what became of an attempt.
fn is_unknowable(world: &World, own: &Operation, events: &[String]) -> bool {
    let has = |event: &str| events.iter().any(|own| own == event);
    match world.0.plan.house {
        House::Keyed => false,
        House::Bare => own.life.evidence.unresolved.is_some(),
        House::Listed => {
            let resubmits = own.limits.on_unknown == OnUnknown::Resubmit;
            has("reconcile.absent") && (!resubmits || own.life.evidence.disproved)
                || has("reconcile.given_up") && own.counters.failures >= LISTINGS_MAX
                || own.request.content_type.is_none()
        }
        // It runs, or it has failed: which of them is not told.
        House::Priced | House::Streamed => own.counters.not_ready > CONFLICTS_MAX,
    }
}

/// Whether the price could not be had.
fn is_unpriced(world: &World, own: &Operation) -> bool {
    const SAID: [Kind; 5] =
        [Kind::Redirect, Kind::PageOk, Kind::Refused, Kind::NotFound, Kind::Unauthorized];
    let failed = own.counters.failures >= QUOTES_MAX;
    failed || SAID.into_iter().any(|kind| world.lies(own, kind) > 0)
}

impl World {
    /// How often an answer for an operation was such a fault instead.
    pub fn lies(&self, own: &Operation, kind: Kind) -> u64 {
        let lie = (self.whose(own), kind);
        self.0.oracle.borrow().lies.get(&lie).copied().unwrap_or(0)
    }

    /// Whether the service has said that it no longer has the result.
    fn is_gone(&self, own: &Operation) -> bool {
        self.0.oracle.borrow().gone.contains(&self.whose(own))
    }

    /// Whether the service no longer has the result.
    fn is_expired(&self, own: &Operation) -> bool {
        let Some(work) = self.work(own) else { return false };
        let whose = self.whose(own);
        let oracle = self.0.oracle.borrow();
        let job = oracle.jobs.values().find(|job| job.whose == whose);
        job.is_some_and(|job| self.now() >= job.at + work.duration_ms + work.retention_ms)
    }

    /// The work that an operation stands for.
    pub fn work(&self, own: &Operation) -> Option<&Work> {
        let (account, intent) = (own.identity.account.as_str(), own.identity.intent.as_str());
        self.0.plan.work.iter().find(|work| work.account == account && work.intent == intent)
    }

    /// Whether the job that is to run again has been deleted: then the service knows nothing to run.
    fn is_rerun_of_the_deleted(&self, own: &Operation) -> bool {
        let all = self.operations(self.0.account.get());
        let parent =
            all.iter().find(|other| Some(&other.identity.id) == own.identity.parent.as_ref());
        parent.is_some_and(|parent| parent.life.deletion.is_some() || parent.life.purged.is_some())
    }

    /// An ending must be what really happened.
    pub fn check_ending(&self, before: Option<&Operation>, after: &Operation) {
        let Stage::Ended { ending, .. } = &after.life.stage else { return };
        if self.0.oracle.borrow().freed.contains(&self.whose(after).0) {
            return;
        }
        if before.is_some_and(|own| own.life.is_ended()) {
            return;
        }
        let Some(work) = self.work(after) else {
            return self.breach(|| "work that nobody asked for".into());
        };
        let id = &after.identity.id;
        let job = self.job_of(&self.whose(after));
        let wished =
            |all: fn(&super::oracle::Oracle) -> &std::collections::BTreeSet<OperationId>| {
                all(&self.0.oracle.borrow()).contains(id)
            };
        let birth = self.0.oracle.borrow().births.get(id).cloned();
        let Some(birth) = birth else { return };
        let fails = work.ends == Ends::Failed && !(work.heals() && birth.reruns > 0);
        let refused = work.ends == Ends::Rejected && !birth.corrected;
        let right = match ending {
            Ending::Succeeded { .. } => job.is_some() && !refused && !fails,
            Ending::Failed(_) => job.is_some() && fails,
            Ending::Rejected(_) => {
                let told_so = refused || self.lies(after, Kind::Refused) > 0;
                job.is_none() && (told_so || self.is_rerun_of_the_deleted(after))
            }
            Ending::Cancelled => {
                wished(|oracle| &oracle.cancelled)
                    && (job.is_none()
                        || after.life.job().is_some()
                        || after.life.evidence.disproved)
            }
            // A 404 past the date that the service named, by whatever clock, is an expiry too.
            Ending::Expired(_) => self.is_expired(after) || self.lies(after, Kind::NotFound) > 0,
            Ending::Incomplete { .. } => self.lies(after, Kind::PageOk) > UNREADABLE_MAX,
            Ending::Abandoned => {
                wished(|oracle| &oracle.abandoned) || self.0.plan.revises && job.is_none()
            }
        };
        if !right {
            self.breach(|| format!("it ends {} and should not (job {job:?})", ending.name()));
        }
    }
}
