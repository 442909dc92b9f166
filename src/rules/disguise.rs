//! Finding a text again whatever it is dressed in: another case, percent-encoding (more than once too),
//! escapes of JSON, hex, base64 (RFC 4648, in either alphabet).

use super::digest::hex;

const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/// The base64 text of these bytes behind `before` others, as far as these alone decide it.
pub fn base64_within(bytes: &[u8], before: usize) -> String {
    let mut out = String::new();
    for digit in (before * 8).div_ceil(6)..(before + bytes.len()) * 8 / 6 {
        let bit = digit * 6 - before * 8;
        let [high, low] = [0, 1].map(|next| bytes.get(bit / 8 + next).copied().unwrap_or(0));
        let six = (u16::from_be_bytes([high, low]) >> (10 - bit % 8)) & 63;
        out.push(char::from(ALPHABET[usize::from(six)]));
    }
    out
}

/// The text that unpadded base64 stands for, in either alphabet.
pub fn base64_decoded(text: &str) -> Option<String> {
    let (mut bytes, mut bits, mut count) = (Vec::new(), 0_u32, 0);
    for byte in text.bytes() {
        let six = ALPHABET.iter().position(|own| *own == standard(byte))?;
        bits = bits << 6 | six as u32;
        count += 6;
        if count >= 8 {
            count -= 8;
            bytes.push((bits >> count) as u8);
        }
    }
    String::from_utf8(bytes).ok()
}

/// A text that is looked for, undressed: as itself, in hex, and as what base64 makes of it wherever it
/// stands.
pub struct Sought([Vec<u8>; 5]);

impl Sought {
    /// Looks for this text.
    pub fn new(text: &str) -> Self {
        let plain = |text: &str| undressed(text).0;
        let [first, second, third] = [0, 1, 2].map(|own| base64_within(text.as_bytes(), own));
        let hex = hex(text.as_bytes());
        Self([plain(text), plain(&hex), plain(&first), plain(&second), plain(&third)])
    }

    /// Whether it stands in a text.
    pub fn is_in(&self, text: &str) -> bool {
        let (bytes, _) = undressed(text);
        (0..bytes.len()).any(|at| self.length_at(&bytes, at).is_some())
    }

    /// The text with something else in its place, wherever it stands.
    pub fn replaced(&self, text: &str, with: &str) -> String {
        let (bytes, places) = undressed(text);
        let (mut out, mut from, mut at) = (String::new(), 0, 0);
        while at < bytes.len() {
            match self.length_at(&bytes, at) {
                Some(length) => {
                    out.push_str(text.get(from..places[at]).unwrap_or_default());
                    out.push_str(with);
                    at += length;
                    from = places[at];
                }
                None => at += 1,
            }
        }
        out.push_str(text.get(from..).unwrap_or_default());
        out
    }

    /// How long it is where it stands at this place, in any of its dresses.
    fn length_at(&self, bytes: &[u8], at: usize) -> Option<usize> {
        let here = &bytes[at..];
        let stands = self.0.iter().filter(|own| !own.is_empty() && here.starts_with(own));
        stands.map(Vec::len).max()
    }
}

/// The bytes that a text stands for, in one case and one alphabet, and where each begins; last, where
/// the text ends.
fn undressed(text: &str) -> (Vec<u8>, Vec<usize>) {
    let (mut bytes, mut places, mut at) = (Vec::new(), Vec::new(), 0);
    let all = text.as_bytes();
    while at < all.len() {
        places.push(at);
        let (byte, length) = written(&all[at..]);
        bytes.push(standard(byte).to_ascii_lowercase());
        at += length;
    }
    places.push(at);
    (bytes, places)
}

/// The byte that a text begins with, undressed, and how long it is written.
fn written(text: &[u8]) -> (u8, usize) {
    // How often its `%` is encoded again.
    let mut again = 0;
    while let [b'%', rest @ ..] = text
        && let [b'2', b'5', high, low, ..] = &rest[again..]
        && both(*high, *low).is_some()
    {
        again += 2;
    }
    let escaped = match text {
        [b'%', rest @ ..] => match &rest[again..] {
            [high, low, ..] => both(*high, *low).zip(Some(3 + again)),
            _ => None,
        },
        [b'\\', b'u', b'0', b'0', high, low, ..] => both(*high, *low).zip(Some(6)),
        [b'\\', next, ..] if next.is_ascii_punctuation() => Some((*next, 2)),
        _ => None,
    };
    escaped.unwrap_or((text[0], 1))
}

/// A byte of the other alphabet of base64 in that of the standard.
const fn standard(byte: u8) -> u8 {
    match byte {
        b'-' => b'+',
        b'_' => b'/',
        other => other,
    }
}

fn both(high: u8, low: u8) -> Option<u8> {
    let [high, low] = [high, low].map(|byte| char::from(byte).to_digit(16));
    Some((high? << 4 | low?) as u8)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn percent(text: &str) -> String {
        text.bytes().map(|byte| format!("%{byte:02X}")).collect()
    }

    fn base64(text: &[u8]) -> String {
        let mut text = text.to_vec();
        while !text.len().is_multiple_of(3) {
            text.push(0);
        }
        base64_within(&text, 0)
    }

    #[test]
    fn base64_is_that_of_the_standard() {
        for (bytes, text) in [("foobar", "Zm9vYmFy"), ("foo", "Zm9v"), ("fo", "Zm"), ("f", "Z")] {
            assert_eq!(base64_within(bytes.as_bytes(), 0), text, "{bytes}");
        }
        // Of "xbar" (eGJhcg) and "xxbar" (eHhiYXI), what "bar" alone decides.
        assert_eq!(base64_within(b"bar", 1), "Jhc");
        assert_eq!(base64_within(b"bar", 2), "iYX");
        assert_eq!(base64_decoded("Zm9vYmE").as_deref(), Some("fooba"));
        assert_eq!(base64_decoded("fn5-Pz8_").as_deref(), Some("~~~???"));
        assert_eq!(base64_decoded("Zm9v.mFy"), None);
        assert_eq!(base64_decoded("____"), None);
    }

    proptest! {
        #[test]
        fn a_text_is_found_in_every_dress(
            secret in "[A-Za-z0-9+/_~.-]{8,40}",
            around in ("[a-z é]{0,5}", "[ -~é]{0,5}"),
        ) {
            let dresses = [
                secret.clone(),
                secret.to_uppercase(),
                percent(&secret),
                percent(&secret).replace('%', "%25"),
                percent(&secret).replace('%', "%2525"),
                secret.replace('/', "\\/"),
                secret.bytes().map(|byte| format!("\\u{byte:04x}")).collect(),
                hex(secret.as_bytes()),
                base64(&[around.0.as_bytes(), secret.as_bytes(), around.1.as_bytes()].concat()),
            ];
            let sought = Sought::new(&secret);
            for dress in &dresses {
                let text = ["<", dress, ">"].concat();
                prop_assert!(sought.is_in(&text), "{text}");
                let left = sought.replaced(&text, "*");
                prop_assert!(left.contains('*') && !sought.is_in(&left), "{left}");
            }
            // All of them in one text, whichever comes first.
            for first in 0..dresses.len() {
                let text = [&dresses[first..], &dresses[..first]].concat().join(" ");
                let left = sought.replaced(&text, "*");
                prop_assert!(!sought.is_in(&left), "{left}");
            }
        }

        #[test]
        fn no_text_breaks_it(text: String, secret in ".{1,12}") {
            let sought = Sought::new(&secret);
            prop_assert_eq!(sought.is_in(&text), sought.replaced(&text, "") != text);
        }
    }

    #[test]
    fn what_is_around_it_stays() {
        let sought = Sought::new("sk_live_0123");
        assert_eq!(sought.replaced("a SK%5fLIVE_0123 b sk_live_0123", "*"), "a * b *");
        assert_eq!(sought.replaced("sk_live 100 % é", "*"), "sk_live 100 % é");
    }
}
