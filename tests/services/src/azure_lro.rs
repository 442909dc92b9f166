//! A model of long-running operations as Azure's guidelines have them.
//!
//! Served under `/azure`. Credential: `Authorization: Bearer`. Queries such as `api-version` are
//! let pass.
//!
//! | call | answer |
//! |---|---|
//! | `POST /v1/reports` | 202 with the operation; its address in the header of `style`, `retry-after: 1` |
//! | `GET /v1/operations/{id}` | 200 with the operation, `retry-after` while it runs; in style `Location` 202 without a body while it runs, then 200 with the report |
//! | `POST /v1/operations/{id}:cancel` | 202 with the operation |
//! | `GET /v1/reports/{id}` | 200 with the report, once there is one |
//!
//! An operation is `{id, status, createdDateTime, percentComplete, error?, resourceLocation?}`;
//! `status` is `NotStarted`, `Running`, `Succeeded`, `Failed` or `Canceled`, `error` is `{code,
//! message}`. A report is `{id, url, created_at, record_count, records}`. The members
//! `duration_ms` (3000), `outcome`, `failure_class`, `retention_ms`, `result_bytes` and
//! `not_found_ms` of the body steer the work.
//!
//! `Repeatability-Request-ID` or `Operation-Id` is the key, and optional: the same one with the same
//! body and `Repeatability-First-Sent` is answered alike, with `repeatability-result: accepted`; without
//! one each request is new. The former must come with that date.
//!
//! Refusals are `{error: {code, message}}`: 400 `InvalidRequest`, 401 `Unauthorized`, 402
//! `InsufficientCredits`, 404 `NotFound`, 409 `OperationIdConflict` (the key came with another body)
//! and `OperationNotActive` (cancel), 410 `ResultExpired`. In style `Location` a failed operation
//! answers 422 and a cancelled one 409 `Canceled`.
use serde_json::{Value, json};

use crate::frame::{Job, Known, Model, Phase, Route, Settings, State, Steer};
use crate::http::digest;
use crate::{Call, Request, Response, Service};

/// The header that tells an operation's address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AzureStyle {
    /// `Azure-AsyncOperation`.
    AzureAsyncOperation,
    /// `Location`, whose address answers by status instead of by body.
    Location,
    /// `Operation-Location`.
    OperationLocation,
}

/// The model's settings.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AzureLroConfig {
    /// What all models have; ids begin with `op-`.
    pub settings: Settings,
    /// How an operation's address is told; `OperationLocation` by default.
    pub style: AzureStyle,
    /// The `Retry-After` of an operation that runs, in seconds; 1 by default.
    pub retry_after_s: Option<u64>,
}

impl Default for AzureLroConfig {
    fn default() -> Self {
        Self {
            settings: Settings::with_ids("op-"),
            style: AzureStyle::OperationLocation,
            retry_after_s: Some(1),
        }
    }
}

impl From<AzureLroConfig> for Settings {
    fn from(config: AzureLroConfig) -> Self {
        config.settings
    }
}

/// The model; it keeps the answer that each key led to.
pub type AzureLro = State<AzureLroConfig, Response>;

impl AzureLro {
    fn create(&mut self, now: u64, request: &Request) -> Response {
        let Some(steer) = Steer::of(&request.parsed()) else {
            return refusal(400, "InvalidRequest", "The body must be a JSON object.");
        };
        let key = Self::key(request).unwrap_or_default();
        let sent = request.header("repeatability-first-sent").unwrap_or_default();
        if request.header("repeatability-request-id").is_some() && sent.is_empty() {
            return refusal(
                400,
                "InvalidRequest",
                "Repeatability-First-Sent must come with the id.",
            );
        }
        let identity = digest(&[&request.body, sent.as_bytes()]);
        if !key.is_empty() {
            match self.look(now, &key, &identity) {
                Known::New => {}
                Known::Same(answer) => return answer,
                Known::Changed => {
                    return refusal(409, "OperationIdConflict", "The id came with another body.");
                }
            }
        }
        let Some(job) = self.desk.open_usual(now, request, &key, steer) else {
            return refusal(402, "InsufficientCredits", "The credits are used up.");
        };
        self.advance(now);
        let header = match self.config.style {
            AzureStyle::AzureAsyncOperation => "azure-asyncoperation",
            AzureStyle::Location => "location",
            AzureStyle::OperationLocation => "operation-location",
        };
        let address = self.desk.link(&format!("/v1/operations/{}", job.id));
        let answer = Response::json(202, &self.operation(now, &job)).with_header(header, &address);
        let mut answer = answer.with_retry_after(self.config.retry_after_s);
        if !key.is_empty() {
            answer = answer.with_header("repeatability-result", "accepted");
            self.keys.keep(now, &key, identity, answer.clone());
        }
        answer
    }

    fn poll(&mut self, now: u64, id: &str) -> Response {
        let Some(job) = self.desk.visible(now, id) else {
            return refusal(404, "NotFound", "There is no such operation.");
        };
        let by_status = self.config.style == AzureStyle::Location;
        let has_ended = job.phase_at(now).is_ended();
        if by_status && has_ended {
            return self.report(now, id);
        }
        let answer = if by_status {
            Response { status: 202, ..Response::default() }
        } else {
            Response::json(200, &self.operation(now, &job))
        };
        answer.with_retry_after(self.config.retry_after_s.filter(|_| !has_ended))
    }

    fn cancel(&mut self, now: u64, id: &str) -> Response {
        let Some(job) = self.desk.jobs.get_mut(id) else {
            return refusal(404, "NotFound", "There is no such operation.");
        };
        if job.phase_at(now).is_ended() {
            return refusal(409, "OperationNotActive", "The operation has ended already.");
        }
        job.cancelled_ms = Some(now);
        let job = job.clone();
        self.advance(now);
        Response::json(202, &self.operation(now, &job))
    }

    fn report(&mut self, now: u64, id: &str) -> Response {
        let Some(job) = self.desk.visible(now, id) else {
            return refusal(404, "NotFound", "There is no such report.");
        };
        match job.phase_at(now) {
            Phase::Completed if now >= job.expires_ms() => {
                refusal(410, "ResultExpired", "The report has been removed.")
            }
            Phase::Completed => self.desk.serve_report(200, &job),
            Phase::Failed => {
                let code = pascal(job.failure().0);
                refusal(422, &code, "The work failed, as its request asked.")
            }
            Phase::Cancelled => refusal(409, "Canceled", "The operation was cancelled."),
            Phase::Pending | Phase::Running | Phase::SolvingCaptcha => {
                refusal(404, "NotFound", "There is no such report.")
            }
        }
    }

    fn operation(&self, now: u64, job: &Job) -> Value {
        let phase = job.phase_at(now);
        let mut body = json!({
            "id": job.id,
            "status": Self::word(phase),
            "createdDateTime": self.desk.time(job.created_ms),
            "percentComplete": job.percent_at(now),
        });
        if phase == Phase::Failed {
            let message = "The work failed, as its request asked.";
            body["error"] = json!({"code": pascal(job.failure().0), "message": message});
        }
        if phase == Phase::Completed {
            body["resourceLocation"] = json!(self.desk.link(&format!("/v1/reports/{}", job.id)));
        }
        body
    }
}

impl Model for AzureLro {
    fn route(request: &Request) -> Route<'_> {
        match (request.method.as_str(), request.parts().as_slice()) {
            ("GET", ["v1", "reports", id]) => Route::of_job(Call::Result, id),
            _ => Route::by_operations(request),
        }
    }

    fn word(phase: Phase) -> &'static str {
        match phase {
            Phase::Pending => "NotStarted",
            Phase::Running | Phase::SolvingCaptcha => "Running",
            Phase::Completed => "Succeeded",
            Phase::Failed => "Failed",
            Phase::Cancelled => "Canceled",
        }
    }

    fn serve(&mut self, now_ms: u64, request: &Request, route: Route<'_>) -> Response {
        match (route.call, route.id) {
            (Call::Submit, _) => self.create(now_ms, request),
            (Call::Poll, Some(id)) => self.poll(now_ms, id),
            (Call::Cancel, Some(id)) => self.cancel(now_ms, id),
            (Call::Result, Some(id)) => self.report(now_ms, id),
            _ => refusal(404, "NotFound", "There is nothing at this path."),
        }
    }

    fn refuse(&mut self, status: u16, code: &str, message: &str) -> Response {
        refusal(status, &pascal(code), message)
    }

    fn faulty(status: u16, code: &str) -> Response {
        refusal(status, &pascal(code), "A fault was set.")
    }

    fn key(request: &Request) -> Option<String> {
        let key = request.header("repeatability-request-id");
        key.or_else(|| request.header("operation-id")).map(str::to_owned)
    }

    fn tells_end(response: &Response) -> bool {
        let body = response.parsed();
        let is_report = response.status == 200 && body["records"].is_array();
        is_report || matches!(body["status"].as_str(), Some("Succeeded" | "Failed" | "Canceled"))
    }

    fn headers() -> (&'static [&'static str], &'static [&'static str]) {
        (
            &["operation-id", "repeatability-request-id", "repeatability-first-sent"],
            &["Operation-Location", "Azure-AsyncOperation", "Location", "Repeatability-Result"],
        )
    }
}

fn refusal(status: u16, code: &str, message: &str) -> Response {
    Response::json(status, &json!({"error": {"code": code, "message": message}}))
}

/// A code with its words joined: `NOT_FOUND` is `NotFound`.
fn pascal(code: &str) -> String {
    let word = |word: &str| {
        let (first, rest) = word.split_at(word.len().min(1));
        first.to_uppercase() + &rest.to_lowercase()
    };
    code.split('_').map(word).collect()
}
