//! A service behind its faults: one exchange after the other, in virtual time.
use std::hash::{DefaultHasher, Hasher as _};

use crate::ledger::LoggedRequest;
use crate::time::{http_date, skewed};
use crate::{Fault, FaultKind, FaultPlan, Ledger, Request, Response, RetryAfter, Service};

/// What reaches the caller.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Delivery {
    /// The whole answer.
    Answer(Response),
    /// Nothing: the connection ends without a byte.
    Lost,
    /// The head and the first half of the body of this answer; then the connection ends.
    Truncated(Response),
}

/// How an exchange goes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outcome {
    /// What reaches the caller.
    pub delivery: Delivery,
    /// How long after the request, in milliseconds.
    pub delay_ms: u64,
}

impl Outcome {
    /// The answer, where a part of it leaves before the rest is there.
    pub fn early(&self) -> Option<&Response> {
        match &self.delivery {
            Delivery::Answer(response) => Some(response).filter(|answer| answer.early_bytes > 0),
            Delivery::Lost | Delivery::Truncated(_) => None,
        }
    }
}

/// A service with its faults.
#[derive(Clone, Debug)]
pub struct Loopback<S> {
    /// The service.
    pub service: S,
    /// The faults that are set.
    pub faults: FaultPlan,
}

impl<S: Service> Loopback<S> {
    /// The service without faults.
    pub fn new(service: S) -> Self {
        Self { service, faults: FaultPlan::default() }
    }

    /// What the service has done and charged.
    pub fn ledger(&self) -> &Ledger {
        self.service.ledger()
    }

    /// Carries a request to the service and its answer back, through whatever fault is due.
    pub fn exchange(&mut self, now_ms: u64, request: &Request) -> Outcome {
        let outcome = self.process(now_ms, request);
        self.deliver(request, &outcome);
        outcome
    }

    /// The first half of an exchange, for callers that die or wait before the answer is theirs.
    pub fn process(&mut self, now_ms: u64, request: &Request) -> Outcome {
        let call = self.service.stage_of(request);
        let (clock_ms, fault) = self.faults.strike(call);
        let mut entry = LoggedRequest::new(now_ms, call, self.service.key_of(request), request);
        entry.fault = match &fault {
            Some(fault) => Some(fault.name().to_owned()),
            None if clock_ms != 0 => Some("clock".to_owned()),
            None => None,
        };
        self.service.set_clock_error(clock_ms);
        let outcome = self.carry(now_ms, clock_ms, request, fault.as_ref(), &mut entry);
        self.service.ledger_mut().log(entry);
        dated(outcome, skewed(now_ms, clock_ms))
    }

    /// The second half: the answer, if it is a whole one, is the caller's.
    pub fn deliver(&mut self, request: &Request, outcome: &Outcome) {
        if let Delivery::Answer(response) = &outcome.delivery {
            self.service.told(request, response);
        }
    }

    fn carry(
        &mut self,
        now_ms: u64,
        clock_ms: i64,
        request: &Request,
        fault: Option<&Fault>,
        entry: &mut LoggedRequest,
    ) -> Outcome {
        let Some(fault) = fault else {
            return whole(self.serve(now_ms, request, entry), 0);
        };
        match fault.fault {
            FaultKind::LoseBefore => at_once(Delivery::Lost),
            FaultKind::LoseAfter => {
                self.serve(now_ms, request, entry);
                at_once(Delivery::Lost)
            }
            FaultKind::Truncate => {
                let response = self.serve(now_ms, request, entry);
                let delay_ms = response.after_ms;
                Outcome { delivery: Delivery::Truncated(response), delay_ms }
            }
            FaultKind::Slow | FaultKind::Clock => {
                whole(self.serve(now_ms, request, entry), fault.ms.unsigned_abs())
            }
            FaultKind::Status | FaultKind::RateLimited | FaultKind::Html | FaultKind::NotFound => {
                if fault.after_commit {
                    self.serve(now_ms, request, entry);
                } else {
                    self.service.arrive(now_ms, request);
                }
                let response = self.faulty(fault, skewed(now_ms, clock_ms));
                entry.status = Some(response.status);
                at_once(Delivery::Answer(response))
            }
        }
    }

    fn serve(&mut self, now_ms: u64, request: &Request, entry: &mut LoggedRequest) -> Response {
        self.service.arrive(now_ms, request);
        let response = ranged(request, self.service.handle(now_ms, request));
        entry.status = Some(response.status);
        response
    }

    /// The answer that a fault puts in place of the service's own.
    fn faulty(&self, fault: &Fault, clock_ms: u64) -> Response {
        let (status, code) = match fault.fault {
            FaultKind::RateLimited => (429, "RATE_LIMITED"),
            FaultKind::NotFound => (404, "NOT_FOUND"),
            FaultKind::Html => (502, ""),
            FaultKind::Status
            | FaultKind::LoseBefore
            | FaultKind::LoseAfter
            | FaultKind::Slow
            | FaultKind::Truncate
            | FaultKind::Clock => (503, "SERVICE_UNAVAILABLE"),
        };
        let status = fault.status.unwrap_or(status);
        let mut response = self.service.faulty(status, code);
        if fault.fault == FaultKind::Html {
            response.headers = vec![("content-type".to_owned(), "text/html".to_owned())];
            let page = format!("<!doctype html><title>{status}</title><h1>Error {status}</h1>\n");
            response.body = page.into_bytes();
        }
        if let Some(body) = &fault.body {
            response.body = body.clone().into_bytes();
        }
        match &fault.retry_after {
            None => response,
            Some(RetryAfter::Seconds(seconds)) => {
                response.with_header("retry-after", &seconds.to_string())
            }
            Some(RetryAfter::Text(text)) => response.with_header("retry-after", text),
            Some(RetryAfter::Date { date_in_ms }) => {
                response.with_header("retry-after", &http_date(skewed(clock_ms, *date_in_ms)))
            }
        }
    }
}

/// The part of an answer that was asked for, with an entity tag of the whole.
fn ranged(request: &Request, response: Response) -> Response {
    let asked = request.header("range").and_then(|own| own.strip_prefix("bytes="));
    let first = asked.and_then(|own| own.strip_suffix('-')).and_then(|own| own.parse().ok());
    let (Some(first), 200) = (first, response.status) else {
        return response;
    };
    let total = response.body.len();
    let mut hasher = DefaultHasher::new();
    hasher.write(&response.body);
    let tag = format!("\"{:x}\"", hasher.finish());
    let other = request.header("if-range").is_some_and(|own| own != tag);
    if other || first >= total {
        return response.with_header("etag", &tag);
    }
    let range = format!("bytes {first}-{}/{total}", total - 1);
    let body = response.body[first..].to_vec();
    let part = Response { status: 206, body, ..response };
    part.with_header("etag", &tag).with_header("content-range", &range)
}

fn at_once(delivery: Delivery) -> Outcome {
    Outcome { delivery, delay_ms: 0 }
}

/// The service's answer when its work is done, and later than that by a delay.
fn whole(response: Response, delay_ms: u64) -> Outcome {
    let delay_ms = response.after_ms.saturating_add(delay_ms);
    Outcome { delivery: Delivery::Answer(response), delay_ms }
}

/// The outcome with the service's date on its answer.
fn dated(outcome: Outcome, clock_ms: u64) -> Outcome {
    let date = |response: Response| response.with_header("date", &http_date(clock_ms));
    let delivery = match outcome.delivery {
        Delivery::Answer(response) => Delivery::Answer(date(response)),
        Delivery::Truncated(response) => Delivery::Truncated(date(response)),
        Delivery::Lost => Delivery::Lost,
    };
    Outcome { delivery, ..outcome }
}
