//! Floor 5: the ports on browsers, in windows and in workers.

mod clock;
mod entropy;
mod fail_points;
pub mod fetch;
pub mod idb;
mod locks;
pub(crate) mod promise;
pub mod runtime;
mod spawn;
mod sys;
mod timer;
