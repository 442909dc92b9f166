//! Floor 4: the loop that connects the engine with its host's ports.

pub mod admission;
pub mod memory;
pub mod ports;
