//! `test`: everything that shows whether this works, and how many tests said so.

pub(crate) mod browser;
mod counts;
mod edge;
mod native;
mod packages;
mod tally;
mod work;

use std::process::Command;

use anyhow::{Result, bail};
use clap::ValueEnum;

use crate::{
    build::{self, Variant},
    demo, lint, size,
    workspace::Workspace,
};
use tally::Tally;
use work::{Work, timed};

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
    let work = match part {
        Some(part) => part.work(workspace, deep),
        None => all(workspace, deep),
    };
    let (outcomes, seconds) = timed(|| work.run(deep));
    let tally = Tally::new(outcomes);
    println!("\n{}", tally.table(seconds));
    println!("\n{} passed, {} failed", tally.passed(), tally.failed());
    if tally.failed() > 0 {
        bail!("{}", tally.failures());
    }
    Ok(())
}

/// The browsers' tests wait more than they work: beside them runs all else.
fn all(workspace: &Workspace, deep: bool) -> Work<'_> {
    let of = |part: Part| part.work(workspace, deep);
    Work::Together(vec![
        Work::InTurn(vec![
            of(Part::Native),
            of(Part::Packages),
            of(Part::Edge),
            Work::check("demo", || demo::check(workspace)),
            Work::check("size", || size::run(workspace)),
            // Here, so that both come to their end at about the same time.
            browser::more_kills(workspace, deep),
        ]),
        browser::work(workspace, deep),
    ])
}

impl Part {
    fn work(self, workspace: &Workspace, deep: bool) -> Work<'_> {
        match self {
            Self::Native => native::work(workspace, deep),
            Self::Browser => Work::InTurn(vec![
                browser::work(workspace, deep),
                browser::more_kills(workspace, deep),
            ]),
            Self::Packages => packages::work(workspace, deep),
            Self::Edge => edge::work(workspace, deep),
        }
    }
}

/// Compiles packages as a part of its own, whose time is not that of the first who needs them.
fn built<'a>(workspace: &'a Workspace, variants: &'static [Variant]) -> Work<'a> {
    Work::check("build", || {
        variants.iter().try_for_each(|variant| build::run(workspace, *variant).map(drop))
    })
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
