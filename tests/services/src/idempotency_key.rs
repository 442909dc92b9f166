//! A model of a synchronous service by the IETF draft of the `Idempotency-Key` header.
//!
//! Served under `/idempotency-key`. Credential: `Authorization: Bearer`. The key is a structured
//! field's string, in quotes on the wire: `Idempotency-Key: "k"`.
//!
//! | call | answer |
//! |---|---|
//! | `POST /v1/reports` | `created_status` (201) with the report, when the work is done; `location: /v1/reports/{id}` |
//! | `GET /v1/reports/{id}` | 200 with the report |
//!
//! A report is `{id, url, created_at, record_count, records}`. A repeated request gets the first
//! answer again, with `idempotency-replayed: true`. The members `duration_ms` (200), `outcome`,
//! `failure_class` and `result_bytes` of the body steer the work.
//!
//! | situation | status | code |
//! |---|---|---|
//! | no key | 400 | `idempotency_key_missing` |
//! | a key that is no quoted string | 400 | `idempotency_key_malformed` |
//! | the key came with another request | 422 | `idempotency_key_reused` |
//! | the first request with the key is not done | 409 | `request_in_progress` |
//! | body is no JSON object | 400 | `invalid_request` |
//! | wrong token; not enough credits; no such report | 401, 402, 404 | `unauthorized`, `insufficient_credits`, `not_found` |
//! | the work fails, by `outcome` and `failure_class` | 403, 422, 502, 502, 500 | `source_blocked`, `input_not_usable`, `target_unreachable`, `upstream_timeout`, `internal_error` |
//!
//! Refusals are problem details (RFC 9457): `{type: "/problems/…", title, status, detail, code}` as
//! `application/problem+json`. A failure is told again like a success, or forgotten, by
//! `keeps_errors`; it costs nothing.
use crate::frame::{Job, Known, Model, Phase, Route, Settings, State, Steer, problem};
use crate::http::digest;
use crate::{Call, Request, Response, Service};

/// The model's settings.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IdempotencyKeyConfig {
    /// What all models have; ids begin with `rep_`, work takes 200 ms.
    pub settings: Settings,
    /// Whether keys are in quotes; so by default.
    pub quoted: bool,
    /// The status of a report that was made; 201 by default.
    pub created_status: u16,
    /// Whether a failure is told again; so by default. Otherwise the same key executes again.
    pub keeps_errors: bool,
    /// The `Retry-After` of a request in progress, in seconds; none by default.
    pub conflict_retry_after_s: Option<u64>,
}

impl Default for IdempotencyKeyConfig {
    fn default() -> Self {
        Self {
            settings: Settings { duration_ms: 200, ..Settings::with_ids("rep_") },
            quoted: true,
            created_status: 201,
            keeps_errors: true,
            conflict_retry_after_s: None,
        }
    }
}

impl From<IdempotencyKeyConfig> for Settings {
    fn from(config: IdempotencyKeyConfig) -> Self {
        config.settings
    }
}

/// The model; it keeps the job that each key made.
pub type IdempotencyKey = State<IdempotencyKeyConfig, String>;

impl IdempotencyKey {
    fn create(&mut self, now: u64, request: &Request) -> Response {
        let Some(written) = request.header("idempotency-key") else {
            return problem(400, "idempotency_key_missing", "An Idempotency-Key is required.");
        };
        let key = if self.config.quoted { unquoted(written) } else { Some(written.to_owned()) };
        let Some(key) = key.filter(|key| !key.is_empty()) else {
            return problem(400, "idempotency_key_malformed", "The key must be a quoted string.");
        };
        let Some(steer) = Steer::of(&request.parsed()) else {
            return problem(400, "invalid_request", "The body must be a JSON object.");
        };
        let identity = digest(&[&request.body]);
        match self.look(now, &key, &identity) {
            Known::New => self.execute(now, request, &key, identity, steer),
            Known::Same(id) => match self.desk.jobs.get(&id).cloned() {
                Some(job) if !job.phase_at(now).is_ended() => {
                    let detail = "The first request with this key is not done yet.";
                    let answer = problem(409, "request_in_progress", detail);
                    answer.with_retry_after(self.config.conflict_retry_after_s)
                }
                Some(job) if self.config.keeps_errors || job.phase_at(now) != Phase::Failed => {
                    self.outcome(&job).with_header("idempotency-replayed", "true")
                }
                Some(_) | None => self.execute(now, request, &key, identity, steer),
            },
            Known::Changed => {
                problem(422, "idempotency_key_reused", "The key came with another request.")
            }
        }
    }

    fn execute(
        &mut self,
        now: u64,
        request: &Request,
        key: &str,
        identity: String,
        steer: Steer,
    ) -> Response {
        let Some(job) = self.desk.open_usual(now, request, key, steer) else {
            return problem(402, "insufficient_credits", "The credits are used up.");
        };
        self.keys.keep(now, key, identity, job.id.clone());
        self.advance(now);
        Response { after_ms: job.duration_ms, ..self.outcome(&job) }
    }

    /// What a job's request is answered once the job has ended.
    fn outcome(&mut self, job: &Job) -> Response {
        if job.phase_at(job.end_ms()) != Phase::Completed {
            let (code, _) = job.failure();
            return problem(job.failure_status(), code, "The work failed, as its request asked.");
        }
        let location = self.desk.link(&format!("/v1/reports/{}", job.id));
        let answer = self.desk.serve_report(self.config.created_status, job);
        answer.with_header("location", &location)
    }

    fn read(&mut self, now: u64, id: &str) -> Response {
        let job = self.desk.visible(now, id);
        match job.filter(|job| job.phase_at(now) == Phase::Completed) {
            Some(job) => self.desk.serve_report(200, &job),
            None => problem(404, "not_found", "There is no such report."),
        }
    }
}

impl Model for IdempotencyKey {
    fn route(request: &Request) -> Route<'_> {
        match (request.method.as_str(), request.parts().as_slice()) {
            ("POST", ["v1", "reports"]) => Route::to(Call::Submit, ""),
            ("GET", ["v1", "reports", id]) => Route::of_job(Call::Result, id),
            _ => Route::nowhere(),
        }
    }

    fn serve(&mut self, now_ms: u64, request: &Request, route: Route<'_>) -> Response {
        match (route.call, route.id) {
            (Call::Submit, _) => self.create(now_ms, request),
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

    fn key(request: &Request) -> Option<String> {
        let written = request.header("idempotency-key")?;
        Some(unquoted(written).unwrap_or_else(|| written.to_owned()))
    }

    fn headers() -> (&'static [&'static str], &'static [&'static str]) {
        (&[], &["Location"])
    }
}

/// The text of a string as structured fields write it (RFC 9651).
fn unquoted(written: &str) -> Option<String> {
    let inner = written.trim().strip_prefix('"')?.strip_suffix('"')?;
    let mut text = String::new();
    let mut letters = inner.chars();
    while let Some(letter) = letters.next() {
        match letter {
            '"' => return None,
            '\\' => text.push(letters.next().filter(|next| matches!(next, '"' | '\\'))?),
            ' '..='~' => text.push(letter),
            _ => return None,
        }
    }
    Some(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_read_from_its_quotes() {
        assert_eq!(unquoted(r#""a b""#).as_deref(), Some("a b"));
        assert_eq!(unquoted(r#""a\"\\b""#).as_deref(), Some(r#"a"\b"#));
    }

    #[test]
    fn what_is_no_quoted_string_is_no_key() {
        for written in ["k", "\"k", "k\"", "\"", r#""a"b""#, r#""a\b""#, r#""a\""#, "\"\u{e4}\""] {
            assert_eq!(unquoted(written), None, "{written}");
        }
    }
}
