//! Small grammars that profiles and options share.

use super::text;

/// Whether a path has a segment that URLs read as "here" or "one up", spelled in any way.
pub(super) fn leads_up(path: &str) -> bool {
    path.split('/').any(|segment| {
        let plain = text::replace(&segment.to_ascii_lowercase(), "%2e", ".");
        plain == "." || plain == ".."
    })
}

/// A name that is safe wherever names go: 1 to 64 letters, digits, and `_ . -`.
pub(super) fn is_name(text: &str) -> bool {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"_.-".contains(&byte);
    (1..=64).contains(&text.len()) && text.bytes().all(plain)
}

/// A token of HTTP (RFC 9110, section 5.6.2).
pub(super) fn is_token(text: &str) -> bool {
    let token = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte);
    !text.is_empty() && text.bytes().all(token)
}

/// Whether a media type is that of one JSON value (RFC 6838, section 4.2.8, for the suffix).
pub fn is_json(media_type: Option<&str>) -> bool {
    let essence = media_type.unwrap_or_default().split(';').next().unwrap_or_default();
    let essence = essence.trim().to_ascii_lowercase();
    essence.ends_with("/json") || essence.ends_with("+json")
}
