//! Floor 0: plain data. Nothing here decides anything.

pub mod dice;
pub mod http;
pub mod time;
pub mod value;
