//! What an answer means under a profile.
//!
//! The service's codes speak first, its statuses second, HTTP's own meaning last. A success that
//! cannot be read is no success.

use crate::model::answer::Answer;
use crate::model::ending::{FAULT_TEXT_MAX, FailureClass, Fault, ResultRef};
use crate::model::facts::{BodyForm, Facts};
use crate::model::ids::JobId;
use crate::model::money::{Credits, Ledger};
use crate::model::profile::{JobState, Meaning, Profile, Purpose};
use crate::model::time::Timestamp;
use crate::rules::rfc3339::point_in_time;

/// What an answer means, and everything it says besides.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Verdict {
    /// What it means.
    pub finding: Finding,
    /// What it says.
    pub said: Said,
}

/// What an answer means.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Finding {
    /// The work was taken on, under this id.
    Accepted(JobId),
    /// The job is in this state.
    Job(JobState),
    /// The result has come, and is what it should be.
    Kept(ResultRef),
    /// The result has come, and is not what it should be.
    Incomplete(Option<ResultRef>),
    /// The call was carried out.
    Done,
    /// A success or a refusal that cannot be read: a page of a gateway, half a body, no id.
    Unreadable(Option<ResultRef>),
    /// The answer points elsewhere.
    Redirected,
    /// Something else, by the tables.
    Other(Meaning),
}

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
    /// How long the service asks to wait, in milliseconds.
    pub server_wait_ms: Option<u64>,
    /// When the service will drop the result.
    pub expires_at: Option<Timestamp>,
    /// Credits as reported.
    pub ledger: Ledger,
    /// The service replayed earlier work.
    pub replayed: bool,
}

/// Reads an answer to an exchange.
pub fn classify(profile: &Profile, purpose: Purpose, answer: &Answer, now: Timestamp) -> Verdict {
    let mut said = said(&answer.facts, answer.status, now);
    said.server_wait_ms = answer.server_wait_ms;
    let finding = if matches!(answer.status, 0 | 300..=399) {
        Finding::Redirected
    } else if matches!(answer.status, 200..=299) {
        success(profile, purpose, answer, &mut said)
    } else {
        let meaning =
            told(profile, purpose, answer).unwrap_or_else(|| usual(purpose, answer.status));
        Finding::Other(meaning)
    };
    Verdict { finding, said }
}

fn success(profile: &Profile, purpose: Purpose, answer: &Answer, said: &mut Said) -> Finding {
    let readable = answer.whole && answer.facts.form == BodyForm::Json;
    match purpose {
        Purpose::Submit => match answer.facts.text("id").filter(|id| readable && !id.is_empty()) {
            Some(id) => Finding::Accepted(id.into()),
            None => Finding::Unreadable(None),
        },
        Purpose::Poll | Purpose::Settle => match said.state.as_deref().filter(|_| readable) {
            Some(word) => Finding::Job(profile.state_of(word)),
            None => told(profile, purpose, answer)
                .filter(|_| readable)
                .map_or(Finding::Unreadable(None), Finding::Other),
        },
        Purpose::Result => result(profile, answer, said),
        Purpose::Cancel => Finding::Done,
    }
}

fn result(profile: &Profile, answer: &Answer, said: &mut Said) -> Finding {
    if answer.status == 202 {
        return Finding::Other(Meaning::NotReady);
    }
    if let Some(meaning @ (Meaning::NotReady | Meaning::Expired)) =
        told(profile, Purpose::Result, answer)
    {
        return Finding::Other(meaning);
    }
    let Some(kept) = answer.kept.clone().filter(|_| answer.whole) else {
        return Finding::Unreadable(None);
    };
    match answer.facts.form {
        BodyForm::Json => {}
        BodyForm::Empty | BodyForm::NotJson | BodyForm::Broken => {
            return Finding::Unreadable(Some(kept));
        }
    }
    let counted = answer.facts.count("records");
    let declared = answer.facts.text("recordCount").and_then(|text| text.parse::<u64>().ok());
    if counted.is_some() && declared.is_some() && counted != declared {
        said.fault.message = Some("the result does not hold as many records as it declares".into());
        return Finding::Incomplete(Some(kept));
    }
    if let Some(fault) = &answer.schema_fault {
        said.fault.message = Some(cut(fault));
        return Finding::Incomplete(Some(kept));
    }
    Finding::Kept(kept)
}

/// What the profile's own table says.
fn told(profile: &Profile, purpose: Purpose, answer: &Answer) -> Option<Meaning> {
    let code = answer.facts.text("code");
    let holds = |by_code: bool| {
        profile.meanings.iter().find(|rule| {
            rule.code.is_some() == by_code
                && (rule.purposes.is_empty() || rule.purposes.contains(&purpose))
                && rule.code.as_deref().is_none_or(|own| Some(own) == code)
                && rule.status.is_none_or(|own| own == answer.status)
        })
    };
    holds(true).or_else(|| holds(false)).map(|rule| rule.meaning)
}

/// What a status means where the profile says nothing (RFC 9110, RFC 6585).
fn usual(purpose: Purpose, status: u16) -> Meaning {
    let reading = match purpose {
        Purpose::Poll | Purpose::Result | Purpose::Settle => true,
        Purpose::Submit | Purpose::Cancel => false,
    };
    match status {
        401 | 407 => Meaning::NeedsCredential,
        402 => Meaning::NeedsCredit,
        403 => Meaning::NeedsCredential,
        404 if reading => Meaning::NotFound,
        409 => match purpose {
            Purpose::Submit => Meaning::InProgress,
            Purpose::Result => Meaning::NotReady,
            Purpose::Poll | Purpose::Settle => Meaning::Transient,
            Purpose::Cancel => Meaning::AlreadyEnded,
        },
        410 if purpose == Purpose::Result => Meaning::Expired,
        410 if reading => Meaning::NotFound,
        429 => Meaning::RateLimited,
        408 | 425 | 500..=599 => Meaning::Transient,
        400..=499 => Meaning::Rejected,
        _ => Meaning::Transient,
    }
}

fn said(facts: &Facts, status: u16, now: Timestamp) -> Said {
    let text = |name: &str| facts.text(name).map(cut);
    let credits = |name: &str| facts.text(name).and_then(Credits::parse);
    Said {
        fault: Fault {
            status: Some(status),
            code: text("code"),
            message: text("message"),
            trace_id: text("traceId"),
        },
        class: class_of(facts.text("failureClass")),
        state: text("status"),
        progress: text("progress"),
        request_id: text("requestId"),
        server_wait_ms: None,
        expires_at: facts.text("expiresAt").and_then(|text| point_in_time(text, now)),
        ledger: Ledger {
            base: credits("base"),
            adjustment: credits("adjustment"),
            refund: credits("refund"),
            balance: credits("balance"),
            token_state: text("tokenState"),
        },
        replayed: facts.bool("replayed") == Some(true)
            || facts.text("replayed").is_some_and(|text| text.eq_ignore_ascii_case("true")),
    }
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
fn cut(text: &str) -> String {
    let mut end = text.len().min(FAULT_TEXT_MAX);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    text[..end].into()
}
