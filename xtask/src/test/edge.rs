//! What is tested in servers and in workerd.

use std::process::Command;

use anyhow::Result;

use super::{
    native::{BUSY, node_test},
    tally::Tally,
};
use crate::{browsers::Browser, build::Variant, workspace::Workspace};

/// How often servers and objects are killed at random moments, and whether at every fail point.
const DEEP_RUNS: &str = "300";

pub(super) fn run(workspace: &Workspace, tally: &mut Tally) {
    let is_deep = tally.is_deep();
    tally.count("servers and edge", tests(workspace, is_deep));
}

fn tests(workspace: &Workspace, is_deep: bool) -> Result<Command> {
    let mut command = node_test(workspace, "tests/edge", ".test.mjs", BUSY)?;
    command.envs(Browser::Chromium.environment(workspace, &[Variant::FailPoints])?);
    if is_deep {
        command.env("HOLDFAST_RUNS", DEEP_RUNS);
    }
    Ok(command)
}
