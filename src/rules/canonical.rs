//! One text for all spellings of a JSON value, so that requests can be told apart by digest.

use super::json::{self, DEPTH_MAX, JsonError};
use crate::model::value::Value;

/// The canonical text: no white space, members sorted by the UTF-16 code units of their names,
/// strings escaped only where JSON requires it.
///
/// Numbers keep their text, so `1`, `1.0` and `1e0` stay three values: it may tell apart what a
/// service takes for the same, and never the reverse.
///
/// # Errors
///
/// Those of [`json::parse`], at its default depth.
pub fn canonical(json: &[u8]) -> Result<Vec<u8>, JsonError> {
    let mut value = json::parse(json, DEPTH_MAX)?;
    sort_members(&mut value);
    Ok(value.to_json().into_bytes())
}

fn sort_members(value: &mut Value) {
    match value {
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
        Value::List(items) => items.iter_mut().for_each(sort_members),
        Value::Map(members) => {
            members.sort_unstable_by(|(one, _), (other, _)| {
                one.encode_utf16().cmp(other.encode_utf16())
            });
            members.iter_mut().for_each(|(_, member)| sort_members(member));
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::{model::dice::Dice, rules::json::tests::any_value};

    fn canonical_text(text: &str) -> Result<String, JsonError> {
        canonical(text.as_bytes()).map(|bytes| String::from_utf8(bytes).unwrap())
    }

    fn shuffle(value: &mut Value, dice: &mut Dice) {
        match value {
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
            Value::List(items) => items.iter_mut().for_each(|item| shuffle(item, dice)),
            Value::Map(members) => {
                for index in (1..members.len()).rev() {
                    members.swap(index, dice.up_to(index as u64) as usize);
                }
                members.iter_mut().for_each(|(_, member)| shuffle(member, dice));
            }
        }
    }

    proptest! {
        #[test]
        fn the_order_of_members_and_white_space_change_nothing(value in any_value(), seed: u64) {
            let expected = canonical_text(&value.to_string());
            let pretty = serde_json::to_string_pretty(&value).unwrap();
            prop_assert_eq!(&canonical_text(&pretty), &expected);
            let mut shuffled = json::parse(pretty.as_bytes(), DEPTH_MAX).unwrap();
            shuffle(&mut shuffled, &mut Dice::seeded(seed));
            prop_assert_eq!(&canonical_text(&shuffled.to_json()), &expected);
        }

        #[test]
        fn the_canonical_text_is_its_own_and_means_the_same(value in any_value()) {
            let text = canonical_text(&value.to_string()).unwrap();
            prop_assert_eq!(canonical_text(&text), Ok(text.clone()));
            // So two values of one canonical text are one value.
            let back: serde_json::Value = serde_json::from_str(&text).unwrap();
            let reread: serde_json::Value = serde_json::from_str(&value.to_string()).unwrap();
            prop_assert_eq!(back, reread);
        }
    }

    #[test]
    fn members_are_sorted_by_utf_16_code_units() {
        // U+1F600 begins with the unit D83D, before U+FB33, though its code point is after it.
        assert_eq!(
            canonical_text(r#"{"\ufb33":1,"\ud83d\ude00":2,"b":{"d":3,"c":4},"a":5}"#).unwrap(),
            "{\"a\":5,\"b\":{\"c\":4,\"d\":3},\"\u{1f600}\":2,\"\u{fb33}\":1}"
        );
    }

    #[test]
    fn numbers_that_are_written_differently_stay_different() {
        let texts = ["1", "1.0", "1e0", "-0", "0", "9007199254740993", "9007199254740992"];
        for text in texts {
            assert_eq!(canonical_text(text).unwrap(), text);
        }
    }

    #[test]
    fn strings_are_escaped_only_where_needed() {
        assert_eq!(canonical_text(r#""\u0041\/\u00e9\u001F\"""#).unwrap(), r#""A/é\u001f\"""#);
    }
}
