//! Reads how an idempotency key travels.

use super::TIME_MS_MAX;
use crate::model::pointer::Pointer;
use crate::model::profile::{KeyCarrier, KeyPlace};
use crate::rules::grammar::{is_name, is_token};
use crate::rules::reader::Reader;

/// What is wrong with the name of a field that is not the key's own, or no name.
pub(super) const FIELD: &str = "it must be the name of a header field that nothing else uses";

/// Fields that requests have besides.
const USED: [&str; 5] = ["accept", "authorization", "content-type", "cookie", "host"];

/// Characters of a UUID, which every key is that the caller does not bring.
const UUID_CHARS: u64 = 36;

pub(super) fn key(reader: &Reader<'_>) -> Option<KeyCarrier> {
    reader.only(&[
        "header",
        "field",
        "query",
        "quoted",
        "uuid",
        "lengthMin",
        "lengthMax",
        "punctuation",
        "retentionMs",
        "keepsErrors",
        "sentAt",
        "canonicalBody",
    ]);
    let place = place(reader);
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
    let (quoted, uuid, canonical_body) = (flag("quoted"), flag("uuid"), flag("canonicalBody"));
    let keeps_errors = flag("keepsErrors");
    let sent_at = reader.member("sentAt").and_then(|own| {
        let name = header(&own)?;
        if matches!(&place, Some(KeyPlace::Header(key)) if key.eq_ignore_ascii_case(name)) {
            own.fault(FIELD);
        }
        Some(name.into())
    });
    if quoted == Some(true) && !matches!(place, None | Some(KeyPlace::Header(_))) {
        reader.fault("only a key in a header field is quoted");
    }
    let retention_ms = reader.member("retentionMs").and_then(|own| own.whole(1, TIME_MS_MAX));
    Some(KeyCarrier {
        place: place?,
        quoted: quoted?,
        uuid: uuid?,
        length_min: usize::try_from(length_min?).ok()?,
        length_max: usize::try_from(length_max?).ok()?,
        punctuation,
        retention_ms,
        keeps_errors: keeps_errors?,
        sent_at,
        canonical_body: canonical_body?,
    })
}

fn header<'a>(reader: &Reader<'a>) -> Option<&'a str> {
    let text = reader.text()?;
    if !is_token(text) || USED.iter().any(|own| own.eq_ignore_ascii_case(text)) {
        reader.fault(FIELD);
    }
    Some(text)
}

fn place(reader: &Reader<'_>) -> Option<KeyPlace> {
    let mut found = Vec::new();
    for name in ["header", "field", "query"] {
        found.extend(reader.member(name));
    }
    let [own] = found.as_slice() else {
        reader.fault("it must say what carries the key: one of header, field, query");
        return None;
    };
    let text = own.text()?;
    Some(match own.name() {
        "header" => KeyPlace::Header(header(own)?.into()),
        "field" => {
            if text.is_empty() || Pointer::parse(text).is_none() {
                own.fault("it must be a JSON pointer to a member of the body, such as /request_id");
            }
            KeyPlace::Field(text.into())
        }
        _ => {
            if !is_name(text) {
                own.fault("it must be 1 to 64 letters, digits, and _ . -");
            }
            KeyPlace::Query(text.into())
        }
    })
}
