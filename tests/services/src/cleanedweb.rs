//! A model of CleanedWeb: synchronous or streamed execution, whose delivery is replayed by key.
//!
//! Served under `/cleanedweb`. Credential: `Authorization: Bearer`. All tokens are of one
//! workspace, which its keys belong to. Header `Idempotency-Key`: 1–200 of letters, digits, `.`,
//! `_`, `:`, `-`.
//!
//! | call | answer |
//! |---|---|
//! | `POST /v1/sources/{source_id}/run` | 200 with a delivery, when the work is done |
//! | `POST /v1/sources/{source_id}/stream` | 200 `text/event-stream`: `run`, `progress`, `record`…, then `summary` or `error` |
//! | `GET /v1/sources/{source_id}/runs/{run_id}` | 200 `{run_id, source_id, version, surface, status, created_at, error, trace_id}` |
//! | `GET /v1/sources/{source_id}/runs/{run_id}/result` | 200 with the same delivery |
//! | `GET /v1/sources/{source_id}/definition` | 200 `{source_id, version}` |
//! | `PUT /v1/sources/{source_id}/definition` | `{"version": "2"}`: the definition moves on |
//!
//! The body of an execution is `{input: {…}, limit?, version?, expected_version?}`. The members
//! `url`, `duration_ms` (200), `outcome`, `failure_class`, `retention_ms` and `result_bytes` of
//! `input` steer it; `input.unsettled_times` is how often the settlement of its output fails.
//!
//! A delivery is `{source_id, version, records, summary: {record_count, status: "complete"},
//! delivery: {runId, chargeReceiptId, recordCount, replayed}, trace_id}`; a replay also has the
//! header `idempotency-replayed: true`. The events hold: `run` `{runId, sourceId, version}` (at
//! once), `progress` `{percent}`, `record` one record, `summary` the delivery without `records`,
//! `error` `{error: {code, message, run_id, trace_id}}`. A run's `status` is `running`,
//! `delivered`, `unsettled` or `failed`.
//!
//! | situation | status | code |
//! |---|---|---|
//! | key missing or invalid | 422 | `idempotency_key_required` |
//! | `expected_version` is not the active one (checked before the key is looked up) | 409 | `version_conflict` |
//! | body without an object `input` | 422 | `invalid_input` |
//! | no such source (those of the settings), no such run | 404 | `source_not_found`, `run_not_found` |
//! | not enough credits for all that runs | 402 | `insufficient_credits` |
//! | same key, same request, running or failed | 409 | `result_already_running_or_failed` |
//! | same key, other request | 409 | `delivery_identity_conflict` |
//! | same key, same request, output saved but unsettled | | settles, and delivers |
//! | the execution fails | 502 | `execution_failed` |
//! | the settlement fails | 503 | `delivery_unsettled` |
//! | result of a run that runs, failed, or is unsettled | 409 | `result_not_ready`, `run_failed`, `delivery_unsettled` |
//! | result after its retention | 410 | `result_expired` |
//! | token without access to results | 403 | `results_access_required` |
//! | wrong token | 401 | `unauthorized` |
//!
//! Refusals are `{error: {code, message, trace_id}}`. Credits are taken when a delivery is settled.
mod execute;
mod render;
mod results;

use std::collections::{BTreeMap, BTreeSet};

use crate::frame::{Desk, Model, Phase, Route, Settings, State};
use crate::{Call, Request, Response};

/// The model's settings.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CleanedWebConfig {
    /// What all models have; ids begin with `run_`, work takes 200 ms.
    pub settings: Settings,
    /// The active version of every source's definition at the start; `1` by default.
    pub version: String,
    /// Sources that do not exist; `missing` by default.
    pub missing_sources: BTreeSet<String>,
    /// Tokens that may execute and not read results; none by default.
    pub tokens_without_results: BTreeSet<String>,
    /// The `Retry-After` of a 409 for work that runs or failed, in seconds; none by default.
    pub conflict_retry_after_s: Option<u64>,
}

impl Default for CleanedWebConfig {
    fn default() -> Self {
        Self {
            settings: Settings { duration_ms: 200, ..Settings::with_ids("run_") },
            version: "1".to_owned(),
            missing_sources: BTreeSet::from(["missing".to_owned()]),
            tokens_without_results: BTreeSet::new(),
            conflict_retry_after_s: None,
        }
    }
}

impl From<CleanedWebConfig> for Settings {
    fn from(config: CleanedWebConfig) -> Self {
        config.settings
    }
}

/// The model; it keeps the run that each key made.
pub type CleanedWeb = State<CleanedWebConfig, String, Sources>;

/// What the model knows of its sources.
#[derive(Clone, Debug, Default)]
pub struct Sources {
    runs: BTreeMap<String, Run>,
    /// The active versions that are not the first one.
    versions: BTreeMap<String, String>,
}

/// What a run has besides its job.
#[derive(Clone, Debug)]
struct Run {
    version: String,
    surface: String,
    /// How often settling still fails.
    unsettled_times: u64,
    delivery: Delivery,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Delivery {
    /// Settled, and charged.
    Delivered,
    /// There is no output yet.
    Pending,
    /// The output is saved, its settlement failed.
    Unsettled,
}

impl CleanedWeb {
    fn active_version(&self, source: &str) -> String {
        self.own.versions.get(source).unwrap_or(&self.config.version).clone()
    }
}

impl Model for CleanedWeb {
    fn route(request: &Request) -> Route<'_> {
        let parts = request.parts();
        let ["v1", "sources", source, rest @ ..] = parts.as_slice() else {
            return Route::nowhere();
        };
        let job = |call, id| Route { at: source, ..Route::of_job(call, id) };
        match (request.method.as_str(), rest) {
            ("POST", ["run" | "stream"]) => Route::to(Call::Submit, source),
            ("GET", ["runs", id]) => job(Call::Poll, id),
            ("GET", ["runs", id, "result"]) => job(Call::Result, id),
            ("GET" | "PUT", ["definition"]) => Route::to(Call::Other, source),
            _ => Route::nowhere(),
        }
    }

    fn serve(&mut self, now_ms: u64, request: &Request, route: Route<'_>) -> Response {
        let source = route.at;
        if source.is_empty() {
            return self.refuse(404, "route_not_found", "There is nothing at this path.");
        }
        if self.config.missing_sources.contains(source) {
            return self.refuse(404, "source_not_found", "There is no source with this id.");
        }
        match (route.call, route.id) {
            (Call::Submit, _) => self.execute(now_ms, request, source),
            (Call::Poll, Some(id)) => self.read_run(now_ms, source, id),
            (Call::Result, Some(id)) => self.read_result(now_ms, request, source, id),
            _ => self.definition(request, source),
        }
    }

    /// Settles the outputs that there are now.
    fn pass(&mut self, now_ms: u64) {
        let is_done = |desk: &Desk, id: &String| {
            desk.jobs.get(id).is_some_and(|job| job.phase_at(now_ms) == Phase::Completed)
        };
        for (id, run) in &mut self.own.runs {
            if run.delivery == Delivery::Pending && is_done(&self.desk, id) {
                run.settle(id, &mut self.desk);
            }
        }
    }

    fn tells_end(response: &Response) -> bool {
        matches!(response.parsed()["status"].as_str(), Some("delivered" | "failed"))
    }
}

impl Run {
    /// Tries to settle the saved output.
    fn settle(&mut self, id: &str, desk: &mut Desk) {
        if self.unsettled_times > 0 {
            self.unsettled_times -= 1;
            self.delivery = Delivery::Unsettled;
        } else if self.delivery != Delivery::Delivered {
            desk.charge(id, desk.settings.price);
            self.delivery = Delivery::Delivered;
        }
    }
}
