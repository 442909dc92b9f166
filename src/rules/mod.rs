//! Floor 1: pure functions over the model.
