//! Reads a profile, and refuses whatever could not mean anything.

use super::digest::{Sha256Stream, hex};
use super::grammar::{is_name, is_token, leads_up};
use super::json;
use super::reader::{Fault, Faults, Reader};
use super::text;
use crate::model::pointer::Pointer;
use crate::model::policy::Backoff;
use crate::model::profile::{
    Call, Calls, FactSource, JobState, KeyCarrier, Meaning, Profile, Purpose, Rule,
    SettlementPolicy,
};

/// Longest profile, in bytes.
const TEXT_BYTES_MAX: usize = 64 * 1024;

/// How deep a profile may nest.
const DEPTH_MAX: usize = 16;

/// Entries in any list or table of a profile at most.
const ENTRIES_MAX: usize = 100;

/// Longest time that a profile may name, in milliseconds: 400 days.
const TIME_MS_MAX: u64 = 400 * 86_400_000;

/// Characters of a UUID, which every key is that the caller does not bring.
const UUID_CHARS: u64 = 36;

/// Longest time for one exchange, in milliseconds.
const TIMEOUT_MS_MAX: u64 = 300_000;

/// The facts that mean something, each with what it is.
const FACTS: &[&str] = &[
    "id",
    "status",
    "progress",
    "code",
    "message",
    "failureClass",
    "requestId",
    "traceId",
    "expiresAt",
    "recordCount",
    "records",
    "base",
    "adjustment",
    "refund",
    "balance",
    "tokenState",
    "replayed",
];

const POLL: Backoff = Backoff { first_ms: 1_000, factor_tenths: 16, cap_ms: 30_000 };
const RETRY: Backoff = Backoff { first_ms: 1_000, factor_tenths: 20, cap_ms: 60_000 };
const NOT_FOUND_GRACE_MS: u64 = 10_000;
const NOT_READY_MAX: u32 = 20;

/// Reads a profile's text.
///
/// # Errors
/// Everything that is wrong with it, each with its place.
pub fn read(text: &str) -> Result<Profile, Vec<Fault>> {
    let whole = |message: &str| vec![Fault { pointer: String::new(), message: message.into() }];
    if text.len() > TEXT_BYTES_MAX {
        return Err(whole("a profile is at most 64 KB long"));
    }
    let value = json::parse(text.as_bytes(), DEPTH_MAX)
        .map_err(|error| whole(&["it is no JSON: ", &error.to_string()].concat()))?;
    let faults = Faults::of(&value);
    let mut digest = Sha256Stream::default();
    digest.update(text.as_bytes());
    let read = profile(&faults.root(), hex(&digest.finish()));
    faults.settle(read)
}

fn profile(reader: &Reader<'_>, digest: String) -> Option<Profile> {
    reader.only(&[
        "profile",
        "name",
        "key",
        "calls",
        "facts",
        "states",
        "meanings",
        "poll",
        "retry",
        "notFoundGraceMs",
        "notReadyMax",
        "retentionMs",
        "settlement",
    ]);
    let version = reader.required("profile").and_then(|own| own.whole(1, 1));
    let name = reader.required("name").and_then(|own| {
        let name = own.text()?;
        if !is_name(name) {
            own.fault("it must be 1 to 64 letters, digits, and _ . -");
        }
        Some(name.to_owned())
    });
    let key = reader.required("key").and_then(|own| key(&own));
    let calls = reader.required("calls").and_then(|own| calls(&own));
    let facts = reader.required("facts").map(|own| facts(&own));
    let states = reader.required("states").map(|own| states(&own));
    let meanings = reader.member("meanings").map(|own| meanings(&own));
    let poll = pace(reader.member("poll"), POLL);
    let retry = pace(reader.member("retry"), RETRY);
    let grace = reader.member("notFoundGraceMs").map(|own| own.whole(0, TIME_MS_MAX));
    let not_ready = reader.member("notReadyMax").map(|own| own.whole_u32(1, 1_000));
    let retention = reader.member("retentionMs").map(|own| own.whole(1, TIME_MS_MAX));
    let settlement = reader.member("settlement").map(|own| settlement(&own));
    version?;
    Some(Profile {
        name: name?,
        digest,
        key: key?,
        calls: calls?,
        facts: facts?,
        states: states?,
        meanings: meanings.unwrap_or_default(),
        poll,
        retry,
        not_found_grace_ms: grace.unwrap_or(Some(NOT_FOUND_GRACE_MS))?,
        not_ready_max: not_ready.unwrap_or(Some(NOT_READY_MAX))?,
        retention_ms: retention.flatten(),
        settlement: settlement.flatten(),
    })
}

fn key(reader: &Reader<'_>) -> Option<KeyCarrier> {
    reader.only(&[
        "header",
        "quoted",
        "lengthMin",
        "lengthMax",
        "punctuation",
        "retentionMs",
        "canonicalBody",
    ]);
    let header = reader.required("header").and_then(|own| {
        let name = own.text()?;
        if !is_token(name) {
            own.fault("it must be the name of a header field");
        }
        Some(name.to_owned())
    });
    let length =
        |name: &str, usual: u64| reader.member(name).map_or(Some(usual), |own| own.whole(1, 255));
    let flag = |name: &str| reader.member(name).map_or(Some(false), |own| own.bool());
    let punctuation = reader.member("punctuation").and_then(|own| {
        let text = own.text()?;
        if !text.bytes().all(|byte| byte.is_ascii_graphic()) {
            own.fault("it must be printable ASCII characters without blanks");
        }
        Some(text.to_owned())
    });
    let punctuation = punctuation.unwrap_or_else(|| "-".into());
    let (length_min, length_max) = (length("lengthMin", 1), length("lengthMax", 255));
    let fits = length_min.is_none_or(|min| min <= UUID_CHARS)
        && length_max.is_none_or(|max| max >= UUID_CHARS)
        && punctuation.contains('-');
    if !fits {
        reader.fault("a UUID must be a key that is allowed: 36 characters, with \"-\"");
    }
    let (quoted, canonical_body) = (flag("quoted"), flag("canonicalBody"));
    let retention_ms = reader.member("retentionMs").and_then(|own| own.whole(1, TIME_MS_MAX));
    Some(KeyCarrier {
        header: header?,
        quoted: quoted?,
        length_min: usize::try_from(length_min?).ok()?,
        length_max: usize::try_from(length_max?).ok()?,
        punctuation,
        retention_ms,
        canonical_body: canonical_body?,
    })
}

fn calls(reader: &Reader<'_>) -> Option<Calls> {
    reader.only(&["submit", "poll", "result", "cancel", "retry"]);
    let submit = reader.required("submit").and_then(|own| call(&own, false));
    let poll = reader.required("poll").and_then(|own| call(&own, true));
    let result = reader.required("result").and_then(|own| call(&own, true));
    let cancel = reader.member("cancel").map(|own| call(&own, true));
    let retry = reader.member("retry").map(|own| call(&own, true));
    Some(Calls {
        submit: submit?,
        poll: poll?,
        result: result?,
        cancel: cancel.flatten(),
        retry: retry.flatten(),
    })
}

fn call(reader: &Reader<'_>, of_a_job: bool) -> Option<Call> {
    reader.only(&["method", "path", "timeoutMs"]);
    let method = reader.required("method").and_then(|own| {
        let method = own.one_of(&["GET", "POST", "PUT", "PATCH", "DELETE"], |name| name)?;
        if method == "GET" && !of_a_job {
            own.fault("work is handed over with a body, which GET has not");
        }
        Some(method.to_owned())
    });
    let path = reader.required("path").and_then(|own| {
        let path = own.text()?;
        let bare = text::replace(path, "{id}", "");
        let plain = bare.bytes().all(|byte| byte.is_ascii_graphic() && !b"?#\\{}".contains(&byte));
        if !path.starts_with('/') || path.starts_with("//") || !plain || leads_up(path) {
            own.fault("it must be an absolute path without query, such as /v1/jobs/{id}");
        }
        if text::split_once(path, "{id}").is_some() != of_a_job {
            own.fault(if of_a_job { "it must hold {id}" } else { "no id is known yet: no {id}" });
        }
        Some(path.to_owned())
    });
    let timeout_ms = reader
        .member("timeoutMs")
        .map_or(Some(super::bounds::EXCHANGE_TIMEOUT_MS), |own| own.whole(100, TIMEOUT_MS_MAX));
    Some(Call { method: method?, path: path?, timeout_ms: timeout_ms? })
}

fn facts(reader: &Reader<'_>) -> Vec<FactSource> {
    reader.only(FACTS);
    for name in ["id", "status"] {
        reader.required(name);
    }
    let mut read = Vec::new();
    for own in reader.members() {
        let places = own.items();
        if places.is_empty() || places.len() > ENTRIES_MAX {
            own.fault("it must list one place or more");
        }
        let mut texts = Vec::new();
        for place in places {
            let Some(text) = place.text() else {
                continue;
            };
            let header = text.strip_prefix("header:").is_some_and(is_token);
            if !header && Pointer::parse(text).is_none() {
                place.fault("it must be a JSON pointer such as /data/id, or header:Name");
            }
            texts.push(text.to_owned());
        }
        read.push(FactSource { name: own.name().into(), places: texts });
    }
    read
}

fn states(reader: &Reader<'_>) -> Vec<(String, JobState)> {
    let members = reader.members();
    if members.is_empty() || members.len() > ENTRIES_MAX {
        reader.fault("it must name the service's status words");
    }
    let mut read = Vec::new();
    let mut completes = false;
    for own in members {
        if let Some(state) = own.one_of(JobState::ALL, JobState::name) {
            completes |= state == JobState::Completed;
            read.push((own.name().to_owned(), state));
        }
    }
    if !completes {
        reader.fault("one status word must mean \"completed\"");
    }
    read
}

fn meanings(reader: &Reader<'_>) -> Vec<Rule> {
    let items = reader.items();
    if items.len() > ENTRIES_MAX {
        reader.fault("it is too long");
    }
    let mut read = Vec::new();
    for own in items {
        own.only(&["on", "code", "status", "means"]);
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
        if let Some(meaning) = meaning.and_then(|own| own.one_of(Meaning::ALL, Meaning::name)) {
            read.push(Rule { purposes, code, status, meaning });
        }
    }
    read
}

fn settlement(reader: &Reader<'_>) -> Option<SettlementPolicy> {
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
    let pace = pace(reader.member("pace"), RETRY);
    Some(SettlementPolicy { final_states: final_states?, reads_max: reads_max?, pace })
}

fn pace(reader: Option<Reader<'_>>, usual: Backoff) -> Backoff {
    let Some(reader) = reader else {
        return usual;
    };
    reader.only(&["firstMs", "factor", "capMs"]);
    let time = |name: &str, usual: u64| {
        reader
            .member(name)
            .and_then(|own| own.whole(super::bounds::REQUEST_FLOOR_MS, TIME_MS_MAX))
            .unwrap_or(usual)
    };
    let factor = reader.member("factor").and_then(|own| {
        let text = own.number()?;
        let (whole, tenths) = text.split_once('.').unwrap_or((text, "0"));
        let tenths = tenths.parse::<u32>().ok().filter(|_| tenths.len() == 1);
        let factor = whole.parse::<u32>().ok().zip(tenths).map(|(whole, part)| whole * 10 + part);
        let factor = factor.filter(|factor| (10..=100).contains(factor));
        if factor.is_none() {
            own.fault("it must be a number from 1 to 10 with at most one decimal");
        }
        factor
    });
    let (first_ms, cap_ms) = (time("firstMs", usual.first_ms), time("capMs", usual.cap_ms));
    if first_ms > cap_ms {
        reader.fault("firstMs must not be above capMs");
    }
    Backoff { first_ms, factor_tenths: factor.unwrap_or(usual.factor_tenths), cap_ms }
}

#[cfg(test)]
mod tests;
