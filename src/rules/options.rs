//! Reads what the app says, and tells by name what is wrong with it, before anything is done.

mod command;

pub use command::{ApiCommand, adoption, command, inquiry, revision};

use super::grammar::{is_name, is_token};
use super::json;
use super::reader::{Fault, Faults, Reader};
use super::status::Status;
use super::url::split_url;
use crate::model::ids::ServiceName;
use crate::model::policy::{Limits, LimitsPatch, OnUnknown, Retention};
use crate::model::profile::{KeyCarrier, KeyPlace};

/// How deep an option may nest: a profile's own depth and what is around it.
const DEPTH_MAX: usize = 24;

/// Longest deadline, in milliseconds: 400 days.
const DEADLINE_MS_MAX: u64 = 400 * 86_400_000;

/// Longest time that anything is kept for, in milliseconds: ten years.
const RETENTION_MS_MAX: u64 = 3_650 * 86_400_000;

/// Longest intent, in characters.
const INTENT_CHARS_MAX: usize = 512;

/// A client's configuration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Config {
    /// How long what has ended is kept here.
    pub retention: Retention,
    /// The services.
    pub services: Vec<ServiceConfig>,
}

/// One service's configuration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServiceConfig {
    /// The app's name for it.
    pub name: ServiceName,
    /// The text of its contract.
    pub profile: String,
    /// Where it is, without a slash at the end.
    pub base_url: String,
    /// Scheme, host and port of that.
    pub origin: String,
    /// Keys are made from the intent, not at random.
    pub derives_keys: bool,
    /// Parameters of its submissions, where a submission names none.
    pub params: Vec<(String, String)>,
    /// The app's bounds.
    pub limits: Limits,
}

/// A submission without its body.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SubmissionOptions {
    /// The caller's name for the work.
    pub intent: String,
    /// Media type of the body.
    pub content_type: Option<String>,
    /// A key of the caller's own.
    pub key: Option<String>,
    /// Parameters of the service.
    pub params: Vec<(String, String)>,
    /// Other bounds.
    pub limits: LimitsPatch,
}

/// Which operations to list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListFilter {
    /// Of this service.
    pub service: Option<ServiceName>,
    /// In one of these states; empty: in any.
    pub statuses: Vec<Status>,
    /// Acknowledged or not.
    pub acknowledged: Option<bool>,
    /// At most so many, 1 to 200.
    pub limit: u32,
    /// Where the page begins.
    pub cursor: Option<String>,
}

/// Reads a client's configuration.
///
/// # Errors
/// Everything that is wrong, by name.
pub fn config(text: &str) -> Result<Config, Vec<Fault>> {
    read(text, |reader| {
        reader.only(&["retention", "services"]);
        let retention = reader.member("retention").map(|own| retention(&own)).unwrap_or_default();
        let services = reader.required("services").and_then(|own| {
            let services = own.members();
            if services.is_empty() {
                own.fault("there must be one at least");
            }
            // All are read, so that all faults are told.
            let mut read = Some(Vec::new());
            for own in services {
                read = service(&own).and_then(|own| {
                    let mut all = read?;
                    all.push(own);
                    Some(all)
                });
            }
            read
        });
        Some(Config { retention, services: services? })
    })
}

/// Reads a submission's options.
///
/// # Errors
/// Everything that is wrong, by name.
pub fn submission(text: &str) -> Result<SubmissionOptions, Vec<Fault>> {
    read(text, |reader| {
        reader.only(&["intent", "contentType", "key", "params", "limits"]);
        let intent = reader.required("intent").and_then(|own| intent(&own));
        let content_type = reader.member("contentType").and_then(|own| media_type(&own));
        let key = reader.member("key").and_then(|own| own.text().map(String::from));
        let limits = reader.member("limits").map_or_else(LimitsPatch::default, |own| limits(&own));
        let params = params(reader);
        Some(SubmissionOptions { intent: intent?, content_type, key, params, limits })
    })
}

/// The rule of a profile's keys, with the standard behind it, where a caller's own key breaks it;
/// `None` when nothing is wrong.
pub fn check_key(carrier: &KeyCarrier, key: &str) -> Option<String> {
    let allowed =
        |byte: u8| byte.is_ascii_alphanumeric() || carrier.punctuation.as_bytes().contains(&byte);
    let (least, most) = (carrier.length_min, carrier.length_max);
    if carrier.uuid {
        return (!is_uuid(key)).then(|| "this service's keys are UUIDs (RFC 9562)".into());
    }
    if (least..=most).contains(&key.len()) && key.bytes().all(allowed) {
        return None;
    }
    let standard = match &carrier.place {
        KeyPlace::Header(_) if carrier.quoted => "a String of RFC 9651)",
        KeyPlace::Header(_) => "a field value of RFC 9110)",
        KeyPlace::Field(_) => "a string of RFC 8259)",
        KeyPlace::Query(_) => "a query of RFC 3986)",
    };
    let rule = [
        "this service's keys have ",
        &least.to_string(),
        " to ",
        &most.to_string(),
        " characters of A-Z a-z 0-9 ",
        &carrier.punctuation,
        ", as its profile says (sent in ",
        standard,
    ];
    Some(rule.concat())
}

fn is_uuid(key: &str) -> bool {
    let form = |(index, byte): (usize, u8)| match index {
        8 | 13 | 18 | 23 => byte == b'-',
        _ => byte.is_ascii_hexdigit(),
    };
    key.len() == 36 && key.bytes().enumerate().all(form)
}

/// Reads a list's filter.
///
/// # Errors
/// Everything that is wrong, by name.
pub fn list_filter(text: &str) -> Result<ListFilter, Vec<Fault>> {
    read(text, |reader| {
        reader.only(&["service", "status", "acknowledged", "limit", "cursor"]);
        let mut statuses = Vec::new();
        if let Some(own) = reader.member("status") {
            for item in if own.value_is_list() { own.items() } else { vec![own] } {
                if let Some(status) = item.one_of(Status::ALL, Status::name) {
                    statuses.push(status);
                }
            }
        }
        let text = |name: &str| reader.member(name).and_then(|own| own.text().map(String::from));
        let limit = reader.member("limit").map_or(Some(50), |own| own.whole_u32(1, 200));
        let (service, cursor) = (text("service").map(ServiceName), text("cursor"));
        let acknowledged = reader.member("acknowledged").and_then(|own| own.bool());
        Some(ListFilter { service, statuses, acknowledged, limit: limit?, cursor })
    })
}

fn read<T>(text: &str, with: impl FnOnce(&Reader<'_>) -> Option<T>) -> Result<T, Vec<Fault>> {
    let value = json::parse(text.as_bytes(), DEPTH_MAX).map_err(|error| {
        vec![Fault {
            pointer: String::new(),
            message: ["it is no JSON: ", &error.to_string()].concat(),
        }]
    })?;
    let faults = Faults::of(&value);
    let read = with(&faults.root());
    faults.settle(read).map_err(|faults| faults.into_iter().map(named).collect())
}

/// Options are named as in code: `limits.attempts`.
fn named(fault: Fault) -> Fault {
    let pointer = fault.pointer.trim_start_matches('/').replace('/', ".");
    Fault { pointer, ..fault }
}

fn service(reader: &Reader<'_>) -> Option<ServiceConfig> {
    reader.only(&["profile", "baseUrl", "key", "params", "limits", "onUnknown"]);
    let name = reader.name();
    if !is_name(name) {
        reader.fault("a service's name must be 1 to 64 letters, digits, and _ . -");
    }
    let profile = reader.required("profile").map(|own| {
        if !own.value_is_map() {
            own.fault("it must be a profile");
        }
        own.value.to_json()
    });
    let url = reader.required("baseUrl").and_then(|own| {
        let split = split_url(own.text()?);
        if split.is_none() {
            own.fault(
                "it must be an absolute https: URL (http: on loopback) without credentials, \
                 query or fragment",
            );
        }
        split
    });
    let patch = reader.member("limits").map(|own| limits(&own)).unwrap_or_default();
    let derives_keys = reader
        .member("key")
        .and_then(|own| own.one_of(&["random", "derived"], |name| name))
        .is_some_and(|own| own == "derived");
    let resubmits = reader
        .member("onUnknown")
        .and_then(|own| own.one_of(&["park", "resubmit"], |name| name))
        .is_some_and(|own| own == "resubmit");
    let on_unknown = if resubmits { OnUnknown::Resubmit } else { OnUnknown::Park };
    let (base_url, origin) = url?;
    Some(ServiceConfig {
        name: name.into(),
        profile: profile?,
        base_url,
        origin,
        derives_keys,
        params: params(reader),
        limits: patch.apply(Limits { on_unknown, ..Limits::default() }),
    })
}

fn params(reader: &Reader<'_>) -> Vec<(String, String)> {
    let mut read = Vec::new();
    for own in reader.member("params").map(|own| own.members()).unwrap_or_default() {
        if let Some(text) = own.text() {
            read.push((own.name().to_owned(), text.to_owned()));
        }
    }
    read
}

fn retention(reader: &Reader<'_>) -> Retention {
    reader.only(&["resultMs", "ageMs", "tombstoneMs"]);
    let usual = Retention::default();
    let time = |name: &str, least: u64| {
        reader.member(name).and_then(|own| own.whole(least, RETENTION_MS_MAX))
    };
    Retention {
        result_ms: time("resultMs", 0),
        age_ms: time("ageMs", 1),
        tombstone_ms: time("tombstoneMs", 1).unwrap_or(usual.tombstone_ms),
    }
}

fn limits(reader: &Reader<'_>) -> LimitsPatch {
    reader.only(&["sendWithinMs", "totalMs", "attempts", "cost"]);
    let time = |name: &str| reader.member(name).and_then(|own| own.whole(1, DEADLINE_MS_MAX));
    let cost = reader.member("cost").and_then(|own| own.credits());
    LimitsPatch {
        send_within_ms: time("sendWithinMs"),
        total_ms: time("totalMs"),
        attempts: reader.member("attempts").and_then(|own| own.whole_u32(1, 1_000)),
        cost,
    }
}

fn media_type(reader: &Reader<'_>) -> Option<String> {
    let media_type = reader.text()?;
    let plain = media_type.bytes().all(|byte| (0x20..0x7F).contains(&byte));
    let (kind, rest) = media_type.split_once('/').unwrap_or_default();
    let subtype = rest.split(';').next().unwrap_or_default().trim_end();
    if !plain || media_type.len() > 255 || !is_token(kind) || !is_token(subtype) {
        reader.fault("it must be a media type such as application/json");
    }
    Some(media_type.to_owned())
}

fn intent(reader: &Reader<'_>) -> Option<String> {
    let intent = reader.text()?;
    let length = intent.chars().count();
    if length == 0 || length > INTENT_CHARS_MAX || intent.chars().any(char::is_control) {
        reader.fault("it must be 1 to 512 characters without control characters");
    }
    Some(intent.to_owned())
}

#[cfg(test)]
mod tests;
