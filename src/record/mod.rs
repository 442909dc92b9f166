//! Floor 3: the durable form of an operation, and its public one.
//!
//! A record is one JSON object. `format` says how it was written, `minReader` which reader it needs
//! at least: older code shows such a record and never drives it. Members that are not known at the
//! top are kept as they are; anything below the top changes only together with `minReader`.

mod counters;
mod ending;
pub mod journal;
mod life;
pub mod report;
mod reported;
#[cfg(test)]
mod tests;
pub mod view;
mod writer;

use crate::model::ids::{Account, IdempotencyKey, Intent, OperationId, Revision, ServiceName};
use crate::model::life::Life;
use crate::model::money::{Amount, Credits, Ledger};
use crate::model::operation::{Carried, Identity, Operation, Request, Spent};
use crate::model::policy::{Limits, OnUnknown, Retention};
use crate::model::time::Timestamp;
use crate::rules::json;
use crate::rules::reader::{Faults, Reader};
use crate::rules::teeth::{Tooth, bites};
use writer::Object;

/// The format that this code writes, and the newest that it reads.
const FORMAT: u64 = 1;

/// How deep a record may nest.
const DEPTH_MAX: usize = 32;

/// Members at the top of a record that this code knows.
const KNOWN: &[&str] = &[
    "format",
    "minReader",
    "id",
    "account",
    "service",
    "origin",
    "intent",
    "ordinal",
    "parent",
    "key",
    "fingerprint",
    "profile",
    "profileDigest",
    "createdAt",
    "method",
    "url",
    "contentType",
    "bodyBytes",
    "carried",
    "limits",
    "retention",
    "spent",
    "blind",
    "keyless",
    "taken",
    "life",
    "reported",
    "ledger",
    "counters",
    "revision",
];

/// Why a record cannot be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DecodeError {
    /// A later version wrote it, and says that this one must not drive it.
    #[error("a later version wrote this record")]
    Newer,
    /// It is not what any version writes.
    #[error("this record is damaged")]
    Damaged,
}

/// An operation's record.
pub fn encode(operation: &Operation) -> String {
    let mut out = Object::new();
    let identity = &operation.identity;
    out.number("format", FORMAT)
        .number("minReader", FORMAT)
        .text("id", identity.id.as_str())
        .text("account", identity.account.as_str())
        .text("service", identity.service.as_str())
        .text("origin", &identity.origin)
        .text("intent", identity.intent.as_str())
        .count("ordinal", identity.ordinal)
        .some_text("parent", identity.parent.as_ref().map(OperationId::as_str))
        .text("key", identity.key.as_str())
        .text("fingerprint", &identity.fingerprint)
        .text("profile", &identity.profile)
        .text("profileDigest", &identity.profile_digest)
        .time("createdAt", identity.created_at)
        .text("method", &operation.request.method)
        .text("url", &operation.request.url)
        .some_text("contentType", operation.request.content_type.as_deref())
        .number("bodyBytes", operation.request.body_bytes)
        .object("carried", carried(&operation.carried))
        .object("limits", limits(operation.limits))
        .object("retention", retention(operation.retention))
        .object("spent", spent(operation.spent))
        .mark("blind", operation.blind)
        .mark("keyless", operation.keyless)
        .mark("taken", operation.taken)
        .object("life", life::encode(&operation.life))
        .object("reported", reported::encode(&operation.reported))
        .object("ledger", ledger(&operation.ledger))
        .object("counters", counters::encode(operation.counters))
        .number("revision", operation.revision.0);
    for (name, value) in &operation.unknown {
        out.raw(name, &value.to_json());
    }
    out.end()
}

/// The operation of a record.
///
/// # Errors
/// [`DecodeError`]: the record is not to be driven, or not to be read at all.
pub fn decode(text: &str) -> Result<Operation, DecodeError> {
    let value = json::parse(text.as_bytes(), DEPTH_MAX).map_err(|_| DecodeError::Damaged)?;
    let faults = Faults::of(&value);
    let reader = faults.root();
    let newest = if bites(Tooth::BelieveNewer) { u64::MAX } else { FORMAT };
    let min_reader = reader.required("minReader").and_then(|own| own.whole(1, u64::MAX));
    match min_reader {
        Some(min_reader) if min_reader > newest => return Err(DecodeError::Newer),
        Some(_) => {}
        None => return Err(DecodeError::Damaged),
    }
    let read = operation(&reader);
    faults.settle(read).map_err(|_| DecodeError::Damaged)
}

fn operation(reader: &Reader<'_>) -> Option<Operation> {
    let limits = inner(reader, "limits")?;
    let retention = inner(reader, "retention")?;
    let spent = inner(reader, "spent")?;
    let reported = inner(reader, "reported")?;
    let ledger = inner(reader, "ledger")?;
    let counters = inner(reader, "counters")?;
    let parts = life::decode(&inner(reader, "life")?)?;
    let believed = bites(Tooth::BelieveDamaged).then(Life::new);
    let restored = Life::restore(parts).ok().or(believed);
    let life = restored.ok_or(()).map_err(|()| reader.fault("no such life")).ok()?;
    let mut unknown = Vec::new();
    for own in reader.members() {
        if !KNOWN.contains(&own.name()) {
            unknown.push((own.name().to_owned(), own.value.clone()));
        }
    }
    Some(Operation {
        identity: Identity {
            id: OperationId(text(reader, "id")),
            account: Account(text(reader, "account")),
            service: ServiceName(text(reader, "service")),
            origin: text(reader, "origin"),
            intent: Intent(text(reader, "intent")),
            ordinal: count(reader, "ordinal"),
            parent: some_text(reader, "parent").map(OperationId),
            key: IdempotencyKey(text(reader, "key")),
            fingerprint: text(reader, "fingerprint"),
            profile: text(reader, "profile"),
            profile_digest: text(reader, "profileDigest"),
            created_at: time(reader, "createdAt"),
        },
        request: Request {
            method: text(reader, "method"),
            url: text(reader, "url"),
            content_type: some_text(reader, "contentType"),
            body_bytes: number(reader, "bodyBytes"),
        },
        carried: read_carried(&inner(reader, "carried")?),
        limits: Limits {
            send_within_ms: number(&limits, "sendWithinMs"),
            total_ms: number(&limits, "totalMs"),
            attempts: count(&limits, "attempts"),
            cost: credits(&limits, "cost"),
            on_unknown: if flag(&limits, "resubmits") {
                OnUnknown::Resubmit
            } else {
                OnUnknown::Park
            },
        },
        retention: read_retention(&retention),
        spent: Spent {
            attempts: count(&spent, "attempts"),
            cost: credits(&spent, "cost").unwrap_or_default(),
        },
        blind: flag(reader, "blind"),
        keyless: flag(reader, "keyless"),
        taken: flag(reader, "taken"),
        life,
        reported: reported::decode(&reported),
        ledger: read_ledger(&ledger),
        counters: counters::decode(&counters),
        revision: Revision(number(reader, "revision")),
        unknown,
    })
}

fn carried(carried: &[(String, String)]) -> Object {
    let mut out = Object::new();
    for (name, value) in carried {
        out.text(name, value);
    }
    out
}

fn read_carried(reader: &Reader<'_>) -> Carried {
    let mut read = Carried::new();
    for own in reader.members() {
        read.push((own.name().to_owned(), own.text().unwrap_or_default().to_owned()));
    }
    read
}

fn limits(limits: Limits) -> Object {
    let mut out = Object::new();
    out.number("sendWithinMs", limits.send_within_ms)
        .number("totalMs", limits.total_ms)
        .count("attempts", limits.attempts)
        .credits("cost", limits.cost)
        .mark("resubmits", limits.on_unknown == OnUnknown::Resubmit);
    out
}

fn retention(retention: Retention) -> Object {
    let mut out = Object::new();
    for (name, time) in [("resultMs", retention.result_ms), ("ageMs", retention.age_ms)] {
        if let Some(time) = time {
            out.number(name, time);
        }
    }
    out.number("tombstoneMs", retention.tombstone_ms);
    out
}

fn read_retention(reader: &Reader<'_>) -> Retention {
    let time = |name: &str| reader.member(name).and_then(|own| own.whole(0, u64::MAX));
    Retention {
        result_ms: time("resultMs"),
        age_ms: time("ageMs"),
        tombstone_ms: number(reader, "tombstoneMs"),
    }
}

fn spent(spent: Spent) -> Object {
    let mut out = Object::new();
    let cost = Some(spent.cost).filter(|cost| *cost != Credits::default());
    out.count("attempts", spent.attempts).credits("cost", cost);
    out
}

fn ledger(ledger: &Ledger) -> Object {
    let mut out = Object::new();
    for amount in Amount::ALL {
        out.credits(amount.name(), ledger.get(*amount));
    }
    out.some_text("tokenState", ledger.token_state.as_deref())
        .mark("duplicated", ledger.duplicated);
    out
}

fn read_ledger(reader: &Reader<'_>) -> Ledger {
    let mut ledger = Ledger {
        token_state: some_text(reader, "tokenState"),
        duplicated: flag(reader, "duplicated"),
        ..Ledger::default()
    };
    for amount in Amount::ALL {
        ledger.set(*amount, credits(reader, amount.name()));
    }
    ledger
}

/// The object of this name.
fn inner<'a>(reader: &Reader<'a>, name: &str) -> Option<Reader<'a>> {
    let own = reader.required(name)?;
    if !own.value_is_map() {
        own.fault("it must be an object");
    }
    Some(own)
}

/// A string; an empty one beside a fault where there is none, as with the numbers below: what is
/// read beside a fault is thrown away.
fn text(reader: &Reader<'_>, name: &str) -> String {
    reader.required(name).and_then(|own| own.text()).unwrap_or_default().into()
}

fn some_text(reader: &Reader<'_>, name: &str) -> Option<String> {
    reader.member(name)?.text().map(String::from)
}

fn number(reader: &Reader<'_>, name: &str) -> u64 {
    reader.required(name).and_then(|own| own.whole(0, u64::MAX)).unwrap_or(0)
}

fn count(reader: &Reader<'_>, name: &str) -> u32 {
    reader.member(name).and_then(|own| own.whole_u32(0, u32::MAX)).unwrap_or(0)
}

fn time(reader: &Reader<'_>, name: &str) -> Timestamp {
    Timestamp(number(reader, name))
}

fn credits(reader: &Reader<'_>, name: &str) -> Option<Credits> {
    let own = reader.member(name)?;
    let credits = own.number().and_then(Credits::parse);
    if credits.is_none() {
        own.fault("it must be an amount");
    }
    credits
}

fn flag(reader: &Reader<'_>, name: &str) -> bool {
    reader.member(name).and_then(|own| own.bool()).unwrap_or(false)
}
