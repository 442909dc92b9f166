//! A service's contract as data. Code knows no service by name; it knows this.

use super::policy::Backoff;

/// One service's contract.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Profile {
    /// Its name.
    pub name: String,
    /// SHA-256 over its exact text, in hex: pins its meaning for an operation.
    pub digest: String,
    /// How the idempotency key travels.
    pub key: KeyCarrier,
    /// The calls that the service has.
    pub calls: Calls,
    /// Where named facts stand in its answers.
    pub facts: Vec<FactSource>,
    /// What its status words mean; a word that is not here means *still running*.
    pub states: Vec<(String, JobState)>,
    /// What its codes and statuses mean, first match first; HTTP's own meaning where none matches.
    pub meanings: Vec<Rule>,
    /// Pace of polls.
    pub poll: Backoff,
    /// Pace of retries after a failed exchange.
    pub retry: Backoff,
    /// How long after acceptance a 404 is no news, in milliseconds.
    pub not_found_grace_ms: u64,
    /// How often a complete job's result may be "not ready".
    pub not_ready_max: u32,
    /// How long results are kept where the service names no expiry, in milliseconds.
    pub retention_ms: Option<u64>,
    /// How late billing is picked up after an ending.
    pub settlement: Option<SettlementPolicy>,
}

/// How an idempotency key travels.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyCarrier {
    /// Header field that carries it.
    pub header: String,
    /// Written as a structured-field string, with quotes (the IETF draft), or bare.
    pub quoted: bool,
    /// Fewest characters.
    pub length_min: usize,
    /// Most characters.
    pub length_max: usize,
    /// Characters allowed besides letters and digits.
    pub punctuation: String,
    /// How long the service keeps a key, in milliseconds; past it nothing unresolved is resent.
    pub retention_ms: Option<u64>,
    /// Whether the order of an object's properties is no difference to the service.
    pub canonical_body: bool,
}

/// The calls of a service.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Calls {
    /// Hands work over.
    pub submit: Call,
    /// Reads the job.
    pub poll: Call,
    /// Reads the result.
    pub result: Call,
    /// Stops the job.
    pub cancel: Option<Call>,
    /// Runs a failed job again as new work.
    pub retry: Option<Call>,
}

/// One call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Call {
    /// HTTP method.
    pub method: String,
    /// Path below the base URL; `{id}` stands for the job's id.
    pub path: String,
    /// How long one exchange may take, in milliseconds.
    pub timeout_ms: u64,
}

/// Where one named fact stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FactSource {
    /// The fact's name, see [`crate::rules::classify`].
    pub name: String,
    /// JSON pointers into the body (RFC 6901), or `header:Name`; the first that is there counts.
    pub places: Vec<String>,
}

/// What a status word of the service means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum JobState {
    /// Under way.
    Active,
    /// Complete.
    Completed,
    /// Failed.
    Failed,
    /// Cancelled.
    Cancelled,
}

/// What an exchange is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Purpose {
    /// Hands work over; changes state.
    Submit,
    /// Reads the job.
    Poll,
    /// Reads the result.
    Result,
    /// Stops the job; changes state.
    Cancel,
    /// Reads the job after its ending, for late billing.
    Settle,
}

/// One line of a service's table of meanings.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rule {
    /// Only in answers to these; empty: to all.
    pub purposes: Vec<Purpose>,
    /// Only with this code; `None`: with any.
    pub code: Option<String>,
    /// Only with this status; `None`: with any.
    pub status: Option<u16>,
    /// What it means.
    pub meaning: Meaning,
}

/// What an answer that is not simply a success means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Meaning {
    /// The service refuses everything for a while.
    RateLimited,
    /// It may pass; of a state-changing request nothing is known.
    Transient,
    /// The request is wrong and was not executed.
    Rejected,
    /// The credential is refused.
    NeedsCredential,
    /// The credential may not do this, or the source needs access.
    NeedsAccess,
    /// No credit.
    NeedsCredit,
    /// The source blocks for good: a failure that is never retried by itself.
    SourceBlocked,
    /// The same key is in progress.
    InProgress,
    /// The key belongs to another request.
    KeyConflict,
    /// The job is not known.
    NotFound,
    /// The result is not ready yet.
    NotReady,
    /// The result is no longer kept.
    Expired,
    /// The job has already ended.
    AlreadyEnded,
    /// Whether it was executed cannot be learned by asking again.
    Unknown,
}

/// How late billing is picked up.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SettlementPolicy {
    /// Values of the fact `tokenState` that say that billing is final.
    pub final_states: Vec<String>,
    /// How many reads at most.
    pub reads_max: u32,
    /// Their pace.
    pub pace: Backoff,
}

impl Profile {
    /// What a status word means: case does not matter, unknown words mean *still running*.
    pub fn state_of(&self, word: &str) -> JobState {
        let known = self.states.iter().find(|(own, _)| own.eq_ignore_ascii_case(word));
        known.map_or(JobState::Active, |(_, state)| *state)
    }

    /// The call that serves a purpose, where the service has it.
    pub const fn call(&self, purpose: Purpose) -> Option<&Call> {
        match purpose {
            Purpose::Submit => Some(&self.calls.submit),
            Purpose::Poll | Purpose::Settle => Some(&self.calls.poll),
            Purpose::Result => Some(&self.calls.result),
            Purpose::Cancel => self.calls.cancel.as_ref(),
        }
    }
}
