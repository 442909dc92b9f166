//! What a request says its work shall do: members that steer the model. Others are let pass.
use serde::Deserialize;
use serde_json::Value;

/// How a job shall end.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Ending {
    #[default]
    Completed,
    Failed,
    SourceBlocked,
    AccessRequired,
}

/// Whose fault a failure is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum FailureClass {
    Input,
    Target,
    #[default]
    Transient,
    Internal,
}

impl FailureClass {
    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::Input => "input",
            Self::Target => "target",
            Self::Transient => "transient",
            Self::Internal => "internal",
        }
    }

    pub(crate) fn code(self) -> &'static str {
        match self {
            Self::Input => "INPUT_NOT_USABLE",
            Self::Target => "TARGET_UNREACHABLE",
            Self::Transient => "UPSTREAM_TIMEOUT",
            Self::Internal => "INTERNAL_ERROR",
        }
    }
}

/// The members of a request that steer its work.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
pub(crate) struct Steer {
    /// What is worked on.
    #[serde(default)]
    pub(crate) url: String,
    pub(crate) duration_ms: Option<u64>,
    #[serde(default)]
    pub(crate) outcome: Ending,
    #[serde(default)]
    pub(crate) failure_class: FailureClass,
    #[serde(default)]
    pub(crate) captcha: bool,
    #[serde(default = "one_hour")]
    pub(crate) retention_ms: u64,
    #[serde(default)]
    pub(crate) result_bytes: u64,
    #[serde(default)]
    pub(crate) not_ready_ms: u64,
    #[serde(default)]
    pub(crate) not_found_ms: u64,
    /// How many runs in a row fail; every run of a job that shall fail, where it is absent.
    pub(crate) fail_times: Option<u64>,
}

impl Steer {
    /// The steering members of a JSON object; none where it is no such thing or they are unsound.
    pub(crate) fn of(body: &Value) -> Option<Self> {
        let body = Some(body).filter(|body| body.is_object());
        body.and_then(|body| Self::deserialize(body).ok())
    }

    /// The same, where there must be a URL.
    pub(crate) fn with_url(body: &Value) -> Option<Self> {
        Self::of(body).filter(|steer| !steer.url.is_empty())
    }

    /// How the run with this ordinal ends; the first run is 0.
    pub(crate) fn ending_of(&self, ordinal: u64) -> Ending {
        match (self.fail_times, self.outcome) {
            (Some(times), _) if ordinal >= times => Ending::Completed,
            (Some(_), Ending::Completed) => Ending::Failed,
            (Some(_) | None, outcome) => outcome,
        }
    }
}

fn one_hour() -> u64 {
    3_600_000
}
