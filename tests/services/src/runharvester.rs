//! A model of RunHarvester: asynchronous jobs whose creation is idempotent by key.
//!
//! What a job does is steered by optional members of its request's body: `duration_ms` (3000),
//! `outcome` (`completed`, `failed`, `source_blocked`), `failure_class` (`input`, `target`,
//! `transient`, `internal`), `captcha`, `retention_ms` (one hour), `result_bytes`, `not_ready_ms`,
//! `not_found_ms` and `fail_times` (how many runs of its lineage fail before one completes).
mod calls;
mod config;
mod job;
mod keys;
mod route;
mod wants;

use std::collections::BTreeMap;

use serde_json::json;

pub use config::Config;

use crate::{Call, Ledger, Request, Response, Service};
use job::Job;
use keys::KeyEntry;
use route::Route;

/// The model's state.
#[derive(Clone, Debug)]
pub struct RunHarvester {
    config: Config,
    ledger: Ledger,
    jobs: BTreeMap<String, Job>,
    keys: BTreeMap<String, KeyEntry>,
    /// The number in the id that was given out last.
    last_id: u64,
    traces: u64,
    clock_error_ms: i64,
}

impl RunHarvester {
    /// A service that has seen no request.
    pub fn new(config: Config) -> Self {
        let ledger = Ledger::with_balance(config.balance);
        Self {
            config,
            ledger,
            jobs: BTreeMap::new(),
            keys: BTreeMap::new(),
            last_id: 0,
            traces: 0,
            clock_error_ms: 0,
        }
    }

    fn is_authorized(&self, request: &Request) -> bool {
        let token = request.header("authorization").and_then(|value| value.strip_prefix("Bearer "));
        token.is_some_and(|token| self.config.tokens.contains(token))
    }

    fn refuse(&mut self, status: u16, code: &str, message: &str) -> Response {
        self.traces += 1;
        let trace = format!("trc_{:06}", self.traces);
        let error = json!({"code": code, "message": message, "trace_id": trace});
        Response::json(status, &json!({ "error": error }))
    }

    /// What the requests for one job have in common: the key that made it.
    fn subject_of(&self, request: &Request) -> Option<String> {
        match Route::of(request).id() {
            Some(id) => self.jobs.get(id).map(|job| job.key.clone()),
            None => request.header("idempotency-key").map(str::to_owned),
        }
    }
}

impl Default for RunHarvester {
    fn default() -> Self {
        Self::new(Config::default())
    }
}

impl Service for RunHarvester {
    fn stage_of(&self, request: &Request) -> Call {
        Route::of(request).call()
    }

    fn arrive(&mut self, now_ms: u64, request: &Request) {
        self.advance(now_ms);
        if let Some(subject) = self.subject_of(request) {
            self.ledger.see(&subject, now_ms);
        }
        let route = Route::of(request);
        match route {
            Route::Submit | Route::Retry(_) => self.ledger.submits += 1,
            Route::Poll(id) => {
                self.ledger.polls += 1;
                if self.jobs.get(id).is_some_and(|job| job.end_told) {
                    self.ledger.polls_after_end += 1;
                }
            }
            Route::Result(_) | Route::Cancel(_) | Route::Unknown => {}
        }
    }

    fn handle(&mut self, now_ms: u64, request: &Request) -> Response {
        self.advance(now_ms);
        if !self.is_authorized(request) {
            self.ledger.unauthorized += 1;
            return self.refuse(401, "UNAUTHORIZED", "A valid bearer token is required.");
        }
        match Route::of(request) {
            Route::Submit => self.submit(now_ms, request),
            Route::Poll(id) => self.poll(now_ms, id),
            Route::Result(id) => self.result(now_ms, id),
            Route::Cancel(id) => self.cancel(now_ms, id),
            Route::Retry(id) => self.retry(now_ms, request, id),
            Route::Unknown => self.refuse(404, "ROUTE_NOT_FOUND", "There is nothing at this path."),
        }
    }

    fn told(&mut self, request: &Request, response: &Response) {
        let Route::Poll(id) = Route::of(request) else {
            return;
        };
        if let Some(job) = self.jobs.get_mut(id).filter(|_| response.status == 200) {
            let body = response.parsed();
            let status = body["status"].as_str().unwrap_or_default();
            let ended = matches!(status, "completed" | "failed" | "cancelled");
            job.end_told |= ended && body["token_state"] != "reserved";
        }
    }

    fn advance(&mut self, now_ms: u64) {
        for job in self.jobs.values_mut() {
            if job.settled.is_none() {
                job.settled = job.due_settlement(now_ms, self.config.settle_after_ms);
                if let Some(settled) = job.settled.filter(|settled| settled.refund > 0) {
                    self.ledger.refunds += 1;
                    self.ledger.refunded_credits += settled.refund;
                    self.ledger.balance += settled.refund;
                }
            }
            if let Some(entry) = self.ledger.jobs.get_mut(&job.id) {
                job.status_at(now_ms).word().clone_into(&mut entry.status);
                entry.refunded = job.settled.map_or(0, |settled| settled.refund);
            }
        }
    }

    fn set_clock_error(&mut self, by_ms: i64) {
        self.clock_error_ms = by_ms;
    }

    fn reset(&mut self) {
        let fresh = Self::new(self.config.clone());
        *self = Self { last_id: self.last_id, traces: self.traces, ..fresh };
    }

    fn ledger(&self) -> &Ledger {
        &self.ledger
    }

    fn ledger_mut(&mut self) -> &mut Ledger {
        &mut self.ledger
    }
}
