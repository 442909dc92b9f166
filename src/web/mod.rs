//! Floor 5: the ports on hosts that run JavaScript: browsers, their workers, servers, the edge.

mod clock;
mod entropy;
mod fail_points;
pub mod fetch;
mod locks;
pub(crate) mod promise;
pub mod runtime;
mod spawn;
pub mod store;
mod sys;
mod timer;
