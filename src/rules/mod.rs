//! Floor 1: pure functions over the model.

pub mod bounds;
pub mod classify;
pub mod facts;
pub mod json;
mod json_tokens;
pub mod lease;
pub mod names;
pub mod next;
pub mod rfc3339;
pub mod step;
