//! The request that an exchange makes, from the operation and its profile.

use super::output::{Keeps, Transmit};
use crate::model::http::Headers;
use crate::model::ids::Epoch;
use crate::model::life::Stage;
use crate::model::operation::Operation;
use crate::model::pages::Paged;
use crate::model::profile::{Call, FactSource, KeyPlace, Profile, Purpose, Stream};
use crate::model::time::Timestamp;
use crate::rules::bounds::DOWNLOAD_MS_MAX;
use crate::rules::classify::{ECHO, RESULT_FACT};
use crate::rules::http_date;
use crate::rules::listing::sought;
use crate::rules::pages::Wanted;
use crate::rules::ranges::add_fields;
use crate::rules::reference::origin;
use crate::rules::structured::serialize_string;
use crate::rules::teeth::{Tooth, bites};
use crate::rules::template::{fill, with_query};

/// What is read of an answer that is not about the job: it is of the exchange alone.
const REFUSAL_FACTS: &[&str] = &["code", "message", "requestId", "traceId", "readCost"];

/// What is read of a quote besides: it tells of no job.
const QUOTE_FACTS: &[&str] = &["quoted", "balance"];

/// How many names of downloads there are within an epoch, as a power of two. With it, a name stays below
/// 2^53, which a store's key needs, until a lane has changed hands 2^33 times.
const NAMES_BITS: u32 = 20;

/// A download's name: no other context has this epoch, and this one counts. Names come round after a
/// million writes and requests of one context, when nothing of that age is under way.
pub(super) const fn download_name(epoch: Epoch, count: u64) -> u64 {
    (epoch.0 << NAMES_BITS) | (count & ((1 << NAMES_BITS) - 1))
}

/// The epoch under which a download of this name was begun.
pub const fn epoch_of(download: u64) -> Epoch {
    Epoch(download >> NAMES_BITS)
}

/// What is looked for in the answer.
pub fn facts(profile: &Profile, purpose: Purpose, result_at: Option<&String>) -> Vec<FactSource> {
    if purpose == Purpose::Diagnose {
        return Vec::new();
    }
    let mut facts = profile.facts.clone();
    let quote = purpose == Purpose::Quote;
    if quote || purpose == Purpose::Reconcile {
        // What a listing says of jobs is not said of this operation.
        facts.retain(|own| {
            let name = own.name.as_str();
            REFUSAL_FACTS.contains(&name) || (quote && QUOTE_FACTS.contains(&name))
        });
    } else {
        facts.extend(profile.carry.iter().cloned());
        for (told, _) in &profile.echoes {
            let name = [ECHO, told].concat();
            facts.push(FactSource { name, places: vec![told.clone()] });
        }
    }
    if let Some(place) = result_at {
        facts.push(FactSource { name: RESULT_FACT.into(), places: vec![place.clone()] });
    }
    facts
}

/// The header fields of every exchange of a call.
pub fn call_headers(call: &Call, stream: Option<&Stream>) -> Headers {
    let mut headers = Headers::default();
    if !call.headers.iter().any(|(name, _)| name.eq_ignore_ascii_case("accept")) {
        headers.push("accept", "application/json");
        if let Some(stream) = stream {
            headers.push("accept", stream.form.media_type());
        }
    }
    for (name, value) in &call.headers {
        headers.push(name.as_str(), value.as_str());
    }
    headers
}

/// The request for an exchange; `None` when the profile has no such call, or what the call is
/// addressed by is not known.
pub fn request(
    operation: &Operation,
    profile: &Profile,
    base_url: &str,
    purpose: Purpose,
    download: u64,
    now: Timestamp,
) -> Option<Transmit> {
    let call = profile.call(purpose)?;
    let submit = purpose == Purpose::Submit;
    let stream = call.stream.clone();
    let mut headers = call_headers(call, stream.as_ref());
    let listing = purpose == Purpose::Reconcile;
    let sought = if listing { Some(sought(operation, profile)?) } else { None };
    let wanted = wanted(operation, profile, purpose, call.any_origin);
    let listed = sought.as_ref().map(|own| own.page.as_str());
    let url = match &wanted {
        _ if submit => operation.request.url.clone(),
        Some(page) => page_address(page, call, operation, base_url)?,
        None => address(call, operation, base_url, listed)?,
    };
    if submit {
        add_key(&mut headers, operation, profile)?;
    }
    let whole = wanted.is_none() && stream.is_none();
    let ranges = whole && purpose == Purpose::Result && call.ranges;
    let before = so_far(operation).filter(|own| ranges && own.pages == 0);
    if ranges {
        add_fields(&mut headers, before);
    }
    let media_type = operation.request.content_type.as_ref();
    let media_type =
        media_type.filter(|_| submit || (purpose == Purpose::Quote && call.has_body()));
    if let Some(media_type) = media_type {
        headers.push("content-type", media_type.as_str());
    }
    let own_origin = origin(&url).as_ref() == Some(&operation.identity.origin);
    if !own_origin && !call.any_origin {
        return None;
    }
    let result_at = Some(profile.result_at.clone()).filter(|own| !own.is_empty());
    let mut facts = facts(profile, purpose, result_at.as_ref());
    facts.extend(wanted.as_ref().map(Wanted::facts).unwrap_or_default());
    Some(Transmit {
        id: operation.identity.id.clone(),
        lane: operation.lane(),
        service: operation.identity.service.clone(),
        purpose,
        method: if submit { operation.request.method.clone() } else { call.method.clone() },
        url,
        headers,
        with_credential: own_origin && purpose != Purpose::Diagnose,
        with_body: match &sought {
            Some(sought) => sought.with_body,
            None => media_type.is_some(),
        },
        sought,
        page: wanted.map(Box::new),
        ranges,
        before: before.map(|own| Box::new(own.clone())),
        timeout_ms: call.timeout_ms,
        keeps: keeps(profile, purpose),
        open_until: match &stream {
            Some(_) => operation.total_until(),
            None => now.after(DOWNLOAD_MS_MAX),
        },
        stream,
        at: now,
        idle: call.idle,
        untold_ms: call.untold_ms(),
        download,
        result_at,
        facts,
    })
}

/// The fields that carry the key, and tell its date.
fn add_key(headers: &mut Headers, operation: &Operation, profile: &Profile) -> Option<()> {
    let Some(carrier) = &profile.key else {
        return Some(());
    };
    let mut key = operation.identity.key.as_str();
    if bites(Tooth::FreshKey) && operation.life.attempts() > 1 {
        key = operation.identity.id.as_str();
    }
    if let KeyPlace::Header(name) = &carrier.place {
        let value = if carrier.quoted { serialize_string(key)? } else { key.into() };
        headers.push(name.as_str(), value);
    }
    if let Some(name) = &carrier.sent_at {
        let evidence = &operation.life.evidence;
        let first = evidence.unresolved.as_ref().map(|own| own.first_at);
        let own = evidence.current.as_ref().map(|own| own.written_at);
        headers.push(name.as_str(), http_date::write(first.or(own)?));
    }
    Some(())
}

/// Which page of the result is next.
fn wanted(
    operation: &Operation,
    profile: &Profile,
    purpose: Purpose,
    any_origin: bool,
) -> Option<Wanted> {
    let rule = profile.pages.clone().filter(|_| purpose == Purpose::Result)?;
    Some(Wanted { rule, before: so_far(operation).cloned(), any_origin })
}

/// What has come of the result.
pub(super) fn so_far(operation: &Operation) -> Option<&Paged> {
    match &operation.life.stage {
        Stage::Result { pages, .. } => pages.as_deref(),
        Stage::Submit | Stage::Reconcile(_) | Stage::Work | Stage::Ended { .. } => None,
    }
}

fn page_address(
    page: &Wanted,
    call: &Call,
    operation: &Operation,
    base_url: &str,
) -> Option<String> {
    let name = page.name();
    match &page.rule.query {
        None if !name.is_empty() => Some(name),
        Some(query) if !name.is_empty() => {
            Some(with_query(address(call, operation, base_url, None)?, query, &name))
        }
        _ => address(call, operation, base_url, None),
    }
}

fn keeps(profile: &Profile, purpose: Purpose) -> Keeps {
    let calls = &profile.calls;
    match purpose {
        Purpose::Result => Keeps::Success,
        Purpose::Submit if !calls.result_on.is_empty() => Keeps::On(calls.result_on.clone()),
        Purpose::Submit if calls.poll.is_none() => Keeps::Success,
        Purpose::Submit
        | Purpose::Poll
        | Purpose::Cancel
        | Purpose::Delete
        | Purpose::Reconcile
        | Purpose::Settle
        | Purpose::Quote
        | Purpose::Diagnose => Keeps::Nothing,
    }
}

/// Where a call goes: to the link that the service gave, where it is known, else to its path.
pub fn address(
    call: &Call,
    operation: &Operation,
    base_url: &str,
    page: Option<&str>,
) -> Option<String> {
    let carried = |name: &str| {
        let found = operation.carried.iter().find(|(own, _)| own == name);
        found.map(|(_, value)| value.as_str())
    };
    if let Some(url) = call.link.as_ref().and_then(|name| carried(name)) {
        return Some(url.to_owned());
    }
    let job = operation.life.job().map(crate::model::ids::JobId::as_str);
    let path = fill(call.path.as_ref()?, |name| match name {
        "id" => job,
        "page" if page.is_some() => page,
        _ => carried(name),
    })?;
    Some([base_url, &path].concat())
}
