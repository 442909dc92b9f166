//! Benchmarks in virtual time, of the shipped engine and driver: `cargo xtask bench poll`, `storm`.
//!
//! Nothing here depends on the machine's speed, and one seed decides everything.
#![cfg(not(target_arch = "wasm32"))]
#![allow(
    unreachable_pub,
    clippy::print_stdout,
    clippy::expect_used,
    clippy::panic,
    reason = "a program of the tests, which prints what it finds"
)]

mod client;
mod poll;
mod storm;
mod table;
mod wire;

/// A point in time like any other: 2026-10-01T00:00:00Z.
const BEGIN_MS: u64 = 1_790_812_800_000;

fn main() {
    let wanted = std::env::args().nth(1);
    match wanted.as_deref() {
        Some("poll") => poll::run(),
        Some("storm") => storm::run(),
        // Without a name, as a test: small runs that show that all still works.
        Some(_) | None => {
            poll::rehearse();
            storm::rehearse();
        }
    }
}
