//! `explore`: everything that can happen around one operation, on two threads.

use std::process::Command;

use anyhow::Result;

use crate::{process, test, workspace::Workspace};

/// What the exploration is asked for.
#[derive(clap::Args, Clone, Debug)]
pub(crate) struct Wanted {
    /// How many things happen, at most
    #[arg(long, default_value_t = DEPTH)]
    depth: u8,
    /// Of how many states at that depth the calm is followed: one in so many
    #[arg(long, default_value_t = CALM_EACH)]
    calm_each: u64,
    /// Sets deliberate faults, one after the other, and shows how each is caught
    #[arg(long)]
    teeth: bool,
}

/// Depth of an ordinary test.
const DEPTH: u8 = 5;

/// Depth of a test for a night.
const DEPTH_DEEP: u8 = 8;

/// A calm costs as much as a hundred states.
const CALM_EACH: u64 = 16;

/// Runs what is wanted.
pub(crate) fn run(workspace: &Workspace, wanted: &Wanted) -> Result<()> {
    process::run(&mut command(workspace, wanted)?)
}

/// The exploration as a part of the tests.
pub(crate) fn test(workspace: &Workspace, deep: bool) -> Result<Command> {
    let depth = if deep { DEPTH_DEEP } else { DEPTH };
    command(workspace, &Wanted { depth, calm_each: CALM_EACH, teeth: false })
}

fn command(workspace: &Workspace, wanted: &Wanted) -> Result<Command> {
    let mut command = test::program(workspace, "exhaustive", wanted.teeth)?;
    command.args(["--depth", &wanted.depth.to_string()]);
    command.args(["--calm-each", &wanted.calm_each.to_string()]);
    if wanted.teeth {
        command.arg("--teeth");
    }
    Ok(command)
}
