//! One job: where it stands follows from the time and from when it was cancelled.
use serde_json::{Value, json};

use super::wants::{Ending, FailureClass, Wants};

/// Where a job stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Status {
    Pending,
    Running,
    SolvingCaptcha,
    Completed,
    Failed,
    Cancelled,
}

impl Status {
    pub(super) fn word(self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::Running => "running",
            Self::SolvingCaptcha => "solving_captcha",
            Self::Completed => "completed",
            Self::Failed => "failed",
            Self::Cancelled => "cancelled",
        }
    }

    pub(super) fn is_ended(self) -> bool {
        match self {
            Self::Completed | Self::Failed | Self::Cancelled => true,
            Self::Pending | Self::Running | Self::SolvingCaptcha => false,
        }
    }
}

/// How a job's billing ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Settled {
    /// `charged` or `released`.
    pub(super) token_state: &'static str,
    /// Credits given back.
    pub(super) refund: u64,
}

#[derive(Clone, Debug)]
pub(super) struct Job {
    pub(super) id: String,
    pub(super) key: String,
    pub(super) wants: Wants,
    pub(super) created_ms: u64,
    /// How many runs came before it in its lineage.
    pub(super) ordinal: u64,
    pub(super) retry_of: Option<String>,
    pub(super) cancelled_ms: Option<u64>,
    pub(super) base: u64,
    pub(super) settled: Option<Settled>,
    /// Whether the settled ending has been told.
    pub(super) end_told: bool,
}

impl Job {
    pub(super) fn status_at(&self, now_ms: u64) -> Status {
        if self.cancelled_ms.is_some_and(|cancelled| cancelled <= now_ms) {
            return Status::Cancelled;
        }
        let (elapsed, whole) = (now_ms.saturating_sub(self.created_ms), self.wants.duration_ms);
        if elapsed >= whole {
            return match self.wants.ending_of(self.ordinal) {
                Ending::Completed => Status::Completed,
                Ending::Failed | Ending::SourceBlocked => Status::Failed,
            };
        }
        // In fifths: waiting, running, in the middle perhaps a captcha, running.
        match (elapsed.saturating_mul(5) / whole, self.wants.captcha) {
            (0, _) => Status::Pending,
            (2, true) => Status::SolvingCaptcha,
            (_, _) => Status::Running,
        }
    }

    /// When the work ends if nobody cancels it.
    pub(super) fn end_ms(&self) -> u64 {
        self.created_ms.saturating_add(self.wants.duration_ms)
    }

    pub(super) fn expires_ms(&self) -> u64 {
        self.end_ms().saturating_add(self.wants.retention_ms)
    }

    /// How the billing ends, once it does.
    pub(super) fn due_settlement(&self, now_ms: u64, settle_after_ms: u64) -> Option<Settled> {
        let charged = |refund| Some(Settled { token_state: "charged", refund });
        let released = Some(Settled { token_state: "released", refund: self.base });
        match (self.status_at(now_ms), self.cancelled_ms) {
            (Status::Completed, _) => charged(0),
            (Status::Failed, _) => released,
            (Status::Cancelled, Some(at)) if now_ms >= at.saturating_add(settle_after_ms) => {
                match self.status_before_cancel(at) {
                    Status::Pending => released,
                    Status::Running
                    | Status::SolvingCaptcha
                    | Status::Completed
                    | Status::Failed
                    | Status::Cancelled => charged(self.base / 2),
                }
            }
            (Status::Cancelled | Status::Pending | Status::Running | Status::SolvingCaptcha, _) => {
                None
            }
        }
    }

    fn status_before_cancel(&self, at_ms: u64) -> Status {
        Self { cancelled_ms: None, ..self.clone() }.status_at(at_ms)
    }

    /// The billing as the service reports it.
    pub(super) fn billing(&self, balance: u64) -> Value {
        let refund = self.settled.map_or(0, |settled| settled.refund);
        json!({"base": self.base, "adjustment": 0, "refund": refund, "balance": balance})
    }

    pub(super) fn token_state(&self) -> &'static str {
        self.settled.map_or("reserved", |settled| settled.token_state)
    }

    /// The public error of a failed job.
    pub(super) fn error(&self) -> Value {
        let (code, class) = match self.wants.ending_of(self.ordinal) {
            Ending::SourceBlocked => ("SOURCE_BLOCKED", FailureClass::Target),
            Ending::Failed | Ending::Completed => {
                (self.wants.failure_class.code(), self.wants.failure_class)
            }
        };
        json!({
            "code": code,
            "message": "The job ran and failed, as its request asked.",
            "class": class.word(),
            "trace_id": format!("trc_{}", self.id),
        })
    }
}
