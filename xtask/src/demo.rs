//! `demo`: the demo's page and a service that it works with, on this machine.

use std::{
    io::{BufRead as _, BufReader},
    path::PathBuf,
    process::{Child, Command, Stdio},
    sync::{Mutex, PoisonError},
};

use anyhow::{Context as _, Result};
use serde::Deserialize;

use crate::{
    browsers::Browser,
    build::{self, Variant},
    docs,
    lint::cargo,
    process, tools,
    workspace::Workspace,
};

/// The service's first line.
#[derive(Deserialize)]
struct Listening {
    listening: String,
}

/// Serves the demo until the service ends or Ctrl-C ends both.
pub(crate) fn serve(workspace: &Workspace, port: u16) -> Result<()> {
    let package = build::run(workspace, Variant::Published)?;
    let at = |path: &str, folder: PathBuf| {
        let mut static_at = std::ffi::OsString::from(format!("{path}="));
        static_at.push(folder);
        static_at
    };
    let docs = docs::run(workspace)?;
    let mut command = Command::new(loopback(workspace)?);
    command
        .args(["--port", &port.to_string(), "--static"])
        .arg(workspace.path("www"))
        .arg("--static-at")
        .arg(at("/pkg", package))
        .arg("--static-at")
        .arg(at("/docs", docs))
        // The pipe closes with this process, however that ends, and the service with it.
        .arg("--until-stdin-closes")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped());
    let mut service = command.spawn().context("cannot start the service")?;
    let served = announce(&mut service);
    if served.is_err() {
        service.kill()?;
    }
    service.wait()?;
    served
}

fn announce(service: &mut Child) -> Result<()> {
    let mut lines = BufReader::new(service.stdout.take().context("no output")?).lines();
    let first = lines.next().context("the service ended before it listened")??;
    let Listening { listening } = serde_json::from_str(&first)?;
    println!("demo on {listening}, documentation on {listening}/docs/index.html (Ctrl-C ends it)");
    for line in lines {
        println!("{}", line?);
    }
    Ok(())
}

/// Drives the demo in a browser; the check's one line is all there is on standard output.
pub(crate) fn check(workspace: &Workspace) -> Result<()> {
    let mut command = Command::new(tools::node()?);
    command.current_dir(workspace.root()).arg("tests/browser/demo-check.mjs");
    command.envs(Browser::Chromium.environment(workspace, &[Variant::Published])?);
    process::run(&mut command)
}

/// Builds the service and returns its program, once in a run of this program.
///
/// Cargo builds it for the service's own tests, which run anyway. Built by itself it would be compiled once
/// more with all that it stands on, and take the place of the other while tests start it.
pub(crate) fn loopback(workspace: &Workspace) -> Result<PathBuf> {
    static IS_BUILT: Mutex<bool> = Mutex::new(false);
    let mut is_built = IS_BUILT.lock().unwrap_or_else(PoisonError::into_inner);
    if !*is_built {
        let mut command = cargo(workspace)?;
        command.args(["test", "--quiet", "--workspace", "--exclude", "xtask", "--test", "http"]);
        process::run(command.arg("--no-run"))?;
        *is_built = true;
    }
    let target = std::env::var_os("CARGO_TARGET_DIR").map(PathBuf::from);
    Ok(target.unwrap_or_else(|| workspace.path("target")).join("debug/loopback"))
}
