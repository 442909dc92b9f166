//! Reads a page of a service's listing of runs, and finds those that may be one operation's.
//!
//! What is missed here could be submitted twice. So likeness is wide (a number is the same however
//! it is written, an absent value is `null`), and a page reaches back only when all its items are
//! dated, the newest stand first, and the last is older than everything that is sought.

use super::json::{self, DEPTH_MAX};
use super::rfc3339::point_in_time;
use crate::model::ids::JobId;
use crate::model::life::Stage;
use crate::model::listing::{LISTED_IDS_MAX, Page};
use crate::model::operation::Operation;
use crate::model::pointer::Pointer;
use crate::model::profile::{Mark, Profile, Reconcile};
use crate::model::time::Timestamp;
use crate::model::value::Value;

/// The carried value that holds the id of the job that a rerun repeats: no profile carries one of
/// this name.
pub const REPEATED_JOB: &str = "id";

/// Longest id of a run, and longest name of a page, in bytes.
const NAME_BYTES_MAX: usize = 512;

/// What is looked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sought {
    /// How the listing is read.
    pub rule: Reconcile,
    /// What an item must hold: places, and the values there.
    pub values: Vec<(String, Value)>,
    /// Places whose values the body leaves out. An item that has some there may show what the service
    /// has filled in, or be of another request: which, cannot be told.
    pub left_out: Vec<String>,
    /// The values are the operation's alone; else only items of the time of its attempts count.
    pub exact: bool,
    /// No attempt was accepted before this point of the service's clock.
    pub after: Timestamp,
    /// Nor after this one.
    pub before: Timestamp,
    /// What this page is asked for by.
    pub page: String,
    /// Among which jobs (see [`crate::model::operation::Identity::jobs`]).
    pub jobs: String,
    /// Values of the submission's body are sought too and not known yet, see [`Sought::add_body`].
    pub with_body: bool,
}

/// What is to be looked for in the service's listing for an operation; `None` where nothing tells
/// its run from others, or nothing of it is unknown.
pub fn sought(operation: &Operation, profile: &Profile) -> Option<Sought> {
    let rule = profile.reconcile.clone()?;
    let unresolved = operation.life.evidence.unresolved.as_ref()?;
    let rerun = operation.request.content_type.is_none();
    let mut values = Vec::new();
    // What repeats this very job is its rerun, whatever the clocks say.
    let mut exact = rerun;
    if rerun {
        let repeated = operation.carried.iter().find(|(name, _)| name == REPEATED_JOB);
        values.push((rule.retry_of.clone()?, Value::String(repeated?.1.clone())));
    } else {
        if let Mark::Echo { listed, .. } = &rule.mark {
            exact = true;
            values.push((listed.clone(), Value::String(operation.identity.id.0.clone())));
        }
        // A rerun shows the request that it repeats.
        values.extend(rule.retry_of.clone().map(|place| (place, Value::Null)));
    }
    let mut page = if rule.next.is_some() { String::new() } else { "1".into() };
    if let Stage::Reconcile(listing) = &operation.life.stage
        && !listing.next.is_empty()
    {
        page.clone_from(&listing.next);
    }
    Some(Sought {
        values,
        left_out: Vec::new(),
        exact,
        after: Timestamp(unresolved.first_at.0.saturating_sub(rule.skew_ms)),
        before: unresolved.abort_at.after(rule.skew_ms),
        page,
        jobs: operation.identity.jobs(),
        with_body: !rerun && !exact,
        rule,
    })
}

impl Sought {
    /// Takes the values that items must share with the body of the submission.
    pub fn add_body(&mut self, body: &[u8]) {
        let (Mark::Same(places), Ok(value)) = (&self.rule.mark, json::parse(body, DEPTH_MAX))
        else {
            return;
        };
        for (listed, sent) in places {
            match at(&value, sent) {
                Some(own) => self.values.push((listed.clone(), own.clone())),
                None => self.left_out.push(listed.clone()),
            }
            self.with_body = false;
        }
    }

    /// What a page says; `None` when it cannot be read, or nothing is known of what is looked for.
    pub fn read(&self, text: &[u8], now: Timestamp) -> Option<Page> {
        if self.with_body {
            return None;
        }
        let value = json::parse(text, DEPTH_MAX).ok()?;
        let Value::List(items) = at(&value, &self.rule.items)? else {
            return None;
        };
        let mut page = Page { next: self.next(&value, items.is_empty())?, ..Page::default() };
        let mut oldest = Some(Timestamp(u64::MAX));
        for item in items {
            let created = text_at(item, &self.rule.created_at);
            let created = created.and_then(|text| point_in_time(text, now));
            // Undated, or newer than the one before: where the end of the listing lies is unknown.
            oldest = match (oldest, created) {
                (Some(last), Some(own)) if own <= last => Some(own),
                (_, _) => None,
            };
            let in_time = created.is_none_or(|at| self.after <= at && at <= self.before);
            if self.is_meant(item) && (self.exact || in_time) {
                let left_out =
                    |place: &String| at(item, place).is_none_or(|own| *own == Value::Null);
                if self.left_out.iter().all(left_out) {
                    self.add(item, &mut page);
                } else {
                    page.doubtful = true;
                }
            }
        }
        page.reaches_back = !items.is_empty() && oldest.is_some_and(|last| last < self.after);
        Some(page)
    }

    fn is_meant(&self, item: &Value) -> bool {
        let holds = |(place, value): &(String, Value)| {
            is_alike(at(item, place).unwrap_or(&Value::Null), value)
        };
        !self.values.is_empty() && self.values.iter().all(holds)
    }

    fn add(&self, item: &Value, page: &mut Page) {
        match text_at(item, &self.rule.id).filter(|id| is_name(id)) {
            Some(id) => {
                let id = JobId::from(id);
                if !page.found.contains(&id) && page.found.len() < LISTED_IDS_MAX {
                    page.found.push(id);
                }
            }
            None => page.doubtful = true,
        }
    }

    /// What the page after this one is asked for by: `Some(None)` when there is none, `None` when
    /// that cannot be told.
    #[expect(clippy::option_option, reason = "no next page and no telling are two things")]
    fn next(&self, page: &Value, is_empty: bool) -> Option<Option<String>> {
        let Some(place) = &self.rule.next else {
            let number = self.page.parse::<u32>().ok()?;
            return Some((!is_empty).then(|| number.saturating_add(1).to_string()));
        };
        match at(page, place) {
            None | Some(Value::Null | Value::Bool(false)) => Some(None),
            Some(Value::String(text)) if text.is_empty() => Some(None),
            Some(Value::String(text) | Value::Number(text)) if is_name(text) => {
                Some(Some(text.clone()))
            }
            Some(_) => None,
        }
    }
}

fn is_name(text: &str) -> bool {
    (1..=NAME_BYTES_MAX).contains(&text.len())
}

pub(super) fn at<'v>(value: &'v Value, pointer: &str) -> Option<&'v Value> {
    let mut value = value;
    for segment in Pointer::parse(pointer)?.segments() {
        value = match value {
            Value::Map(_) => value.member(segment)?,
            Value::List(items) => items.get(segment.parse::<usize>().ok()?)?,
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => return None,
        };
    }
    Some(value)
}

fn text_at<'v>(value: &'v Value, pointer: &str) -> Option<&'v str> {
    match at(value, pointer)? {
        Value::String(text) | Value::Number(text) => Some(text),
        Value::Null | Value::Bool(_) | Value::List(_) | Value::Map(_) => None,
    }
}

/// Whether two values mean the same.
fn is_alike(one: &Value, other: &Value) -> bool {
    match (one, other) {
        (Value::Number(one), Value::Number(other)) => plain(one) == plain(other),
        (Value::String(one) | Value::Number(one), Value::String(other) | Value::Number(other)) => {
            one == other
        }
        (Value::List(one), Value::List(other)) => {
            one.len() == other.len() && one.iter().zip(other).all(|(a, b)| is_alike(a, b))
        }
        (Value::Map(one), Value::Map(other)) => holds_all(one, other) && holds_all(other, one),
        (_, _) => one == other,
    }
}

/// Whether an object has every member of another; an absent one is `null`.
fn holds_all(all: &[(String, Value)], some: &[(String, Value)]) -> bool {
    some.iter().all(|(name, value)| {
        let own = all.iter().find(|(own, _)| own == name).map_or(&Value::Null, |(_, own)| own);
        is_alike(own, value)
    })
}

/// A number's text without a fraction of nothing: `1.0` is `1`.
fn plain(number: &str) -> &str {
    if number.contains('.') && !number.contains(['e', 'E']) {
        number.trim_end_matches('0').trim_end_matches('.')
    } else {
        number
    }
}

#[cfg(test)]
mod tests;
