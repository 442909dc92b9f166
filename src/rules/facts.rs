//! Finds facts in a response's body while it streams by.
//!
//! Memory is bounded by the limits, not by the body: a string beyond
//! [`FactsLimits::fact_bytes_max`] is passed over as it comes, and what no pointer leads to is
//! neither copied nor kept.

use actson::{JsonEvent, parser::ParserError};

use super::json_tokens::{JsonTokens, LoneSurrogates};
use crate::model::{
    facts::{BodyForm, Fact, Facts},
    pointer::Pointer,
    table::Table,
};

/// The byte order mark in UTF-8, which JSON forbids, some services send, and browsers pass over.
const BYTE_ORDER_MARK: [u8; 3] = [0xEF, 0xBB, 0xBF];

/// How deep a body may nest: a level costs a few bytes, and nothing here calls itself.
const DEPTH_MAX: usize = 10_000;

/// Bounds on what one body may cost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FactsLimits {
    /// How deep the body may nest; deeper is broken. 10,000 unless told otherwise.
    pub depth_max: usize,
    /// How long a string may be to become a fact, in bytes, each simple escape as two; a longer
    /// one is [`Fact::Long`], and a longer number breaks the body. 64 KiB unless told otherwise.
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
    /// wins, even where the value is too long to keep; `null` and an empty text only where there is no
    /// other.
    pub fn new(pointers: &[(String, Pointer)], limits: FactsLimits) -> Self {
        let mut targets = Vec::new();
        for (name, pointer) in pointers {
            let (name, pointer) = (name.clone(), pointer.clone());
            targets.push(Target { name, pointer, matched: 0, found: None });
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

struct Target {
    name: String,
    pointer: Pointer,
    /// How many leading segments agree with the path of the value at hand.
    matched: usize,
    found: Option<Fact>,
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
                self.end_value(|| fact.clone());
            }
            JsonEvent::ValueString => {
                self.scalar(|| {
                    tokens.text().map_or(Fact::Long, |text| Fact::Text(text.to_owned()))
                });
            }
            JsonEvent::ValueInt | JsonEvent::ValueFloat => {
                self.scalar(|| {
                    tokens.text().map_or(Fact::Long, |text| Fact::Number(text.to_owned()))
                });
            }
            JsonEvent::ValueTrue => self.scalar(|| Fact::Bool(true)),
            JsonEvent::ValueFalse => self.scalar(|| Fact::Bool(false)),
            JsonEvent::ValueNull => self.scalar(|| Fact::Null),
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
            target.found = None;
        }
    }

    fn end_value(&mut self, fact: impl Fn() -> Fact) {
        let path_len = self.open.len();
        for target in self.targets.iter_mut().filter(|target| target.is_at(path_len)) {
            target.found = Some(fact());
        }
        self.whole = path_len == 0;
    }

    fn scalar(&mut self, fact: impl Fn() -> Fact) {
        self.begin_value();
        self.end_value(fact);
    }

    fn into_values(self) -> Table<String, Fact> {
        let mut values = Table::new();
        // Backwards, so that the first pointer of a name has the last word.
        for target in self.targets.into_iter().rev() {
            if let Some(fact) = target.found
                && !(fact.is_blank() && values.contains_key(&target.name))
            {
                values.insert(target.name, fact);
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
mod tests;
