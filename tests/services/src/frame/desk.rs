//! The state that every model has: jobs, what they cost, and the ids that were given out.
use std::collections::BTreeMap;

use serde_json::Value;

use super::{Job, Phase, Settings, Steer};
use crate::ledger::JobEntry;
use crate::time::{rfc3339, skewed};
use crate::{Ledger, Request};

/// What a model works with.
#[derive(Clone, Debug)]
pub(crate) struct Desk {
    pub(crate) settings: Settings,
    pub(crate) ledger: Ledger,
    pub(crate) jobs: BTreeMap<String, Job>,
    pub(crate) clock_error_ms: i64,
    /// The number in the id that was given out last.
    last_id: u64,
    traces: u64,
}

/// Work that is about to begin.
pub(crate) struct Opening<'a> {
    /// The key that makes it; empty where there is none.
    pub(crate) key: &'a str,
    /// The collection, surface or source.
    pub(crate) at: &'a str,
    pub(crate) body: Value,
    pub(crate) steer: Steer,
    /// The failed job that it runs again.
    pub(crate) parent: Option<&'a Job>,
    /// What was asked for, by which a second execution of the same is told; the key by default,
    /// where there is none the body's digest.
    pub(crate) asked: Option<String>,
    /// Credits taken at once.
    pub(crate) price: u64,
}

impl Desk {
    pub(crate) fn new(settings: Settings) -> Self {
        let ledger = Ledger::with_balance(settings.balance);
        let (jobs, clock_error_ms) = (BTreeMap::new(), 0);
        Self { settings, ledger, jobs, clock_error_ms, last_id: 0, traces: 0 }
    }

    /// Forgets all but which ids were given out.
    pub(crate) fn reset(&mut self) {
        let fresh = Self::new(self.settings.clone());
        *self = Self { last_id: self.last_id, traces: self.traces, ..fresh };
    }

    /// A new id of a trace or a request.
    pub(crate) fn trace(&mut self, prefix: &str) -> String {
        self.traces += 1;
        format!("{prefix}{:06}", self.traces)
    }

    /// An instant as the service writes it, by its own clock.
    pub(crate) fn time(&self, unix_ms: u64) -> String {
        rfc3339(skewed(unix_ms, self.clock_error_ms))
    }

    /// A link to a path of the service.
    pub(crate) fn link(&self, path: &str) -> String {
        format!("{}{path}", self.settings.link_base)
    }

    /// The job, once reads find it.
    pub(crate) fn visible(&self, now_ms: u64, id: &str) -> Option<Job> {
        let seen_from = |job: &Job| job.created_ms.saturating_add(job.steer.not_found_ms);
        self.jobs.get(id).filter(|job| now_ms >= seen_from(job)).cloned()
    }

    /// Executes, and charges where there is a price; nothing where the credits do not suffice.
    pub(crate) fn open(
        &mut self,
        now_ms: u64,
        request: &Request,
        opening: Opening<'_>,
    ) -> Option<Job> {
        let Opening { key, at, body, steer, parent, asked, price } = opening;
        let id = format!("{}{:06}", self.settings.id_prefix, self.last_id + 1);
        self.ledger.take(price)?;
        self.last_id += 1;
        let job = Job {
            id,
            key: key.to_owned(),
            at: at.to_owned(),
            body,
            duration_ms: steer.duration_ms.unwrap_or(self.settings.duration_ms),
            steer,
            created_ms: now_ms,
            ordinal: parent.map_or(0, |parent| parent.ordinal + 1),
            retry_of: parent.map(|parent| parent.id.clone()),
            cancelled_ms: None,
            base: price,
            settled: None,
            end_told: false,
        };
        self.ledger.executions += 1;
        self.ledger.see_first(job.subject(), now_ms);
        let digest = request.body_digest();
        let asked = asked.or_else(|| Some(key.to_owned()).filter(|key| !key.is_empty()));
        let entry = JobEntry {
            id: job.id.clone(),
            key: job.key.clone(),
            asked: asked.unwrap_or_else(|| digest.clone()),
            body_digest: digest,
            executions: 1,
            charged: price,
            retry_of: job.retry_of.clone(),
            ..JobEntry::default()
        };
        self.ledger.jobs.insert(job.id.clone(), entry);
        self.jobs.insert(job.id.clone(), job.clone());
        Some(job)
    }

    /// The same for work that has nothing to it but its key, at the usual price.
    pub(crate) fn open_usual(
        &mut self,
        now_ms: u64,
        request: &Request,
        key: &str,
        steer: Steer,
    ) -> Option<Job> {
        let (body, price) = (request.parsed(), self.settings.price);
        let opening = Opening { key, at: "", body, steer, parent: None, asked: None, price };
        self.open(now_ms, request, opening)
    }

    /// Takes the price of work that is charged when it is delivered.
    pub(crate) fn charge(&mut self, id: &str, credits: u64) {
        let taken = self.ledger.take(credits).is_some();
        if let Some(entry) = self.ledger.jobs.get_mut(id).filter(|_| taken) {
            entry.charged += credits;
        }
    }

    /// Notes that a job's result was served.
    pub(crate) fn served(&mut self, id: &str) {
        self.ledger.results += 1;
        if let Some(entry) = self.ledger.jobs.get_mut(id) {
            entry.results += 1;
        }
    }

    /// Lets endings and settlements happen that are due.
    pub(crate) fn settle(&mut self, now_ms: u64, word: fn(Phase) -> &'static str) {
        // Of what is settled nothing changes any more, and there may be thousands of it.
        for job in self.jobs.values_mut().filter(|job| job.settled.is_none()) {
            job.settled = job.due_settlement(now_ms, self.settings.settle_after_ms);
            self.ledger.give_back(job.refund());
            if let Some(entry) = self.ledger.jobs.get_mut(&job.id) {
                word(job.phase_at(now_ms)).clone_into(&mut entry.status);
                entry.refunded = job.refund();
            }
        }
    }
}
