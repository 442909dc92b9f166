//! What of a credential is a secret.
//!
//! - A scheme (`Bearer …`), and the names of parameters and cookies (`mac=…`), are none.
//! - What may as well name an account, a project or a place stands in ids and links too, and is kept out
//!   of messages alone: the value of a parameter with such a name (`PUBLIC`), the half before a colon
//!   (`id:secret`; in base64 too, as `Basic` has it), and all of a field that is not named like a
//!   credential (`NAMES`).
//! - All else is a secret; and where that leaves none, all is.
//! - What is shorter than `SECRET_BYTES_MIN` stands in many a text by chance, and is none.

use super::disguise::base64_decoded;
use super::text::{replace, split_once};

/// In bytes.
const SECRET_BYTES_MIN: usize = 8;

/// What is no longer than this stands for no password, as with a key that is sent for a user's name. In bytes.
const DUMMY_BYTES_MAX: usize = 3;

/// What names of header fields hold whose values are secrets.
const NAMES: &[&str] =
    &["auth", "cookie", "cred", "key", "pass", "secret", "session", "sign", "token"];

/// Names of parameters whose values are told to anyone, without `-` and `_`.
const PUBLIC: &str = "account accountid algorithm client clientid created date expires headers host \
                      keyid project projectid realm region signedheaders tenant tenantid timestamp \
                      uri user userid username";

/// The parts of a header field of a credential that no message may repeat, those within others behind
/// them; and whether they are secrets.
pub fn parts(field: &str, value: &str) -> Vec<(String, bool)> {
    let field = field.to_ascii_lowercase();
    // A line break at its end, as a file has it, is not sent.
    let value = value.trim();
    let named = NAMES.iter().any(|own| holds(&field, own));
    let authorization = field.ends_with("authorization");
    let has_names = authorization || holds(&field, "cookie") || holds(&field, "sign");
    let scheme = split_once(value, " ").filter(|(scheme, _)| {
        authorization && !scheme.bytes().any(|byte| b",;=\"".contains(&byte))
    });
    let mut quoted = false;
    let words = scheme.map_or(value, |(_, rest)| rest).split(|mark| {
        quoted ^= mark == '"';
        !quoted && (matches!(mark, ' ' | ',' | ';') || (has_names && mark == '&'))
    });
    let mut all = Vec::new();
    for word in words {
        // Base64 ends with some of these, and no name goes before them.
        let word = word.trim_matches(['=', '"']);
        let pair = split_once(word, "=").filter(|_| has_names);
        let (name, text) = pair.unwrap_or(("", word));
        let text = text.trim_matches('"');
        let name = replace(&replace(&name.to_ascii_lowercase(), "-", ""), "_", "");
        let secret = named && !PUBLIC.split(' ').any(|own| own == name);
        add(&mut all, text, secret);
        if !has_names && let Some((_, behind)) = split_once(word, "=") {
            // Nobody says that it is a name what stands before it.
            add(&mut all, behind.trim_matches('"'), secret);
        }
        halve(&mut all, text, secret);
        if let Some(text) = base64_decoded(text) {
            halve(&mut all, &text, secret);
        }
    }
    let all_public = named && !all.iter().any(|(_, secret)| *secret);
    for (_, secret) in &mut all {
        *secret |= all_public;
    }
    all
}

/// Of an id and a secret around a colon, the second is the secret, or the first where that is but a letter
/// that stands for none.
fn halve(all: &mut Vec<(String, bool)>, text: &str, secret: bool) {
    if let Some((before, behind)) = split_once(text, ":") {
        add(all, behind, secret);
        add(all, before, secret && behind.len() <= DUMMY_BYTES_MAX);
    }
}

fn add(all: &mut Vec<(String, bool)>, text: &str, secret: bool) {
    if text.len() >= SECRET_BYTES_MIN {
        all.push((text.into(), secret));
    }
}

fn holds(text: &str, part: &str) -> bool {
    split_once(text, part).is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The secrets, and what is kept out of messages alone.
    fn told(field: &str, value: &str) -> [Vec<String>; 2] {
        [true, false].map(|wanted| {
            let parts = parts(field, value).into_iter();
            parts.filter(|(_, secret)| *secret == wanted).map(|(text, _)| text).collect()
        })
    }

    #[test]
    fn a_secret_is_told_from_what_stands_around_it() {
        let cases: [(&str, &str, &[&str], &[&str]); 17] = [
            ("Authorization", "ApiToken 0123456789abcdef", &["0123456789abcdef"], &[]),
            ("authorization", "0123456789abcdef", &["0123456789abcdef"], &[]),
            ("authorization", "Bearer 0123456789abcdef\r\n", &["0123456789abcdef"], &[]),
            (
                "Authorization",
                "HMAC account=acme-production, mac=\"0123456789abcdef\"",
                &["0123456789abcdef"],
                &["acme-production"],
            ),
            (
                "authorization",
                "AWS4-HMAC-SHA256 Credential=AKIA/2026/x, SignedHeaders=host;x-date, Signature=0a1b2c3d4e",
                &["AKIA/2026/x", "0a1b2c3d4e"],
                &[],
            ),
            (
                "authorization",
                "Signature headers=\"(request-target) host\", Key_Id=\"key-0001\", signature=\"AbCdEfGhIjKl==\"",
                &["AbCdEfGhIjKl"],
                &["(request-target) host", "key-0001"],
            ),
            (
                "authorization",
                "Basic YW5uOmNvcnJlY3QtaG9yc2U=",
                &["YW5uOmNvcnJlY3QtaG9yc2U", "correct-horse"],
                &[],
            ),
            // "sk_live_0123456789:", a key without a password.
            (
                "authorization",
                "Basic c2tfbGl2ZV8wMTIzNDU2Nzg5Og==",
                &["c2tfbGl2ZV8wMTIzNDU2Nzg5Og", "sk_live_0123456789"],
                &[],
            ),
            (
                "authorization",
                "Key acme-production:0123456789abcdef",
                &["acme-production:0123456789abcdef", "0123456789abcdef"],
                &["acme-production"],
            ),
            (
                "cookie",
                "session_name=0123456789abcdef; region=eu-west-1; theme=dark",
                &["0123456789abcdef"],
                &["eu-west-1"],
            ),
            // What stands before a sign of equality is a name only where there are names.
            ("x-api-key", "7f3a9c0e5b21=prod", &["7f3a9c0e5b21=prod"], &[]),
            (
                "authorization",
                "SharedAccessSignature sr=my-bus&sig=AbCdEfGh0123&se=1&skn=root",
                &["AbCdEfGh0123"],
                &[],
            ),
            // It is the only one: its name misleads.
            ("cookie", "user=0123456789abcdef", &["0123456789abcdef"], &[]),
            (
                "x-api-key",
                "correct-horse battery-staple",
                &["correct-horse", "battery-staple"],
                &[],
            ),
            ("x-goog-user-project", "weather-maps-7", &[], &["weather-maps-7"]),
            ("x-api-key", "\"", &[], &[]),
            ("authorization", "= == :;, =\"", &[], &[]),
        ];
        for (field, value, secrets, kept_out) in cases {
            assert_eq!(told(field, value), [secrets, kept_out].map(<[&str]>::to_vec), "{value}");
        }
    }

    #[test]
    fn what_stands_behind_a_sign_of_equality_and_before_a_dummy_password_is_secret() {
        let secret = "0123456789abcdef";
        for (field, value) in
            [("x-token", "t=0123456789abcdef"), ("authorization", "Basic MDEyMzQ1Njc4OWFiY2RlZjpY")]
        {
            assert!(told(field, value)[0].iter().any(|own| own == secret), "{field}");
        }
    }
}
