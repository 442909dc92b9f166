//! Floor 1: pure functions over the model.

pub mod facts;
pub mod json;
mod json_tokens;
