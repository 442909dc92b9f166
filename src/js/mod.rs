//! Floor 6: what JavaScript sees.

mod app;
mod client;
mod errors;
mod ports;
mod setup;
mod sys;

pub use client::Client;
