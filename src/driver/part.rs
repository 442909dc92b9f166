//! Which part of a result an answer brings, and how the rest is asked for.

use crate::engine::Transmit;
use crate::model::ending::ResultRef;
use crate::model::http::Headers;
use crate::model::pages::{Paged, Turn};
use crate::rules::ranges::{Range, content_range, strong_validator};

/// Partial Content.
pub(super) const PARTIAL: u16 = 206;

/// Range Not Satisfiable.
pub(super) const NOT_SATISFIABLE: u16 = 416;

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
        Some(Turn::Next(Box::new(Paged { kept: kept.clone(), pages: 0, items: 0, next })))
    }

    /// Whether what has come is but a part.
    pub(super) fn is_partial(&self, kept: &ResultRef) -> bool {
        self.is_odd || self.range.is_some_and(|range| kept.bytes != range.total)
    }
}

/// The way back to the beginning: what was kept is gone, or of other bytes, or there is no rest of it.
pub(super) fn anew(before: &Paged) -> Turn {
    let kept = ResultRef { bytes: 0, chunks: 0, earlier: Vec::new(), ..before.kept.clone() };
    Turn::Next(Box::new(Paged { kept, pages: 0, items: 0, next: String::new() }))
}
