//! A model of long-running operations as AIP-151 has them, with request ids as AIP-155 does.
//!
//! Served under `/google`. Credential: `Authorization: Bearer`.
//!
//! | call | answer |
//! |---|---|
//! | `POST /v1/reports` | 200 with the operation |
//! | `GET /v1/operations/{id}` | 200 with the operation |
//! | `POST /v1/operations/{id}:cancel` | 200 `{}`, also when it has ended |
//!
//! An operation is `{name: "operations/{id}", metadata: {createTime, progressPercent}, done}`; when
//! `done` also `response` (`{id, url, created_at, record_count, records}`) or `error` (`{code,
//! message, status, details: [{reason}]}`; `code` is that of google.rpc: 1 cancelled, 3 invalid
//! input, 9 target, 14 transient, 13 internal, 7 blocked). An operation is gone after its
//! retention: 404.
//!
//! The body's `request_id` (UUID version 4) is the key, and optional: the same one with the same
//! body gives the same operation; without one each request is new work. The members `duration_ms`
//! (3000), `outcome`, `failure_class`, `retention_ms`, `result_bytes` and `not_found_ms` steer the
//! work.
//!
//! Refusals are `{error: {code, message, status, details: [{reason}]}}`, where `code` is the HTTP
//! status: 400 `INVALID_ARGUMENT` (body, `request_id`), 401 `UNAUTHENTICATED`, 404 `NOT_FOUND`, 409
//! `ALREADY_EXISTS` (the id came with another body), 429 `RESOURCE_EXHAUSTED` with the reason
//! `INSUFFICIENT_CREDITS` where the credits are used up, by a fault `RATE_LIMITED`.
use serde_json::{Value, json};

use crate::frame::{FailureClass, Job, Known, Model, Phase, Route, Settings, State, Steer};
use crate::http::digest;
use crate::{Call, Request, Response, Service};

/// The model's settings.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GoogleLroConfig {
    /// What all models have; ids begin with `op_`.
    pub settings: Settings,
}

impl Default for GoogleLroConfig {
    fn default() -> Self {
        Self { settings: Settings::with_ids("op_") }
    }
}

impl From<GoogleLroConfig> for Settings {
    fn from(config: GoogleLroConfig) -> Self {
        config.settings
    }
}

/// The model; it keeps the job that each request id made.
pub type GoogleLro = State<GoogleLroConfig, String>;

impl GoogleLro {
    fn create(&mut self, now: u64, request: &Request) -> Response {
        let body = request.parsed();
        let Some(steer) = Steer::of(&body) else {
            return refusal(400, "INVALID_REQUEST", "The body must be a JSON object.");
        };
        let key = Self::key(request).unwrap_or_default();
        let identity = digest(&[body.to_string().as_bytes()]);
        if !body["request_id"].is_null() {
            if !is_uuid4(&key) {
                return refusal(
                    400,
                    "INVALID_REQUEST_ID",
                    "`request_id` must be a UUID, version 4.",
                );
            }
            match self.look(now, &key, &identity) {
                Known::New => {}
                Known::Same(id) => return self.poll(now, &id),
                Known::Changed => {
                    return refusal(409, "REQUEST_ID_REUSED", "The id came with another body.");
                }
            }
        }
        let Some(job) = self.desk.open_usual(now, request, &key, steer) else {
            return refusal(429, "INSUFFICIENT_CREDITS", "The credits are used up.");
        };
        if !key.is_empty() {
            self.keys.keep(now, &key, identity, job.id.clone());
        }
        self.advance(now);
        Response::json(200, &self.operation(now, &job))
    }

    fn poll(&mut self, now: u64, id: &str) -> Response {
        let Some(job) = self.desk.visible(now, id).filter(|job| now < job.expires_ms()) else {
            return refusal(404, "NOT_FOUND", "There is no such operation.");
        };
        if job.phase_at(now) == Phase::Completed {
            self.desk.served(id);
        }
        Response::json(200, &self.operation(now, &job))
    }

    fn cancel(&mut self, now: u64, id: &str) -> Response {
        let Some(job) = self.desk.jobs.get_mut(id) else {
            return refusal(404, "NOT_FOUND", "There is no such operation.");
        };
        if !job.phase_at(now).is_ended() {
            job.cancelled_ms = Some(now);
        }
        self.advance(now);
        Response::json(200, &json!({}))
    }

    fn operation(&self, now: u64, job: &Job) -> Value {
        let phase = job.phase_at(now);
        let metadata = json!({
            "createTime": self.desk.time(job.created_ms),
            "progressPercent": job.percent_at(now),
        });
        let name = format!("operations/{}", job.id);
        let mut body = json!({"name": name, "metadata": metadata, "done": phase.is_ended()});
        let error = |code: u64, status: &str, reason: &str| {
            let message = "The work did not succeed, as was asked.";
            let details = json!([{ "reason": reason }]);
            json!({"code": code, "message": message, "status": status, "details": details})
        };
        match phase {
            Phase::Completed => body["response"] = self.desk.report(job),
            Phase::Cancelled => body["error"] = error(1, "CANCELLED", "CANCELLED"),
            Phase::Failed => {
                let (reason, class) = job.failure();
                let (code, status) = match (job.failure_status(), class) {
                    (403, _) => (7, "PERMISSION_DENIED"),
                    (_, FailureClass::Input) => (3, "INVALID_ARGUMENT"),
                    (_, FailureClass::Target) => (9, "FAILED_PRECONDITION"),
                    (_, FailureClass::Transient) => (14, "UNAVAILABLE"),
                    (_, FailureClass::Internal) => (13, "INTERNAL"),
                };
                body["error"] = error(code, status, reason);
            }
            Phase::Pending | Phase::Running | Phase::SolvingCaptcha => {}
        }
        body
    }
}

impl Model for GoogleLro {
    fn route(request: &Request) -> Route<'_> {
        Route::by_operations(request)
    }

    fn serve(&mut self, now_ms: u64, request: &Request, route: Route<'_>) -> Response {
        match (route.call, route.id) {
            (Call::Submit, _) => self.create(now_ms, request),
            (Call::Poll, Some(id)) => self.poll(now_ms, id),
            (Call::Cancel, Some(id)) => self.cancel(now_ms, id),
            _ => refusal(404, "NOT_FOUND", "There is nothing at this path."),
        }
    }

    fn refuse(&mut self, status: u16, code: &str, message: &str) -> Response {
        refusal(status, &code.to_uppercase(), message)
    }

    fn faulty(status: u16, code: &str) -> Response {
        refusal(status, code, "A fault was set.")
    }

    fn key(request: &Request) -> Option<String> {
        request.parsed()["request_id"].as_str().map(str::to_owned)
    }

    fn tells_end(response: &Response) -> bool {
        response.parsed()["done"] == true
    }
}

/// A refusal; its canonical status follows from the HTTP status.
fn refusal(status: u16, reason: &str, message: &str) -> Response {
    let canonical = match status {
        400 => "INVALID_ARGUMENT",
        401 => "UNAUTHENTICATED",
        404 => "NOT_FOUND",
        409 => "ALREADY_EXISTS",
        429 => "RESOURCE_EXHAUSTED",
        500 => "INTERNAL",
        503 => "UNAVAILABLE",
        _ => "UNKNOWN",
    };
    let details = json!([{ "reason": reason }]);
    let error =
        json!({"code": status, "message": message, "status": canonical, "details": details});
    Response::json(status, &json!({ "error": error }))
}

fn is_uuid4(text: &str) -> bool {
    let lengths: Vec<usize> = text.split('-').map(str::len).collect();
    let is_hex = text.bytes().all(|letter| letter == b'-' || letter.is_ascii_hexdigit());
    let variant = text.get(19..20).is_some_and(|letter| "89abAB".contains(letter));
    lengths == [8, 4, 4, 4, 12] && is_hex && text.get(14..15) == Some("4") && variant
}
