//! Structured fields (RFC 9651), as far as the fields of this crate go.

use super::cursor::Cursor;

/// A bare item.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Bare {
    /// A whole number of at most 15 digits.
    Integer(i64),
    /// A decimal, in thousandths.
    Decimal(i64),
    /// A string, unescaped.
    String(String),
    /// A token.
    Token(String),
    /// A byte sequence, still in base64.
    Bytes(String),
    /// `?1` or `?0`, or a parameter without a value.
    Boolean(bool),
    /// A date, in seconds since the epoch.
    Date(i64),
}

impl Bare {
    /// The whole number that this is.
    pub fn integer(&self) -> Option<i64> {
        match self {
            Self::Integer(value) => Some(*value),
            Self::Decimal(_)
            | Self::String(_)
            | Self::Token(_)
            | Self::Bytes(_)
            | Self::Boolean(_)
            | Self::Date(_) => None,
        }
    }
}

/// One item of a list, with its parameters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Item {
    /// What the item is.
    pub bare: Bare,
    /// Its parameters; each key once.
    pub parameters: Vec<(String, Bare)>,
}

impl Item {
    /// The parameter of this key.
    pub fn parameter(&self, key: &str) -> Option<&Bare> {
        self.parameters.iter().find(|(own, _)| own == key).map(|(_, value)| value)
    }
}

/// The text as a string of a structured field, in double quotes; `None` when it has characters
/// other than printable ASCII.
pub fn serialize_string(text: &str) -> Option<String> {
    let mut out = String::with_capacity(text.len() + 2);
    out.push('"');
    for character in text.chars() {
        match character {
            '"' | '\\' => {
                out.push('\\');
                out.push(character);
            }
            ' '..='~' => out.push(character),
            _ => return None,
        }
    }
    out.push('"');
    Some(out)
}

/// Reads a list of items; `None` when any part of it is malformed, for then the standard says to
/// ignore the whole field. Inner lists and display strings count as malformed.
pub fn parse_list(text: &str) -> Option<Vec<Item>> {
    let mut text = Cursor::new(text.trim_matches(' '));
    let mut items = Vec::new();
    while !text.is_at_end() {
        items.push(item(&mut text)?);
        skip_blanks(&mut text);
        if text.is_at_end() {
            break;
        }
        text.expect(",")?;
        skip_blanks(&mut text);
        if text.is_at_end() {
            return None;
        }
    }
    Some(items)
}

fn skip_blanks(text: &mut Cursor<'_>) {
    text.take_while(|byte| matches!(byte, b' ' | b'\t'));
}

fn item(text: &mut Cursor<'_>) -> Option<Item> {
    let bare = bare(text)?;
    let mut parameters: Vec<(String, Bare)> = Vec::new();
    while text.eat(";") {
        text.take_while(|byte| byte == b' ');
        let key = key(text)?;
        let value = if text.eat("=") { self::bare(text)? } else { Bare::Boolean(true) };
        parameters.retain(|(own, _)| *own != key);
        parameters.push((key, value));
    }
    Some(Item { bare, parameters })
}

fn key(text: &mut Cursor<'_>) -> Option<String> {
    if !matches!(text.peek()?, b'a'..=b'z' | b'*') {
        return None;
    }
    let key = text.take_while(|byte| {
        byte.is_ascii_lowercase()
            || byte.is_ascii_digit()
            || matches!(byte, b'_' | b'-' | b'.' | b'*')
    });
    Some(key.to_owned())
}

fn bare(text: &mut Cursor<'_>) -> Option<Bare> {
    match text.peek()? {
        b'-' | b'0'..=b'9' => number(text),
        b'"' => string(text),
        b'*' | b'a'..=b'z' | b'A'..=b'Z' => Some(Bare::Token(text.take_while(is_token).to_owned())),
        b'?' => Some(Bare::Boolean(text.word(&["?0", "?1"])? == 1)),
        b':' => {
            text.expect(":")?;
            let base64 = text.take_while(|byte| {
                byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'=')
            });
            text.expect(":")?;
            Some(Bare::Bytes(base64.to_owned()))
        }
        b'@' => {
            text.expect("@")?;
            number(text)?.integer().map(Bare::Date)
        }
        _ => None,
    }
}

fn is_token(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~:/".contains(&byte)
}

fn number(text: &mut Cursor<'_>) -> Option<Bare> {
    let sign = if text.eat("-") { -1 } else { 1 };
    let whole = text.take_while(|byte| byte.is_ascii_digit());
    let has_fraction = text.eat(".");
    let whole_len_max = if has_fraction { 12 } else { 15 };
    if whole.is_empty() || whole.len() > whole_len_max {
        return None;
    }
    let value = sign * whole.parse::<i64>().ok()?;
    if !has_fraction {
        return Some(Bare::Integer(value));
    }
    let fraction = text.take_while(|byte| byte.is_ascii_digit());
    let unit = match fraction.len() {
        1 => 100,
        2 => 10,
        3 => 1,
        _ => return None,
    };
    Some(Bare::Decimal(value * 1000 + sign * unit * fraction.parse::<i64>().ok()?))
}

fn string(text: &mut Cursor<'_>) -> Option<Bare> {
    text.expect("\"")?;
    let mut out = String::new();
    loop {
        let is_plain = |byte| matches!(byte, b' '..=b'~') && !matches!(byte, b'"' | b'\\');
        out.push_str(text.take_while(is_plain));
        if text.eat("\"") {
            return Some(Bare::String(out));
        }
        text.expect("\\")?;
        out.push(if text.word(&["\"", "\\"])? == 0 { '"' } else { '\\' });
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn same(own: &Bare, other: &sfv::BareItem) -> bool {
        match own {
            Bare::Integer(own) => other.as_integer().is_some_and(|other| i64::from(other) == *own),
            Bare::Decimal(own) => other.as_decimal().is_some_and(|other| {
                other.as_integer_scaled_1000() == sfv::Integer::try_from(*own).unwrap()
            }),
            Bare::String(own) => other.as_string().is_some_and(|other| other.as_str() == own),
            Bare::Token(own) => other.as_token().is_some_and(|other| other.as_str() == own),
            Bare::Bytes(_) => other.as_byte_sequence().is_some(),
            Bare::Boolean(own) => other.as_boolean() == Some(*own),
            Bare::Date(own) => {
                other.as_date().is_some_and(|other| i64::from(other.unix_seconds()) == *own)
            }
        }
    }

    fn nearly_list() -> impl Strategy<Value = String> {
        let part = prop::sample::select(vec![
            "a",
            "B",
            "*",
            "-",
            "1",
            "23",
            ".",
            "5",
            ";",
            "=",
            ",",
            " ",
            "\t",
            "\"",
            "\\",
            "\"x\"",
            "?1",
            "?0",
            "?",
            "@",
            ":",
            ":YQ==:",
            ";r=0",
            ";t=30",
            "\"default\"",
            "é",
            "_",
            "999999999999999",
            "/",
        ]);
        prop::collection::vec(part, 0..10).prop_map(|parts| parts.concat())
    }

    proptest! {
        #[test]
        fn lists_mean_what_the_oracle_says(text in nearly_list()) {
            let own = parse_list(&text);
            let other = sfv::Parser::new(&text).parse::<sfv::List>();
            match (own, other) {
                (Some(own), Ok(other)) => {
                    prop_assert_eq!(own.len(), other.len());
                    for (own, other) in own.iter().zip(&other) {
                        let sfv::ListEntry::Item(other) = other else { panic!("no inner lists") };
                        prop_assert!(same(&own.bare, &other.bare_item));
                        prop_assert_eq!(own.parameters.len(), other.params.len());
                        for (key, value) in &other.params {
                            prop_assert!(same(own.parameter(key.as_str()).unwrap(), value));
                        }
                    }
                }
                (None, Err(_)) => {}
                // Base64 is left as it is, and so are its mistakes.
                (Some(_), Err(_)) if text.contains(':') => {}
                (own, other) => panic!("{text:?}: {own:?}, but {other:?}"),
            }
        }

        #[test]
        fn a_string_comes_back_from_its_field(text in "[ -~]*") {
            let field = serialize_string(&text).unwrap();
            let other = sfv::Parser::new(&field).parse::<sfv::Item>().unwrap();
            prop_assert_eq!(other.bare_item.as_string().unwrap().as_str(), text.as_str());
            prop_assert_eq!(&parse_list(&field).unwrap()[0].bare, &Bare::String(text));
        }

        #[test]
        fn no_text_makes_it_panic(text in ".*") {
            parse_list(&text);
        }
    }

    #[test]
    fn what_a_string_cannot_hold_is_refused() {
        for text in ["é", "a\nb", "\u{7f}", "\0"] {
            assert_eq!(serialize_string(text), None, "{text:?}");
        }
    }

    #[test]
    fn rate_limit_fields_are_read() {
        let items =
            parse_list(r#""burst";q=100;w=60, "daily";q=1000;w=86400;pk=:cHsdsRa894==:"#).unwrap();
        assert_eq!(items[0].bare, Bare::String("burst".to_owned()));
        assert_eq!(items[1].parameter("w"), Some(&Bare::Integer(86_400)));
        assert_eq!(items[1].parameter("pk"), Some(&Bare::Bytes("cHsdsRa894==".to_owned())));
    }
}
