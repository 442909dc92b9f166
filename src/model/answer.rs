//! What came back from one exchange, reduced to what the rules may see.

use std::rc::Rc;

use super::ending::ResultRef;
use super::facts::Facts;
use super::listing::Page;
use super::pages::Turn;
use super::storage::Piece;

/// An answer with a status line. Its bytes are gone, but for the last of what is kept: facts, counts and
/// digests are left.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Answer {
    /// HTTP status; 0 for a redirect that the host hides.
    pub status: u16,
    /// Where it was asked for: relative references are resolved against it.
    pub url: String,
    /// What the profile's pointers found in body and headers.
    pub facts: Facts,
    /// Whether the body came whole.
    pub whole: bool,
    /// Whether the body is only a part of what it should be (status 206).
    pub partial: bool,
    /// How long the service asks to wait, in milliseconds.
    pub server_wait_ms: Option<u64>,
    /// What a page of a listing says.
    pub page: Option<Page>,
    /// Where the body was kept, for a result.
    pub kept: Option<ResultRef>,
    /// The last piece of what is kept, which is not stored yet: it is, with what the answer leads to.
    pub last_piece: Option<Rc<Piece>>,
    /// What a page of a result leads to.
    pub turn: Option<Turn>,
    /// What the app's schema finds wrong with the result.
    pub schema_fault: Option<String>,
}
