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

use crate::frame::{Desk, Keys, Model, Phase, Route, Settings, refusal};
use crate::{Call, Request, Response};

/// The model's state.
#[derive(Clone, Debug)]
pub struct RunHarvester {
    desk: Desk,
    keys: Keys<Response>,
}

impl RunHarvester {
    /// A service that has seen no request.
    pub fn new(config: Config) -> Self {
        let settings = Settings {
            tokens: config.tokens,
            balance: config.balance,
            price: config.base,
            key_retention_ms: config.key_retention_ms,
            settle_after_ms: config.settle_after_ms,
            ..Settings::with_ids(&config.id_prefix)
        };
        Self { keys: Keys::kept_for(settings.key_retention_ms), desk: Desk::new(settings) }
    }
}

impl Default for RunHarvester {
    fn default() -> Self {
        Self::new(Config::default())
    }
}

impl Model for RunHarvester {
    fn desk(&self) -> &Desk {
        &self.desk
    }

    fn desk_mut(&mut self) -> &mut Desk {
        &mut self.desk
    }

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
        match (route.call, route.id) {
            (Call::Submit, _) => self.submit(now_ms, request),
            (Call::Poll, Some(id)) => self.poll(now_ms, id),
            (Call::Result, Some(id)) => self.result(now_ms, id),
            (Call::Cancel, Some(id)) => self.cancel(now_ms, id),
            (Call::Delete, Some(id)) => self.delete(now_ms, id),
            (Call::Retry, Some(id)) => self.retry(now_ms, request, id),
            _ => self.refuse(404, "ROUTE_NOT_FOUND", "There is nothing at this path."),
        }
    }

    fn forget(&mut self) {
        self.keys.clear();
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
