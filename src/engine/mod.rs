//! Floor 2: many operations, without I/O.

pub mod event;
