//! What people install: the packed archive, with the tools that they use.

use std::process::Command;

use anyhow::Result;

use super::{
    native::{BUSY, node_test},
    work::Work,
};
use crate::{browsers::Browser, build::Variant, pack, workspace::Workspace};

pub(super) fn work(workspace: &Workspace, deep: bool) -> Work<'_> {
    Work::tests("packages", move || tests(workspace, deep))
}

fn tests(workspace: &Workspace, deep: bool) -> Result<Command> {
    let mut command = node_test(workspace, "tests/packages", ".test.mjs", BUSY)?;
    command.envs(Browser::Chromium.environment(workspace, &[Variant::Published])?);
    command.env("HOLDFAST_ARCHIVE", pack::run(workspace)?);
    if deep {
        command.env("HOLDFAST_DEEP", "1");
    }
    Ok(command)
}
