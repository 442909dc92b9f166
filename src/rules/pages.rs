//! What a page of a result leads to.
//!
//! A next page is followed only where that must come to an end: within the profile's bound, never to
//! the page at hand again, and not beyond the items that the service has declared.

use crate::model::ending::ResultRef;
use crate::model::facts::{Fact, Facts};
use crate::model::pages::{Paged, Turn};
use crate::model::profile::{FactSource, Pages};
use crate::rules::reference::{origin, resolve};

// Facts of a page; no profile can name one so.
const ITEMS: &str = "page:items";
const TOTAL: &str = "page:total";
const NEXT: &str = "page:next";

/// Longest cursor or address of a page, in bytes.
const NEXT_BYTES_MAX: usize = 4_096;

/// Which page is asked for, and what it is added to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wanted {
    /// How pages are read.
    pub rule: Pages,
    /// Those that have come.
    pub before: Option<Paged>,
    /// A link may lead to any origin.
    pub any_origin: bool,
}

impl Wanted {
    /// What is looked for in the page.
    pub fn facts(&self) -> Vec<FactSource> {
        let mut all = Vec::new();
        for (name, place) in [
            (ITEMS, Some(&self.rule.items)),
            (TOTAL, self.rule.total.as_ref()),
            (NEXT, self.rule.next.as_ref()),
        ] {
            if let Some(place) = place {
                all.push(FactSource { name: name.into(), places: vec![place.clone()] });
            }
        }
        all
    }

    /// What the page is asked for by; empty for a first one that needs no name.
    pub fn name(&self) -> String {
        match &self.before {
            Some(before) => before.next.clone(),
            None if self.rule.next.is_none() => self.rule.first.to_string(),
            None => String::new(),
        }
    }

    /// What a whole page from `url` leads to, with what is kept of it and those before; `None` when
    /// it is no page.
    pub fn turn(&self, facts: &Facts, url: &str, kept: &ResultRef) -> Option<Turn> {
        let Some(Fact::List { len }) = facts.values.get(ITEMS) else {
            return None;
        };
        let (pages, items) = self.before.as_ref().map_or((0, 0), |own| (own.pages, own.items));
        let (pages, items) = (pages + 1, items + len);
        let total = facts.text(TOTAL).and_then(|text| text.parse::<u64>().ok());
        let numbered = self.rule.next.is_none();
        let over = numbered && (*len == 0 || total.is_some_and(|total| total <= items));
        let next = if numbered {
            (!over).then(|| (self.rule.first + pages).to_string())
        } else {
            facts.text(NEXT).filter(|text| !text.is_empty()).map(String::from)
        };
        if total.is_none() && next.is_none() && !numbered && facts.is_set(NEXT) {
            return Some(Turn::Broken("the next page is named in a way that cannot be read"));
        }
        if total.is_some_and(|total| if next.is_none() { total != items } else { total < items }) {
            return Some(Turn::Broken("the pages do not hold as many items as are declared"));
        }
        let Some(mut next) = next else {
            return Some(Turn::Last);
        };
        if self.rule.query.is_none() {
            let own = origin(url);
            match resolve(url, &next) {
                Some(link) if self.any_origin || (own.is_some() && origin(&link) == own) => {
                    next = link;
                }
                Some(_) | None => {
                    return Some(Turn::Broken("the next page is said to be at another origin"));
                }
            }
        }
        if next == self.name() || next == url {
            return Some(Turn::Broken("the next page is said to be this one again"));
        }
        if pages >= self.rule.max || next.len() > NEXT_BYTES_MAX {
            return Some(Turn::Broken("there are more pages than the profile allows"));
        }
        let kept = kept.clone();
        Some(Turn::Next(Box::new(Paged { kept, pages, items, next, digest: None })))
    }
}
