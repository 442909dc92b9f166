//! Reads JSON text (RFC 8259) to a [`Value`] without rounding or reordering anything.

use actson::{JsonEvent, parser::ParserError};

use super::json_tokens::{JsonTokens, LoneSurrogates};
use crate::model::value::Value;

/// How deep a text may nest where the caller has no bound of its own.
pub const DEPTH_MAX: usize = 64;

/// Why a text is not taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum JsonError {
    /// The text breaks the grammar, goes on after its end, or escapes half a surrogate pair.
    #[error("not JSON")]
    Syntax,
    /// The text ends before its value does.
    #[error("JSON that ends too early")]
    Incomplete,
    /// The bytes are not UTF-8.
    #[error("not UTF-8")]
    NotUtf8,
    /// The text nests deeper than the bound.
    #[error("nested too deeply")]
    TooDeep,
    /// An object has two members of one name, of which readers keep different ones.
    #[error("an object names a member twice")]
    DuplicateMember,
}

impl From<ParserError> for JsonError {
    fn from(_: ParserError) -> Self {
        Self::Syntax
    }
}

/// Reads one JSON value with at most `depth_max` objects and arrays around each other.
///
/// Numbers keep their text and members their order.
///
/// # Errors
///
/// Everything that RFC 8259 forbids, and what it leaves open: too deep, two members of one name,
/// half a surrogate pair.
pub fn parse(text: &[u8], depth_max: usize) -> Result<Value, JsonError> {
    core::str::from_utf8(text).map_err(|_| JsonError::NotUtf8)?;
    let mut tokens = JsonTokens::new(LoneSurrogates::Refuse, depth_max, usize::MAX);
    let mut tree = Tree { depth_max, open: Vec::new(), root: None };
    let mut take = |event, tokens: &JsonTokens| tree.take(event, tokens);
    tokens.feed(text, &mut take)?;
    // White space ends a number, which could go on otherwise.
    tokens.feed(b" ", &mut take).map_err(|_| JsonError::Incomplete)?;
    tree.root.ok_or(JsonError::Incomplete)
}

/// An object or an array whose end has not come yet.
enum Open {
    List(Vec<Value>),
    Map(Vec<(String, Value)>, String),
}

struct Tree {
    depth_max: usize,
    open: Vec<Open>,
    root: Option<Value>,
}

impl Tree {
    fn take(&mut self, event: JsonEvent, tokens: &JsonTokens) -> Result<(), JsonError> {
        let text = || tokens.text().map(str::to_owned).ok_or(JsonError::NotUtf8);
        match event {
            JsonEvent::NeedMoreInput => {}
            JsonEvent::StartObject => self.begin(Open::Map(Vec::new(), String::new()))?,
            JsonEvent::StartArray => self.begin(Open::List(Vec::new()))?,
            JsonEvent::EndObject | JsonEvent::EndArray => match self.open.pop() {
                Some(Open::List(items)) => self.put(Value::List(items)),
                Some(Open::Map(members, _)) => {
                    refuse_duplicates(&members)?;
                    self.put(Value::Map(members));
                }
                None => return Err(JsonError::Syntax),
            },
            JsonEvent::FieldName => {
                if let Some(Open::Map(_, name)) = self.open.last_mut() {
                    *name = text()?;
                }
            }
            JsonEvent::ValueString => self.put(Value::String(text()?)),
            JsonEvent::ValueInt | JsonEvent::ValueFloat => self.put(Value::Number(text()?)),
            JsonEvent::ValueTrue => self.put(Value::Bool(true)),
            JsonEvent::ValueFalse => self.put(Value::Bool(false)),
            JsonEvent::ValueNull => self.put(Value::Null),
        }
        Ok(())
    }

    fn begin(&mut self, open: Open) -> Result<(), JsonError> {
        if self.open.len() >= self.depth_max {
            return Err(JsonError::TooDeep);
        }
        self.open.push(open);
        Ok(())
    }

    fn put(&mut self, value: Value) {
        match self.open.last_mut() {
            Some(Open::List(items)) => items.push(value),
            Some(Open::Map(members, name)) => members.push((core::mem::take(name), value)),
            None => self.root = Some(value),
        }
    }
}

fn refuse_duplicates(members: &[(String, Value)]) -> Result<(), JsonError> {
    let mut names: Vec<&str> = members.iter().map(|(name, _)| name.as_str()).collect();
    names.sort_unstable();
    if names.windows(2).any(|pair| pair[0] == pair[1]) {
        return Err(JsonError::DuplicateMember);
    }
    Ok(())
}

#[cfg(test)]
pub(super) mod tests {
    use proptest::prelude::*;

    use super::*;

    fn parsed(text: &str) -> Result<Value, JsonError> {
        parse(text.as_bytes(), DEPTH_MAX)
    }

    /// Any JSON value, as text with white space and escapes of the generator's choice.
    pub(in crate::rules) fn any_value() -> impl Strategy<Value = serde_json::Value> {
        let leaf = prop_oneof![
            Just(serde_json::Value::Null),
            any::<bool>().prop_map(Into::into),
            any::<i64>().prop_map(Into::into),
            any::<u64>().prop_map(Into::into),
            any::<f64>().prop_map(Into::into),
            ".*".prop_map(Into::into),
        ];
        leaf.prop_recursive(4, 40, 6, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..6).prop_map(Into::into),
                prop::collection::btree_map(".{0,8}", inner, 0..6)
                    .prop_map(|map| serde_json::Value::Object(map.into_iter().collect())),
            ]
        })
    }

    /// Text near the grammar, so that both sides of its border are met.
    fn nearly_json() -> impl Strategy<Value = String> {
        let part = prop::sample::select(vec![
            "{", "}", "[", "]", ",", ":", "\"a\"", "\"b\"", "\"", "\\", "\\u00e9", "\\ud83d",
            "\\ude00", "\\n", "\\x", "u", "0", "1", "-", "2", ".", "e", "E", "+", "true", "false",
            "null", "nul", " ", "\t", "\n", "\u{7f}", "\u{1}", "ä", "😀",
        ]);
        prop::collection::vec(part, 0..12).prop_map(|parts| parts.concat())
    }

    fn same(own: &Value, other: &serde_json::Value) -> bool {
        match (own, other) {
            (Value::Null, serde_json::Value::Null) => true,
            (Value::Bool(own), serde_json::Value::Bool(other)) => own == other,
            (Value::String(own), serde_json::Value::String(other)) => own == other,
            (Value::Number(own), serde_json::Value::Number(other)) => {
                // Written by the oracle, or read by it: it may miss a double's last bit.
                *own == other.to_string()
                    || serde_json::from_str::<serde_json::Number>(own)
                        .is_ok_and(|own| own == *other)
            }
            (Value::List(own), serde_json::Value::Array(other)) => {
                own.len() == other.len()
                    && own.iter().zip(other).all(|(own, other)| same(own, other))
            }
            (Value::Map(own), serde_json::Value::Object(other)) => {
                own.len() == other.len()
                    && own
                        .iter()
                        .all(|(name, own)| other.get(name).is_some_and(|other| same(own, other)))
            }
            _ => false,
        }
    }

    proptest! {
        #[test]
        fn any_value_is_read_with_its_meaning_and_written_back_the_same(value in any_value(), pretty: bool) {
            let text = if pretty {
                serde_json::to_string_pretty(&value).unwrap()
            } else {
                value.to_string()
            };
            let own = parsed(&text).unwrap();
            prop_assert!(same(&own, &value));
            prop_assert_eq!(parsed(&own.to_json()), Ok(own));
        }

        #[test]
        fn exactly_the_grammar_is_accepted(text in nearly_json()) {
            let own = parsed(&text);
            match serde_json::from_str::<serde_json::Value>(&text) {
                Ok(other) => prop_assert!(
                    own == Err(JsonError::DuplicateMember)
                        || own.as_ref().is_ok_and(|own| same(own, &other)),
                    "{} became {:?}", text, own
                ),
                // A number out of the range of a double is JSON all the same.
                Err(error) if error.to_string().contains("number out of range") => {}
                Err(_) => prop_assert!(own.is_err(), "{} became {:?}", text, own),
            }
        }

        #[test]
        fn no_bytes_make_it_panic(bytes: Vec<u8>) {
            let _ = parse(&bytes, DEPTH_MAX);
        }

        #[test]
        fn strings_survive_escaped_as_utf_16(text in ".*") {
            let escaped: String = text.encode_utf16().map(|unit| format!("\\u{unit:04X}")).collect();
            prop_assert_eq!(parsed(&format!("\"{escaped}\"")), Ok(Value::String(text)));
        }
    }

    #[test]
    fn numbers_keep_their_text() {
        for text in ["18446744073709551617", "-0", "1.10", "1E400", "0.1e+2"] {
            assert_eq!(parsed(text), Ok(Value::Number(text.to_owned())));
        }
    }

    #[test]
    fn members_keep_their_order() {
        assert_eq!(parsed(r#"{"b":1,"a":2}"#).unwrap().to_json(), r#"{"b":1,"a":2}"#);
    }

    #[test]
    fn two_members_of_one_name_are_refused() {
        assert_eq!(parsed(r#"[{"a":1,"b":2,"\u0061":3}]"#), Err(JsonError::DuplicateMember));
    }

    #[test]
    fn depth_is_bounded() {
        let nested = |depth: usize| "[".repeat(depth) + &"]".repeat(depth);
        assert!(parsed(&nested(DEPTH_MAX)).is_ok());
        assert_eq!(parsed(&nested(DEPTH_MAX + 1)), Err(JsonError::TooDeep));
        assert_eq!(parse(b"1", 0), Ok(Value::Number("1".to_owned())));
        assert_eq!(parse(b"{}", 0), Err(JsonError::TooDeep));
    }

    #[test]
    fn bytes_that_are_not_utf_8_are_refused() {
        assert_eq!(parse(b"\"\xff\"", DEPTH_MAX), Err(JsonError::NotUtf8));
    }

    #[test]
    fn what_follows_the_value_is_refused() {
        for text in ["{} {}", "1 2", "[]]", "\"a\"b", "{},"] {
            assert_eq!(parsed(text), Err(JsonError::Syntax), "{text}");
        }
    }

    #[test]
    fn half_a_surrogate_pair_is_refused() {
        for text in [
            r#""\ud83d""#,
            r#""\ude00""#,
            r#""\ud83dabcdef\ude00""#,
            r#""\ud83d\n""#,
            r#""abcdef\ude00""#,
        ] {
            assert_eq!(parsed(text), Err(JsonError::Syntax), "{text}");
        }
    }

    #[test]
    fn text_that_ends_too_early_is_told_from_malformed_text() {
        for text in ["", " ", "[1", "{\"a\":", "\"abc", "[1,2"] {
            assert_eq!(parsed(text), Err(JsonError::Incomplete), "{text:?}");
        }
        for text in ["1e", "-", "1.", "tru"] {
            assert_eq!(parsed(text), Err(JsonError::Incomplete), "{text:?}");
        }
    }
}
