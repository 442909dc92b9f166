//! `sim`: the simulation on two threads.

use std::process::Command;

use anyhow::Result;

use crate::{process, test, workspace::Workspace};

/// What the simulation is asked for.
#[derive(clap::Args, Clone, Debug)]
pub(crate) struct Wanted {
    /// How many seeds
    #[arg(long, default_value_t = SEEDS)]
    seeds: u64,
    /// The first of them
    #[arg(long, default_value_t = 1)]
    from: u64,
    /// One seed only
    #[arg(long)]
    seed: Option<u64>,
    /// Tells everything that happens in it
    #[arg(long, requires = "seed")]
    trace: bool,
    /// Sets deliberate faults, one after the other, and shows how soon each is caught
    #[arg(long)]
    teeth: bool,
    /// One deliberate fault only (see `src/rules/teeth.rs`)
    #[arg(long)]
    tooth: Option<String>,
}

/// Seeds of an ordinary test.
const SEEDS: u64 = 5_000;

/// Seeds of a test for a night.
const SEEDS_DEEP: u64 = 200_000;

/// Runs what is wanted.
pub(crate) fn run(workspace: &Workspace, wanted: &Wanted) -> Result<()> {
    let mut command = test::program(workspace, "sim", wanted.teeth || wanted.tooth.is_some())?;
    match wanted.seed {
        Some(seed) => command.args(["--seed", &seed.to_string()]),
        None => {
            command.args(["--seeds", &wanted.seeds.to_string()]);
            command.args(["--from", &wanted.from.to_string()])
        }
    };
    if wanted.trace {
        command.arg("--trace");
    }
    if wanted.teeth {
        command.arg("--teeth");
    }
    if let Some(tooth) = &wanted.tooth {
        command.args(["--tooth", tooth]);
    }
    process::run(&mut command)
}

/// The simulation as a part of the tests.
pub(crate) fn test(workspace: &Workspace, deep: bool) -> Result<Command> {
    let seeds = if deep { SEEDS_DEEP } else { SEEDS };
    let mut command = test::program(workspace, "sim", false)?;
    command.args(["--seeds", &seeds.to_string()]);
    Ok(command)
}
