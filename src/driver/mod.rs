//! Floor 4: the loop that connects the engine with its host's ports.

pub mod admission;
#[cfg(any(test, feature = "conformance"))]
pub mod conformance;
pub mod memory;
pub mod ports;
