//! What a service has done and charged: the oracle of every proof.
use std::collections::{BTreeMap, VecDeque};

use serde::Serialize;
use serde_json::{Value, json};

use crate::{Call, Request};

/// The longest log of requests that is kept.
pub const LOG_MAX: usize = 1000;
/// Two requests for one job that are closer than this came too fast.
pub const FLOOR_MS: u64 = 250;

/// Counters over everything since the start, the jobs, and a bounded log of requests.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Ledger {
    /// Jobs that began to run.
    pub executions: u64,
    /// Times that credits were taken.
    pub charges: u64,
    /// Credits taken, refunds not deducted.
    pub charged_credits: u64,
    /// Times that credits were given back.
    pub refunds: u64,
    /// Credits given back.
    pub refunded_credits: u64,
    /// Credits left.
    pub balance: u64,
    /// Result bodies served.
    pub results: u64,
    /// Submissions and retries received, refused ones and repeated ones too.
    pub submits: u64,
    /// Reads of a status received.
    pub polls: u64,
    /// Keys that came again with another request.
    pub key_mismatches: u64,
    /// Requests without a valid credential.
    pub unauthorized: u64,
    /// Requests less than [`FLOOR_MS`] after another one for the same job.
    pub too_fast: u64,
    /// Reads of a status after the settled ending had been told. A caller that died before it
    /// stored that answer may rightly cause one.
    pub polls_after_end: u64,
    /// Jobs by id; written as a list.
    #[serde(serialize_with = "as_list")]
    pub jobs: BTreeMap<String, JobEntry>,
    /// The latest requests, oldest first.
    #[serde(skip)]
    pub requests: VecDeque<LoggedRequest>,
    /// When each job's latest request came, by the key that made the job.
    #[serde(skip)]
    seen: BTreeMap<String, u64>,
}

/// One job's line.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct JobEntry {
    /// The service's id of it.
    pub id: String,
    /// The idempotency key that made it.
    pub key: String,
    /// What was asked for, by the mark that tells it from other requests: the caller's own where
    /// the service takes one, else the key, else the body's digest.
    pub asked: String,
    /// The SHA-256 of the body that made it, in hexadecimal.
    pub body_digest: String,
    /// Where it stands, in the service's words.
    pub status: String,
    /// How often it was executed.
    pub executions: u64,
    /// Credits taken for it.
    pub charged: u64,
    /// Credits given back for it.
    pub refunded: u64,
    /// How often its result was served.
    pub results: u64,
    /// The job that this one retries.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub retry_of: Option<String>,
}

/// A request in the log; it holds no credential and no body.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct LoggedRequest {
    /// When it came, in Unix milliseconds.
    pub time_ms: u64,
    /// What it asked for.
    pub call: Call,
    /// Its method.
    pub method: String,
    /// Its path, with the query.
    pub path: String,
    /// Its idempotency key.
    pub key: Option<String>,
    /// The SHA-256 of its body, in hexadecimal.
    pub body_digest: String,
    /// The part that it asks for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub range: Option<String>,
    /// The status of the answer that the service made, whether or not it was delivered.
    pub status: Option<u16>,
    /// The fault that struck it.
    pub fault: Option<String>,
}

impl Ledger {
    /// A ledger of nothing, with credits to spend.
    pub fn with_balance(credits: u64) -> Self {
        Self { balance: credits, ..Self::default() }
    }

    /// How often each thing that was asked for was executed; reruns of failed jobs do not count.
    pub fn executions_by_asked(&self) -> BTreeMap<&str, u64> {
        let mut counts = BTreeMap::new();
        for job in self.jobs.values().filter(|job| job.retry_of.is_none()) {
            *counts.entry(job.asked.as_str()).or_default() += job.executions;
        }
        counts
    }

    /// The counters, and the jobs as a list.
    pub fn to_json(&self) -> Value {
        serde_json::to_value(self).unwrap_or(Value::Null)
    }

    /// The log of requests, oldest first.
    pub fn requests_json(&self) -> Value {
        json!(self.requests)
    }

    /// Takes credits, where there are enough.
    pub(crate) fn take(&mut self, credits: u64) -> Option<()> {
        self.balance = self.balance.checked_sub(credits)?;
        self.charges += u64::from(credits > 0);
        self.charged_credits += credits;
        Some(())
    }

    /// Gives credits back.
    pub(crate) fn give_back(&mut self, credits: u64) {
        self.refunds += u64::from(credits > 0);
        self.refunded_credits += credits;
        self.balance += credits;
    }

    /// Adds to the log, dropping its oldest entry where it is full.
    pub(crate) fn log(&mut self, entry: LoggedRequest) {
        if self.requests.len() == LOG_MAX {
            self.requests.pop_front();
        }
        self.requests.push_back(entry);
    }

    /// Counts a request as too fast if another one for the same job came just before.
    pub(crate) fn see(&mut self, subject: &str, now_ms: u64) {
        let before = self.seen.insert(subject.to_owned(), now_ms);
        if before.is_some_and(|before| now_ms.saturating_sub(before) < FLOOR_MS) {
            self.too_fast += 1;
        }
    }

    /// Notes when a job's first request came, without judging it.
    pub(crate) fn see_first(&mut self, subject: &str, now_ms: u64) {
        self.seen.insert(subject.to_owned(), now_ms);
    }
}

impl LoggedRequest {
    /// The entry of a request that nothing has answered yet.
    pub(crate) fn new(time_ms: u64, call: Call, key: Option<String>, request: &Request) -> Self {
        Self {
            time_ms,
            call,
            method: request.method.clone(),
            path: request.path.clone(),
            key,
            body_digest: request.body_digest(),
            range: request.header("range").map(str::to_owned),
            status: None,
            fault: None,
        }
    }
}

fn as_list<S: serde::Serializer>(
    jobs: &BTreeMap<String, JobEntry>,
    to: S,
) -> Result<S::Ok, S::Error> {
    to.collect_seq(jobs.values())
}
