//! A model of Bulkgrid: asynchronous runs whose creation is **not** idempotent, and a listing.
//!
//! Served under `/bulkgrid`. Credential: header `x-api-key`. Keys are ignored.
//!
//! | call | answer |
//! |---|---|
//! | `POST /api/v1/{extract,crawl,deep-crawl,runs}` | 202 with a run; each one is new work |
//! | `GET /api/v1/runs/{id}` | 200 with a run |
//! | `GET /api/v1/runs/{id}/results?page=1&limit=50` | 200 `{run_id, page, limit, total, results}`; `limit` at most 100; a page past the end is empty |
//! | `POST /api/v1/runs/{id}/retry` | 202 with the retry run: its own `id`, `retry_of` names the failed one |
//! | `POST /api/v1/runs/{id}/cancel` | 202 with the run, which stops after `stop_after_ms` |
//! | `DELETE /api/v1/runs/{id}` | 202 `{id, deleted: true}`; reads find the run until `cleanup_after_ms` later |
//! | `GET /api/v1/runs?page=1&limit=20` | 200 `{runs, page, limit, total}`, newest first; `limit` at most 100 |
//!
//! A run is `{id, kind, status, url, metadata, request, created_at, counters: {total, completed,
//! failed}, credits_used, error, retry_of?, finished_at?, results_expire_at?}`. `kind` is the last
//! part of the path that made it; `metadata` (any JSON, `null` where absent) and `request` (the
//! whole body) echo what was sent. `status` is `pending`, `processing`, `completed`, `failed` or
//! `cancelled`; `error` is `null` or `{code, message, class}`.
//!
//! Refusals are `{error: {code, message, trace_id}}`: 400 `invalid_request`, 401 `unauthorized`,
//! 402 `insufficient_credits`, 404 `run_not_found` and `route_not_found`, 409 `run_active` (delete),
//! `run_not_active` (cancel), `run_not_failed` (retry) and `run_not_completed` (results), 410
//! `results_expired`.
//!
//! The members `duration_ms`, `outcome`, `failure_class`, `retention_ms`, `result_bytes`,
//! `fail_times` and `not_found_ms` of the body steer the run as they do a job of RunHarvester;
//! `listing_lag_ms` takes the place of the configured one.
//!
//! In the ledger `asked` is the text of `metadata`, without metadata the body's digest:
//! [`Ledger::executions_by_asked`](crate::Ledger::executions_by_asked) shows a double execution.
mod listing;
mod runs;

use std::collections::BTreeMap;

use crate::frame::{Job, Model, Phase, Route, Settings, State};
use crate::{Call, Request, Response};

/// The model's settings.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BulkgridConfig {
    /// What all models have; ids begin with `run_`.
    pub settings: Settings,
    /// How long after its creation a run shows in the listing; 0 by default.
    pub listing_lag_ms: u64,
    /// How long a cancelled run takes to stop; 500 ms by default.
    pub stop_after_ms: u64,
    /// How long reads find a deleted run; 1 s by default.
    pub cleanup_after_ms: u64,
}

impl Default for BulkgridConfig {
    fn default() -> Self {
        Self {
            settings: Settings::with_ids("run_"),
            listing_lag_ms: 0,
            stop_after_ms: 500,
            cleanup_after_ms: 1000,
        }
    }
}

impl From<BulkgridConfig> for Settings {
    fn from(config: BulkgridConfig) -> Self {
        config.settings
    }
}

/// When a deleted run was deleted, by its id.
type Deleted = BTreeMap<String, u64>;

/// The model; it keeps no keys.
pub type Bulkgrid = State<BulkgridConfig, (), Deleted>;

impl Bulkgrid {
    /// A run that reads find.
    fn run(&self, now: u64, id: &str) -> Option<Job> {
        self.desk.visible(now, id).filter(|_| !self.is_gone(now, id))
    }

    fn is_gone(&self, now: u64, id: &str) -> bool {
        let deleted_ms = self.own.get(id);
        deleted_ms.is_some_and(|at| now >= at.saturating_add(self.config.cleanup_after_ms))
    }

    fn not_found(&mut self) -> Response {
        self.refuse(404, "run_not_found", "There is no run with this id.")
    }
}

impl Model for Bulkgrid {
    fn route(request: &Request) -> Route<'_> {
        let parts = request.parts();
        let ["api", "v1", rest @ ..] = parts.as_slice() else {
            return Route::nowhere();
        };
        match (request.method.as_str(), rest) {
            ("POST", [kind @ ("extract" | "crawl" | "deep-crawl" | "runs")]) => {
                Route::to(Call::Submit, kind)
            }
            ("GET", ["runs"]) => Route::to(Call::List, ""),
            ("GET", ["runs", id]) => Route::of_job(Call::Poll, id),
            ("DELETE", ["runs", id]) => Route::of_job(Call::Delete, id),
            ("GET", ["runs", id, "results"]) => Route::of_job(Call::Result, id),
            ("POST", ["runs", id, "retry"]) => Route::of_job(Call::Retry, id),
            ("POST", ["runs", id, "cancel"]) => Route::of_job(Call::Cancel, id),
            _ => Route::nowhere(),
        }
    }

    fn word(phase: Phase) -> &'static str {
        match phase {
            Phase::Pending => "pending",
            Phase::Running | Phase::SolvingCaptcha => "processing",
            Phase::Completed => "completed",
            Phase::Failed => "failed",
            Phase::Cancelled => "cancelled",
        }
    }

    fn serve(&mut self, now_ms: u64, request: &Request, route: Route<'_>) -> Response {
        match (route.call, route.id) {
            (Call::Submit, _) => self.create(now_ms, request, route.at),
            (Call::List, _) => self.list(now_ms, request),
            (Call::Poll, Some(id)) => self.read(now_ms, id),
            (Call::Result, Some(id)) => self.results(now_ms, request, id),
            (Call::Retry, Some(id)) => self.retry(now_ms, request, id),
            (Call::Cancel, Some(id)) => self.cancel(now_ms, id),
            (Call::Delete, Some(id)) => self.delete(now_ms, id),
            _ => self.refuse(404, "route_not_found", "There is nothing at this path."),
        }
    }

    fn token(request: &Request) -> Option<&str> {
        request.header("x-api-key")
    }

    fn key(_request: &Request) -> Option<String> {
        None
    }

    fn headers() -> (&'static [&'static str], &'static [&'static str]) {
        (&["x-api-key"], &[])
    }
}
