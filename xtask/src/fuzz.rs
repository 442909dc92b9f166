//! `fuzz`: everything that reads the outside, under libFuzzer.

use anyhow::{Context as _, Result};

use crate::{lint, process, workspace::Workspace};

/// What is fuzzed.
#[derive(clap::Args, Clone, Debug)]
pub(crate) struct Wanted {
    /// One target only (see `tests/fuzz/targets`)
    target: Option<String>,
    /// How long each runs
    #[arg(long, default_value_t = 60)]
    seconds: u64,
}

/// Longest input, in bytes; most memory, in megabytes; longest time for one input, in seconds.
const BOUNDS: [&str; 3] = ["-max_len=8192", "-rss_limit_mb=1024", "-timeout=5"];

/// Runs one target, or each in turn. What they find interesting is gathered in `target/fuzz-corpus`;
/// what breaks a property is printed, and belongs into `tests/fuzz/seeds`.
pub(crate) fn run(workspace: &Workspace, wanted: &Wanted) -> Result<()> {
    let folder = workspace.root().join("tests/fuzz");
    let mut targets = Vec::new();
    for entry in std::fs::read_dir(folder.join("seeds"))? {
        targets.push(entry?.file_name().into_string().ok().context("a name in UTF-8")?);
    }
    targets.sort();
    for target in targets.iter().filter(|own| wanted.target.as_ref().is_none_or(|one| one == *own))
    {
        let corpus = workspace.root().join("target/fuzz-corpus").join(target);
        std::fs::create_dir_all(&corpus)?;
        let mut command = lint::cargo(workspace)?;
        // libFuzzer's coverage is unstable; nothing else of a nightly compiler is wanted.
        command.env("RUSTC_BOOTSTRAP", "1");
        command.args(["fuzz", "run", "--fuzz-dir", "tests/fuzz", "--sanitizer", "none"]);
        command.args(["--target-dir", "target/fuzz", target]).arg(corpus);
        command.arg(folder.join("seeds").join(target)).arg("--").args(BOUNDS);
        command.arg(format!("-max_total_time={}", wanted.seconds));
        process::run(&mut command).context("is it installed? cargo install cargo-fuzz")?;
    }
    Ok(())
}
