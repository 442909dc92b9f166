use proptest::prelude::*;

use super::arbitrary::{any_operation, usual};
use crate::record::{DecodeError, decode, encode};

proptest! {
    #[test]
    fn what_is_written_is_read_back_the_same(operation in any_operation()) {
        prop_assert_eq!(decode(&encode(&operation)), Ok(operation));
    }

    #[test]
    fn a_record_that_is_cut_off_is_damaged(
        operation in any_operation(), place in any::<prop::sample::Index>(),
    ) {
        let text = encode(&operation);
        let cut: String = text.chars().take(place.index(text.chars().count())).collect();
        prop_assert_eq!(decode(&cut), Err(DecodeError::Damaged));
    }

    #[test]
    fn what_is_read_of_a_changed_record_can_be_written_again(
        operation in any_operation(), place in any::<prop::sample::Index>(), bit in 0_u8..8,
    ) {
        let mut bytes = encode(&operation).into_bytes();
        let place = place.index(bytes.len());
        bytes[place] ^= 1 << bit;
        if let Ok(read) = decode(&String::from_utf8_lossy(&bytes)) {
            prop_assert_eq!(decode(&encode(&read)), Ok(read));
        }
    }

    #[test]
    fn no_text_makes_reading_panic(text in ".*", json in "[{}\\[\\]:,\"a-z0-9]*") {
        prop_assert!(decode(&text).is_err());
        prop_assert!(decode(&json).is_err());
    }
}

#[test]
fn a_usual_record_stays_under_two_kilobytes() {
    assert!(encode(&usual()).len() < 2_000);
}

#[test]
fn members_of_a_later_format_survive() {
    let text = encode(&usual()).replacen('{', r#"{"later":{"a":[1.50,null]},"#, 1);
    let read = decode(&text).unwrap();
    assert_eq!(read.unknown.len(), 1);
    assert!(encode(&read).contains(r#""later":{"a":[1.50,null]}"#));
}

#[test]
fn a_record_that_needs_a_later_reader_is_not_read() {
    let text = encode(&usual()).replacen(r#""minReader":1"#, r#""minReader":2"#, 1);
    assert_eq!(decode(&text), Err(DecodeError::Newer));
    let text = text.replacen(r#""life":{"#, r#""life":{"other":1,"#, 1);
    assert_eq!(decode(&text), Err(DecodeError::Newer));
}

#[test]
fn a_record_whose_members_are_missing_or_of_other_types_is_damaged() {
    for name in [
        "minReader",
        "id",
        "account",
        "key",
        "url",
        "limits",
        "spent",
        "life",
        "evidence",
        "stage",
        "hold",
        "reported",
        "ledger",
        "counters",
        "revision",
    ] {
        let member = [r#"""#, name, r#"":"#].concat();
        let text = encode(&usual());
        assert_eq!(text.matches(&member).count().min(1), 1, "{name}");
        let renamed = text.replacen(&member, r#""other":"#, 1);
        assert_eq!(decode(&renamed), Err(DecodeError::Damaged), "{name}");
        let retyped = text.replacen(&member, &[&member, r#"[],"other":"#].concat(), 1);
        assert_eq!(decode(&retyped), Err(DecodeError::Damaged), "{name}");
    }
}

#[test]
fn a_state_that_no_transitions_lead_to_is_damaged() {
    let text = encode(&usual());
    let work = r#""stage":{"work":{}}"#;
    assert!(text.contains(work));
    for stage in [
        r#""stage":{"ended":{"at":1,"cancelled":{}}}"#,
        r#""stage":{"ended":{"at":1}}"#,
        r#""stage":{"elsewhere":{}}"#,
        r#""stage":{"work":{},"submit":{}}"#,
        r#""stage":{}"#,
        r#""stage":"work""#,
    ] {
        let changed = text.replacen(work, stage, 1);
        assert_eq!(decode(&changed), Err(DecodeError::Damaged), "{stage}");
    }
}
