//! Reads what a service's answers say and mean.

use super::{ENTRIES_MAX, pace};
use crate::model::ending::FailureClass;
use crate::model::pointer::Pointer;
use crate::model::profile::{
    ABSENT_WORD, FactSource, HTTP_WORD, JobState, Meaning, Purpose, Rule, SettlementPolicy,
};
use crate::rules::grammar::is_token;
use crate::rules::reader::Reader;

/// The facts that mean something; [`crate::rules::classify`] says what.
pub(super) const FACTS: &[&str] = &[
    "id",
    "existingId",
    "status",
    "failed",
    "progress",
    "code",
    "message",
    "failureClass",
    "requestId",
    "traceId",
    "chargeReceiptId",
    "expiresAt",
    "capturedAt",
    "recordCount",
    "records",
    "digest",
    "quoted",
    "reserved",
    "base",
    "adjustment",
    "charged",
    "released",
    "refund",
    "balance",
    "readCost",
    "tokenState",
    "replayed",
];

pub(super) fn facts(
    reader: &Reader<'_>,
    polls: bool,
    states: &[(String, JobState)],
) -> Vec<FactSource> {
    reader.only(FACTS);
    let by_answer = |word: &str| word.starts_with(HTTP_WORD) || word == ABSENT_WORD;
    if polls {
        reader.required("id");
        if !states.iter().any(|(word, _)| by_answer(word)) {
            reader.required("status");
        }
    }
    let mut read = Vec::new();
    for own in reader.members() {
        read.push(FactSource { name: own.name().into(), places: places(&own) });
    }
    read
}

/// The places of one fact.
pub(super) fn places(reader: &Reader<'_>) -> Vec<String> {
    let items = reader.items();
    if items.is_empty() || items.len() > ENTRIES_MAX {
        reader.fault("it must list one place or more");
    }
    let mut texts = Vec::new();
    for place in items {
        let Some(text) = place.text() else {
            continue;
        };
        let header = text.strip_prefix("header:").is_some_and(is_token);
        if !header && Pointer::parse(text).is_none() {
            place.fault("it must be a JSON pointer such as /data/id, or header:Name");
        }
        texts.push(text.to_owned());
    }
    texts
}

pub(super) fn states(reader: &Reader<'_>, polls: bool) -> Vec<(String, JobState)> {
    let mut read = Vec::new();
    let own = if polls { reader.required("states") } else { reader.member("states") };
    let Some(reader) = own else {
        return read;
    };
    let members = reader.members();
    if members.is_empty() || members.len() > ENTRIES_MAX {
        reader.fault("it must name the service's status words");
    }
    let mut completes = false;
    for own in members {
        let word = own.name();
        if word.strip_prefix(HTTP_WORD).is_some_and(|status| !is_status(status.as_bytes())) {
            own.fault("a status has three digits, as in http:202");
        }
        if let Some(state) = own.one_of(JobState::ALL, JobState::name) {
            if read.iter().any(|(known, other)| *other != state && known.eq_ignore_ascii_case(word))
            {
                own.fault("in other case, this word means something else");
            }
            completes |= state == JobState::Completed;
            read.push((word.to_owned(), state));
        }
    }
    if !completes {
        reader.fault("one status word must mean \"completed\"");
    }
    read
}

const fn is_status(text: &[u8]) -> bool {
    matches!(text, [b'1'..=b'5', b'0'..=b'9', b'0'..=b'9'])
}

pub(super) fn meanings(reader: &Reader<'_>) -> Vec<Rule> {
    let items = reader.items();
    if items.len() > ENTRIES_MAX {
        reader.fault("it is too long");
    }
    let mut read = Vec::new();
    for own in items {
        own.only(&["on", "code", "status", "means", "class"]);
        let mut purposes = Vec::new();
        if let Some(list) = own.member("on") {
            for name in list.items() {
                if let Some(purpose) = name.one_of(Purpose::ALL, Purpose::name) {
                    purposes.push(purpose);
                }
            }
        }
        let code = own.member("code").and_then(|code| code.text().map(String::from));
        let status = own.member("status").and_then(|status| status.whole(100, 599));
        if code.is_none() && status.is_none() {
            own.fault("it must say which code or which status it is about");
        }
        let meaning = own.required("means");
        let status = status.and_then(|status| u16::try_from(status).ok());
        let class =
            own.member("class").and_then(|own| own.one_of(FailureClass::ALL, FailureClass::name));
        let class = class.unwrap_or_default();
        if let Some(meaning) = meaning.and_then(|own| own.one_of(Meaning::ALL, Meaning::name)) {
            read.push(Rule { purposes, code, status, meaning, class });
        }
    }
    read
}

pub(super) fn settlement(reader: &Reader<'_>) -> Option<SettlementPolicy> {
    reader.only(&["finalStates", "readsMax", "pace"]);
    let final_states = reader.required("finalStates").map(|own| {
        let words = own.items();
        if words.is_empty() || words.len() > ENTRIES_MAX {
            own.fault("it must name the words that say that billing is final");
        }
        let mut read = Vec::new();
        for word in words {
            if let Some(text) = word.text() {
                read.push(text.to_owned());
            }
        }
        read
    });
    let reads_max = reader.required("readsMax").and_then(|own| own.whole_u32(1, 100));
    let pace = pace::pace(reader.member("pace"), pace::RETRY);
    Some(SettlementPolicy { final_states: final_states?, reads_max: reads_max?, pace })
}
