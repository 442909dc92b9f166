//! Everything that is tested natively over a whole world, in one program: it is compiled once.
#![cfg(not(target_arch = "wasm32"))]
#![allow(clippy::expect_used, clippy::panic, reason = "helpers of tests")]

#[path = "../world/mod.rs"]
mod world;

mod adopt;
mod authorize;
mod cleanedweb;
mod contracts;
mod cost;
mod crash_answers;
mod crash_pages;
mod delete;
mod exits;
mod fuzzed;
mod hostile;
mod idempotency_key;
mod identity;
mod job;
mod laws;
mod money;
mod paged;
mod pages;
mod profile_schema;
mod rate;
mod reconcile;
mod replay;
mod results;
mod retention;
mod revise;
mod secrets;
mod services_table;
mod storage;
mod streams;
mod submission;
mod support_report;
mod table;
