//! What is tested in a browser.

use std::{
    ffi::OsString,
    path::{Path, PathBuf},
    process::Command,
};

use anyhow::{Context as _, Result};

use super::{
    built,
    native::{BUSY, OPT_LEVEL, WAITING, node_test, node_test_of},
    work::Work,
};
use crate::{
    browsers::Browser,
    build::{self, Variant},
    kill, tools,
    wasm::{TARGET, Toolchain},
    workspace::{Workspace, read, write},
};

/// How long one test program may take. The runner's own limit of 20 seconds is too short for the
/// stores' tests on a machine that is busy.
const RUNNER_SECONDS: &str = "300";

/// How often Firefox and WebKit are killed; Chromium is at every fail point, and 20 times at random.
const KILLS: u32 = 6;

/// How often each is killed in a test for a night.
const KILLS_DEEP: [(Browser, u32); 3] =
    [(Browser::Chromium, 300), (Browser::Firefox, 100), (Browser::Webkit, 100)];

/// How often an extension's worker is killed in a test for a night.
const EXTENSION_KILLS_DEEP: u32 = 200;

/// The browsers that Chromium is not the only one of.
const OTHERS: [Browser; 2] = [Browser::Firefox, Browser::Webkit];

/// Both packages.
const BOTH: [Variant; 2] = [Variant::Published, Variant::FailPoints];

/// Where browsers are killed.
const KILL_TESTS: &str = "kill.test.mjs";

/// What is tested of the package in every browser each time.
const PAGE_TESTS: [&str; 2] = ["page.test.mjs", "tabs.test.mjs"];

/// What is not tested in every browser: Chromium's own calls to the kernel, what needs no browser, and the kills,
/// which are run by themselves.
const APART: [&str; 3] = ["durability.test.mjs", "secrets.test.mjs", KILL_TESTS];

/// What the store must do wherever it lives.
const STORE_TESTS: [&str; 2] = ["indexeddb", "indexeddb_worker"];

pub(super) fn work(workspace: &Workspace, deep: bool) -> Work<'_> {
    Work::InTurn(vec![
        built(workspace, &BOTH),
        Work::tests("Rust in chromium", || rust_tests(workspace)),
        // Two of their kind at a time are as many as two cores bear beside all else.
        Work::tests("package in chromium", || package_tests(workspace)),
        Work::tests("kills in chromium", || kills_in_chromium(workspace)),
        Work::Together(vec![
            Work::tests("extension", move || extension_tests(workspace, deep)),
            in_the_others("store", |browser| store_tests(workspace, browser)),
        ]),
        in_the_others("package", move |browser| page_tests(workspace, browser, deep)),
    ])
}

/// Kills of the browsers that are not killed at every fail point; in a test for a night, of all.
pub(super) fn more_kills(workspace: &Workspace, deep: bool) -> Work<'_> {
    if deep {
        nightly_kills(workspace)
    } else {
        in_the_others("kills", |browser| kills(workspace, browser, KILLS))
    }
}

/// These browsers wait more than they work: both at the same time.
fn in_the_others<'a>(
    what: &str,
    tests: impl Fn(Browser) -> Result<Command> + Copy + Send + 'a,
) -> Work<'a> {
    let of = |browser: Browser| {
        Work::tests(format!("{what} in {}", browser.name()), move || tests(browser))
    };
    Work::Together(OTHERS.map(of).into())
}

fn nightly_kills(workspace: &Workspace) -> Work<'_> {
    let of = |(browser, runs): (Browser, u32)| {
        let name = format!("kills of {}", browser.name());
        Work::tests(name, move || kills(workspace, browser, runs))
    };
    Work::InTurn(KILLS_DEEP.map(of).into())
}

/// All but the kills, which have so many browsers of their own that they go on beside.
fn package_tests(workspace: &Workspace) -> Result<Command> {
    let is_wanted = |name: &str| name.ends_with(".test.mjs") && name != KILL_TESTS;
    let mut command = node_test_of(workspace, "tests/browser", is_wanted, BUSY)?;
    command.envs(Browser::Chromium.environment(workspace, &BOTH)?);
    Ok(command)
}

/// At every fail point, and at as many random moments as the tests themselves say.
fn kills_in_chromium(workspace: &Workspace) -> Result<Command> {
    let mut command = node_test(workspace, "tests/browser", KILL_TESTS, BUSY)?;
    command.envs(Browser::Chromium.environment(workspace, &[Variant::FailPoints])?);
    Ok(command)
}

/// The example extension, whose background is killed in Chromium and ends by itself there and in Firefox.
/// It gets the package's files from the build of what is published, and what has fail points in their place.
fn extension_tests(workspace: &Workspace, deep: bool) -> Result<Command> {
    let mut command = node_test(workspace, "tests/extension", ".test.mjs", WAITING)?;
    command.envs(Browser::Firefox.programs()?);
    command.envs(Browser::Chromium.environment(workspace, &BOTH)?);
    if deep {
        command.env(kill::RUNS, EXTENSION_KILLS_DEEP.to_string());
    }
    Ok(command)
}

/// What is tested of the package in every browser; in the others most of it in a test for a night only.
fn page_tests(workspace: &Workspace, browser: Browser, deep: bool) -> Result<Command> {
    let is_wanted = |name: &str| {
        let is_deep = deep && name.ends_with(".test.mjs") && !APART.contains(&name);
        is_deep || PAGE_TESTS.contains(&name)
    };
    let mut command = node_test_of(workspace, "tests/browser", is_wanted, BUSY)?;
    command.envs(browser.environment(workspace, &[Variant::Published])?);
    Ok(command)
}

fn kills(workspace: &Workspace, browser: Browser, runs: u32) -> Result<Command> {
    let mut command = node_test(workspace, "tests/browser", KILL_TESTS, BUSY)?;
    command.envs(browser.environment(workspace, &[Variant::FailPoints])?);
    command.env(kill::RUNS, runs.to_string());
    Ok(command)
}

fn rust_tests(workspace: &Workspace) -> Result<Command> {
    let browser = tools::chromium().context("no Chromium: `cargo xtask setup`")?;
    let driver = tools::chromedriver().context("no ChromeDriver: `cargo xtask setup`")?;
    configure_driver(workspace, &browser)?;
    let mut command = tests_for_the_web(workspace, &runner(workspace)?)?;
    command.args(test_arguments(workspace)?).env("CHROMEDRIVER", driver);
    Ok(command)
}

/// The store's own tests in a browser that has no driver which the runner knows.
fn store_tests(workspace: &Workspace, browser: Browser) -> Result<Command> {
    let script = workspace.path("tests/browser/run-rust.mjs");
    let mut command = tests_for_the_web(workspace, &script)?;
    command.args(STORE_TESTS.iter().flat_map(|name| ["--test", name]));
    command.envs(browser.programs()?).env("WASM_BINDGEN_TEST_RUNNER", runner(workspace)?);
    Ok(command)
}

fn runner(workspace: &Workspace) -> Result<PathBuf> {
    tools::test_runner(workspace)?.context("no runner: `cargo xtask setup`")
}

fn tests_for_the_web(workspace: &Workspace, runner: &Path) -> Result<Command> {
    let mut command = Toolchain::find()?.cargo(workspace, "test");
    // Cargo refuses to run the stores' tests without the behaviours that they share.
    command.args(["--package", "holdfast", "--features", "conformance", "--no-fail-fast"]);
    let variable = format!("CARGO_TARGET_{}_RUNNER", TARGET.to_uppercase().replace('-', "_"));
    command.env(variable, runner).env("WASM_BINDGEN_TEST_TIMEOUT", RUNNER_SECONDS);
    // The browser optimises what it runs, and is done sooner than this compiler.
    command.env(OPT_LEVEL, "0");
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
