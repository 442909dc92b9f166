//! Faults as data: which call they strike, when, and what goes wrong.
use serde::{Deserialize, Serialize};

use crate::Call;

/// What goes wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FaultKind {
    /// The request never reaches the service.
    #[serde(alias = "lostBefore")]
    LoseBefore,
    /// The service does its work and charges, and its answer is lost.
    #[serde(alias = "lostAfter")]
    LoseAfter,
    /// Another status (503 by default) with an error as JSON.
    #[serde(alias = "unavailable")]
    Status,
    /// The same, 429 by default.
    #[serde(alias = "rateLimited")]
    RateLimited,
    /// The answer comes late, by `ms`.
    Slow,
    /// The answer's body ends in its middle.
    #[serde(alias = "truncated")]
    Truncate,
    /// An HTML page with a status (502 by default).
    #[serde(alias = "htmlError")]
    Html,
    /// Status 404, as if the job did not exist.
    #[serde(alias = "notFound")]
    NotFound,
    /// The service's clock is wrong by `ms`; other faults may strike the same request.
    Clock,
}

/// How long a faulty answer asks to wait.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum RetryAfter {
    /// Seconds.
    Seconds(u64),
    /// Any text, also one that no client can read.
    Text(String),
    /// An HTTP date this far ahead by the service's clock, in milliseconds.
    Date {
        /// How far ahead.
        date_in_ms: i64,
    },
}

/// One reproducible fault.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Fault {
    /// The calls that it strikes; any by default.
    #[serde(default = "any")]
    pub call: Call,
    /// How many of them pass before it strikes; none by default.
    #[serde(default)]
    pub skip: u64,
    /// How many it strikes; one by default.
    #[serde(default = "once")]
    pub times: u64,
    /// What goes wrong.
    pub fault: FaultKind,
    /// The status of the faulty answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<u16>,
    /// The `Retry-After` of the faulty answer.
    #[serde(default, alias = "retryAfter", skip_serializing_if = "Option::is_none")]
    pub retry_after: Option<RetryAfter>,
    /// The body of the faulty answer, verbatim.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub body: Option<String>,
    /// Whether the service does its work and charges before the faulty answer; not by default.
    #[serde(default, alias = "afterCommit")]
    pub after_commit: bool,
    /// A duration in milliseconds: the delay of `slow`, the error of `clock`.
    #[serde(default)]
    pub ms: i64,
}

impl Fault {
    /// A fault that strikes the next request of a call, once.
    pub fn once(call: Call, fault: FaultKind) -> Self {
        Self {
            call,
            skip: 0,
            times: 1,
            fault,
            status: None,
            retry_after: None,
            body: None,
            after_commit: false,
            ms: 0,
        }
    }

    /// The name of its kind, for logs.
    pub fn name(&self) -> &'static str {
        match self.fault {
            FaultKind::LoseBefore => "lose_before",
            FaultKind::LoseAfter => "lose_after",
            FaultKind::Status => "status",
            FaultKind::RateLimited => "rate_limited",
            FaultKind::Slow => "slow",
            FaultKind::Truncate => "truncate",
            FaultKind::Html => "html",
            FaultKind::NotFound => "not_found",
            FaultKind::Clock => "clock",
        }
    }
}

/// The faults that are set, with how far each has come.
///
/// Of the faults that cover a request the first that is due strikes; those behind it do not count
/// that request. Errors of the clock strike beside others.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FaultPlan {
    set: Vec<(Fault, u64)>,
}

impl FaultPlan {
    /// Adds faults behind those that are set.
    pub fn add(&mut self, faults: impl IntoIterator<Item = Fault>) {
        self.set.extend(faults.into_iter().map(|fault| (fault, 0)));
    }

    /// Removes all faults.
    pub fn clear(&mut self) {
        self.set.clear();
    }

    /// What strikes a request of this call: the clock's error in milliseconds, and a fault.
    pub fn strike(&mut self, call: Call) -> (i64, Option<Fault>) {
        let mut clock_ms = 0_i64;
        let mut struck = None;
        for (fault, seen) in self.set.iter_mut().filter(|(fault, _)| fault.call.covers(call)) {
            let is_clock = fault.fault == FaultKind::Clock;
            if struck.is_some() && !is_clock {
                continue;
            }
            let due = *seen >= fault.skip && *seen - fault.skip < fault.times;
            *seen = seen.saturating_add(1);
            match (due, is_clock) {
                (true, true) => clock_ms = clock_ms.saturating_add(fault.ms),
                (true, false) => struck = Some(fault.clone()),
                (false, _) => {}
            }
        }
        (clock_ms, struck)
    }
}

fn any() -> Call {
    Call::Any
}

fn once() -> u64 {
    1
}
