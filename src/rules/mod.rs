//! Floor 1: pure functions over the model.

pub mod lease;
