//! The durable form of a life. Variants are tagged from outside: `{"work":{}}`.

use super::writer::Object;
use super::{count, ending, flag, inner, number, some_text, text, time};
use crate::model::evidence::{Accepted, AcceptedHow, Attempt, Evidence, Unresolved};
use crate::model::hold::{Hold, ParkReason, WaitReason};
use crate::model::ids::{JobId, Scope};
use crate::model::life::{Cancel, Deletion, Delivery, Life, Parts, Purged, Settlement, Stage};
use crate::model::listing::Listing;
use crate::model::pages::Paged;
use crate::model::time::{Timestamp, Wait};
use crate::rules::reader::Reader;

pub(super) fn encode(life: &Life) -> Object {
    let mut out = Object::new();
    out.object("evidence", evidence(&life.evidence))
        .object("stage", stage(&life.stage))
        .object("hold", hold(&life.hold));
    if let Some(own) = &life.cancel {
        out.object("cancel", cancel(own));
    }
    if let Some(own) = &life.settlement {
        let mut inner = Object::new();
        inner.object("hold", hold(&own.hold)).count("reads", own.reads);
        out.object("settlement", inner);
    }
    if let Some(own) = &life.delivery {
        out.object("delivery", delivery(own));
    }
    if let Some(own) = &life.deletion {
        out.object("deletion", deletion(own));
    }
    if let Some(own) = &life.purged {
        let mut inner = Object::new();
        inner.time("at", own.at).mark("atService", own.at_service);
        out.object("purged", inner);
    }
    out
}

pub(super) fn decode(reader: &Reader<'_>) -> Option<Parts> {
    let cancel = reader.member("cancel").map(|own| read_cancel(&own));
    let settlement = reader.member("settlement").map(|own| {
        Some(Settlement { hold: read_hold(&own.required("hold")?)?, reads: count(&own, "reads") })
    });
    let delivery = reader.member("delivery").map(|own| read_delivery(&own));
    let deletion = reader.member("deletion").map(|own| read_deletion(&own));
    let purged = reader
        .member("purged")
        .map(|own| Purged { at: time(&own, "at"), at_service: flag(&own, "atService") });
    Some(Parts {
        evidence: read_evidence(&inner(reader, "evidence")?)?,
        stage: read_stage(&reader.required("stage")?)?,
        hold: read_hold(&reader.required("hold")?)?,
        cancel: inside(cancel)?,
        settlement: inside(settlement)?,
        delivery: inside(delivery)?,
        deletion: inside(deletion)?,
        purged,
    })
}

/// What is absent is fine; what is there and cannot be read is not.
#[expect(clippy::option_option, reason = "absent and unreadable are two things")]
fn inside<T>(read: Option<Option<T>>) -> Option<Option<T>> {
    match read {
        None => Some(None),
        Some(None) => None,
        Some(some) => Some(some),
    }
}

fn evidence(evidence: &Evidence) -> Object {
    let mut out = Object::new();
    if let Some(current) = &evidence.current {
        out.object("current", attempt(current));
    }
    if let Some(unresolved) = &evidence.unresolved {
        let mut inner = Object::new();
        inner.time("firstAt", unresolved.first_at).time("abortAt", unresolved.abort_at);
        out.object("unresolved", inner);
    }
    if let Some(accepted) = &evidence.accepted {
        let mut inner = Object::new();
        inner
            .some_text("id", accepted.id.as_ref().map(JobId::as_str))
            .mark("found", accepted.how == AcceptedHow::Found)
            .mark("listed", accepted.how == AcceptedHow::Listed)
            .time("at", accepted.at);
        out.object("accepted", inner);
    }
    out.count("attempts", evidence.attempts)
        .count("refused", evidence.refused)
        .some_text("scope", evidence.scope.as_ref().map(Scope::as_str))
        .mark("disproved", evidence.disproved);
    out
}

fn read_evidence(reader: &Reader<'_>) -> Option<Evidence> {
    let current = reader.member("current").map(|own| read_attempt(&own));
    let unresolved = reader.member("unresolved").map(|own| {
        Some(Unresolved { first_at: time(&own, "firstAt"), abort_at: time(&own, "abortAt") })
    });
    let accepted = reader.member("accepted").map(|own| {
        let how = if flag(&own, "found") {
            AcceptedHow::Found
        } else if flag(&own, "listed") {
            AcceptedHow::Listed
        } else {
            AcceptedHow::Answered
        };
        Some(Accepted { id: some_text(&own, "id").map(JobId), how, at: time(&own, "at") })
    });
    Some(Evidence {
        current: inside(current)?,
        unresolved: inside(unresolved)?,
        accepted: inside(accepted)?,
        attempts: count(reader, "attempts"),
        refused: count(reader, "refused"),
        scope: some_text(reader, "scope").map(Scope),
        disproved: flag(reader, "disproved"),
    })
}

fn attempt(attempt: &Attempt) -> Object {
    let mut out = Object::new();
    out.count("number", attempt.number)
        .time("writtenAt", attempt.written_at)
        .time("sendBefore", attempt.send_before)
        .time("abortAt", attempt.abort_at);
    out
}

fn read_attempt(reader: &Reader<'_>) -> Option<Attempt> {
    Some(Attempt {
        number: count(reader, "number"),
        written_at: time(reader, "writtenAt"),
        send_before: time(reader, "sendBefore"),
        abort_at: time(reader, "abortAt"),
    })
}

fn stage(stage: &Stage) -> Object {
    let mut inner = Object::new();
    let tag = match stage {
        Stage::Submit => "submit",
        Stage::Reconcile(own) => {
            inner
                .count("pages", own.pages)
                .text("next", &own.next)
                .ids("found", &own.found)
                .mark("doubtful", own.doubtful)
                .ids("foreign", &own.foreign)
                .count("short", own.short)
                .mark("absent", own.absent);
            "reconcile"
        }
        Stage::Work => "work",
        Stage::Result { expires_at, partial, pages } => {
            inner.mark("partial", *partial);
            if let Some(own) = pages {
                inner.object("pages", paged(own));
            }
            if let Some(at) = expires_at {
                inner.time("expiresAt", *at);
            }
            "result"
        }
        Stage::Ended { ending, at } => {
            inner.time("at", *at).object(ending.name(), ending::encode(ending));
            "ended"
        }
    };
    Object::tagged(tag, inner)
}

fn read_stage(reader: &Reader<'_>) -> Option<Stage> {
    let own = variant(reader)?;
    Some(match own.name() {
        "submit" => Stage::Submit,
        "reconcile" => Stage::Reconcile(Listing {
            pages: count(&own, "pages"),
            next: text(&own, "next"),
            found: ids(&own, "found"),
            doubtful: flag(&own, "doubtful"),
            foreign: ids(&own, "foreign"),
            short: count(&own, "short"),
            absent: flag(&own, "absent"),
        }),
        "work" => Stage::Work,
        "result" => Stage::Result {
            expires_at: inside(own.member("expiresAt").map(|at| at.whole(0, u64::MAX)))?
                .map(Timestamp),
            partial: flag(&own, "partial"),
            pages: inside(own.member("pages").map(|own| read_paged(&own)))?,
        },
        "ended" => Stage::Ended { ending: ending::decode(&own)?, at: time(&own, "at") },
        _ => return unknown(&own),
    })
}

fn paged(own: &Paged) -> Object {
    let mut out = Object::new();
    out.object("kept", ending::result_ref(&own.kept))
        .count("pages", own.pages)
        .number("items", own.items)
        .text("next", &own.next)
        .some_text("digest", own.digest.as_deref());
    out
}

fn read_paged(reader: &Reader<'_>) -> Option<Box<Paged>> {
    Some(Box::new(Paged {
        kept: ending::read_result(&reader.required("kept")?)?,
        pages: count(reader, "pages"),
        items: number(reader, "items"),
        next: text(reader, "next"),
        digest: some_text(reader, "digest"),
    }))
}

fn ids(reader: &Reader<'_>, name: &str) -> Vec<JobId> {
    let mut read = Vec::new();
    for own in reader.required(name).map(|own| own.items()).unwrap_or_default() {
        read.extend(own.text().map(JobId::from));
    }
    read
}

fn hold(hold: &Hold) -> Object {
    let mut inner = Object::new();
    let tag = match hold {
        Hold::Ready => "ready",
        Hold::Until { wait, reason } => {
            inner
                .time("setAt", wait.set_at)
                .number("lengthMs", wait.length_ms)
                .text("reason", reason.name());
            "until"
        }
        Hold::Parked { reason, at } => {
            inner.text("reason", reason.name()).time("at", *at);
            "parked"
        }
    };
    Object::tagged(tag, inner)
}

fn read_hold(reader: &Reader<'_>) -> Option<Hold> {
    let own = variant(reader)?;
    Some(match own.name() {
        "ready" => Hold::Ready,
        "until" => Hold::Until {
            wait: Wait { set_at: time(&own, "setAt"), length_ms: number(&own, "lengthMs") },
            reason: own.required("reason")?.one_of(WaitReason::ALL, WaitReason::name)?,
        },
        "parked" => Hold::Parked {
            reason: own.required("reason")?.one_of(ParkReason::ALL, ParkReason::name)?,
            at: time(&own, "at"),
        },
        _ => return unknown(&own),
    })
}

fn cancel(cancel: &Cancel) -> Object {
    let mut out = Object::new();
    out.time("requestedAt", cancel.requested_at);
    if let Some(current) = &cancel.current {
        out.object("current", attempt(current));
    }
    out.count("attempts", cancel.attempts)
        .mark("read", cancel.read)
        .mark("settled", cancel.settled);
    out
}

fn read_cancel(reader: &Reader<'_>) -> Option<Cancel> {
    Some(Cancel {
        requested_at: time(reader, "requestedAt"),
        current: inside(reader.member("current").map(|own| read_attempt(&own)))?,
        attempts: count(reader, "attempts"),
        read: flag(reader, "read"),
        settled: flag(reader, "settled"),
    })
}

fn deletion(deletion: &Deletion) -> Object {
    let mut out = Object::new();
    out.time("requestedAt", deletion.requested_at);
    if let Some(current) = &deletion.current {
        out.object("current", attempt(current));
    }
    out.count("attempts", deletion.attempts)
        .mark("read", deletion.read)
        .mark("accepted", deletion.accepted)
        .object("hold", hold(&deletion.hold));
    out
}

fn read_deletion(reader: &Reader<'_>) -> Option<Deletion> {
    Some(Deletion {
        requested_at: time(reader, "requestedAt"),
        current: inside(reader.member("current").map(|own| read_attempt(&own)))?,
        attempts: count(reader, "attempts"),
        read: flag(reader, "read"),
        accepted: flag(reader, "accepted"),
        hold: read_hold(&reader.required("hold")?)?,
    })
}

fn delivery(delivery: &Delivery) -> Object {
    let mut inner = Object::new();
    let tag = match delivery {
        Delivery::Pending(own) => return Object::tagged("pending", hold(own)),
        Delivery::Delivered(at) => {
            inner.time("at", *at);
            "delivered"
        }
        Delivery::Acknowledged(at) => {
            inner.time("at", *at);
            "acknowledged"
        }
    };
    Object::tagged(tag, inner)
}

fn read_delivery(reader: &Reader<'_>) -> Option<Delivery> {
    let own = variant(reader)?;
    Some(match own.name() {
        "pending" => Delivery::Pending(read_hold(&own)?),
        "delivered" => Delivery::Delivered(time(&own, "at")),
        "acknowledged" => Delivery::Acknowledged(time(&own, "at")),
        _ => return unknown(&own),
    })
}

/// The one member of a tagged object.
fn variant<'a>(reader: &Reader<'a>) -> Option<Reader<'a>> {
    let mut members = reader.members();
    if members.len() != 1 {
        reader.fault("it must be one variant");
    }
    members.pop()
}

fn unknown<T>(reader: &Reader<'_>) -> Option<T> {
    reader.fault("there is no such variant");
    None
}
