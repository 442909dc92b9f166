//! Running programs: found through PATH or a variable, and an error names what failed.

use std::{
    path::PathBuf,
    process::{Command, Output},
    time::Duration,
};

use anyhow::{Context as _, Result, bail};

const LOOKS_PER_SECOND: u32 = 5;

/// Finds a program: the variable's value where it is set, else the first of the names on PATH.
pub(crate) fn find(variable: &str, names: &[&str]) -> Option<PathBuf> {
    match std::env::var_os(variable) {
        Some(value) if !value.is_empty() => Some(PathBuf::from(value)),
        Some(_) | None => names.iter().find_map(|name| all_on_path(name).into_iter().next()),
    }
}

/// Every program of that name on PATH, in PATH's order.
pub(crate) fn all_on_path(name: &str) -> Vec<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path)
        .map(|folder| folder.join(name))
        .filter(|program| program.is_file())
        .collect()
}

/// Runs a program with this terminal's input and output; an error unless it succeeds.
pub(crate) fn run(command: &mut Command) -> Result<()> {
    let status = command.status().with_context(|| format!("cannot start {}", line(command)))?;
    if !status.success() {
        bail!("{} ended with {status}", line(command));
    }
    Ok(())
}

/// Like [`run`], but the program is ended when it takes longer.
pub(crate) fn run_within(command: &mut Command, seconds: u32) -> Result<()> {
    let mut child = command.spawn().with_context(|| format!("cannot start {}", line(command)))?;
    for _ in 0..seconds * LOOKS_PER_SECOND {
        if let Some(status) = child.try_wait()? {
            if !status.success() {
                bail!("{} ended with {status}", line(command));
            }
            return Ok(());
        }
        std::thread::sleep(Duration::from_secs(1) / LOOKS_PER_SECOND);
    }
    child.kill()?;
    child.wait()?;
    bail!("{} took longer than {seconds} seconds", line(command));
}

/// Runs a program and returns its standard output; an error, with its last words, unless it
/// succeeds.
pub(crate) fn output(command: &mut Command) -> Result<String> {
    let Output { status, stdout, stderr } =
        command.output().with_context(|| format!("cannot start {}", line(command)))?;
    if !status.success() {
        bail!("{} ended with {status}\n{}", line(command), String::from_utf8_lossy(&stderr));
    }
    Ok(String::from_utf8(stdout)?)
}

/// The command as a person would type it.
fn line(command: &Command) -> String {
    let mut line = command.get_program().to_string_lossy().into_owned();
    for argument in command.get_args() {
        line.push(' ');
        line.push_str(&argument.to_string_lossy());
    }
    line
}
