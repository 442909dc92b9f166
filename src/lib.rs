//! Holdfast carries one intended piece of billable, slow work to a kept result, once.

pub mod driver;
pub mod engine;
#[cfg(target_arch = "wasm32")]
pub mod js;
pub mod model;
pub mod record;
pub mod rules;
#[cfg(target_arch = "wasm32")]
pub mod web;
