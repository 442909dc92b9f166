//! Every project command, in Rust: `cargo xtask --help`.
#![expect(clippy::print_stdout, reason = "a command line's output is what it prints")]

mod bench;
mod bindgen;
mod browsers;
mod build;
mod demo;
mod docs;
mod explore;
mod fuzz;
mod kill;
mod lint;
mod mutants;
mod pack;
mod process;
mod readme;
mod scripts;
mod setup;
mod sim;
mod single;
mod size;
mod test;
mod tidy;
mod tools;
mod wasm;
mod workspace;

use std::process::ExitCode;

use anyhow::Result;
use clap::{Parser, Subcommand};

use build::Variant;
use workspace::Workspace;

#[derive(Parser)]
#[command(name = "cargo xtask", about = "Every command of this project")]
struct Arguments {
    #[command(subcommand)]
    command: Commands,
}

#[derive(Subcommand)]
enum Commands {
    /// Builds the package into pkg/
    Build {
        /// With the points at which the crash tests kill; into target/pkg-fail-points/
        #[arg(long)]
        fail_points: bool,
    },
    /// Installs what a fresh machine lacks
    Setup,
    /// Formatting, clippy, documentation, and the repository's own rules
    Lint,
    /// Lints, runs every test and tells what each part took; `native`, `browser`, `packages` or `edge` runs one
    Test {
        /// One part only
        part: Option<test::Part>,
        /// More seeds and more kills: for a night
        #[arg(long)]
        deep: bool,
    },
    /// Simulates whole machines under faults, each run decided by one seed
    Sim(sim::Wanted),
    /// Follows every interleaving of two contexts around one operation, to a stated depth
    Explore(explore::Wanted),
    /// Changes rules and engine in one place after the other, and tells what no test notices
    Mutants(mutants::Wanted),
    /// Fuzzes everything that reads the outside, with cargo-fuzz
    Fuzz(fuzz::Wanted),
    /// Kills a browser for real, and compares what its tabs show then with the service's ledger
    Kill(kill::Wanted),
    /// Builds the archive that is published
    Pack,
    /// Makes the documentation's pages, with the reference from the types, in target/docs/
    Docs,
    /// Serves the demo on this machine
    Demo {
        /// Where; 0 takes a free port
        #[arg(long, default_value_t = 8080)]
        port: u16,
        /// Drives the demo in a browser instead, and prints one line of JSON
        #[arg(long)]
        check: bool,
    },
    /// Measures what Holdfast costs against floors written by hand; never fails on a time
    Bench(bench::Wanted),
    /// Measures the package against its budget
    Size,
}

fn main() -> ExitCode {
    match Workspace::find().and_then(|workspace| run(&workspace, Arguments::parse().command)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn run(workspace: &Workspace, command: Commands) -> Result<()> {
    match command {
        Commands::Build { fail_points } => {
            let variant = if fail_points { Variant::FailPoints } else { Variant::Published };
            println!("built {}", build::run(workspace, variant)?.display());
        }
        Commands::Setup => setup::run(workspace)?,
        Commands::Lint => lint::run(workspace)?,
        Commands::Test { part, deep } => test::run(workspace, part, deep)?,
        Commands::Sim(wanted) => sim::run(workspace, &wanted)?,
        Commands::Explore(wanted) => explore::run(workspace, &wanted)?,
        Commands::Mutants(wanted) => mutants::run(workspace, &wanted)?,
        Commands::Fuzz(wanted) => fuzz::run(workspace, &wanted)?,
        Commands::Kill(wanted) => kill::run(workspace, &wanted)?,
        Commands::Pack => println!("packed {}", pack::run(workspace)?.display()),
        Commands::Docs => println!("made {}", docs::run(workspace)?.display()),
        Commands::Demo { check: true, .. } => demo::check(workspace)?,
        Commands::Demo { port, .. } => demo::serve(workspace, port)?,
        Commands::Bench(wanted) => bench::run(workspace, &wanted)?,
        Commands::Size => size::run(workspace)?,
    }
    Ok(())
}
