//! A service's listing of runs, as far as it has been read for one operation.

use super::ids::JobId;

/// Ids that are kept of a listing: more say no more than that there are several.
pub const LISTED_IDS_MAX: usize = 8;

/// What one page says.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Page {
    /// The ids of the runs that may be the operation's.
    pub found: Vec<JobId>,
    /// A run may be the operation's, and has no id that can be used, or more values than were sent.
    pub doubtful: bool,
    /// The page ends with runs from before the first attempt.
    pub reaches_back: bool,
    /// What the next page is asked for by; `None`: this is the last.
    pub next: Option<String>,
}

/// How far the listing has been read, and what was found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Listing {
    /// Pages read of the reading under way.
    pub pages: u32,
    /// What the next page is asked for by; empty for the first.
    pub next: String,
    /// Runs that may be the operation's.
    pub found: Vec<JobId>,
    /// One more may be, see [`Page::doubtful`].
    pub doubtful: bool,
    /// Runs that look like the operation's and belong to others.
    pub foreign: Vec<JobId>,
    /// Readings that did not reach back far enough.
    pub short: u32,
    /// It was read back past the first attempt, and no run is the operation's.
    pub absent: bool,
}

impl Listing {
    /// Adds what a page says.
    pub fn add(&mut self, page: &Page) {
        self.pages += 1;
        self.next = page.next.clone().unwrap_or_default();
        self.doubtful |= page.doubtful;
        for id in &page.found {
            let known = self.found.contains(id) || self.foreign.contains(id);
            if !known && self.found.len() < LISTED_IDS_MAX {
                self.found.push(id.clone());
            }
        }
    }

    /// Begins a new reading with the first page. What belongs to others stays known.
    pub fn restart(&mut self) {
        let (foreign, short) = (core::mem::take(&mut self.foreign), self.short);
        *self = Self { foreign, short, ..Self::default() };
    }
}
