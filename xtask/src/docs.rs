//! `docs`: the documentation as pages, with the reference that is made from the types.

use std::{path::PathBuf, process::Command};

use anyhow::Result;

use crate::{process, tools, workspace::Workspace};

/// Makes every page anew; returns their folder.
pub(crate) fn run(workspace: &Workspace) -> Result<PathBuf> {
    let folder = workspace.path("target/docs");
    let mut command = Command::new(tools::node()?);
    command.current_dir(workspace.root()).arg("tests/docs/make.mjs").arg(&folder);
    process::output(&mut command)?;
    Ok(folder)
}
