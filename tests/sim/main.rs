//! The simulation: the shipped engine and driver in a world where everything fails, decided by one
//! seed, with every promise checked as it goes.
//!
//! `cargo xtask sim --help` says how to run it. As a test it runs a few hundred seeds and every seed
//! that once found something.
#![cfg(not(target_arch = "wasm32"))]
#![allow(
    dead_code,
    unreachable_pub,
    clippy::disallowed_methods,
    clippy::print_stdout,
    clippy::expect_used,
    clippy::panic,
    reason = "a program of the tests, which prints what it finds"
)]

mod app;
mod chaos;
#[path = "../world/clock.rs"]
mod clock;
mod disk_port;
#[path = "../world/host.rs"]
mod host;
mod house;
mod kinds;
mod network;
mod options;
mod oracle;
mod parks;
mod plan;
mod plants;
mod ports;
mod promises;
mod reckoning;
mod report;
mod rows;
mod run;
mod slot;
mod store;
mod table;
#[path = "../world/tasks.rs"]
mod tasks;
#[cfg(feature = "teeth")]
mod teeth;
mod transitions;
mod verbs;
mod wire;
mod world;
#[path = "../world/write.rs"]
mod write;

use std::process::ExitCode;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use options::Options;
use report::Report;

fn main() -> ExitCode {
    let options = Options::read(std::env::args().skip(1));
    #[cfg(feature = "teeth")]
    if options.teeth {
        let all = teeth::run_all(options.from, options.tooth.as_deref());
        return if all { ExitCode::SUCCESS } else { ExitCode::FAILURE };
    }
    if let Some(seed) = options.seed {
        let outcome = run::run(seed, options.trace);
        let report = Report::of(seed, &outcome);
        report.print();
        return if report.is_good() { ExitCode::SUCCESS } else { ExitCode::FAILURE };
    }
    let began = Instant::now();
    let report = sweep(&options);
    report.print();
    let seconds = began.elapsed().as_secs_f64();
    println!("{:.0} seeds per second ({seconds:.1} s)", report.seeds as f64 / seconds);
    // The form that the project's own count of tests reads.
    let failed = report.failures.len() + report.faults_of_the_table().len();
    let word = if failed == 0 { "ok" } else { "FAILED" };
    println!(
        "test result: {word}. {} passed; {failed} failed;",
        report.seeds - report.failures.len() as u64
    );
    if failed == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// Runs all seeds, on as many threads as are wanted.
fn sweep(options: &Options) -> Report {
    let (next, total) = (AtomicU64::new(0), Mutex::new(Report::default()));
    std::thread::scope(|scope| {
        for _ in 0..options.threads {
            scope.spawn(|| {
                let mut own = Report::default();
                loop {
                    let index = next.fetch_add(1, Ordering::Relaxed);
                    let Some(seed) = options.nth(index) else { break };
                    let outcome = run::run(seed, false);
                    own.add(seed, &outcome);
                    if options.progress && index % 1_000 == 999 {
                        println!("{} seeds", index + 1);
                    }
                    if own.failures.len() > 20 || options.first && !own.is_good() {
                        break;
                    }
                }
                total.lock().expect("no thread panics").join(own);
            });
        }
    });
    total.into_inner().expect("no thread panics")
}
