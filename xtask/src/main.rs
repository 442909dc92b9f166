//! Every project command, in Rust: `cargo xtask --help`.
#![expect(clippy::print_stdout, reason = "a command line's output is what it prints")]

mod bindgen;
mod build;
mod process;
mod size;
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
        Commands::Size => size::run(workspace)?,
    }
    Ok(())
}
