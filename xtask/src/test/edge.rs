//! What is tested in servers and in workerd.

use std::process::Command;

use anyhow::Result;

use super::{
    native::{BUSY, node_test},
    work::Work,
};
use crate::{browsers::Browser, build::Variant, workspace::Workspace};

/// How often servers and objects are killed at random moments, and whether at every fail point.
const DEEP_RUNS: &str = "300";

pub(super) fn work(workspace: &Workspace, deep: bool) -> Work<'_> {
    Work::tests("servers and edge", move || tests(workspace, deep))
}

fn tests(workspace: &Workspace, deep: bool) -> Result<Command> {
    let mut command = node_test(workspace, "tests/edge", ".test.mjs", BUSY)?;
    command.envs(Browser::Chromium.environment(workspace, &[Variant::FailPoints])?);
    if deep {
        command.env("HOLDFAST_RUNS", DEEP_RUNS);
    }
    Ok(command)
}
