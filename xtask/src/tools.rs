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

/// Firefox: `FIREFOX`, or what PATH has.
pub(crate) fn firefox() -> Option<PathBuf> {
    process::find("FIREFOX", &["firefox-esr", "firefox"])
}

/// WebKitGTK's browser: `MINIBROWSER`, what PATH has, or what Debian's package says where it is.
pub(crate) fn minibrowser() -> Option<PathBuf> {
    let name = "MiniBrowser";
    process::find("MINIBROWSER", &[name]).or_else(|| {
        let mut list = Command::new(process::find("DPKG", &["dpkg"])?);
        let files = process::output(list.args(["--listfiles", "libwebkit2gtk-4.1-0"])).ok()?;
        files.lines().map(PathBuf::from).find(|file| file.ends_with(name) && file.is_file())
    })
}

/// Xvfb, a screen that nobody sees: `XVFB`, or what PATH has.
pub(crate) fn xvfb() -> Option<PathBuf> {
    process::find("XVFB", &["Xvfb"])
}

/// sqlite3, which reads what Firefox keeps: `SQLITE3`, or what PATH has.
pub(crate) fn sqlite3() -> Option<PathBuf> {
    process::find("SQLITE3", &["sqlite3"])
}

/// Node's program: `NODE`, or what PATH has.
pub(crate) fn node() -> Result<PathBuf> {
    process::find("NODE", &["node", "nodejs"]).context("Node 20 or later is not on PATH")
}

/// A Node of the present, where packages of others want one: `HOLDFAST_NODE_NEWER`, the one that npm has
/// brought for the tests, or what PATH has.
pub(crate) fn newer_node(workspace: &Workspace) -> Result<PathBuf> {
    let arch = if cfg!(target_arch = "aarch64") { "arm64" } else { "x64" };
    let brought = workspace.path(format!("tests/node_modules/node-linux-{arch}/bin/node"));
    let brought = Some(brought).filter(|program| program.is_file());
    process::find("HOLDFAST_NODE_NEWER", &[]).or(brought).map_or_else(node, Ok)
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
