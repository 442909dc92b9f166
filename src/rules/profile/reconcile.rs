//! Reads how work is found again whose submission was not answered.

use super::{ENTRIES_MAX, TIME_MS_MAX};
use crate::model::pointer::Pointer;
use crate::model::profile::{Calls, Mark, Reconcile};
use crate::rules::reader::Reader;

const LAG_MS: u64 = 60_000;
const SKEW_MS: u64 = 60_000;
const PAGES_MAX: u32 = 10;

/// Most pages of one reading that a profile may ask for.
const PAGES_LIMIT: u32 = 100;

/// What stands for the page in the path of a listing.
const PAGE_SLOT: &str = "{page}";

pub(super) fn reconcile(reader: &Reader<'_>, calls: Option<&Calls>) -> Option<Reconcile> {
    reader.only(&[
        "items",
        "id",
        "createdAt",
        "echo",
        "sendEcho",
        "same",
        "retryOf",
        "next",
        "lagMs",
        "skewMs",
        "pagesMax",
    ]);
    let list = calls.and_then(|calls| calls.list.as_ref());
    if calls.is_some() && list.is_none() {
        reader.fault("it needs a call that lists jobs: calls.list");
    }
    if calls.is_some_and(|calls| calls.poll.is_none()) {
        reader.fault("it needs a call that reads what was found: calls.poll");
    }
    let paged = list.and_then(|call| call.path.as_ref()).is_some_and(|own| own.contains(PAGE_SLOT));
    let items = reader.required("items").and_then(|own| place(&own));
    let id = reader.required("id").and_then(|own| place(&own));
    let created_at = reader.required("createdAt").and_then(|own| place(&own));
    let mark = mark(reader);
    let retry_of = reader.member("retryOf").and_then(|own| place(&own));
    let next = reader.member("next").and_then(|own| {
        if list.is_some() && !paged {
            own.fault("the path of calls.list must hold {page}, which this is the value of");
        }
        place(&own)
    });
    let time = |name: &str, usual: u64| {
        reader.member(name).map_or(Some(usual), |own| own.whole(0, TIME_MS_MAX))
    };
    let (lag_ms, skew_ms) = (time("lagMs", LAG_MS), time("skewMs", SKEW_MS));
    let pages_max =
        reader.member("pagesMax").map_or(Some(PAGES_MAX), |own| own.whole_u32(1, PAGES_LIMIT));
    Some(Reconcile {
        items: items?,
        id: id?,
        created_at: created_at?,
        mark: mark?,
        retry_of,
        next,
        lag_ms: lag_ms?,
        skew_ms: skew_ms?,
        pages_max: if paged { pages_max? } else { 1 },
    })
}

/// By what an item is known: by the operation's id, or by values of the request.
fn mark(reader: &Reader<'_>) -> Option<Mark> {
    let echo = reader.member("echo").map(|own| place(&own));
    let sent = reader.member("sendEcho").map(|own| {
        let place = place(&own);
        if place.as_deref() == Some("") {
            own.fault("it must lead to a member of the body, such as /metadata/reference");
        }
        place
    });
    let same = reader.member("same").map(|own| shared(&own));
    match (echo, sent, same) {
        (Some(listed), Some(sent), None) => Some(Mark::Echo { sent: sent?, listed: listed? }),
        (None, None, Some(places)) => Some(Mark::Same(places)),
        (_, _, _) => {
            reader.fault("it must tell runs apart: by echo and sendEcho, or else by same");
            None
        }
    }
}

/// Places of an answer, each with the place of the submission's body that has the same value.
pub(super) fn shared(reader: &Reader<'_>) -> Vec<(String, String)> {
    let members = reader.members();
    if members.is_empty() || members.len() > ENTRIES_MAX {
        reader.fault("it must name one place or more that answer and body share");
    }
    let mut read = Vec::new();
    for member in members {
        if Pointer::parse(member.name()).is_none() {
            member.fault("its name must be a JSON pointer into an answer");
        }
        read.push((member.name().to_owned(), place(&member).unwrap_or_default()));
    }
    read
}

pub(super) fn place(reader: &Reader<'_>) -> Option<String> {
    let text = reader.text()?;
    if Pointer::parse(text).is_none() {
        reader.fault("it must be a JSON pointer such as /data/id");
    }
    Some(text.to_owned())
}
