//! Floor 0: plain data. Nothing here decides anything.

pub mod dice;
pub mod facts;
pub mod http;
pub mod pointer;
pub mod policy;
pub mod time;
pub mod value;
