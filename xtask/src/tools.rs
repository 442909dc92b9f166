//! The programs that tests need and cargo does not bring.

use std::{path::PathBuf, process::Command};

use anyhow::{Context as _, Result};

use crate::{process, workspace::Workspace};

/// Chromium or Chrome: `CHROMIUM`, or what PATH has.
pub(crate) fn chromium() -> Option<PathBuf> {
    process::find("CHROMIUM", &["chromium", "chromium-browser", "google-chrome", "chrome"])
}

/// The driver of that browser: `CHROMEDRIVER`, or what PATH has.
pub(crate) fn chromedriver() -> Option<PathBuf> {
    process::find("CHROMEDRIVER", &["chromedriver"])
}

/// Node's program: `NODE`, or what PATH has.
pub(crate) fn node() -> Result<PathBuf> {
    process::find("NODE", &["node", "nodejs"]).context("Node 20 or later is not on PATH")
}

/// npm's program: `NPM`, or what PATH has.
pub(crate) fn npm() -> Result<PathBuf> {
    process::find("NPM", &["npm"]).context("npm is not on PATH")
}

/// The runner of wasm-bindgen tests in the locked version: `WASM_BINDGEN_TEST_RUNNER`, what
/// `setup` has installed, or what PATH has.
pub(crate) fn test_runner(workspace: &Workspace) -> Result<Option<PathBuf>> {
    let version = workspace.locked_version("wasm-bindgen")?;
    let name = "wasm-bindgen-test-runner";
    let mut candidates: Vec<PathBuf> =
        process::find("WASM_BINDGEN_TEST_RUNNER", &[]).into_iter().collect();
    candidates.push(runner_folder(workspace).join("bin").join(name));
    candidates.extend(process::all_on_path(name));
    Ok(candidates.into_iter().find(|program| {
        process::output(Command::new(program).arg("--version"))
            .is_ok_and(|said| said.split_whitespace().any(|word| word == version))
    }))
}

/// Where `setup` installs the runner.
pub(crate) fn runner_folder(workspace: &Workspace) -> PathBuf {
    workspace.path("target/tools")
}
