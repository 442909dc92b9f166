//! What an answer says, whatever it means.

use super::ECHO;
use crate::model::answer::Answer;
use crate::model::ending::{FAULT_TEXT_MAX, FailureClass, Fault};
use crate::model::facts::Facts;
use crate::model::ids::JobId;
use crate::model::money::{Amount, Credits, Ledger};
use crate::model::operation::Carried;
use crate::model::profile::Profile;
use crate::model::time::Timestamp;
use crate::rules::bounds::JOB_ID_BYTES_MAX;
use crate::rules::reference::{origin, resolve};
use crate::rules::rfc3339::point_in_time;

/// What an answer says besides its meaning.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Said {
    /// Status, code, message and trace id.
    pub fault: Fault,
    /// What kind of failure the service names.
    pub class: FailureClass,
    /// The service's word for the job's state.
    pub state: Option<String>,
    /// The service's account of progress.
    pub progress: Option<String>,
    /// The service's id of the exchange.
    pub request_id: Option<String>,
    /// The service's id of the charge.
    pub charge_receipt_id: Option<String>,
    /// How many records it says that it delivers.
    pub record_count: Option<String>,
    /// The digest of the result that it declares, as it writes it.
    pub digest: Option<String>,
    /// What it repeats of the submission, by the names of [`super::ECHO`].
    pub echoes: Carried,
    /// How many records the result holds.
    pub records: Option<u64>,
    /// How long the service asks to wait, in milliseconds.
    pub server_wait_ms: Option<u64>,
    /// When the service will drop the result.
    pub expires_at: Option<Timestamp>,
    /// When the service captured the result.
    pub captured_at: Option<Timestamp>,
    /// Credits as reported.
    pub ledger: Ledger,
    /// What this read has cost.
    pub read_cost: Option<Credits>,
    /// The id of the work that a success of a submission names.
    pub job: Option<JobId>,
    /// The id of the job that an earlier request with the same key has led to.
    pub existing: Option<JobId>,
    /// What later calls are addressed by.
    pub carried: Carried,
    /// The service replayed earlier work.
    pub replayed: bool,
}

/// What an answer says, whatever it means; also one that is still coming.
pub fn told(profile: &Profile, answer: &Answer, now: Timestamp) -> Said {
    let mut said = said(&answer.facts, answer.status, now);
    said.server_wait_ms = answer.server_wait_ms;
    said.carried = carried(profile, answer);
    for (name, _) in answer.facts.values.iter().filter(|(name, _)| name.starts_with(ECHO)) {
        let text = answer.facts.text(name);
        said.echoes.extend(text.map(|text| (name.clone(), text.to_owned())));
    }
    if (200..300).contains(&answer.status) {
        said.job = job_id(&answer.facts, "id");
    }
    said
}

/// What the answer gives for later calls. A link is kept as an absolute URL, and only one that may
/// be followed: to the service's own origin, or to any where the profile says so.
fn carried(profile: &Profile, answer: &Answer) -> Carried {
    const VALUE_BYTES_MAX: usize = 4_096;
    let mut all = Carried::new();
    let calls = &profile.calls;
    let of_a_job = [&calls.poll, &calls.result, &calls.cancel, &calls.retry, &calls.delete];
    for source in &profile.carry {
        let text = answer.facts.text(&source.name);
        let Some(text) = text.filter(|text| (1..=VALUE_BYTES_MAX).contains(&text.len())) else {
            continue;
        };
        let mut value = Some(text.to_owned());
        for call in of_a_job.into_iter().flatten() {
            if call.link.as_ref() == Some(&source.name) {
                let own = origin(&answer.url);
                value = resolve(&answer.url, text)
                    .filter(|url| call.any_origin || (own.is_some() && origin(url) == own));
            }
        }
        if let Some(value) = value {
            all.push((source.name.clone(), value));
        }
    }
    all
}

/// An id that an answer names; one that no record should hold is none.
fn job_id(facts: &Facts, name: &str) -> Option<JobId> {
    let text = facts.text(name)?;
    (1..=JOB_ID_BYTES_MAX).contains(&text.len()).then(|| text.into())
}

fn said(facts: &Facts, status: u16, now: Timestamp) -> Said {
    let text = |name: &str| facts.text(name).map(cut);
    Said {
        fault: Fault {
            status: Some(status),
            // A problem of that type is told by its status alone (RFC 9457).
            code: text("code").filter(|code| code != "about:blank"),
            message: text("message"),
            trace_id: text("traceId"),
        },
        class: class_of(facts.text("failureClass")),
        state: facts.word("status").map(cut),
        progress: text("progress"),
        request_id: text("requestId"),
        charge_receipt_id: text("chargeReceiptId"),
        record_count: text("recordCount"),
        digest: text("digest"),
        echoes: Carried::new(),
        records: facts.count("records"),
        server_wait_ms: None,
        expires_at: facts.text("expiresAt").and_then(|text| point_in_time(text, now)),
        captured_at: facts.text("capturedAt").and_then(|text| point_in_time(text, now)),
        ledger: ledger(facts),
        read_cost: amount(facts, "readCost", false),
        job: None,
        existing: job_id(facts, "existingId"),
        carried: Carried::new(),
        replayed: facts.bool("replayed") == Some(true)
            || facts.text("replayed").is_some_and(|text| text.eq_ignore_ascii_case("true")),
    }
}

/// The amounts that an answer tells. One below nothing says nothing, where none can be.
fn ledger(facts: &Facts) -> Ledger {
    let mut ledger = Ledger { token_state: facts.text("tokenState").map(cut), ..Ledger::default() };
    for amount in Amount::ALL.iter().filter(|own| **own != Amount::Reads) {
        ledger.set(*amount, self::amount(facts, amount.name(), amount.may_be_negative()));
    }
    ledger
}

fn amount(facts: &Facts, name: &str, may_be_negative: bool) -> Option<Credits> {
    let credits = facts.text(name).and_then(Credits::parse);
    credits.filter(|own| may_be_negative || *own >= Credits(0))
}

fn class_of(word: Option<&str>) -> FailureClass {
    match word {
        Some("input") => FailureClass::Input,
        Some("target") => FailureClass::Target,
        Some("transient" | "internal") => FailureClass::Transient,
        Some(_) | None => FailureClass::Unknown,
    }
}

/// A text of the service, cut to what a record may hold.
pub(super) fn cut(text: &str) -> String {
    let mut end = text.len().min(FAULT_TEXT_MAX);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    text[..end].into()
}
