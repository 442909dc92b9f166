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

/// Smaller than the allocator of the standard library.
#[cfg(target_arch = "wasm32")]
#[global_allocator]
static ALLOCATOR: talc::wasm::WasmDynamicTalc = talc::wasm::new_wasm_dynamic_allocator();
