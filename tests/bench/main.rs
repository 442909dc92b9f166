//! Benchmarks in virtual time, of the shipped engine and driver: `cargo xtask bench poll`, `storm`.
//!
//! Nothing here depends on the machine's speed, and one seed decides everything. As a test it runs
//! small ones and holds what they show: that the defaults are better than what others do.
#![cfg(not(target_arch = "wasm32"))]
#![allow(
    unreachable_pub,
    clippy::print_stdout,
    clippy::expect_used,
    clippy::panic,
    reason = "a program of the tests, which prints what it finds"
)]

mod client;
#[path = "../world/host.rs"]
mod host;
mod poll;
mod storm;
mod table;
mod wire;

use std::process::ExitCode;

/// A point in time like any other: 2026-10-01T00:00:00Z.
const BEGIN_MS: u64 = 1_790_812_800_000;

fn main() -> ExitCode {
    let count = std::env::var("HOLDFAST_BENCH_COUNT").ok().and_then(|count| count.parse().ok());
    match std::env::args().nth(1).as_deref() {
        Some("poll") => poll::run(count),
        Some("storm") => storm::run(count),
        Some(_) | None => return rehearse(),
    }
    ExitCode::SUCCESS
}

fn rehearse() -> ExitCode {
    let faults: Vec<_> = [poll::faults(), storm::faults()].concat();
    for fault in &faults {
        println!("{fault}");
    }
    // The form that the project's own count of tests reads.
    let (word, failed) = if faults.is_empty() { ("ok", 0) } else { ("FAILED", 1) };
    println!("test result: {word}. {} passed; {failed} failed;", 1 - failed);
    if failed == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
