//! `fuzz`: everything that reads the outside, under libFuzzer.

use std::path::Path;
use std::process::Command;

use anyhow::{Context as _, Result, bail};

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
    let root = workspace.root();
    for target in chosen(all(root)?, wanted.target.as_deref())? {
        std::fs::create_dir_all(root.join("target/fuzz-corpus").join(&target))?;
        let mut command = lint::cargo(workspace)?;
        fuzz(&mut command, root, &target, wanted.seconds);
        process::run(&mut command).context("is it installed? cargo install cargo-fuzz")?;
    }
    Ok(())
}

/// Every target: each has its hand-written inputs.
fn all(root: &Path) -> Result<Vec<String>> {
    let mut targets = Vec::new();
    for entry in std::fs::read_dir(root.join("tests/fuzz/seeds"))? {
        targets.push(entry?.file_name().into_string().ok().context("a name in UTF-8")?);
    }
    targets.sort();
    Ok(targets)
}

/// The wanted one of them, or all.
fn chosen(all: Vec<String>, wanted: Option<&str>) -> Result<Vec<String>> {
    match wanted {
        None => Ok(all),
        Some(wanted) if all.iter().any(|own| own == wanted) => Ok(vec![wanted.into()]),
        Some(wanted) => bail!("no target is called {wanted}; there are {}", all.join(", ")),
    }
}

/// What `cargo` is to be told for one target.
fn fuzz(command: &mut Command, root: &Path, target: &str, seconds: u64) {
    // libFuzzer's coverage is unstable; nothing else of a nightly compiler is wanted.
    command.env("RUSTC_BOOTSTRAP", "1");
    command.args(["fuzz", "run", "--fuzz-dir", "tests/fuzz", "--sanitizer", "none"]);
    command.args(["--target-dir", "target/fuzz", target]);
    command.arg(root.join("target/fuzz-corpus").join(target));
    command.arg(root.join("tests/fuzz/seeds").join(target)).arg("--").args(BOUNDS);
    command.arg(format!("-max_total_time={seconds}"));
}

#[cfg(test)]
mod tests {
    use super::{Path, all, chosen, fuzz};
    use std::process::Command;

    fn targets() -> Vec<String> {
        all(&Path::new(env!("CARGO_MANIFEST_DIR")).join("..")).expect("they are there")
    }

    #[test]
    fn a_target_runs_over_its_inputs_within_the_bounds() {
        let mut command = Command::new("cargo");
        fuzz(&mut command, Path::new("root"), "stream", 7);
        let arguments: Vec<_> = command.get_args().map(|own| own.to_string_lossy()).collect();
        assert_eq!(
            arguments.join(" ").replace('\\', "/"),
            "fuzz run --fuzz-dir tests/fuzz --sanitizer none --target-dir target/fuzz stream \
             root/target/fuzz-corpus/stream root/tests/fuzz/seeds/stream -- \
             -max_len=8192 -rss_limit_mb=1024 -timeout=5 -max_total_time=7"
        );
        let nightly = command.get_envs().any(|(name, _)| name == "RUSTC_BOOTSTRAP");
        assert!(nightly, "libFuzzer's coverage is refused by a stable compiler");
    }

    #[test]
    fn every_target_has_inputs_of_its_own() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/fuzz/targets");
        let programs = std::fs::read_dir(folder).expect("the targets").map(|entry| {
            entry.expect("readable").path().file_stem().map(|own| own.to_string_lossy().into())
        });
        let mut programs: Vec<String> = programs.flatten().collect();
        programs.sort();
        assert_eq!(programs, targets());
    }

    #[test]
    fn one_target_may_be_wanted_or_all() {
        let all = targets();
        let one = all.first().expect("there is one").clone();
        assert_eq!(chosen(all.clone(), Some(&one)).expect("it is known"), [one]);
        assert_eq!(chosen(all.clone(), None).expect("all are"), all);
    }

    #[test]
    fn an_unknown_target_is_named_with_those_that_there_are() {
        let all = targets();
        let error = chosen(all.clone(), Some("steram")).expect_err("there is none").to_string();
        assert!(error.contains("steram"), "{error}");
        assert!(all.iter().all(|own| error.contains(own.as_str())), "{error}");
    }
}
