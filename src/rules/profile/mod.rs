//! Reads a profile, and refuses whatever could not mean anything.

mod answers;
mod calls;
mod key;
mod names;
mod pace;
mod pages;
mod reconcile;
#[cfg(test)]
mod tests;

pub use calls::stream;

use super::digest::{Sha256Stream, hex};
use super::grammar::is_name;
use super::json;
use super::reader::{Fault, Faults, Reader};
use crate::model::money::ReceiptKind;
use crate::model::profile::{KeyCarrier, KeyPlace, Profile};

/// Longest profile, in bytes.
const TEXT_BYTES_MAX: usize = 64 * 1024;

/// How deep a profile may nest.
const DEPTH_MAX: usize = 16;

/// Entries in any list or table of a profile at most.
const ENTRIES_MAX: usize = 100;

/// Longest time that a profile may name, in milliseconds: 400 days.
const TIME_MS_MAX: u64 = 400 * 86_400_000;

/// Longest time for one exchange, in milliseconds.
const TIMEOUT_MS_MAX: u64 = 300_000;

/// What a profile may say.
const MEMBERS: &[&str] = &[
    // What an editor asks for; it says nothing about the service.
    "$schema",
    "profile",
    "name",
    "serverOnly",
    "params",
    "key",
    "calls",
    "facts",
    "carry",
    "states",
    "meanings",
    "resultAt",
    "echoes",
    "pages",
    "resultAnyForm",
    "poll",
    "retry",
    "rate",
    "notFoundGraceMs",
    "notReadyMax",
    "retentionMs",
    "chargeReceipt",
    "settlement",
    "reconcile",
];

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

/// A rerun is sent without a body, so its key cannot travel there.
fn rerun_key(reader: &Reader<'_>, key: &KeyCarrier) {
    let retry = reader.member("calls").and_then(|own| own.member("retry"));
    if let (Some(retry), KeyPlace::Field(_)) = (retry, &key.place) {
        retry.fault(
            "it is sent without a body, so the key of key.field cannot go with it: without its key \
             a rerun could be run twice",
        );
    }
}

/// No other value goes into the fields of the key and its date.
fn fixed_fields(reader: &Reader<'_>, key: &KeyCarrier) {
    let place = match &key.place {
        KeyPlace::Header(name) => Some(name),
        KeyPlace::Field(_) | KeyPlace::Query(_) => None,
    };
    for call in ["submit", "retry"] {
        let call = reader.member("calls").and_then(|own| own.member(call));
        let Some(headers) = call.and_then(|own| own.member("headers")) else {
            continue;
        };
        for own in headers.members() {
            let is_own = |name: &&String| name.eq_ignore_ascii_case(own.name());
            if place.iter().chain(&key.sent_at.as_ref()).any(is_own) {
                own.fault(key::FIELD);
            }
        }
    }
}

fn profile(reader: &Reader<'_>, digest: String) -> Option<Profile> {
    reader.only(MEMBERS);
    let version = reader.required("profile").and_then(|own| own.whole(1, 1));
    let name = reader.required("name").and_then(|own| {
        let name = own.text()?;
        if !is_name(name) {
            own.fault("it must be 1 to 64 letters, digits, and _ . -");
        }
        Some(name.to_owned())
    });
    let server_only = reader.member("serverOnly").map_or(Some(false), |own| own.bool());
    let params = names::params(reader.member("params"));
    let carry = names::carry(reader.member("carry"));
    let key = reader.member("key").map(|own| key::key(&own));
    let calls = reader.required("calls").and_then(|own| calls::calls(&own, &params, &carry));
    if let Some(Some(key)) = &key {
        rerun_key(reader, key);
        fixed_fields(reader, key);
    }
    let polls = calls.as_ref().is_none_or(|calls| calls.poll.is_some());
    let states = answers::states(reader, polls);
    let quotes = calls.as_ref().is_some_and(|calls| calls.quote.is_some());
    let facts = reader.required("facts").map(|own| {
        if quotes {
            own.required("quoted");
        }
        answers::facts(&own, polls, &states)
    });
    let meanings = reader.member("meanings").map(|own| answers::meanings(&own));
    let result_at =
        reader.member("resultAt").map_or(Some(String::new()), |own| reconcile::place(&own));
    let echoes = reader.member("echoes").map(|own| reconcile::shared(&own));
    let pages = reader.member("pages").map(|own| pages::pages(&own, calls.as_ref()));
    let any_form = reader.member("resultAnyForm").map_or(Some(false), |own| own.bool());
    let poll = pace::pace(reader.member("poll"), pace::POLL);
    let retry = pace::pace(reader.member("retry"), pace::RETRY);
    let rate = reader.member("rate").map(|own| pace::rate(&own));
    let grace = reader.member("notFoundGraceMs").map(|own| own.whole(0, TIME_MS_MAX));
    let not_ready = reader.member("notReadyMax").map(|own| own.whole_u32(1, 1_000));
    let retention = reader.member("retentionMs").map(|own| own.whole(1, TIME_MS_MAX));
    let receipt = reader.member("chargeReceipt");
    let settlement = reader.member("settlement").map(|own| answers::settlement(&own));
    let reconcile =
        reader.member("reconcile").map(|own| reconcile::reconcile(&own, calls.as_ref()));
    version?;
    Some(Profile {
        name: name?,
        digest,
        server_only: server_only?,
        params,
        key: key.flatten(),
        calls: calls?,
        facts: facts?,
        carry,
        states,
        meanings: meanings.unwrap_or_default(),
        result_at: result_at?,
        echoes: echoes.unwrap_or_default(),
        pages: pages.flatten(),
        result_any_form: any_form?,
        poll,
        retry,
        rate: rate.flatten(),
        not_found_grace_ms: grace.unwrap_or(Some(NOT_FOUND_GRACE_MS))?,
        not_ready_max: not_ready.unwrap_or(Some(NOT_READY_MAX))?,
        retention_ms: retention.flatten(),
        charge_receipt: receipt.and_then(|own| own.one_of(ReceiptKind::ALL, ReceiptKind::name)),
        settlement: settlement.flatten(),
        reconcile: reconcile.flatten(),
    })
}
