//! A model of asynchronous work by HTTP alone: 202, a location to ask at, and what it leads to.
//!
//! Served under `/http-async`. Credential: `Authorization: Bearer`.
//!
//! | call | answer |
//! |---|---|
//! | `POST /v1/reports` with `Prefer: respond-async` | 202 `{id}`, `location: /v1/tasks/{id}`, `retry-after: 1`, `preference-applied: respond-async` |
//! | `POST /v1/reports` without it | 200 with the report when the work is done, or 202 as above where `always_async` |
//! | `GET /v1/tasks/{id}` | 202 `{id}` with `retry-after` while the work runs; then 303 with `location: /v1/reports/{id}`, or 200 with the report (`finish`) |
//! | `DELETE /v1/tasks/{id}` | 202: cancelled |
//! | `GET /v1/reports/{id}` | 200 with the report |
//!
//! A report is `{id, url, created_at, record_count, records}`. The members `duration_ms` (3000),
//! `outcome`, `failure_class`, `retention_ms`, `result_bytes` and `not_found_ms` of the body steer
//! the work.
//!
//! `Idempotency-Key` (no quotes) is optional: the same key and body are answered alike, with
//! `idempotency-replayed: true`; another body is a 422 `idempotency_key_reused`; without a key each
//! request is new work.
//!
//! Refusals are problem details as in [`IdempotencyKey`](crate::IdempotencyKey): 400
//! `invalid_request`, 401 `unauthorized`, 402 `insufficient_credits`, 404 `not_found`, 409
//! `already_ended` (cancel). A task that failed answers `failed_status` (422) with the failure's
//! code (`upstream_timeout`, `source_blocked`, …) and a cancelled one 410 `cancelled`; a report
//! after its retention 410 `result_expired`. A synchronous failure has the statuses of
//! [`IdempotencyKey`](crate::IdempotencyKey).
use serde_json::json;

use crate::frame::{Job, Known, Model, Phase, Route, Settings, State, Steer, problem};
use crate::http::digest;
use crate::{Call, Request, Response, Service};

/// Where a task's location leads when it is done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Finish {
    /// It answers 200 with the report.
    Inline,
    /// It answers 303 with the location of the report.
    SeeOther,
}

/// The model's settings.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HttpAsyncConfig {
    /// What all models have; ids begin with `task_`.
    pub settings: Settings,
    /// Where a finished task leads; `SeeOther` by default.
    pub finish: Finish,
    /// Whether requests without `Prefer` are answered by 202 too; not by default.
    pub always_async: bool,
    /// The status of a task that failed; 422 by default.
    pub failed_status: u16,
    /// The `Retry-After` of a task that runs, in seconds; 1 by default.
    pub retry_after_s: Option<u64>,
}

impl Default for HttpAsyncConfig {
    fn default() -> Self {
        Self {
            settings: Settings::with_ids("task_"),
            finish: Finish::SeeOther,
            always_async: false,
            failed_status: 422,
            retry_after_s: Some(1),
        }
    }
}

impl From<HttpAsyncConfig> for Settings {
    fn from(config: HttpAsyncConfig) -> Self {
        config.settings
    }
}

/// The model; it keeps the answer that each key led to.
pub type HttpAsync = State<HttpAsyncConfig, Response>;

impl HttpAsync {
    fn create(&mut self, now: u64, request: &Request) -> Response {
        let Some(steer) = Steer::of(&request.parsed()) else {
            return problem(400, "invalid_request", "The body must be a JSON object.");
        };
        let key = request.header("idempotency-key").unwrap_or_default();
        if key.is_empty() {
            return self.execute(now, request, key, steer).unwrap_or_else(|refusal| refusal);
        }
        let identity = digest(&[&request.body]);
        match self.look(now, key, &identity) {
            Known::New => match self.execute(now, request, key, steer) {
                Ok(answer) => {
                    self.keys.keep(now, key, identity, Response { after_ms: 0, ..answer.clone() });
                    answer
                }
                Err(refusal) => refusal,
            },
            Known::Same(answer) => answer.with_header("idempotency-replayed", "true"),
            Known::Changed => {
                problem(422, "idempotency_key_reused", "The key came with another request.")
            }
        }
    }

    /// Executes once; a refusal where the work was not accepted.
    fn execute(
        &mut self,
        now: u64,
        request: &Request,
        key: &str,
        steer: Steer,
    ) -> Result<Response, Response> {
        let Some(job) = self.desk.open_usual(now, request, key, steer) else {
            return Err(problem(402, "insufficient_credits", "The credits are used up."));
        };
        self.advance(now);
        let prefers = request.header("prefer").is_some_and(|text| text.contains("respond-async"));
        if !prefers && !self.config.always_async {
            let answer = self.ending(job.end_ms(), &job, None);
            return Ok(Response { after_ms: job.duration_ms, ..answer });
        }
        let answer = self.accepted(&job);
        let answer =
            answer.with_header("location", &self.desk.link(&format!("/v1/tasks/{}", job.id)));
        Ok(if prefers { answer.with_header("preference-applied", "respond-async") } else { answer })
    }

    fn accepted(&self, job: &Job) -> Response {
        let answer = Response::json(202, &json!({ "id": job.id }));
        answer.with_retry_after(self.config.retry_after_s)
    }

    fn poll(&mut self, now: u64, id: &str) -> Response {
        let Some(job) = self.desk.visible(now, id) else {
            return problem(404, "not_found", "There is no such task.");
        };
        if !job.phase_at(now).is_ended() {
            return self.accepted(&job);
        }
        if job.phase_at(now) == Phase::Completed && self.config.finish == Finish::SeeOther {
            let location = self.desk.link(&format!("/v1/reports/{id}"));
            return Response { status: 303, ..Response::default() }
                .with_header("location", &location);
        }
        self.ending(now, &job, Some(self.config.failed_status))
    }

    /// What a job that has ended leads to.
    fn ending(&mut self, now: u64, job: &Job, failed_status: Option<u16>) -> Response {
        match job.phase_at(now) {
            Phase::Failed => {
                let (code, _) = job.failure();
                let status = failed_status.unwrap_or_else(|| job.failure_status());
                problem(status, code, "The work failed, as its request asked.")
            }
            Phase::Cancelled => problem(410, "cancelled", "The work was cancelled."),
            Phase::Completed if now >= job.expires_ms() => {
                problem(410, "result_expired", "The report has been removed.")
            }
            Phase::Completed => self.desk.serve_report(200, job),
            Phase::Pending | Phase::Running | Phase::SolvingCaptcha => {
                problem(404, "not_found", "There is no such report.")
            }
        }
    }

    fn read(&mut self, now: u64, id: &str) -> Response {
        match self.desk.visible(now, id) {
            Some(job) => self.ending(now, &job, None),
            None => problem(404, "not_found", "There is no such report."),
        }
    }

    fn cancel(&mut self, now: u64, id: &str) -> Response {
        let Some(job) = self.desk.jobs.get_mut(id) else {
            return problem(404, "not_found", "There is no such task.");
        };
        if job.phase_at(now).is_ended() {
            return problem(409, "already_ended", "The task has ended already.");
        }
        job.cancelled_ms = Some(now);
        self.advance(now);
        Response::json(202, &json!({ "id": id }))
    }
}

impl Model for HttpAsync {
    fn route(request: &Request) -> Route<'_> {
        match (request.method.as_str(), request.parts().as_slice()) {
            ("POST", ["v1", "reports"]) => Route::to(Call::Submit, ""),
            ("GET", ["v1", "tasks", id]) => Route::of_job(Call::Poll, id),
            ("DELETE", ["v1", "tasks", id]) => Route::of_job(Call::Cancel, id),
            ("GET", ["v1", "reports", id]) => Route::of_job(Call::Result, id),
            _ => Route::nowhere(),
        }
    }

    fn serve(&mut self, now_ms: u64, request: &Request, route: Route<'_>) -> Response {
        match (route.call, route.id) {
            (Call::Submit, _) => self.create(now_ms, request),
            (Call::Poll, Some(id)) => self.poll(now_ms, id),
            (Call::Cancel, Some(id)) => self.cancel(now_ms, id),
            (Call::Result, Some(id)) => self.read(now_ms, id),
            _ => problem(404, "not_found", "There is nothing at this path."),
        }
    }

    fn refuse(&mut self, status: u16, code: &str, message: &str) -> Response {
        problem(status, code, message)
    }

    fn faulty(status: u16, code: &str) -> Response {
        problem(status, code, "A fault was set.")
    }

    /// The end is told by a status, a failure's by its code: some refusals tell of no end.
    fn tells_end(response: &Response) -> bool {
        let body = response.parsed();
        let is_end = |code| {
            !matches!(code, "not_found" | "rate_limited" | "service_unavailable" | "unauthorized")
        };
        matches!(response.status, 200 | 303) || body["code"].as_str().is_some_and(is_end)
    }

    fn headers() -> (&'static [&'static str], &'static [&'static str]) {
        (&["prefer"], &["Location", "Preference-Applied"])
    }
}
