//! Floor 6: what JavaScript sees.

mod app;
mod client;
#[cfg(feature = "conformance")]
mod conformance;
mod errors;
mod ports;
mod setup;
mod sys;

pub use client::Client;
#[cfg(feature = "conformance")]
pub use conformance::store_conformance;
