//! What each model adds to the frame, and how the frame makes a service of it.
use serde_json::json;

use super::{Desk, Phase, Route};
use crate::{Call, Ledger, Request, Response, Service};

/// A service's own rules.
pub(crate) trait Model {
    fn desk(&self) -> &Desk;

    fn desk_mut(&mut self) -> &mut Desk;

    /// What a request's method and path ask for.
    fn route(request: &Request) -> Route<'_>;

    /// The service's word for where a job stands.
    fn word(phase: Phase) -> &'static str {
        match phase {
            Phase::Pending | Phase::Running | Phase::SolvingCaptcha => "running",
            Phase::Completed => "completed",
            Phase::Failed => "failed",
            Phase::Cancelled => "cancelled",
        }
    }

    /// Answers a request with a valid credential.
    fn serve(&mut self, now_ms: u64, request: &Request, route: Route<'_>) -> Response;

    /// Lets everything happen that is due besides endings and refunds.
    fn pass(&mut self, _now_ms: u64) {}

    /// Forgets what the desk does not hold, such as keys.
    fn forget(&mut self);

    /// A refusal in the service's form.
    fn refuse(&mut self, status: u16, code: &str, message: &str) -> Response {
        let trace = self.desk_mut().trace("trc_");
        refusal(status, code, message, &trace)
    }

    /// The refusal of a request without a valid credential.
    fn refuse_credential(&mut self) -> Response {
        self.refuse(401, "unauthorized", "A valid credential is required.")
    }

    /// The answer that a fault puts in place of the service's own, in the service's form.
    fn faulty(status: u16, code: &str) -> Response {
        refusal(status, &code.to_lowercase(), "A fault was set.", "trc_fault")
    }

    /// The token of a request.
    fn token(request: &Request) -> Option<&str> {
        bearer(request)
    }

    /// The idempotency key of a request.
    fn key(request: &Request) -> Option<String> {
        request.header("idempotency-key").map(str::to_owned)
    }

    /// Whether an answer to a poll tells that the job has ended and its billing too.
    fn tells_end(response: &Response) -> bool {
        let body = response.parsed();
        matches!(body["status"].as_str(), Some("completed" | "failed" | "cancelled"))
    }

    /// Request headers and response headers that browsers must be allowed, besides the usual.
    fn headers() -> (&'static [&'static str], &'static [&'static str]) {
        (&[], &[])
    }
}

/// The token of the `Authorization` header.
pub(crate) fn bearer(request: &Request) -> Option<&str> {
    request.header("authorization").and_then(|value| value.strip_prefix("Bearer "))
}

/// A refusal in the form that most services have.
pub(crate) fn refusal(status: u16, code: &str, message: &str, trace: &str) -> Response {
    let error = json!({"code": code, "message": message, "trace_id": trace});
    Response::json(status, &json!({ "error": error }))
}

impl<M: Model> Service for M {
    fn stage_of(&self, request: &Request) -> Call {
        M::route(request).call
    }

    fn key_of(&self, request: &Request) -> Option<String> {
        M::key(request)
    }

    fn arrive(&mut self, now_ms: u64, request: &Request) {
        self.advance(now_ms);
        let route = M::route(request);
        let desk = self.desk_mut();
        let job = route.id.and_then(|id| desk.jobs.get(id));
        let (end_told, subject) = match (job, route.id) {
            (Some(job), _) => (job.end_told, Some(job.subject().to_owned())),
            (None, Some(_)) => (false, None),
            (None, None) => (false, M::key(request)),
        };
        if let Some(subject) = subject {
            desk.ledger.see(&subject, now_ms);
        }
        match route.call {
            Call::Submit | Call::Retry => desk.ledger.submits += 1,
            Call::Poll => {
                desk.ledger.polls += 1;
                desk.ledger.polls_after_end += u64::from(end_told);
            }
            Call::Result
            | Call::Cancel
            | Call::List
            | Call::Delete
            | Call::Quote
            | Call::Other
            | Call::Any => {}
        }
    }

    fn handle(&mut self, now_ms: u64, request: &Request) -> Response {
        self.advance(now_ms);
        let token = M::token(request).unwrap_or_default();
        if !self.desk().settings.tokens.contains(token) {
            self.desk_mut().ledger.unauthorized += 1;
            return self.refuse_credential();
        }
        self.serve(now_ms, request, M::route(request))
    }

    fn faulty(&self, status: u16, code: &str) -> Response {
        M::faulty(status, code)
    }

    fn told(&mut self, request: &Request, response: &Response) {
        let Route { call: Call::Poll, id: Some(id), .. } = M::route(request) else {
            return;
        };
        if let Some(job) = self.desk_mut().jobs.get_mut(id) {
            job.end_told |= M::tells_end(response);
        }
    }

    fn advance(&mut self, now_ms: u64) {
        self.desk_mut().settle(now_ms, M::word);
        self.pass(now_ms);
    }

    fn set_clock_error(&mut self, by_ms: i64) {
        self.desk_mut().clock_error_ms = by_ms;
    }

    fn reset(&mut self) {
        self.desk_mut().reset();
        self.forget();
    }

    fn ledger(&self) -> &Ledger {
        &self.desk().ledger
    }

    fn ledger_mut(&mut self) -> &mut Ledger {
        &mut self.desk_mut().ledger
    }

    fn browser_headers(&self) -> (&'static [&'static str], &'static [&'static str]) {
        M::headers()
    }
}
