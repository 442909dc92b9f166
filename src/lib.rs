//! Holdfast carries one intended piece of billable, slow work to a kept result, once.

pub mod driver;
pub mod engine;
pub mod model;
pub mod rules;
#[cfg(target_arch = "wasm32")]
pub mod web;
