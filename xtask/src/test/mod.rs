//! `test`: everything that shows whether this works, and how many tests said so.

pub(crate) mod browser;
mod edge;
mod native;
mod packages;
mod tally;

use std::process::Command;

use anyhow::{Result, bail};
use clap::ValueEnum;

use crate::{demo, lint, size, workspace::Workspace};
use tally::Tally;

/// A part of the tests.
#[derive(Clone, Copy, Debug, Eq, PartialEq, ValueEnum)]
pub(crate) enum Part {
    /// Lint, and what runs without a browser.
    Native,
    /// What runs in a browser.
    Browser,
    /// What is published, with the tools that people use it with.
    Packages,
    /// What runs in servers and on the edge.
    Edge,
}

/// Runs one part, or everything; the last line says how many passed and failed.
pub(crate) fn run(workspace: &Workspace, part: Option<Part>, deep: bool) -> Result<()> {
    let mut tally = Tally::new(deep);
    if matches!(part, None | Some(Part::Native)) {
        native::run(workspace, &mut tally);
    }
    if matches!(part, None | Some(Part::Browser)) {
        browser::run(workspace, &mut tally);
    }
    if matches!(part, None | Some(Part::Packages)) {
        packages::run(workspace, &mut tally);
    }
    if matches!(part, None | Some(Part::Edge)) {
        edge::run(workspace, &mut tally);
    }
    if part.is_none() {
        tally.section("demo", || demo::check(workspace));
        tally.section("size", || size::run(workspace));
    }
    println!("\n{} passed, {} failed", tally.passed(), tally.failed());
    if tally.failed() > 0 {
        bail!("{}", tally.failures());
    }
    Ok(())
}

/// One of the package's test programs, built with its deliberate faults or without; what is added are its
/// own arguments.
pub(crate) fn program(workspace: &Workspace, name: &str, teeth: bool) -> Result<Command> {
    let mut command = lint::cargo(workspace)?;
    command.args(["test", "--quiet", "--package", "holdfast"]);
    if teeth {
        command.args(["--features", "teeth"]);
    }
    command.args(["--test", name, "--"]);
    Ok(command)
}
