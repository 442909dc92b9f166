//! A result of many pages, or one that broke off, as far as it has been read.

use super::ending::ResultRef;

/// The pages, or the part, that have come.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Paged {
    /// What is kept of them.
    pub kept: ResultRef,
    /// How many they are; 0: what has come is the beginning of one body.
    pub pages: u32,
    /// How many items they hold.
    pub items: u64,
    /// What the next one is asked for by; the rest of a body: its validator, empty where it begins anew.
    pub next: String,
    /// The digest of the whole body that was declared with what has come of it.
    pub digest: Option<String>,
}

/// What a page leads to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Turn {
    /// To a further one, or to the rest of the body.
    Next(Box<Paged>),
    /// To none: this is the last, and together they are whole.
    Last,
    /// Together they are not what they should be, for this reason.
    Broken(&'static str),
    /// To the first again: what was kept of those before is gone.
    Anew,
}
