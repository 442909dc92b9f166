//! What every model of a service is.
use serde::{Deserialize, Serialize};

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
pub trait Service: Clone {
    /// What a request asks for.
    fn stage_of(&self, request: &Request) -> Call;

    /// Takes note of a request at the service's door, whatever becomes of it.
    fn arrive(&mut self, now_ms: u64, request: &Request);

    /// Does what a request asks, with all its effects, and answers.
    fn handle(&mut self, now_ms: u64, request: &Request) -> Response;

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
}
