//! A model of RunHarvester: asynchronous jobs whose creation is idempotent by key.
//!
//! What a job does is steered by optional members of its request's body: `duration_ms` (3000),
//! `outcome` (`completed`, `failed`, `source_blocked`), `failure_class` (`input`, `target`,
//! `transient`, `internal`), `captcha`, `retention_ms` (one hour), `result_bytes`, `not_ready_ms`,
//! `not_found_ms` and `fail_times` (how many runs of its lineage fail before one completes). Beyond
//! the service's page it deletes jobs that have stopped: `DELETE` is 202, and 409 for an active job.
mod calls;
mod config;
mod route;

pub use config::Config;

use crate::frame::{Model, Phase, Route, State, refusal};
use crate::{Call, Request, Response};

/// The model; it keeps the answer that each key led to.
pub type RunHarvester = State<Config, Response>;

impl Model for RunHarvester {
    fn route(request: &Request) -> Route<'_> {
        route::route(request)
    }

    fn word(phase: Phase) -> &'static str {
        match phase {
            Phase::Pending => "pending",
            Phase::Running => "running",
            Phase::SolvingCaptcha => "solving_captcha",
            Phase::Completed => "completed",
            Phase::Failed => "failed",
            Phase::Cancelled => "cancelled",
        }
    }

    fn serve(&mut self, now_ms: u64, request: &Request, route: Route<'_>) -> Response {
        let answer = match (route.call, route.id) {
            (Call::Submit, _) => self.submit(now_ms, request),
            (Call::Poll, Some(id)) => self.poll(now_ms, id),
            (Call::Result, Some(id)) => self.result(now_ms, id),
            (Call::Cancel, Some(id)) => self.cancel(now_ms, id),
            (Call::Delete, Some(id)) => self.delete(now_ms, id),
            (Call::Retry, Some(id)) => self.retry(now_ms, request, id),
            _ => self.refuse(404, "ROUTE_NOT_FOUND", "There is nothing at this path."),
        };
        let price = self.config.read_price;
        if let (Call::Poll | Call::Result, Some(id), 200, 1..) =
            (route.call, route.id, answer.status, price)
        {
            self.desk.charge(id, price);
        }
        answer
    }

    fn refuse_credential(&mut self) -> Response {
        self.refuse(401, "UNAUTHORIZED", "A valid bearer token is required.")
    }

    fn faulty(status: u16, code: &str) -> Response {
        refusal(status, code, "A fault was set.", "trc_fault")
    }

    fn tells_end(response: &Response) -> bool {
        let body = response.parsed();
        let status = body["status"].as_str().unwrap_or_default();
        let ended = matches!(status, "completed" | "failed" | "cancelled");
        ended && body["token_state"] != "reserved"
    }
}
