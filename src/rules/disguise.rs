//! Finding a text again whatever it is dressed in: another case, percent-encoding, escapes of JSON,
//! base64 (RFC 4648, in either alphabet).

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

/// A text that is looked for, undressed: as itself, and as what base64 makes of it wherever it stands.
pub struct Sought([Vec<u8>; 4]);

impl Sought {
    /// Looks for this text.
    pub fn new(text: &str) -> Self {
        let plain = |text: &str| undressed(text).0;
        let [first, second, third] = [0, 1, 2].map(|own| base64_within(text.as_bytes(), own));
        Self([plain(text), plain(&first), plain(&second), plain(&third)])
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
    while let Some(own) = all.get(at) {
        let escaped = match (own, all.get(at + 1), all.get(at + 2)) {
            (b'%', Some(high), Some(low)) => digit(*high).zip(digit(*low)),
            _ => None,
        };
        places.push(at);
        let byte = match (escaped, own, all.get(at + 1)) {
            (Some((high, low)), ..) => {
                at += 2;
                high << 4 | low
            }
            (None, b'\\', Some(next)) if next.is_ascii_punctuation() => {
                at += 1;
                *next
            }
            (None, own, _) => *own,
        };
        at += 1;
        bytes.push(match byte {
            b'-' => b'+',
            b'_' => b'/',
            other => other.to_ascii_lowercase(),
        });
    }
    places.push(at);
    (bytes, places)
}

fn digit(byte: u8) -> Option<u8> {
    char::from(byte).to_digit(16).map(|own| own as u8)
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
                secret.replace('/', "\\/"),
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
