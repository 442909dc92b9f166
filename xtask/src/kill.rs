//! `kill`: a browser killed for real, as often as one likes.

use std::process::Command;

use anyhow::Result;

use crate::{browsers::Browser, build::Variant, process, tools, workspace::Workspace};

/// What is asked for.
#[derive(clap::Args, Clone, Debug)]
pub(crate) struct Wanted {
    /// Which browser
    #[arg(long, value_enum, default_value_t = Browser::Chromium)]
    browser: Browser,
    /// How often: half of them at fail points, half at random moments
    #[arg(long, default_value_t = 20)]
    runs: u32,
    /// Repeats a run's choices; without it they are new ones, and the run tells its seed
    #[arg(long)]
    seed: Option<u32>,
}

/// Runs the kills; what came of them is printed.
pub(crate) fn run(workspace: &Workspace, wanted: &Wanted) -> Result<()> {
    let mut node = Command::new(tools::node()?);
    node.current_dir(workspace.root())
        .args(["--test", "--test-reporter=spec"])
        .arg("tests/browser/kill.test.mjs");
    node.envs(wanted.browser.environment(workspace, &[Variant::FailPoints])?);
    node.env(RUNS, wanted.runs.to_string());
    if let Some(seed) = wanted.seed {
        node.env("HOLDFAST_SEED", seed.to_string());
    }
    process::run(&mut node)
}

/// The variable that says how often.
pub(crate) const RUNS: &str = "HOLDFAST_KILLS";
