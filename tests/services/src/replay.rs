//! A model of synchronous scrape and map operations, whose result is captured and replayed by key.
//!
//! Served under `/replay`. Credential: `Authorization: Bearer`. Header `Idempotency-Key` (any text;
//! without one each request is a new operation). A key belongs to the organization and the API key
//! that it came with.
//!
//! | call | answer |
//! |---|---|
//! | `POST /v1/scrape` | 200 with a result, when the work is done; `data: {markdown}` |
//! | `POST /v1/map` | the same; `data: {links}` |
//! | `POST /v1/quote` | 200 `{request_id, operation, credits, balance, sufficient}`, free; by the query or the body: `operation` is `scrape` or `map` |
//! | `GET /v1/activity/{request_id}` | 200 `{request_id, operation, url, status, created_at, credits, error}` |
//!
//! A result is `{request_id, success: true, operation, url, data, replayed, captured_at, credits:
//! {reserved, charged, released, balance}}`. A replay has a `request_id` of its own, the first one
//! as `original_request_id`, `replayed: true` and the header `idempotency-replayed: true`. The
//! `status` of an activity is `running`, `completed` or `failed`.
//!
//! The body is `{url, formats?, …}`; its members `duration_ms` (200), `outcome` (also
//! `access_required`), `failure_class`, `retention_ms` and `result_bytes` steer the work.
//!
//! | situation | status | code |
//! |---|---|---|
//! | body is no JSON object | 400 | `invalid_request` |
//! | no `url` | 422 | `unprocessable_input` |
//! | wrong token | 401 | `unauthorized` |
//! | not enough credits | 402 | `insufficient_credits` |
//! | token without the scope | 403 | `scope_required` |
//! | source needs access (`outcome: access_required`): not accepted, free | 403 | `source_access_required` |
//! | the source blocks for good (`outcome: source_blocked`): accepted, released | 403 | `source_blocked` |
//! | accepted work fails (`outcome: failed`, by `failure_class`): released | 422, 502, 502, 500 | `input_not_usable`, `target_unreachable`, `upstream_timeout`, `internal_error` |
//! | same key and request, in progress or failed | 409 | `replay_conflict` |
//! | same key, other request or endpoint | 409 | `idempotency_key_reused` |
//! | same key and request after its retention | 410 | `replay_expired` |
//!
//! Refusals are `{request_id, error: {code, message}}`. Credits are reserved (taken) when work is
//! accepted, and kept or given back when it ends.
mod operations;

use std::collections::BTreeSet;

use serde_json::json;

use crate::frame::{Model, Route, Settings, State};
use crate::{Call, Request, Response};

/// The model's settings.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReplayConfig {
    /// What all models have; request ids begin with `rq_`, work takes 200 ms, `price` is a scrape's.
    pub settings: Settings,
    /// Credits that a map costs; 1 by default.
    pub map_price: u64,
    /// Tokens without the scope of operations; none by default.
    pub tokens_without_scope: BTreeSet<String>,
    /// The `Retry-After` of a replay conflict, in seconds; none by default.
    pub conflict_retry_after_s: Option<u64>,
}

impl Default for ReplayConfig {
    fn default() -> Self {
        Self {
            settings: Settings { duration_ms: 200, ..Settings::with_ids("rq_") },
            map_price: 1,
            tokens_without_scope: BTreeSet::new(),
            conflict_retry_after_s: None,
        }
    }
}

impl From<ReplayConfig> for Settings {
    fn from(config: ReplayConfig) -> Self {
        config.settings
    }
}

/// The model; it keeps the operation that each key made, by token and key.
pub type Replay = State<ReplayConfig, String>;

impl Model for Replay {
    fn route(request: &Request) -> Route<'_> {
        match (request.method.as_str(), request.parts().as_slice()) {
            ("POST", ["v1", operation @ ("scrape" | "map")]) => Route::to(Call::Submit, operation),
            ("POST", ["v1", "quote"]) => Route::to(Call::Quote, ""),
            ("GET", ["v1", "activity", id]) => Route::of_job(Call::Poll, id),
            _ => Route::nowhere(),
        }
    }

    fn serve(&mut self, now_ms: u64, request: &Request, route: Route<'_>) -> Response {
        match (route.call, route.id) {
            (Call::Submit, _) => self.operate(now_ms, request, route.at),
            (Call::Quote, _) => self.quote(request),
            (Call::Poll, Some(id)) => self.activity(now_ms, id),
            _ => self.refuse(404, "route_not_found", "There is nothing at this path."),
        }
    }

    fn refuse(&mut self, status: u16, code: &str, message: &str) -> Response {
        let id = self.desk.trace("rqx_");
        refusal(status, code, message, &id)
    }

    fn faulty(status: u16, code: &str) -> Response {
        refusal(status, &code.to_lowercase(), "A fault was set.", "rqx_fault")
    }
}

/// A refusal with the id of its request at the top.
fn refusal(status: u16, code: &str, message: &str, request_id: &str) -> Response {
    let error = json!({"code": code, "message": message});
    Response::json(status, &json!({"request_id": request_id, "error": error}))
}
