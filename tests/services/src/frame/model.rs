//! What each model adds to the frame.
use serde_json::json;

use super::{Desk, Phase, Route};
use crate::{Request, Response};

/// A service's own rules.
pub(crate) trait Model: AsMut<Desk> {
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

    /// A refusal in the service's form.
    fn refuse(&mut self, status: u16, code: &str, message: &str) -> Response {
        let trace = self.as_mut().trace("trc_");
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
