//! What each step of `setup` looks for, and how it installs it.

use std::{
    path::{Path, PathBuf},
    process::Command,
};

use anyhow::{Context as _, Result};

use super::{Apt, Outcome};
use crate::{
    process, tools,
    wasm::{TARGET, Toolchain},
    workspace::{Workspace, read, write},
};

/// A rustup that cannot reach its server must not stop everything.
const RUSTUP_SECONDS: u32 = 180;

/// Debian's own compiler for WebAssembly, what it takes to compile the standard library, and the
/// clippy that fits them.
const DEBIAN_TOOLCHAIN: [&str; 6] =
    ["rustc-web", "cargo-web", "rust-web-src", "rust-web-llvm", "rust-web-clippy", "lld-22"];

pub(super) fn wasm_target(_: &Workspace, apt: &mut Apt) -> Result<Outcome> {
    if let Ok(toolchain) = Toolchain::find()
        && toolchain.builds_std()
        && toolchain.has_clippy()
    {
        return Ok(Outcome::There(toolchain.describe()));
    }
    if let Some(rustup) = process::find("RUSTUP", &["rustup"]) {
        // The sources make the module smaller; the compiled library is enough.
        for arguments in [["target", "add", TARGET], ["component", "add", "rust-src"]] {
            println!("      rustup {}", arguments.join(" "));
            let mut command = Command::new(&rustup);
            if let Err(error) = process::run_within(command.args(arguments), RUSTUP_SECONDS) {
                println!("      {error:#}");
            }
        }
    }
    if !Toolchain::find().is_ok_and(|toolchain| toolchain.has_clippy()) {
        apt.install(&DEBIAN_TOOLCHAIN)?;
    }
    Ok(Outcome::Installed(Toolchain::find()?.describe()))
}

pub(super) fn npm_packages(workspace: &Workspace, _: &mut Apt) -> Result<Outcome> {
    let as_in = "as in tests/package-lock.json and tests/packages/package-lock.json".to_owned();
    let mut installed = false;
    for folder in ["tests", "tests/packages"] {
        installed |= npm_ci(&workspace.path(folder))?;
    }
    Ok(if installed { Outcome::Installed(as_in) } else { Outcome::There(as_in) })
}

/// Installs what a folder's lockfile names, unless it is there.
pub(crate) fn npm_ci(folder: &Path) -> Result<bool> {
    let lock = read(&folder.join("package-lock.json"))?;
    let stamp = folder.join("node_modules/.holdfast-lock");
    if std::fs::read_to_string(&stamp).is_ok_and(|kept| kept == lock) {
        return Ok(false);
    }
    println!("      npm ci in {}", folder.display());
    let mut command = Command::new(tools::npm()?);
    command.current_dir(folder).args(["ci", "--no-audit", "--no-fund", "--ignore-scripts"]);
    process::output(&mut command)?;
    write(&stamp, lock)?;
    Ok(true)
}

/// The one package whose program is compiled: it is fetched compiled where that can be had.
pub(super) fn sqlite(workspace: &Workspace, _: &mut Apt) -> Result<Outcome> {
    let tests = workspace.path("tests");
    let node = tools::node()?;
    let loads = || {
        let mut command = Command::new(&node);
        let script = "new (require('better-sqlite3'))(':memory:').close()";
        process::output(command.current_dir(&tests).args(["-e", script])).is_ok()
    };
    if loads() {
        return Ok(Outcome::There("better-sqlite3".to_owned()));
    }
    println!("      npm rebuild better-sqlite3");
    let mut command = Command::new(tools::npm()?);
    command.current_dir(&tests).args(["rebuild", "better-sqlite3"]);
    // It serves tests of small files: to optimise it takes a minute longer than to use it.
    command.envs([("CFLAGS", "-O0"), ("CXXFLAGS", "-O0")]);
    // The headers that came with this Node need not be fetched.
    let prefix = node.canonicalize()?;
    if let Some(prefix) = prefix.ancestors().nth(2)
        && prefix.join("include/node/node.h").is_file()
    {
        command.env("npm_config_nodedir", prefix);
    }
    process::output(&mut command)?;
    anyhow::ensure!(loads(), "better-sqlite3 was built and does not load");
    Ok(Outcome::Installed("better-sqlite3".to_owned()))
}

pub(super) fn chromium(_: &Workspace, apt: &mut Apt) -> Result<Outcome> {
    let programs = || Some([tools::chromium()?, tools::chromedriver()?]);
    installed(apt, programs, &["chromium", "chromium-driver"], "CHROMIUM and CHROMEDRIVER")
}

pub(super) fn firefox(_: &Workspace, apt: &mut Apt) -> Result<Outcome> {
    let programs = || Some([tools::firefox()?, tools::sqlite3()?]);
    installed(apt, programs, &["firefox-esr", "sqlite3"], "FIREFOX and SQLITE3")
}

pub(super) fn webkit(_: &Workspace, apt: &mut Apt) -> Result<Outcome> {
    let programs = || Some([tools::minibrowser()?, tools::xvfb()?]);
    installed(apt, programs, &["libwebkit2gtk-4.1-0", "xvfb"], "MINIBROWSER and XVFB")
}

/// Two programs that packages bring, or that variables name.
fn installed(
    apt: &mut Apt,
    programs: impl Fn() -> Option<[PathBuf; 2]>,
    packages: &[&str],
    variables: &str,
) -> Result<Outcome> {
    let named = |[one, other]: [PathBuf; 2]| format!("{}, {}", one.display(), other.display());
    if let Some(found) = programs() {
        return Ok(Outcome::There(named(found)));
    }
    let installed = apt.install(packages);
    Ok(match (installed, programs()) {
        (Ok(()), Some(found)) => Outcome::Installed(named(found)),
        (outcome, _) => {
            let why = outcome.err().map(|error| format!("{error:#}; ")).unwrap_or_default();
            Outcome::Missing(format!("{why}or set {variables}"))
        }
    })
}

pub(super) fn test_runner(workspace: &Workspace) -> Result<Outcome> {
    if let Some(runner) = tools::test_runner(workspace)? {
        return Ok(Outcome::There(runner.display().to_string()));
    }
    let version = workspace.locked_version("wasm-bindgen")?;
    println!("cargo install wasm-bindgen-cli --version {version} (takes minutes, once)");
    let cargo = std::env::var_os("CARGO").context("xtask runs through cargo")?;
    let mut command = Command::new(cargo);
    command
        .args(["install", "--quiet", "--debug", "wasm-bindgen-cli", "--version", &version])
        .args(["--bin", "wasm-bindgen-test-runner", "--root"])
        .arg(tools::runner_folder(workspace))
        // It stands on much of what this command stands on, which is compiled there.
        .arg("--target-dir")
        .arg(workspace.path("target"))
        .env("CARGO_PROFILE_DEV_DEBUG", "0");
    process::run(&mut command)?;
    let runner = tools::test_runner(workspace)?.context("the runner is of another version")?;
    Ok(Outcome::Installed(runner.display().to_string()))
}

pub(super) fn strace(_: &Workspace, apt: &mut Apt) -> Result<Outcome> {
    let find = || process::find("STRACE", &["strace"]);
    if let Some(program) = find() {
        return Ok(Outcome::There(program.display().to_string()));
    }
    apt.install(&["strace"])?;
    let program = find().context("apt-get brought no strace")?;
    Ok(Outcome::Installed(program.display().to_string()))
}
