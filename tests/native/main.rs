//! Everything that is tested natively over a whole world, in one program: it is compiled once.
#![cfg(not(target_arch = "wasm32"))]
#![allow(clippy::expect_used, clippy::panic, reason = "helpers of tests")]

#[path = "../world/mod.rs"]
mod world;

mod accounts;
mod adopt;
mod answers;
mod astray;
mod authorize;
mod cancel;
mod changing_hands;
mod cleanedweb;
mod clocks;
mod conflicts;
mod contracts;
mod cost;
mod crash_answers;
mod crash_deletions;
mod crash_pages;
mod delete;
mod delivery;
mod diagnose;
mod downloads;
mod exits;
mod foreign_records;
mod fuzzed;
mod given_back;
mod hostile;
mod idempotency_key;
mod identity;
mod late;
mod laws;
mod listing;
mod locks;
mod moments;
mod money;
mod observed;
mod offline;
mod ownership;
mod paged;
mod pages;
mod polling;
mod problems;
mod profile_schema;
mod quote;
mod ranges;
mod rate;
mod reads;
mod reconcile;
mod refusals;
mod replay;
mod rerun;
mod results;
mod retention;
mod revise;
mod same_work;
mod secrets;
mod services_table;
mod storage;
mod streams;
mod submission;
mod support_report;
mod table;
mod tombstone;
mod unknown;
