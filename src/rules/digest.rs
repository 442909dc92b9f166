//! SHA-256 (FIPS 180-4), over parts that cannot be mistaken for one another.

use sha2::{Digest, Sha256};

use super::disguise::base64_within;

/// The digest of some parts: each goes in after its length (64 bits, big endian), so that no
/// other way of cutting the same bytes gives the same digest.
pub fn sha256(parts: &[&[u8]]) -> [u8; 32] {
    let mut stream = Sha256Stream::default();
    for part in parts {
        stream.update(&(part.len() as u64).to_be_bytes());
        stream.update(part);
    }
    stream.finish()
}

/// The bytes as lower-case hexadecimal digits.
pub fn hex(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let mut out = String::with_capacity(bytes.len() * 2);
    for byte in bytes {
        out.push(char::from(DIGITS[usize::from(byte >> 4)]));
        out.push(char::from(DIGITS[usize::from(byte & 15)]));
    }
    out
}

/// Whether a declared digest is of other bytes than those with this SHA-256 (in hex). It may be bare
/// hex, or labelled as in `Content-Digest` (RFC 9530) and `Digest` (RFC 3230), in base64 or hex; of a
/// digest of another kind nothing can be said.
pub fn disagrees(declared: &str, sha256: &str) -> bool {
    for member in declared.split(',') {
        let member = member.trim_ascii();
        let Some(end) = member.bytes().position(|byte| matches!(byte, b'=' | b':')) else {
            return !member.eq_ignore_ascii_case(sha256);
        };
        let (label, value) = member.split_at(end);
        if ["sha-256", "sha256"].iter().any(|own| label.eq_ignore_ascii_case(own)) {
            let value = value.trim_start_matches(['=', ':']);
            let hex = value.get(..sha256.len()).is_some_and(|own| own.eq_ignore_ascii_case(sha256));
            return !hex && !value.starts_with(&base64_within(&unhex(sha256), 0));
        }
    }
    false
}

fn unhex(text: &str) -> Vec<u8> {
    let mut bytes = Vec::new();
    for (index, digit) in text.chars().filter_map(|own| own.to_digit(16)).enumerate() {
        match bytes.last_mut() {
            Some(byte) if index % 2 == 1 => *byte = *byte << 4 | digit as u8,
            Some(_) | None => bytes.push(digit as u8),
        }
    }
    bytes
}

/// A plain SHA-256 of bytes that come in pieces, without framing.
#[derive(Clone, Default)]
pub struct Sha256Stream(Sha256);

impl Sha256Stream {
    /// Takes the next bytes.
    pub fn update(&mut self, bytes: &[u8]) {
        self.0.update(bytes);
    }

    /// The digest of all bytes taken.
    pub fn finish(self) -> [u8; 32] {
        self.0.finalize().into()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Of the text "hello world".
    const HELLO: &str = "b94d27b9934d3e08a52e52d7da7dabfac484efe37a5380ee9088f7ace2efcde9";

    #[test]
    fn a_declared_digest_is_read_in_every_form_that_the_standards_have() {
        let base64 = "uU0nuZNNPgilLlLX2n2r+sSE7+N6U4DukIj3rOLvzek=";
        for same in [
            HELLO.to_owned(),
            HELLO.to_uppercase(),
            ["sha-256=:", base64, ":"].concat(),
            ["SHA-256=", base64].concat(),
            ["sha256:", HELLO].concat(),
            ["md5=:x:, sha-256=:", base64, ":"].concat(),
        ] {
            assert!(!disagrees(&same, HELLO), "{same}");
        }
        for unknown in ["md5=:Sd/dVLAcvNLSq16eXua5uQ==:", "sha-512=:abc:"] {
            assert!(!disagrees(unknown, HELLO), "{unknown}");
        }
        for other in [
            "00".to_owned(),
            HELLO.replace('b', "c"),
            "sha-256=:47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=:".into(),
            ["sha256:", &HELLO.replace('b', "c")].concat(),
        ] {
            assert!(disagrees(&other, HELLO), "{other}");
        }
    }

    proptest! {
        #[test]
        fn pieces_do_not_change_the_digest_of_a_stream(
            bytes: Vec<u8>, place in any::<prop::sample::Index>(),
        ) {
            let (one, other) = bytes.split_at(place.index(bytes.len() + 1));
            let mut stream = Sha256Stream::default();
            stream.update(one);
            stream.update(other);
            let mut whole = Sha256Stream::default();
            whole.update(&bytes);
            prop_assert_eq!(stream.finish(), whole.finish());
        }

        #[test]
        fn parts_that_are_cut_elsewhere_have_another_digest(
            bytes in prop::collection::vec(any::<u8>(), 1..50), place in any::<prop::sample::Index>(),
        ) {
            let (one, other) = bytes.split_at(place.index(bytes.len()) + 1);
            prop_assert_ne!(sha256(&[one, other]), sha256(&[&[], &bytes]));
            prop_assert_ne!(sha256(&[one, other]), sha256(&[one, other, &[]]));
            prop_assert_ne!(sha256(&[&bytes]), sha256(&[&bytes, &[]]));
        }

        #[test]
        fn hexadecimal_digits_are_two_a_byte(bytes: Vec<u8>) {
            let expected: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
            prop_assert_eq!(hex(&bytes), expected);
        }
    }

    #[test]
    fn the_digest_is_the_standard_s() {
        let mut stream = Sha256Stream::default();
        stream.update(b"abc");
        assert_eq!(
            hex(&stream.finish()),
            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
        );
    }

    #[test]
    fn the_framing_stays_as_it_is_stored() {
        let mut stream = Sha256Stream::default();
        stream.update(b"\0\0\0\0\0\0\0\x02ab\0\0\0\0\0\0\0\x01c");
        assert_eq!(sha256(&[b"ab", b"c"]), stream.finish());
    }
}
