//! `lint`: formatting, clippy for both targets, documentation, tidiness.

use std::process::Command;

use anyhow::{Context as _, Result, bail};

use crate::{process, test::browser::test_arguments, tidy, wasm::Toolchain, workspace::Workspace};

/// Runs every check, also after one has failed, and fails when one did.
pub(crate) fn run(workspace: &Workspace) -> Result<()> {
    type Check = (&'static str, fn(&Workspace) -> Result<()>);
    let checks: [Check; 5] = [
        ("cargo fmt", format),
        ("clippy, host", clippy_host),
        ("clippy, WebAssembly", clippy_wasm),
        ("cargo doc", documentation),
        ("tidy", tidy::run),
    ];
    let mut failed = Vec::new();
    for (name, check) in checks {
        println!("-- {name}");
        if let Err(error) = check(workspace) {
            println!("   {error:#}");
            failed.push(name);
        }
    }
    if !failed.is_empty() {
        bail!("failed: {}", failed.join(", "));
    }
    Ok(())
}

/// The cargo that runs this, for the host.
pub(crate) fn cargo(workspace: &Workspace) -> Result<Command> {
    let cargo = std::env::var_os("CARGO").context("xtask runs through cargo")?;
    let mut command = Command::new(cargo);
    command.current_dir(workspace.root());
    Ok(command)
}

fn format(workspace: &Workspace) -> Result<()> {
    process::run(cargo(workspace)?.args(["fmt", "--all", "--check"]))
}

fn clippy_host(workspace: &Workspace) -> Result<()> {
    let arguments = ["clippy", "--quiet", "--workspace", "--all-targets", "--", "-D", "warnings"];
    process::run(cargo(workspace)?.args(arguments))
}

fn clippy_wasm(workspace: &Workspace) -> Result<()> {
    let mut command = Toolchain::find()?.cargo(workspace, "clippy");
    // Without its features, cargo leaves out the tests that need them and says nothing.
    command.args(["--quiet", "--package", "holdfast", "--lib", "--all-features"]);
    command.args(test_arguments(workspace)?);
    process::run(command.args(["--", "-D", "warnings"]))
}

fn documentation(workspace: &Workspace) -> Result<()> {
    let mut command = cargo(workspace)?;
    command.args(["doc", "--quiet", "--workspace", "--no-deps", "--document-private-items"]);
    process::run(command.env("RUSTDOCFLAGS", "-D warnings"))
}
