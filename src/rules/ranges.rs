//! Asking for the rest of a result that broke off (RFC 9110, section 14).

use crate::model::http::Headers;
use crate::model::pages::Paged;
use crate::rules::text::split_once;

/// Longest validator that is kept, in bytes.
const VALIDATOR_BYTES_MAX: usize = 256;

/// What an answer of status 206 holds of the whole, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Range {
    /// Where it begins.
    pub first: u64,
    /// How long the whole is.
    pub total: u64,
}

/// The fields that ask for a result from where it broke off, or from its beginning: with the validator,
/// so that other bytes come from their beginning too.
pub fn add_fields(headers: &mut Headers, before: Option<&Paged>) {
    let begins_at = before.map_or(0, |own| own.kept.bytes);
    headers.push("range", ["bytes=", &begins_at.to_string(), "-"].concat());
    if let Some(own) = before.filter(|own| !own.next.is_empty()) {
        headers.push("if-range", own.next.as_str());
    }
}

/// `bytes 0-99/100`; `None` where the length of the whole is not told, or it makes no sense.
pub fn content_range(headers: &Headers) -> Option<Range> {
    let (unit, range) = split_once(headers.first("content-range")?.trim_ascii(), " ")?;
    let (range, total) = split_once(range, "/")?;
    let (first, last) = split_once(range, "-")?;
    let [first, last, total] = [first, last, total].map(|text| text.parse::<u64>().ok());
    let (first, last, total) = (first?, last?, total?);
    let sound = unit.eq_ignore_ascii_case("bytes") && first <= last && last < total;
    sound.then_some(Range { first, total })
}

/// A validator that no other bytes have: an entity tag that is not weak, of bytes that are not encoded.
pub fn strong_validator(headers: &Headers) -> Option<&str> {
    let tag = headers.first("etag")?.trim_ascii();
    let quoted = tag.len() > 1 && tag.starts_with('"') && tag.ends_with('"');
    let plain = headers.first("content-encoding").is_none_or(|own| own == "identity");
    (quoted && plain && tag.len() <= VALIDATOR_BYTES_MAX).then_some(tag)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(fields: &[(&str, &str)]) -> Headers {
        fields.iter().copied().collect()
    }

    #[test]
    fn only_a_range_that_makes_sense_is_one() {
        let read = |text| content_range(&headers(&[("Content-Range", text)]));
        assert_eq!(read("bytes 0-99/100"), Some(Range { first: 0, total: 100 }));
        assert_eq!(read("Bytes 50-99/100"), Some(Range { first: 50, total: 100 }));
        for bad in [
            "",
            "bytes",
            "bytes 0-99/*",
            "bytes */100",
            "bytes 9-1/100",
            "bytes 0-100/100",
            "items 0-9/10",
            "bytes 0-9",
            "bytes -5/10",
            "bytes 0-99999999999999999999/9",
        ] {
            assert_eq!(read(bad), None, "{bad}");
        }
    }

    #[test]
    fn only_a_strong_tag_of_plain_bytes_is_a_validator() {
        assert_eq!(strong_validator(&headers(&[("ETag", "\"a\"")])), Some("\"a\""));
        let long = ["\"", &"a".repeat(300), "\""].concat();
        for bad in ["W/\"a\"", "a", "\"", &long] {
            assert_eq!(strong_validator(&headers(&[("etag", bad)])), None, "{bad}");
        }
        let encoded = headers(&[("etag", "\"a\""), ("content-encoding", "gzip")]);
        assert_eq!(strong_validator(&encoded), None);
    }
}
