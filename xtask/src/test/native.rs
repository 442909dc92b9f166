//! What is tested without a browser.

use std::{path::PathBuf, process::Command};

use anyhow::Result;

use super::work::Work;
use crate::{build, explore, lint, process, sim, tools, workspace::Workspace};

/// How many files run at the same time that keep a processor busy, and that mostly wait.
pub(super) const BUSY: u8 = 2;
pub(super) const WAITING: u8 = 4;

/// How cargo is told to optimise tests otherwise than the workspace says.
pub(super) const OPT_LEVEL: &str = "CARGO_PROFILE_TEST_OPT_LEVEL";

/// The test programs of the host, but those that are parts of their own.
const PROGRAMS: [&str; 5] = ["native", "crash_points", "bench", "model", "http"];

pub(super) fn work(workspace: &Workspace, deep: bool) -> Work<'_> {
    Work::InTurn(vec![
        Work::check("lint", || lint::run(workspace)),
        Work::tests("cargo test, libraries", || cargo_test_libraries(workspace)),
        Work::tests("cargo test", || cargo_test(workspace)),
        Work::tests("simulation", move || sim::test(workspace, deep)),
        Work::tests("exploration", move || explore::test(workspace, deep)),
        Work::tests("cargo test, xtask", || cargo_test_xtask(workspace)),
        Work::tests("facade", || node_test(workspace, "tests/facade", ".test.js", BUSY)),
        Work::check("types of the facade", || types(workspace)),
    ])
}

/// The libraries' own tests, which are done sooner than they could be optimised.
fn cargo_test_libraries(workspace: &Workspace) -> Result<Command> {
    let mut command = lint::cargo(workspace)?;
    command.args(["test", "--workspace", "--exclude", "xtask", "--lib", "--no-fail-fast"]);
    command.env(OPT_LEVEL, "0");
    Ok(command)
}

/// By name, for `--tests` would optimise the libraries' own too, and `*` asks for those of browsers.
fn cargo_test(workspace: &Workspace) -> Result<Command> {
    let mut command = lint::cargo(workspace)?;
    command.args(["test", "--workspace", "--exclude", "xtask", "--no-fail-fast"]);
    command.args(PROGRAMS.iter().flat_map(|name| ["--test", name]));
    Ok(command)
}

/// The test profile is for proofs that run long; in it, everything that xtask stands on would be
/// compiled a second time.
fn cargo_test_xtask(workspace: &Workspace) -> Result<Command> {
    let mut command = lint::cargo(workspace)?;
    command.args(["test", "--package", "xtask", "--profile", "dev", "--no-fail-fast"]);
    Ok(command)
}

fn types(workspace: &Workspace) -> Result<()> {
    let program = match process::find("TSC", &[]) {
        Some(program) => program,
        None => workspace.npm_program("tsc")?,
    };
    for folder in TYPED {
        let mut command = Command::new(&program);
        process::run(command.current_dir(workspace.root()).args(["-p", folder]))?;
    }
    Ok(())
}

/// Where `tsc` finds what it checks.
const TYPED: [&str; 2] = ["tests/facade", "tests/edge"];

/// Node's test runner over the files of one folder whose names end so, so many at the same time.
pub(super) fn node_test(
    workspace: &Workspace,
    folder: &str,
    end: &str,
    at_once: u8,
) -> Result<Command> {
    node_test_of(workspace, folder, |name| name.ends_with(end), at_once)
}

/// The same over the files whose names are wanted.
pub(super) fn node_test_of(
    workspace: &Workspace,
    folder: &str,
    is_wanted: impl Fn(&str) -> bool,
    at_once: u8,
) -> Result<Command> {
    let tests: Vec<PathBuf> = build::files(&workspace.path(folder))?
        .into_iter()
        .filter(|file| file.file_name().is_some_and(|name| is_wanted(&name.to_string_lossy())))
        .collect();
    anyhow::ensure!(!tests.is_empty(), "there are no tests in {folder}");
    let mut command = Command::new(tools::node()?);
    command
        .current_dir(workspace.root())
        // One form for people, and the one that is counted.
        .args(["--test", "--test-reporter=spec", "--test-reporter-destination=stderr"])
        .args(["--test-reporter=tap", "--test-reporter-destination=stdout"])
        .arg(format!("--test-concurrency={at_once}"))
        .args(tests);
    Ok(command)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test::browser::test_arguments;

    #[test]
    fn no_test_program_is_forgotten() {
        let workspace = Workspace::find().unwrap();
        let in_browsers = test_arguments(&workspace).unwrap();
        for folder in ["tests", "tests/services/tests"] {
            for entry in std::fs::read_dir(workspace.path(folder)).unwrap() {
                let path = entry.unwrap().path();
                let name = path.file_stem().unwrap().to_string_lossy().into_owned();
                let is_program = path.extension().is_some_and(|end| end == "rs")
                    || path.join("main.rs").is_file();
                let is_run = PROGRAMS.contains(&name.as_str())
                    || ["sim", "exhaustive"].contains(&name.as_str())
                    || in_browsers.iter().any(|own| *own == *name);
                assert!(is_run || !is_program, "{name}");
            }
        }
    }
}
