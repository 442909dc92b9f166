//! Floor 1: pure functions over the model.

pub mod json;
mod json_tokens;
