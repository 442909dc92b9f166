//! URLs that a service's answer gives: resolved against where they were read (RFC 3986, section 5),
//! and told apart by their origin.

use super::text::split_once;
use super::url::split_url;

/// Longest URL that is followed, in bytes.
const URL_BYTES_MAX: usize = 4_096;

/// The absolute form of a reference that was read at `base`, without its fragment; `None` when it
/// is none that may be followed: only `https:` is (`http:` on loopback), without credentials.
pub fn resolve(base: &str, reference: &str) -> Option<String> {
    let reference = reference.split('#').next().unwrap_or_default();
    let plain = |byte: u8| byte.is_ascii_graphic() && !b"\\\"<>^`{|}".contains(&byte);
    if reference.is_empty() || reference.len() > URL_BYTES_MAX || !reference.bytes().all(plain) {
        return None;
    }
    let (scheme, rest) = split_once(base, "://")?;
    let (authority, path) = at_path(rest);
    let path = path.split('?').next().unwrap_or_default();
    let (target, rest) = if has_scheme(reference) {
        let (scheme, rest) = split_once(reference, "://")?;
        let (authority, path) = at_path(rest);
        ([scheme, "://", authority].concat(), path.to_owned())
    } else if let Some(rest) = reference.strip_prefix("//") {
        let (authority, path) = at_path(rest);
        ([scheme, "://", authority].concat(), path.to_owned())
    } else {
        let folder = path.rfind('/').map_or("/", |last| &path[..=last]);
        let rest = match reference.as_bytes().first()? {
            b'/' => reference.to_owned(),
            b'?' => [path, reference].concat(),
            _ => [folder, reference].concat(),
        };
        ([scheme, "://", authority].concat(), rest)
    };
    let (_, origin) = split_url(&target)?;
    let (path, query) = rest.split_once('?').map_or((rest.as_str(), None), |(a, b)| (a, Some(b)));
    let mut out = origin;
    out.push_str(&without_dots(path));
    if let Some(query) = query {
        out.push('?');
        out.push_str(query);
    }
    Some(out)
}

/// Scheme, host and port of an absolute URL.
pub fn origin(url: &str) -> Option<String> {
    let (scheme, rest) = split_once(url, "://")?;
    split_url(&[scheme, "://", at_path(rest).0].concat()).map(|(_, origin)| origin)
}

/// Splits what follows `://` where the path or the query begins.
fn at_path(rest: &str) -> (&str, &str) {
    rest.split_at(rest.find(['/', '?']).unwrap_or(rest.len()))
}

fn has_scheme(reference: &str) -> bool {
    reference.split_once(':').is_some_and(|(scheme, _)| {
        scheme.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"+-.".contains(&byte))
            && scheme.starts_with(|first: char| first.is_ascii_alphabetic())
    })
}

/// Removes `.` and `..` segments, spelled in any way (RFC 3986, section 5.2.4).
fn without_dots(path: &str) -> String {
    let mut kept: Vec<&str> = Vec::new();
    let mut open = true;
    for segment in path.strip_prefix('/').unwrap_or(path).split('/') {
        let plain = super::text::replace(&segment.to_ascii_lowercase(), "%2e", ".");
        open = matches!(plain.as_str(), "." | "..");
        if plain == ".." {
            kept.pop();
        } else if !open {
            kept.push(segment);
        }
    }
    let mut out = String::new();
    for segment in &kept {
        out.push('/');
        out.push_str(segment);
    }
    if open || out.is_empty() {
        out.push('/');
    }
    out
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const BASE: &str = "https://api.example.com/v1/jobs/7?x=1";

    #[test]
    fn references_are_resolved_as_browsers_do() {
        for (reference, url) in [
            ("https://api.example.com/a/b?c=d#e", "https://api.example.com/a/b?c=d"),
            ("HTTPS://API.example.com:443/a", "https://api.example.com/a"),
            ("//other.example/a", "https://other.example/a"),
            ("//10.0.255.1/a", "https://10.0.255.1/a"),
            ("/a/./b/../c", "https://api.example.com/a/c"),
            ("status", "https://api.example.com/v1/jobs/status"),
            ("../x/", "https://api.example.com/v1/x/"),
            ("?y=2", "https://api.example.com/v1/jobs/7?y=2"),
            ("8/a:b", "https://api.example.com/v1/jobs/8/a:b"),
        ] {
            assert_eq!(resolve(BASE, reference).as_deref(), Some(url), "{reference}");
        }
    }

    #[test]
    fn what_must_not_be_followed_is_none() {
        for reference in [
            "",
            "#x",
            "javascript:alert(1)",
            "data:text/plain,x",
            "ftp://api.example.com/a",
            "http://api.example.com/a",
            "https://user:secret@api.example.com/a",
            "https://api.example.com\\@evil.example/",
            "https:///a",
            "//2/a",
            "//0x7f.1/a",
            "//1.2.3.04/a",
            "//1.2.3.4.5/a",
            "/a b",
            "/a\nb",
            "/ä",
        ] {
            assert_eq!(resolve(BASE, reference), None, "{reference}");
        }
        assert_eq!(resolve(BASE, &["/", &"a".repeat(URL_BYTES_MAX)].concat()), None);
    }

    #[test]
    fn the_origin_is_scheme_host_and_port() {
        assert_eq!(origin(BASE).as_deref(), Some("https://api.example.com"));
        assert_eq!(origin("http://127.0.0.1:8080/a?b").as_deref(), Some("http://127.0.0.1:8080"));
        assert_eq!(origin("nonsense"), None);
    }

    proptest! {
        #[test]
        fn it_resolves_as_the_url_standard_or_not_at_all(
            reference in concat!(
                r"((https://(api\.example\.com|x\.example)|//y\.example)/)?[a-z./?%2eE:=-]{0,16}",
                r"|//[0-9]{0,4}[0-9a-fx.]{1,12}(:[0-9]{1,3})?(/[a-z.]{0,3})?",
            )
        ) {
            let base = url::Url::parse(BASE).unwrap();
            if let Some(resolved) = resolve(BASE, &reference) {
                let mut standard = base.join(&reference).unwrap();
                standard.set_fragment(None);
                prop_assert_eq!(resolved, standard.to_string());
            }
        }
    }
}
