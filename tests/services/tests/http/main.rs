//! The services over real HTTP.
#![expect(clippy::unwrap_used, reason = "helpers of tests may panic")]
mod browsers;
mod client;
mod control;
mod faults;
mod services;
