//! What the engine tells the app, once it is durable.

use crate::model::journal::Entry;
use crate::model::operation::Operation;

/// An operation has changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Event {
    /// As it is stored now.
    pub operation: Operation,
    /// What happened to it, in order.
    pub entries: Vec<Entry>,
}
