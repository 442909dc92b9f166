//! JSON pointers (RFC 6901).

/// A place in a JSON value: the names and indices that lead to it from the root.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pointer(Vec<String>);

impl Pointer {
    /// Reads a pointer: `""` is the root, `"/runs/0/id"` goes down; `~0` stands for `~` and `~1`
    /// for `/`. `None` when it breaks that grammar.
    pub fn parse(text: &str) -> Option<Self> {
        if text.is_empty() {
            return Some(Self(Vec::new()));
        }
        let mut segments = Vec::new();
        for segment in text.strip_prefix('/')?.split('/') {
            segments.push(unescape(segment)?);
        }
        Some(Self(segments))
    }

    /// The names and indices from the root on, unescaped.
    pub fn segments(&self) -> &[String] {
        &self.0
    }
}

fn unescape(segment: &str) -> Option<String> {
    let mut parts = segment.split('~');
    let mut plain = parts.next()?.to_owned();
    for part in parts {
        let (character, rest) = match part.as_bytes().first()? {
            b'0' => ('~', &part[1..]),
            b'1' => ('/', &part[1..]),
            _ => return None,
        };
        plain.push(character);
        plain.push_str(rest);
    }
    Some(plain)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn segments(text: &str) -> Option<Vec<String>> {
        Pointer::parse(text).map(|pointer| pointer.segments().to_vec())
    }

    #[test]
    fn segments_are_unescaped() {
        assert_eq!(segments(""), Some(vec![]));
        assert_eq!(segments("/"), Some(vec![String::new()]));
        assert_eq!(segments("/a~1b/m~0n/~01"), Some(vec!["a/b".into(), "m~n".into(), "~1".into()]));
    }

    #[test]
    fn what_is_no_pointer_is_refused() {
        for text in ["a", "a/b", "/~", "/~2", "/a~", "/ä~ä"] {
            assert_eq!(segments(text), None, "{text}");
        }
    }
}
