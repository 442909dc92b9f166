//! Paths with names in braces: `/v1/jobs/{id}`.

use super::grammar::leads_up;
use super::text::split_once;

/// A name in a template, as it stands there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Slot<'a> {
    /// The name.
    pub name: &'a str,
    /// `{+name}` (RFC 6570, section 3.2.3): its value may hold slashes, as resource names do.
    pub whole_path: bool,
}

/// The names in a template; `None` when its braces do not match.
pub fn slots(mut template: &str) -> Option<Vec<Slot<'_>>> {
    let mut found = Vec::new();
    while let Some((before, after)) = split_once(template, "{") {
        let (name, rest) = split_once(after, "}")?;
        if before.contains('}') || name.contains('{') {
            return None;
        }
        found.push(slot(name));
        template = rest;
    }
    (!template.contains('}')).then_some(found)
}

/// The template with values in the places of their names, percent-encoded (RFC 3986). `None` when a
/// value is not known, or would lead elsewhere: `..` is a step up in every spelling (URL Standard).
pub fn fill<'v>(mut template: &str, value: impl Fn(&str) -> Option<&'v str>) -> Option<String> {
    let mut out = String::new();
    while let Some((before, after)) = split_once(template, "{") {
        let (name, rest) = split_once(after, "}")?;
        let slot = slot(name);
        out.push_str(before);
        encode(value(slot.name)?, slot.whole_path, &mut out);
        template = rest;
    }
    out.push_str(template);
    let leads_up = leads_up(out.split('?').next().unwrap_or_default());
    (!leads_up).then_some(out)
}

/// The URL with a parameter of the query behind those that it has.
pub fn with_query(mut url: String, name: &str, value: &str) -> String {
    url.push(if url.contains('?') { '&' } else { '?' });
    url.push_str(name);
    url.push('=');
    encode(value, false, &mut url);
    url
}

fn slot(name: &str) -> Slot<'_> {
    let plain = name.strip_prefix('+');
    Slot { name: plain.unwrap_or(name), whole_path: plain.is_some() }
}

fn encode(mut value: &str, whole_path: bool, out: &mut String) {
    const HEX: &[u8; 16] = b"0123456789ABCDEF";
    // A path that begins with a slash of its own says no more by it.
    while let (true, Some(rest)) = (whole_path && out.ends_with('/'), value.strip_prefix('/')) {
        value = rest;
    }
    for (index, segment) in value.split('/').enumerate() {
        if index > 0 {
            out.push_str(if whole_path { "/" } else { "%2F" });
        }
        for byte in segment.bytes() {
            if byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'~' | b'.') {
                out.push(char::from(byte));
            } else {
                out.push('%');
                out.push(char::from(HEX[usize::from(byte >> 4)]));
                out.push(char::from(HEX[usize::from(byte & 15)]));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with_id(template: &str, id: &str) -> String {
        fill(template, |name| (name == "id").then_some(id)).unwrap_or_default()
    }

    #[test]
    fn a_path_with_a_slash_of_its_own_makes_no_second_one() {
        for path in ["v1/reports", "/v1/reports", "//v1/reports"] {
            assert_eq!(with_id("/{+id}", path), "/v1/reports");
        }
        assert_eq!(with_id("/jobs/{id}", "/a"), "/jobs/%2Fa");
    }

    #[test]
    fn a_value_cannot_lead_elsewhere() {
        let path = |id: &str| with_id("/jobs/{id}/result", id);
        assert_eq!(path("req_1.2~x-Y"), "/jobs/req_1.2~x-Y/result");
        assert_eq!(path("../admin?x#y"), "/jobs/..%2Fadmin%3Fx%23y/result");
        assert_eq!(path("..."), "/jobs/.../result");
        for id in [".", ".."] {
            assert_eq!(path(id), "", "{id}");
        }
        assert_eq!(fill("/jobs/.{a}", |_| Some(".")), None);
        assert_eq!(fill("/jobs?of={a}", |_| Some("..")).as_deref(), Some("/jobs?of=.."));
        assert_eq!(path("ä"), "/jobs/%C3%A4/result");
    }

    #[test]
    fn a_resource_name_keeps_its_slashes_and_still_cannot_lead_elsewhere() {
        let path = |id: &str| with_id("/v1/{+id}:cancel", id);
        assert_eq!(path("operations/a b"), "/v1/operations/a%20b:cancel");
        assert_eq!(path("operations/../../x"), "");
    }

    #[test]
    fn names_are_told_and_braces_must_match() {
        let names = |text| slots(text).map(|all| all.iter().map(|slot| slot.name).collect());
        assert_eq!(names("/a/{b}/{+c}?d={e}"), Some(vec!["b", "c", "e"]));
        assert_eq!(names("/a"), Some(vec![]));
        for text in ["/{a", "/a}", "/{a{b}}", "/}{"] {
            assert_eq!(slots(text), None, "{text}");
        }
    }

    #[test]
    fn a_value_that_is_not_known_fills_nothing() {
        assert_eq!(fill("/{a}/{b}", |name| (name == "a").then_some("x")), None);
    }
}
