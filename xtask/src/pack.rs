//! `pack`: the archive that is published.

use std::{path::PathBuf, process::Command};

use anyhow::{Result, ensure};

use crate::{
    build::{self, Variant},
    process, tools,
    workspace::Workspace,
};

/// Builds the package and packs it; returns the archive's path.
pub(crate) fn run(workspace: &Workspace) -> Result<PathBuf> {
    let folder = build::run(workspace, Variant::Published)?;
    for earlier in build::files(&folder)?.into_iter().filter(|file| build::is_archive(file)) {
        std::fs::remove_file(earlier)?;
    }
    let archive = folder.join(format!("holdfast-{}.tgz", workspace.version()));
    let mut npm = Command::new(tools::npm()?);
    process::output(npm.current_dir(&folder).args(["pack", "--ignore-scripts", "--silent"]))?;
    ensure!(archive.is_file(), "npm has not left {}", archive.display());
    Ok(archive)
}
