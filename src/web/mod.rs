//! Floor 5: the ports on browsers.

pub mod idb;
mod promise;
mod sys;
