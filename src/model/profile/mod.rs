//! A service's contract as data. Code knows no service by name; it knows this.

mod call;
mod key;
mod meaning;
mod pages;
mod reconcile;

pub use call::{Call, Calls, Param, Purpose, Stream, StreamForm};
pub use key::{KeyCarrier, KeyPlace};
pub use meaning::{FactSource, JobState, Meaning, Rule};
pub use pages::Pages;
pub use reconcile::{Mark, Reconcile};

use super::money::ReceiptKind;
use super::policy::{Backoff, Rate};

/// The word for the HTTP status of an answer in [`Profile::states`] begins with this.
pub const HTTP_WORD: &str = "http:";

/// The word in [`Profile::states`] for an answer that says nothing of the job's state.
pub const ABSENT_WORD: &str = "absent";

/// One service's contract.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Profile {
    /// Its name.
    pub name: String,
    /// SHA-256 over its exact text, in hex: pins its meaning for an operation.
    pub digest: String,
    /// The service asks to be called from servers only: its credential has no place in a page.
    pub server_only: bool,
    /// What the app names with a submission besides its body.
    pub params: Vec<Param>,
    /// How the idempotency key travels; `None`: the service knows none, and what may have been
    /// accepted is never sent again by itself.
    pub key: Option<KeyCarrier>,
    /// The calls that the service has.
    pub calls: Calls,
    /// Where named facts stand in its answers.
    pub facts: Vec<FactSource>,
    /// Values of its answers that are kept with the operation for later calls: further ids, links.
    pub carry: Vec<FactSource>,
    /// What its status words mean; a word that is not here means *still running*. An answer without
    /// a word has the words `http:` with its status, and [`ABSENT_WORD`], where they are here.
    pub states: Vec<(String, JobState)>,
    /// What its codes and statuses mean, first match first; HTTP's own meaning where none matches.
    pub meanings: Vec<Rule>,
    /// Where the result stands in the body that holds it (RFC 6901); empty: it is the body.
    pub result_at: String,
    /// Places of a result, and those of the submission's body whose values must stand there.
    pub echoes: Vec<(String, String)>,
    /// How a result of many pages is read; `None`: it comes in one answer.
    pub pages: Option<Pages>,
    /// A result may be of any form; else it must be JSON.
    pub result_any_form: bool,
    /// Pace of polls.
    pub poll: Backoff,
    /// Pace of retries after a failed exchange.
    pub retry: Backoff,
    /// How many requests the service takes in a while; `None`: it is not said.
    pub rate: Option<Rate>,
    /// How long after acceptance a 404 is no news, in milliseconds.
    pub not_found_grace_ms: u64,
    /// How often a complete job's result may be "not ready".
    pub not_ready_max: u32,
    /// How long results are kept where the service names no expiry, in milliseconds.
    pub retention_ms: Option<u64>,
    /// What the fact `chargeReceiptId` names; `None`: it is not said.
    pub charge_receipt: Option<ReceiptKind>,
    /// How late billing is picked up after an ending.
    pub settlement: Option<SettlementPolicy>,
    /// How work is found again whose submission was not answered.
    pub reconcile: Option<Reconcile>,
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
        self.known_state(word).unwrap_or(JobState::Active)
    }

    /// What a status word means, where the profile says so.
    pub fn known_state(&self, word: &str) -> Option<JobState> {
        let known = self.states.iter().find(|(own, _)| own.eq_ignore_ascii_case(word));
        known.map(|(_, state)| *state)
    }

    /// The call that serves a purpose, where the service has it.
    pub fn call(&self, purpose: Purpose) -> Option<&Call> {
        match purpose {
            Purpose::Submit => Some(&self.calls.submit),
            Purpose::Poll | Purpose::Settle => self.calls.poll.as_ref(),
            Purpose::Result => self.calls.result.as_ref().or(self.calls.poll.as_ref()),
            Purpose::Cancel => self.calls.cancel.as_ref(),
            Purpose::Delete => self.calls.delete.as_ref(),
            Purpose::Reconcile => self.calls.list.as_ref(),
            Purpose::Quote => self.calls.quote.as_ref(),
            Purpose::Diagnose => self.calls.diagnose.as_ref(),
        }
    }

    /// Whether the answer to a submission is the result itself, when it has this status.
    pub fn answers_with_result(&self, status: u16) -> bool {
        let calls = &self.calls;
        if calls.result_on.is_empty() {
            calls.poll.is_none() && (200..300).contains(&status) && status != 202
        } else {
            calls.result_on.contains(&status)
        }
    }

    /// Whether the service can be asked for a job by its id.
    pub const fn reads_jobs(&self) -> bool {
        self.calls.poll.is_some() || self.calls.result.is_some()
    }

    /// Whether the result stands in the answer that reads the job.
    pub const fn result_is_inline(&self) -> bool {
        self.calls.result.is_none()
    }

    /// How long the service keeps a key, in milliseconds.
    pub fn key_retention_ms(&self) -> Option<u64> {
        self.key.as_ref()?.retention_ms
    }
}
