//! One job: where it stands follows from the time and from when it was cancelled.
use serde_json::Value;

use super::{Ending, FailureClass, Steer};

/// Where a job stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Phase {
    Pending,
    Running,
    SolvingCaptcha,
    Completed,
    Failed,
    Cancelled,
}

impl Phase {
    pub(crate) fn is_ended(self) -> bool {
        match self {
            Self::Completed | Self::Failed | Self::Cancelled => true,
            Self::Pending | Self::Running | Self::SolvingCaptcha => false,
        }
    }
}

/// How a job's billing ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Settled {
    /// `charged` or `released`.
    pub(crate) token_state: &'static str,
    /// Credits given back.
    pub(crate) refund: u64,
}

#[derive(Clone, Debug)]
pub(crate) struct Job {
    pub(crate) id: String,
    /// The key that made it; empty where the request had none.
    pub(crate) key: String,
    /// The collection, surface or source that it was asked of.
    pub(crate) at: String,
    /// The request's body.
    pub(crate) body: Value,
    pub(crate) steer: Steer,
    pub(crate) duration_ms: u64,
    pub(crate) created_ms: u64,
    /// How many runs came before it in its lineage.
    pub(crate) ordinal: u64,
    pub(crate) retry_of: Option<String>,
    /// When a cancellation takes effect; the work may end before that.
    pub(crate) cancelled_ms: Option<u64>,
    /// Credits taken for it when it was accepted.
    pub(crate) base: u64,
    pub(crate) settled: Option<Settled>,
    /// Whether the settled ending has been told.
    pub(crate) end_told: bool,
}

impl Job {
    pub(crate) fn phase_at(&self, now_ms: u64) -> Phase {
        let cancelled = self.cancelled_ms.filter(|&at| at < self.end_ms());
        if cancelled.is_some_and(|at| at <= now_ms) {
            return Phase::Cancelled;
        }
        let (elapsed, whole) = (now_ms.saturating_sub(self.created_ms), self.duration_ms);
        if elapsed >= whole {
            return match self.steer.ending_of(self.ordinal) {
                Ending::Completed => Phase::Completed,
                Ending::Failed | Ending::SourceBlocked | Ending::AccessRequired => Phase::Failed,
            };
        }
        // In fifths: waiting, running, in the middle perhaps a captcha, running.
        match (elapsed.saturating_mul(5) / whole, self.steer.captcha) {
            (0, _) => Phase::Pending,
            (2, true) => Phase::SolvingCaptcha,
            (_, _) => Phase::Running,
        }
    }

    /// When the work ends if nobody cancels it.
    pub(crate) fn end_ms(&self) -> u64 {
        self.created_ms.saturating_add(self.duration_ms)
    }

    /// When it ended or ends, by a cancellation or by itself.
    pub(crate) fn ended_ms(&self) -> u64 {
        let end_ms = self.end_ms();
        self.cancelled_ms.map_or(end_ms, |at| at.min(end_ms))
    }

    /// From when a completed job's result can be read.
    pub(crate) fn ready_ms(&self) -> u64 {
        self.end_ms().saturating_add(self.steer.not_ready_ms)
    }

    pub(crate) fn expires_ms(&self) -> u64 {
        self.end_ms().saturating_add(self.steer.retention_ms)
    }

    /// How much of the work is done, from 0 to 100.
    pub(crate) fn percent_at(&self, now_ms: u64) -> u64 {
        let elapsed = now_ms.saturating_sub(self.created_ms);
        elapsed.saturating_mul(100).checked_div(self.duration_ms).unwrap_or(100).min(100)
    }

    /// What its requests have in common: its key, or its id where it has none.
    pub(crate) fn subject(&self) -> &str {
        if self.key.is_empty() { &self.id } else { &self.key }
    }

    /// How the billing ends, once it does.
    pub(crate) fn due_settlement(&self, now_ms: u64, settle_after_ms: u64) -> Option<Settled> {
        let charged = |refund| Some(Settled { token_state: "charged", refund });
        let released = Some(Settled { token_state: "released", refund: self.base });
        match (self.phase_at(now_ms), self.cancelled_ms) {
            (Phase::Completed, _) => charged(0),
            (Phase::Failed, _) => released,
            (Phase::Cancelled, Some(at)) if now_ms >= at.saturating_add(settle_after_ms) => {
                match self.phase_before_cancel(at) {
                    Phase::Pending => released,
                    Phase::Running
                    | Phase::SolvingCaptcha
                    | Phase::Completed
                    | Phase::Failed
                    | Phase::Cancelled => charged(self.base / 2),
                }
            }
            (Phase::Cancelled | Phase::Pending | Phase::Running | Phase::SolvingCaptcha, _) => None,
        }
    }

    fn phase_before_cancel(&self, at_ms: u64) -> Phase {
        Self { cancelled_ms: None, ..self.clone() }.phase_at(at_ms)
    }

    /// Credits given back so far.
    pub(crate) fn refund(&self) -> u64 {
        self.settled.map_or(0, |settled| settled.refund)
    }

    pub(crate) fn token_state(&self) -> &'static str {
        self.settled.map_or("reserved", |settled| settled.token_state)
    }

    /// The code of a failure, in capitals, and whose fault it is.
    pub(crate) fn failure(&self) -> (&'static str, FailureClass) {
        match self.steer.ending_of(self.ordinal) {
            Ending::SourceBlocked => ("SOURCE_BLOCKED", FailureClass::Target),
            Ending::AccessRequired => ("ACCESS_REQUIRED", FailureClass::Target),
            Ending::Failed | Ending::Completed => {
                (self.steer.failure_class.code(), self.steer.failure_class)
            }
        }
    }

    /// The status of a failure that is answered in place of a result.
    pub(crate) fn failure_status(&self) -> u16 {
        match self.steer.ending_of(self.ordinal) {
            Ending::SourceBlocked | Ending::AccessRequired => 403,
            Ending::Failed | Ending::Completed => match self.steer.failure_class {
                FailureClass::Input => 422,
                FailureClass::Target | FailureClass::Transient => 502,
                FailureClass::Internal => 500,
            },
        }
    }

    /// Records that together are about as long as was asked for, at least one.
    pub(crate) fn records(&self) -> Vec<Value> {
        const RECORD_BYTES: u64 = 1000;
        let count = self.steer.result_bytes.div_ceil(RECORD_BYTES).max(1);
        let text_bytes = self.steer.result_bytes.min(RECORD_BYTES).saturating_sub(60);
        let text = "x".repeat(usize::try_from(text_bytes).unwrap_or_default());
        let record = |n| serde_json::json!({"n": n, "url": self.steer.url, "text": text});
        (0..count).map(record).collect()
    }
}
