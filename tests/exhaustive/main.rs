//! Every interleaving of two contexts, their storage, their requests and the clock around one
//! operation, to a stated depth, on the shipped engine, `step`, lease, admission and record.
//!
//! `cargo xtask explore --help` says how to run it. As a test it goes a few steps deep.
#![cfg(not(target_arch = "wasm32"))]
#![allow(
    unreachable_pub,
    clippy::disallowed_methods,
    clippy::print_stdout,
    clippy::expect_used,
    clippy::panic,
    reason = "a program of the tests, which prints what it finds"
)]

mod actions;
mod app;
mod calm;
mod carry_out;
mod explore;
mod laws;
mod scenes;
mod service;
mod state;
mod tasks;
#[cfg(feature = "teeth")]
mod teeth;

use std::process::ExitCode;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use explore::{Bounds, Found, explore};
use scenes::{FAULTS, SCENES, Scene};

/// How deep a plain `cargo test` goes.
const DEPTH: u8 = 4;

/// What the figures rest on.
const ASSUMPTIONS: &str = "\
Assumed: a transaction is carried out whole at one point and answered at a later one, or aborted, or
of a fate that is never told; it does not outlive its context. A request arrives before its attempt's
abort_at or never, whatever becomes of its context; its answer is heard at any later point, or lost.
A context does nothing for as long as it likes: it is frozen, its timer late, its disk or app slow.
The clock moves forward only, to the points at which something changes: a timer, the end of a lease,
of an attempt's time to leave or to arrive, of a listing's lag, of a key. Credentials come, and
`onSettled` takes.
The driver's loop (one input, all its outputs, the next; `may_send` in the turn of the sending) is
written again here; engine, step, next, classify, lease, admission, tables and record are as shipped.
States are told apart by 64-bit digests.";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().collect();
    let number = |name: &str| {
        let at = arguments.iter().position(|own| own == name)?;
        arguments.get(at + 1)?.parse::<u64>().ok()
    };
    let depth = number("--depth").and_then(|own| own.try_into().ok()).unwrap_or(DEPTH);
    let bounds = Bounds { depth, calm_each: number("--calm-each").unwrap_or(8).max(1) };
    #[cfg(feature = "teeth")]
    if arguments.iter().any(|own| own == "--teeth") {
        return teeth::run_all(bounds);
    }
    println!("{FAULTS:?}, each in every order, {depth} steps from each of these on:");
    let began = Instant::now();
    let all = explore_all(bounds);
    let (mut failed, mut states, mut transitions, mut calms) = (0, 0, 0, 0);
    for (scene, found) in &all {
        states += found.states();
        transitions += found.transitions;
        calms += found.calms;
        println!("{}", line(scene.name, found));
        if let Some((why, way)) = &found.breach {
            failed += 1;
            println!("  BREACH {why}\n  after {way:?}");
        }
    }
    println!("{states} states, {transitions} transitions, {calms} calms");
    println!("{:.0} s\n{ASSUMPTIONS}", began.elapsed().as_secs_f64());
    // The form that the project's own count of tests reads.
    let word = if failed == 0 { "ok" } else { "FAILED" };
    println!("test result: {word}. {} passed; {failed} failed;", all.len() - failed);
    if failed == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn line(name: &str, found: &Found) -> String {
    let (states, transitions, calms) = (found.states(), found.transitions, found.calms);
    let longest = found.longest_calm;
    format!(
        "{name:<40}{states:>9} states {transitions:>9} transitions {calms:>8} calms, the longest {longest} steps"
    )
}

/// Explores every scene, two at a time.
fn explore_all(bounds: Bounds) -> Vec<(Scene, Found)> {
    let (next, all) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                while let Some(scene) = SCENES.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let found = explore(&scene.state(), bounds);
                    all.lock().expect("no thread panics").push((*scene, found));
                }
            });
        }
    });
    let mut all = all.into_inner().expect("no thread panics");
    all.sort_by_key(|(scene, _)| SCENES.iter().position(|own| own.name == scene.name));
    all
}
