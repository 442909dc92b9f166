//! Which part of a result an answer brings, and how the rest is asked for.

use crate::engine::Transmit;
use crate::model::answer::Answer;
use crate::model::ending::{FAULT_TEXT_MAX, ResultRef};
use crate::model::facts::{Fact, Facts};
use crate::model::http::Headers;
use crate::model::pages::{Paged, Turn};
use crate::rules::ranges::{Range, content_range, strong_validator};

/// Partial Content.
pub(super) const PARTIAL: u16 = 206;

/// Range Not Satisfiable.
pub(super) const NOT_SATISFIABLE: u16 = 416;

/// The name of the fact: the digest that is declared of a result.
const DIGEST: &str = "digest";

/// The part of a result that an answer brings.
pub(super) struct Part<'t> {
    /// What has come before it.
    pub(super) before: Option<&'t Paged>,
    /// Where it stands in the whole, for an answer that says so.
    range: Option<Range>,
    /// By what the rest can be asked for.
    validator: Option<String>,
    /// It is said to be a part, and not of what.
    is_odd: bool,
}

impl<'t> Part<'t> {
    /// `None`: it does not go on from what has come.
    pub(super) fn of(transmit: &'t Transmit, status: u16, headers: &Headers) -> Option<Self> {
        let validator = strong_validator(headers).filter(|_| transmit.ranges).map(String::from);
        let range = content_range(headers).filter(|_| status == PARTIAL);
        let before = transmit.before.as_deref().filter(|_| status == PARTIAL);
        let part = Self { before: None, range, validator, is_odd: false };
        match (range, before) {
            (Some(range), Some(before))
                if range.first == before.kept.bytes
                    && part.validator.as_ref() == Some(&before.next) =>
            {
                Some(Self { before: Some(before), ..part })
            }
            (Some(Range { first: 0, .. }), _) => Some(part),
            (_, Some(_)) => None,
            (_, None) => Some(Self { is_odd: status == PARTIAL, range: None, ..part }),
        }
    }

    /// Whether the rest can be asked for.
    pub(super) const fn goes_on(&self) -> bool {
        self.validator.is_some()
    }

    /// What leads on from what is kept, where that is not the whole and the rest can be asked for.
    pub(super) fn rest(&self, kept: &ResultRef, broke_off: bool) -> Option<Turn> {
        let is_short = self.range.map_or(broke_off, |range| kept.bytes < range.total);
        let next = self.validator.clone().filter(|_| is_short)?;
        Some(Turn::Next(Box::new(Paged {
            kept: kept.clone(),
            pages: 0,
            items: 0,
            next,
            digest: None,
        })))
    }

    /// Adds the digest that was declared with what has come before it: it is of the same whole.
    pub(super) fn declare(&self, facts: &mut Facts) {
        let digest = self.before.and_then(|before| before.digest.clone());
        if let Some(digest) = digest.filter(|_| !facts.values.contains_key(DIGEST)) {
            facts.values.insert(DIGEST.into(), Fact::Text(digest));
        }
    }

    /// Whether what has come is but a part.
    pub(super) fn is_partial(&self, kept: &ResultRef) -> bool {
        self.is_odd || self.range.is_some_and(|range| kept.bytes != range.total)
    }
}

/// The way back to the beginning: what was kept is gone, or of other bytes, or there is no rest of it.
pub(super) fn anew(before: &Paged) -> Turn {
    let kept = ResultRef { bytes: 0, chunks: 0, earlier: Vec::new(), ..before.kept.clone() };
    Turn::Next(Box::new(Paged { kept, pages: 0, items: 0, next: String::new(), digest: None }))
}

/// What is declared with a part stays with it: it says nothing of what comes where that begins anew.
pub(super) fn keep_digest(answer: &mut Answer) {
    if let Some(Turn::Next(so_far)) = &mut answer.turn
        && so_far.pages == 0
    {
        let digest = answer.facts.text(DIGEST).filter(|own| own.len() <= FAULT_TEXT_MAX);
        so_far.digest = digest.map(String::from);
        answer.facts.values.remove(DIGEST);
    }
}
