//! What is tested in a browser.

use std::{ffi::OsString, path::Path, process::Command};

use anyhow::{Context as _, Result};

use super::{native::node_test, tally::Tally};
use crate::{
    build::{self, Variant},
    demo, tools,
    wasm::{TARGET, Toolchain},
    workspace::{Workspace, read, write},
};

/// How long one test program may take. The runner's own limit of 20 seconds is too short for the
/// stores' tests on a machine that is busy.
const RUNNER_SECONDS: &str = "300";

pub(super) fn run(workspace: &Workspace, tally: &mut Tally) {
    tally.count("Rust in a browser", rust_tests(workspace));
    tally.count("package in a browser", package_tests(workspace));
}

fn package_tests(workspace: &Workspace) -> Result<Command> {
    let variants = [Variant::Published, Variant::FailPoints];
    let environment = demo::browser_environment(workspace, &variants)?;
    let mut command = node_test(workspace, "tests/browser", ".test.mjs")?;
    command.envs(environment);
    Ok(command)
}

fn rust_tests(workspace: &Workspace) -> Result<Command> {
    let browser = tools::chromium().context("no Chromium: `cargo xtask setup`")?;
    let driver = tools::chromedriver().context("no ChromeDriver: `cargo xtask setup`")?;
    let runner = tools::test_runner(workspace)?.context("no runner: `cargo xtask setup`")?;
    configure_driver(workspace, &browser)?;
    let mut command = Toolchain::find()?.cargo(workspace, "test");
    // Cargo refuses to run the stores' tests without the behaviours that they share.
    command.args(["--package", "holdfast", "--features", "conformance", "--no-fail-fast"]);
    command.args(test_arguments(workspace)?);
    let runner_variable =
        format!("CARGO_TARGET_{}_RUNNER", TARGET.to_uppercase().replace('-', "_"));
    command.env(runner_variable, runner).env("CHROMEDRIVER", driver);
    command.env("WASM_BINDGEN_TEST_TIMEOUT", RUNNER_SECONDS);
    Ok(command)
}

/// The crate's tests that run in a browser, as cargo is told of them; the others are the host's.
pub(crate) fn test_arguments(workspace: &Workspace) -> Result<Vec<OsString>> {
    let mut arguments = Vec::new();
    for file in build::files(&workspace.path("tests"))? {
        let is_test = file.extension().is_some_and(|end| end == "rs");
        if is_test
            && read(&file)?.contains("wasm_bindgen_test")
            && let Some(name) = file.file_stem()
        {
            arguments.extend([OsString::from("--test"), name.to_owned()]);
        }
    }
    Ok(arguments)
}

/// The runner reads the browser's arguments from the crate's root.
fn configure_driver(workspace: &Workspace, browser: &Path) -> Result<()> {
    let capabilities = serde_json::json!({
        "goog:chromeOptions": {
            "binary": browser,
            "args": [
                "--headless",
                "--no-sandbox",
                "--disable-gpu",
                "--disable-quic",
                "--no-first-run",
                "--disable-background-networking",
                "--disable-component-update",
                "--disable-sync",
            ],
        },
    });
    write(&workspace.path("webdriver.json"), capabilities.to_string())
}
