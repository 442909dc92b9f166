//! What a response's body says, at the places that a profile points at.

use super::table::Table;

/// One value that was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fact {
    /// A string.
    Text(String),
    /// A string that is too long to be kept, or no UTF-8: it is there, and what it says is not known.
    Long,
    /// A number as its text: a 64-bit id is never rounded.
    Number(String),
    /// `true` or `false`
    Bool(bool),
    /// `null`
    Null,
    /// An array, by its length.
    List {
        /// How many items it has.
        len: u64,
    },
    /// An object, by its size.
    Map {
        /// How many members it has.
        len: u64,
    },
}

/// What a body turned out to be, whatever its declared type.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum BodyForm {
    /// No bytes, or nothing but white space.
    #[default]
    Empty,
    /// One whole JSON value.
    Json,
    /// Something that does not begin as JSON: HTML, plain text, binary.
    NotJson,
    /// JSON that stops in the middle, is malformed or nests too deep.
    Broken,
}

/// The facts of one body, by the names that the profile gives them.
///
/// A [`BodyForm::Broken`] body keeps the facts that were whole before it broke: an id in it is
/// evidence, but what follows could have said otherwise. Look at `form` first.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Facts {
    /// What was found.
    pub values: Table<String, Fact>,
    /// What the body is.
    pub form: BodyForm,
}

impl Fact {
    /// Whether it is as if nothing were there: `null`, or an empty text.
    pub fn is_blank(&self) -> bool {
        match self {
            Self::Null => true,
            Self::Text(text) => text.is_empty(),
            Self::Long | Self::Number(_) | Self::Bool(_) | Self::List { .. } | Self::Map { .. } => {
                false
            }
        }
    }
}

impl Facts {
    /// A string, or a number's text.
    pub fn text(&self, name: &str) -> Option<&str> {
        match self.values.get(name)? {
            Fact::Text(text) | Fact::Number(text) => Some(text),
            Fact::Long | Fact::Bool(_) | Fact::Null | Fact::List { .. } | Fact::Map { .. } => None,
        }
    }

    /// A truth value.
    pub fn bool(&self, name: &str) -> Option<bool> {
        match self.values.get(name)? {
            Fact::Bool(value) => Some(*value),
            Fact::Text(_)
            | Fact::Long
            | Fact::Number(_)
            | Fact::Null
            | Fact::List { .. }
            | Fact::Map { .. } => None,
        }
    }

    /// A string, a number's text, or the word for a truth value.
    pub fn word(&self, name: &str) -> Option<&str> {
        match self.bool(name) {
            Some(true) => Some("true"),
            Some(false) => Some("false"),
            None => self.text(name),
        }
    }

    /// Whether something is there that says more than "no": nothing, none and zero do not.
    pub fn is_set(&self, name: &str) -> bool {
        match self.values.get(name) {
            None | Some(Fact::Null) => false,
            Some(Fact::Long) => true,
            Some(Fact::Bool(value)) => *value,
            Some(Fact::List { len } | Fact::Map { len }) => *len > 0,
            Some(Fact::Text(text) | Fact::Number(text)) => {
                !text.trim_matches(['0', '.', '-']).is_empty()
                    && !text.eq_ignore_ascii_case("false")
            }
        }
    }

    /// The length of an array, or how many members an object has.
    pub fn count(&self, name: &str) -> Option<u64> {
        match self.values.get(name)? {
            Fact::List { len } | Fact::Map { len } => Some(*len),
            Fact::Text(_) | Fact::Long | Fact::Number(_) | Fact::Bool(_) | Fact::Null => None,
        }
    }

    /// A whole number, written as a number or as a string; `None` for fractions, exponents and
    /// what 64 bits cannot hold.
    pub fn integer(&self, name: &str) -> Option<i64> {
        self.text(name)?.parse().ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn facts(fact: Fact) -> Facts {
        let mut values = Table::new();
        values.insert("it".to_owned(), fact);
        Facts { values, form: BodyForm::Json }
    }

    #[test]
    fn each_reading_takes_only_its_own_kind() {
        assert_eq!(facts(Fact::Text("a".into())).text("it"), Some("a"));
        assert_eq!(facts(Fact::Number("1.0".into())).text("it"), Some("1.0"));
        assert_eq!(facts(Fact::Bool(true)).text("it"), None);
        assert_eq!(facts(Fact::Bool(false)).bool("it"), Some(false));
        assert_eq!(facts(Fact::Text("true".into())).bool("it"), None);
        assert_eq!(facts(Fact::List { len: 3 }).count("it"), Some(3));
        assert_eq!(facts(Fact::Map { len: 0 }).count("it"), Some(0));
        assert_eq!(facts(Fact::Number("3".into())).count("it"), None);
        assert_eq!(facts(Fact::Null).text("other"), None);
    }

    #[test]
    fn what_is_empty_zero_or_false_sets_nothing() {
        let text = |text: &str| Fact::Text(text.into());
        let number = |text: &str| Fact::Number(text.into());
        for fact in [
            Fact::Null,
            Fact::Bool(false),
            Fact::List { len: 0 },
            Fact::Map { len: 0 },
            number("0"),
            number("-0.0"),
            text(""),
            text("0"),
            text("False"),
        ] {
            assert!(!facts(fact.clone()).is_set("it"), "{fact:?}");
        }
        for fact in [
            Fact::Long,
            Fact::Bool(true),
            Fact::List { len: 1 },
            Fact::Map { len: 1 },
            number("-1"),
            number("0.10"),
            text("E0"),
            text("no such page"),
        ] {
            assert!(facts(fact.clone()).is_set("it"), "{fact:?}");
        }
        assert!(!facts(Fact::Null).is_set("other"));
    }

    #[test]
    fn integers_are_exact_or_absent() {
        assert_eq!(facts(Fact::Number(i64::MIN.to_string())).integer("it"), Some(i64::MIN));
        assert_eq!(facts(Fact::Text("12".into())).integer("it"), Some(12));
        for text in ["1.0", "1e3", "9223372036854775808", ""] {
            assert_eq!(facts(Fact::Number(text.into())).integer("it"), None, "{text}");
        }
    }
}
