//! Finds facts in a response's body while it streams by.
//!
//! Memory is bounded by the limits, not by the body: a string beyond
//! [`FactsLimits::fact_bytes_max`] is passed over as it comes, and what no pointer leads to is
//! neither copied nor kept.

use actson::{JsonEvent, parser::ParserError};

use super::{
    json::DEPTH_MAX,
    json_tokens::{JsonTokens, LoneSurrogates},
};
use crate::model::{
    facts::{BodyForm, Fact, Facts},
    pointer::Pointer,
    table::Table,
};

/// The byte order mark in UTF-8, which JSON forbids, some services send, and browsers pass over.
const BYTE_ORDER_MARK: [u8; 3] = [0xEF, 0xBB, 0xBF];

/// Bounds on what one body may cost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FactsLimits {
    /// How deep the body may nest; deeper is broken. 64 unless told otherwise.
    pub depth_max: usize,
    /// How long a string may be to become a fact, in bytes, each simple escape as two; a longer
    /// one is absent, and a longer number breaks the body. 64 KiB unless told otherwise.
    pub fact_bytes_max: usize,
}

impl Default for FactsLimits {
    fn default() -> Self {
        Self { depth_max: DEPTH_MAX, fact_bytes_max: 64 * 1024 }
    }
}

/// A reader that is pushed a body in pieces of any size and ends with its facts.
pub struct FactsReader {
    tokens: JsonTokens,
    walk: Walk,
    /// How much of a byte order mark has come; its length once there can be none.
    mark: usize,
    /// The first byte that is not white space.
    first: Option<u8>,
    broken: bool,
}

impl FactsReader {
    /// A reader for these names and places.
    ///
    /// A name may come more than once: its first pointer in this order that leads to a value
    /// wins, even where the value is `null` or too long to keep.
    pub fn new(pointers: &[(String, Pointer)], limits: FactsLimits) -> Self {
        let mut targets = Vec::new();
        for (name, pointer) in pointers {
            let (name, pointer) = (name.clone(), pointer.clone());
            targets.push(Target { name, pointer, matched: 0, found: Found::Nothing });
        }
        Self {
            tokens: JsonTokens::new(
                LoneSurrogates::Replace,
                limits.depth_max,
                limits.fact_bytes_max,
            ),
            walk: Walk { targets, open: Vec::new(), depth_max: limits.depth_max, whole: false },
            mark: 0,
            first: None,
            broken: false,
        }
    }

    /// Takes the next piece of the body.
    pub fn push(&mut self, chunk: &[u8]) {
        let rest = self.after_mark(chunk);
        if self.first.is_none() {
            self.first = rest.iter().copied().find(|byte| !byte.is_ascii_whitespace());
        }
        self.feed(rest);
    }

    /// Ends the body and gives what was found.
    ///
    /// An object of which a member comes twice has its last value, as for every JavaScript reader.
    pub fn finish(mut self) -> Facts {
        // White space ends a bare number. Inside an object a number at the end of the text may be
        // part of a longer one, and is no fact.
        if self.walk.open.is_empty() {
            self.feed(b" ");
        }
        let form = match self.first {
            _ if matches!(self.mark, 1 | 2) => BodyForm::NotJson,
            None => BodyForm::Empty,
            Some(_) if self.walk.whole && !self.broken => BodyForm::Json,
            Some(b'{' | b'[' | b'"') => BodyForm::Broken,
            Some(_) => BodyForm::NotJson,
        };
        let values = match form {
            BodyForm::Json | BodyForm::Broken => self.walk.into_values(),
            BodyForm::Empty | BodyForm::NotJson => Table::new(),
        };
        Facts { values, form }
    }

    fn feed(&mut self, bytes: &[u8]) {
        if !self.broken {
            let walk = &mut self.walk;
            let fed = self.tokens.feed(bytes, |event, tokens| walk.take(event, tokens));
            self.broken = fed.is_err();
        }
    }

    fn after_mark<'c>(&mut self, mut chunk: &'c [u8]) -> &'c [u8] {
        while let (Some(expected), Some((byte, rest))) =
            (BYTE_ORDER_MARK.get(self.mark), chunk.split_first())
        {
            if byte != expected {
                if self.mark > 0 {
                    self.first = Some(BYTE_ORDER_MARK[0]);
                    self.broken = true;
                }
                self.mark = BYTE_ORDER_MARK.len();
                break;
            }
            self.mark += 1;
            chunk = rest;
        }
        chunk
    }
}

/// The body breaks the grammar or a bound.
struct Broken;

impl From<ParserError> for Broken {
    fn from(_: ParserError) -> Self {
        Self
    }
}

enum Found {
    Nothing,
    TooLong,
    Fact(Fact),
}

struct Target {
    name: String,
    pointer: Pointer,
    /// How many leading segments agree with the path of the value at hand.
    matched: usize,
    found: Found,
}

impl Target {
    /// Whether a value at the end of a path of this length, whose parents it has all matched, is
    /// on the way to this target or the target itself.
    fn is_on_path(&self, path_len: usize) -> bool {
        self.matched == path_len
    }

    fn is_at(&self, path_len: usize) -> bool {
        self.is_on_path(path_len) && self.pointer.segments().len() == path_len
    }
}

/// An object or an array whose end has not come yet.
struct Open {
    is_list: bool,
    len: u64,
}

struct Walk {
    targets: Vec<Target>,
    /// One for each segment of the path of the value at hand.
    open: Vec<Open>,
    depth_max: usize,
    whole: bool,
}

impl Walk {
    fn take(&mut self, event: JsonEvent, tokens: &JsonTokens) -> Result<(), Broken> {
        match event {
            JsonEvent::NeedMoreInput => {}
            JsonEvent::FieldName => self.enter_member(tokens.text()),
            JsonEvent::StartObject | JsonEvent::StartArray => {
                self.begin_value();
                if self.open.len() >= self.depth_max {
                    return Err(Broken);
                }
                self.open.push(Open { is_list: event == JsonEvent::StartArray, len: 0 });
            }
            JsonEvent::EndObject | JsonEvent::EndArray => {
                let Open { is_list, len } = self.open.pop().ok_or(Broken)?;
                let fact = if is_list { Fact::List { len } } else { Fact::Map { len } };
                self.end_value(|| Some(fact.clone()));
            }
            JsonEvent::ValueString => {
                self.scalar(|| tokens.text().map(|text| Fact::Text(text.to_owned())));
            }
            JsonEvent::ValueInt | JsonEvent::ValueFloat => {
                self.scalar(|| tokens.text().map(|text| Fact::Number(text.to_owned())));
            }
            JsonEvent::ValueTrue => self.scalar(|| Some(Fact::Bool(true))),
            JsonEvent::ValueFalse => self.scalar(|| Some(Fact::Bool(false))),
            JsonEvent::ValueNull => self.scalar(|| Some(Fact::Null)),
        }
        Ok(())
    }

    fn enter_member(&mut self, name: Option<&str>) {
        if let Some(open) = self.open.last_mut() {
            open.len += 1;
        }
        self.enter(|segment| name == Some(segment));
    }

    fn enter_item(&mut self) {
        if let Some(open) = self.open.last_mut()
            && open.is_list
        {
            let index = open.len;
            open.len += 1;
            self.enter(|segment| is_index(segment, index));
        }
    }

    /// Goes on to another child of the innermost object or array.
    fn enter(&mut self, is_child: impl Fn(&str) -> bool) {
        let path_len = self.open.len();
        let parent_len = path_len.saturating_sub(1);
        for target in &mut self.targets {
            target.matched = target.matched.min(parent_len);
            if target.is_on_path(parent_len)
                && target.pointer.segments().get(parent_len).is_some_and(|own| is_child(own))
            {
                target.matched = path_len;
            }
        }
    }

    /// Forgets what an earlier member of the same name held.
    fn begin_value(&mut self) {
        self.enter_item();
        let path_len = self.open.len();
        for target in self.targets.iter_mut().filter(|target| target.is_on_path(path_len)) {
            target.found = Found::Nothing;
        }
    }

    fn end_value(&mut self, fact: impl Fn() -> Option<Fact>) {
        let path_len = self.open.len();
        for target in self.targets.iter_mut().filter(|target| target.is_at(path_len)) {
            target.found = fact().map_or(Found::TooLong, Found::Fact);
        }
        self.whole = path_len == 0;
    }

    fn scalar(&mut self, fact: impl Fn() -> Option<Fact>) {
        self.begin_value();
        self.end_value(fact);
    }

    fn into_values(self) -> Table<String, Fact> {
        let mut values = Table::new();
        // Backwards, so that the first pointer of a name has the last word.
        for target in self.targets.into_iter().rev() {
            match target.found {
                Found::Nothing => {}
                Found::TooLong => {
                    values.remove(&target.name);
                }
                Found::Fact(fact) => {
                    values.insert(target.name, fact);
                }
            }
        }
        values
    }
}

/// Whether a segment is this index of an array: digits without leading zeros.
fn is_index(segment: &str, index: u64) -> bool {
    let canonical = segment == "0" || segment.starts_with(|first| matches!(first, '1'..='9'));
    canonical && segment.parse() == Ok(index)
}

#[cfg(test)]
mod tests {
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
        for body in ["<html>", "Bad gateway", "404 page not found", "not found", "1e", "\u{feff}<"]
        {
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
}
