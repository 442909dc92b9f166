//! What every model of a service is.
use serde::{Deserialize, Serialize};

use crate::frame::refusal;
use crate::{Ledger, Request, Response};

/// What a request asks of a service.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Call {
    /// Submits new work.
    Submit,
    /// Reads a job's status.
    Poll,
    /// Reads a job's result.
    Result,
    /// Cancels a job.
    Cancel,
    /// Runs a failed job again.
    Retry,
    /// Lists jobs.
    List,
    /// Deletes a job.
    Delete,
    /// Asks for a price.
    Quote,
    /// Is none of these.
    Other,
    /// Stands for every call; only for choosing, no request is of this kind.
    Any,
}

impl Call {
    /// Whether a choice covers a request's call.
    pub fn covers(self, call: Self) -> bool {
        self == Self::Any || self == call
    }
}

/// A deterministic model of a service: it knows only the time and the requests it is given.
pub trait Service {
    /// What a request asks for.
    fn stage_of(&self, request: &Request) -> Call;

    /// The idempotency key of a request, wherever the service has it.
    fn key_of(&self, request: &Request) -> Option<String> {
        request.header("idempotency-key").map(str::to_owned)
    }

    /// Takes note of a request at the service's door, whatever becomes of it.
    fn arrive(&mut self, now_ms: u64, request: &Request);

    /// Does what a request asks, with all its effects, and answers.
    fn handle(&mut self, now_ms: u64, request: &Request) -> Response;

    /// The answer that a fault puts in place of the service's own, in the service's form; `code`
    /// is in capitals.
    fn faulty(&self, status: u16, code: &str) -> Response {
        refusal(status, code, "A fault was set.", "trc_fault")
    }

    /// Takes note that the caller was sent the whole answer.
    fn told(&mut self, request: &Request, response: &Response);

    /// Lets everything happen that is due (endings, settlements); `handle` does so first.
    fn advance(&mut self, now_ms: u64);

    /// Sets the error of the clock from which the service writes dates, in milliseconds.
    fn set_clock_error(&mut self, by_ms: i64);

    /// Forgets all jobs, keys and counters; ids go on from where they were.
    fn reset(&mut self);

    /// What the service has done and charged.
    fn ledger(&self) -> &Ledger;

    /// The same, for the log of requests.
    fn ledger_mut(&mut self) -> &mut Ledger;

    /// Request headers that browsers may send and response headers that they may read, besides
    /// those of [`Options`](crate::Options).
    fn browser_headers(&self) -> (&'static [&'static str], &'static [&'static str]) {
        (&[], &[])
    }
}

/// Any service, where which one is not known before it runs.
pub type AnyService = Box<dyn Service + Send>;

impl Service for AnyService {
    fn stage_of(&self, request: &Request) -> Call {
        (**self).stage_of(request)
    }

    fn key_of(&self, request: &Request) -> Option<String> {
        (**self).key_of(request)
    }

    fn arrive(&mut self, now_ms: u64, request: &Request) {
        (**self).arrive(now_ms, request);
    }

    fn handle(&mut self, now_ms: u64, request: &Request) -> Response {
        (**self).handle(now_ms, request)
    }

    fn faulty(&self, status: u16, code: &str) -> Response {
        (**self).faulty(status, code)
    }

    fn told(&mut self, request: &Request, response: &Response) {
        (**self).told(request, response);
    }

    fn advance(&mut self, now_ms: u64) {
        (**self).advance(now_ms);
    }

    fn set_clock_error(&mut self, by_ms: i64) {
        (**self).set_clock_error(by_ms);
    }

    fn reset(&mut self) {
        (**self).reset();
    }

    fn ledger(&self) -> &Ledger {
        (**self).ledger()
    }

    fn ledger_mut(&mut self) -> &mut Ledger {
        (**self).ledger_mut()
    }

    fn browser_headers(&self) -> (&'static [&'static str], &'static [&'static str]) {
        (**self).browser_headers()
    }
}
