//! What a request's body says the job shall do.
use serde::Deserialize;

/// How a job shall end.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Ending {
    #[default]
    Completed,
    Failed,
    SourceBlocked,
}

/// Whose fault a failure is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum FailureClass {
    Input,
    Target,
    #[default]
    Transient,
    Internal,
}

impl FailureClass {
    pub(super) fn word(self) -> &'static str {
        match self {
            Self::Input => "input",
            Self::Target => "target",
            Self::Transient => "transient",
            Self::Internal => "internal",
        }
    }

    pub(super) fn code(self) -> &'static str {
        match self {
            Self::Input => "INPUT_NOT_USABLE",
            Self::Target => "TARGET_UNREACHABLE",
            Self::Transient => "UPSTREAM_TIMEOUT",
            Self::Internal => "INTERNAL_ERROR",
        }
    }
}

/// A request's body: the address, and members that steer the model. Others are let pass.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub(super) struct Wants {
    pub(super) url: String,
    #[serde(default = "three_seconds")]
    pub(super) duration_ms: u64,
    #[serde(default)]
    pub(super) outcome: Ending,
    #[serde(default)]
    pub(super) failure_class: FailureClass,
    #[serde(default)]
    pub(super) captcha: bool,
    #[serde(default = "one_hour")]
    pub(super) retention_ms: u64,
    #[serde(default)]
    pub(super) result_bytes: u64,
    #[serde(default)]
    pub(super) not_ready_ms: u64,
    #[serde(default)]
    pub(super) not_found_ms: u64,
    /// How many runs in a row fail; every run of a job that shall fail, where it is absent.
    pub(super) fail_times: Option<u64>,
}

impl Wants {
    /// How the run with this ordinal ends; the first run is 0.
    pub(super) fn ending_of(&self, ordinal: u64) -> Ending {
        match (self.fail_times, self.outcome) {
            (Some(times), _) if ordinal >= times => Ending::Completed,
            (Some(_), Ending::Completed) => Ending::Failed,
            (Some(_) | None, outcome) => outcome,
        }
    }
}

fn three_seconds() -> u64 {
    3000
}

fn one_hour() -> u64 {
    3_600_000
}
