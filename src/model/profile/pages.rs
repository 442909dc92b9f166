//! How a result of many pages is read.

/// How a result of many pages is read, one after another, and what must be true of them together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pages {
    /// Where a page holds its items (a JSON pointer).
    pub items: String,
    /// Where a page says how many items there are in all; they must be so many.
    pub total: Option<String>,
    /// Where a page says what the next one is asked for by: the value of [`Pages::query`], or where
    /// that is `None`, the next page's URL. `None`: pages are numbered.
    pub next: Option<String>,
    /// The parameter of the query that names a page.
    pub query: Option<String>,
    /// The number of the first page.
    pub first: u32,
    /// Pages of one result at most.
    pub max: u32,
}
