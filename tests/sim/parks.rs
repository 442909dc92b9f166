//! Parks and endings: each only for a reason that the run can show. An avoidable park is a failure.

use holdfast::model::ending::Ending;
use holdfast::model::hold::{Hold, ParkReason};
use holdfast::model::ids::OperationId;
use holdfast::model::life::Stage;
use holdfast::model::operation::Operation;

use super::kinds::Kind;
use super::plan::{Ends, Work};
use super::world::World;

/// A wait may be refused because it would end this much later than the deadline, in milliseconds.
const LONGEST_WAIT_MS: u64 = 200_000;

/// How long before its end a key's lifetime counts as over, in milliseconds.
const KEY_MARGIN_MS: u64 = 40_000;

/// Unreadable results, failed downloads and answers "not ready" before a person is asked.
const UNREADABLE_MAX: u64 = 5;
const DOWNLOADS_MAX: u32 = 40;
const NOT_READY_MAX: u32 = 20;

/// Notes a park, and whether anything justifies it.
pub fn check(world: &World, before: Option<&Operation>, after: &Operation) {
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
    if !is_justified(world, after, reason) {
        world.breach(|| format!("an avoidable park: {}", reason.name()));
    }
}

fn is_justified(world: &World, own: &Operation, reason: ParkReason) -> bool {
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
            wall + LONGEST_WAIT_MS >= own.identity.created_at.0 + length_ms
        }
        ParkReason::BudgetExhausted => {
            let fetching = matches!(own.life.stage, Stage::Result { .. });
            own.spent.attempts + evidence.attempts >= own.limits.attempts
                || fetching && own.counters.failures >= DOWNLOADS_MAX && !world.is_gone(own)
                || own.counters.not_ready > NOT_READY_MAX
        }
        ParkReason::OutcomeUnknown => {
            let first_at = evidence.unresolved.as_ref().map_or(u64::MAX, |own| own.first_at.0);
            let over = first_at.saturating_add(world.0.plan.key_ms) <= wall + KEY_MARGIN_MS;
            let jumped = world.0.oracle.borrow().clock_set_back.iter().sum::<u64>() > 60_000;
            // A refusal after a lost answer proves nothing: it is tried again, then a person is asked.
            let refused = lies(Kind::Refused) >= 3
                || world.work(own).is_some_and(|work| work.ends == Ends::Rejected);
            lies(Kind::Redirect) > 0 || refused || over || jumped
        }
        // This service has no listing.
        ParkReason::Ambiguous => false,
        ParkReason::ScopeChanged => world.0.oracle.borrow().scope_changes > 0,
        ParkReason::CancelUnconfirmed => {
            world.0.oracle.borrow().cancelled.contains(&own.identity.id)
        }
    }
}

impl World {
    /// How often an answer for an operation was such a fault instead.
    pub fn lies(&self, own: &Operation, kind: Kind) -> u64 {
        let key = (own.identity.key.as_str().to_owned(), kind);
        self.0.oracle.borrow().lies.get(&key).copied().unwrap_or(0)
    }

    /// Whether the service has said that it no longer has the result.
    fn is_gone(&self, own: &Operation) -> bool {
        self.0.oracle.borrow().gone.contains(own.identity.key.as_str())
    }

    /// Whether the service no longer has the result.
    fn is_expired(&self, own: &Operation) -> bool {
        let Some(work) = self.work(own) else { return false };
        let oracle = self.0.oracle.borrow();
        let job = own.life.job().and_then(|job| oracle.jobs.get(job.as_str()));
        job.is_some_and(|job| self.now() >= job.at + work.duration_ms + work.retention_ms)
    }

    /// The work that an operation stands for.
    pub fn work(&self, own: &Operation) -> Option<&Work> {
        let (account, intent) = (own.identity.account.as_str(), own.identity.intent.as_str());
        self.0.plan.work.iter().find(|work| work.account == account && work.intent == intent)
    }

    /// An ending must be what really happened.
    pub fn check_ending(&self, before: Option<&Operation>, after: &Operation) {
        let Stage::Ended { ending, .. } = &after.life.stage else { return };
        if before.is_some_and(|own| own.life.is_ended()) {
            return;
        }
        let Some(work) = self.work(after) else {
            return self.breach(|| "work that nobody asked for".into());
        };
        let id = &after.identity.id;
        let job = self.job_of(after.identity.key.as_str());
        let wished =
            |all: fn(&super::oracle::Oracle) -> &std::collections::BTreeSet<OperationId>| {
                all(&self.0.oracle.borrow()).contains(id)
            };
        let fails = work.ends == Ends::Failed && !(work.heals() && after.identity.ordinal > 0);
        let right = match ending {
            Ending::Succeeded { .. } => job.is_some() && work.ends != Ends::Rejected && !fails,
            Ending::Failed(_) => job.is_some() && fails,
            Ending::Rejected(_) => {
                job.is_none()
                    && (work.ends == Ends::Rejected || self.lies(after, Kind::Refused) > 0)
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
            Ending::Abandoned => wished(|oracle| &oracle.abandoned),
        };
        if !right {
            self.breach(|| format!("it ends {} and should not (job {job:?})", ending.name()));
        }
    }
}
