use proptest::prelude::*;
use serde_json::Value as Json;

use super::*;
use crate::rules::json::tests::any_value;

fn read_split(body: &[u8], pointers: &[(&str, &str)], sizes: &[usize]) -> Facts {
    let pointers: Vec<_> = pointers
        .iter()
        .map(|(name, pointer)| ((*name).to_owned(), Pointer::parse(pointer).unwrap()))
        .collect();
    let mut reader = FactsReader::new(&pointers, FactsLimits::default());
    let mut rest = body;
    for size in sizes {
        let (chunk, left) = rest.split_at((*size).min(rest.len()));
        reader.push(chunk);
        rest = left;
    }
    reader.push(rest);
    reader.finish()
}

fn read(body: &str, pointers: &[(&str, &str)]) -> Facts {
    read_split(body.as_bytes(), pointers, &[])
}

fn form(body: &[u8]) -> BodyForm {
    read_split(body, &[], &[]).form
}

fn expected(value: &Json) -> Fact {
    match value {
        Json::Null => Fact::Null,
        Json::Bool(value) => Fact::Bool(*value),
        Json::Number(number) => Fact::Number(number.to_string()),
        Json::String(text) => Fact::Text(text.clone()),
        Json::Array(items) => Fact::List { len: items.len() as u64 },
        Json::Object(members) => Fact::Map { len: members.len() as u64 },
    }
}

fn pointers_into(value: &Json, at: &str, pointers: &mut Vec<String>) {
    pointers.push(at.to_owned());
    match value {
        Json::Array(items) => {
            for (index, item) in items.iter().enumerate() {
                pointers_into(item, &format!("{at}/{index}"), pointers);
            }
            pointers.push(format!("{at}/-"));
            pointers.push(format!("{at}/00"));
            pointers.push(format!("{at}/{}", items.len()));
        }
        Json::Object(members) => {
            for (name, member) in members {
                let name = name.replace('~', "~0").replace('/', "~1");
                pointers_into(member, &format!("{at}/{name}"), pointers);
            }
            pointers.push(format!("{at}/absent"));
        }
        Json::Null | Json::Bool(_) | Json::Number(_) | Json::String(_) => {
            pointers.push(format!("{at}/0"));
        }
    }
}

proptest! {
    #[test]
    fn each_pointer_leads_where_rfc_6901_says(value in any_value()) {
        let mut places = Vec::new();
        pointers_into(&value, "", &mut places);
        let pointers: Vec<_> = places.iter().map(|at| (at.as_str(), at.as_str())).collect();
        let facts = read(&value.to_string(), &pointers);
        prop_assert_eq!(facts.form, BodyForm::Json);
        for at in &places {
            let own = facts.values.get(at);
            let expected = value.pointer(at).map(expected);
            prop_assert_eq!(own, expected.as_ref(), "at {}", at);
        }
    }

    #[test]
    fn no_split_changes_the_facts(
        value in any_value(),
        end in any::<prop::sample::Index>(),
        mark: bool,
        sizes in prop::collection::vec(0..6_usize, 0..400),
    ) {
        let mut places = Vec::new();
        pointers_into(&value, "", &mut places);
        let pointers: Vec<_> = places.iter().map(|at| (at.as_str(), at.as_str())).collect();
        let mut body = if mark { BYTE_ORDER_MARK.to_vec() } else { Vec::new() };
        body.extend_from_slice(value.to_string().as_bytes());
        let body = &body[..=end.index(body.len())];
        prop_assert_eq!(
            read_split(body, &pointers, &sizes),
            read_split(body, &pointers, &[]),
        );
    }

    #[test]
    fn no_split_changes_what_any_bytes_are(
        body: Vec<u8>,
        sizes in prop::collection::vec(0..6_usize, 0..40),
    ) {
        let pointers = [("root", ""), ("first", "/0")];
        prop_assert_eq!(
            read_split(&body, &pointers, &sizes),
            read_split(&body, &pointers, &[]),
        );
    }

    #[test]
    fn ids_of_64_bits_survive_as_text(id: u64) {
        let facts = read(&format!("{{\"id\":{id}}}"), &[("id", "/id")]);
        let id = id.to_string();
        prop_assert_eq!(facts.text("id"), Some(id.as_str()));
    }

    #[test]
    fn a_body_cut_short_never_gives_a_part_of_a_value(id: u64, cut in 1..40_usize) {
        let body = format!("{{\"id\":{id},\"x\":\"{id}\",\"list\":[1,2]}}");
        let body = &body[..cut.min(body.len() - 1)];
        let facts = read(body, &[("id", "/id"), ("x", "/x"), ("list", "/list"), ("", "")]);
        prop_assert_eq!(facts.form, BodyForm::Broken);
        let id = id.to_string();
        prop_assert!(facts.text("id").is_none_or(|own| own == id));
        prop_assert!(facts.text("x").is_none_or(|own| own == id));
        prop_assert!(facts.count("list").is_none_or(|own| own == 2));
        prop_assert_eq!(facts.values.get(""), None);
    }
}

#[test]
fn the_first_pointer_of_a_name_that_leads_somewhere_wins() {
    let pointers = [("id", "/id"), ("id", "/run/id"), ("id", "/0/id")];
    assert_eq!(read(r#"{"run":{"id":"b"},"id":"a"}"#, &pointers).text("id"), Some("a"));
    assert_eq!(read(r#"{"run":{"id":"b"}}"#, &pointers).text("id"), Some("b"));
    assert_eq!(read(r#"[{"id":"c"}]"#, &pointers).text("id"), Some("c"));
    assert_eq!(read("[]", &pointers).text("id"), None);
}

#[test]
fn null_and_an_empty_text_count_only_where_there_is_nothing_else() {
    let pointers = [("id", "/id"), ("id", "/run/id")];
    for blank in ["null", "\"\""] {
        let body = format!(r#"{{"id":{blank},"run":{{"id":7}}}}"#);
        assert_eq!(read(&body, &pointers).text("id"), Some("7"));
        let body = format!(r#"{{"id":1,"run":{{"id":{blank}}}}}"#);
        assert_eq!(read(&body, &pointers).text("id"), Some("1"));
    }
    let facts = read(r#"{"id":null,"run":{}}"#, &pointers);
    assert_eq!(facts.values.get("id"), Some(&Fact::Null));
}

#[test]
fn a_bare_value_is_at_the_empty_pointer() {
    assert_eq!(read(r#" "r-1" "#, &[("id", "")]).text("id"), Some("r-1"));
    assert_eq!(
        read("9007199254740993", &[("id", "")]).values.get("id"),
        Some(&Fact::Number("9007199254740993".into()))
    );
}

#[test]
fn the_last_of_two_members_of_one_name_counts_whole() {
    let body = r#"{"a":{"id":1,"n":2},"a":{"id":3}}"#;
    let facts = read(body, &[("id", "/a/id"), ("n", "/a/n"), ("n2", "/a/n")]);
    assert_eq!((facts.text("id"), facts.text("n")), (Some("3"), None));
}

#[test]
fn a_string_is_kept_up_to_64_kib() {
    let body = |len: usize| format!("{{\"long\":\"{}\",\"id\":\"a\"}}", "x".repeat(len));
    let pointers = [("long", "/long"), ("long", "/id"), ("id", "/id")];
    assert_eq!(read(&body(65_536), &pointers).text("long").map(str::len), Some(65_536));
    let facts = read(&body(65_537), &pointers);
    assert_eq!((facts.form, facts.text("long")), (BodyForm::Json, None));
    assert_eq!(facts.values.get("long"), Some(&Fact::Long));
    assert_eq!(facts.text("id"), Some("a"));
}

#[test]
fn half_a_surrogate_pair_elsewhere_does_not_spoil_the_body() {
    let facts =
        read(r#"{"echo":"cut \ud83d","id":"\ud83d\ude00"}"#, &[("e", "/echo"), ("id", "/id")]);
    assert_eq!(facts.form, BodyForm::Json);
    assert_eq!((facts.text("e"), facts.text("id")), (Some("cut \u{fffd}"), Some("😀")));
}

#[test]
fn bodies_are_told_apart() {
    for body in ["", " \r\n", "\u{feff}"] {
        assert_eq!(form(body.as_bytes()), BodyForm::Empty, "{body:?}");
    }
    for body in ["{}", "null", " 1", "\"id\"", "\u{feff}{}"] {
        assert_eq!(form(body.as_bytes()), BodyForm::Json, "{body:?}");
    }
    for body in ["<html>", "Bad gateway", "404 page not found", "not found", "1e", "\u{feff}<"] {
        assert_eq!(form(body.as_bytes()), BodyForm::NotJson, "{body:?}");
    }
    for body in [&b"\x1f\x8b\x08"[..], b"\xef\xbb", b"\xef{}", b"\0"] {
        assert_eq!(form(body), BodyForm::NotJson, "{body:?}");
    }
    for body in ["{", "{\"a\":1", "[1,]", "{\"a\":1}{}", "\"id", "{} x", "{\"a\":1e}"] {
        assert_eq!(form(body.as_bytes()), BodyForm::Broken, "{body:?}");
    }
}

#[test]
fn plain_text_that_begins_with_a_number_gives_no_fact() {
    assert_eq!(read("404 page not found", &[("id", "")]).values, Table::new());
}

#[test]
fn depth_is_bounded() {
    let nested = |depth: usize| "[".repeat(depth) + &"]".repeat(depth);
    assert_eq!(form(nested(DEPTH_MAX).as_bytes()), BodyForm::Json);
    assert_eq!(form(nested(DEPTH_MAX + 1).as_bytes()), BodyForm::Broken);
    assert_eq!(form("[".repeat(1_000_000).as_bytes()), BodyForm::Broken);
}
