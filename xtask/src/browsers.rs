//! The browsers that tests run in, and what the scripts in tests/browser/ find them by.

use std::ffi::OsString;

use anyhow::{Context as _, Result};
use clap::ValueEnum;

use crate::{
    build::{self, Variant},
    demo, tools,
    workspace::Workspace,
};

/// A browser engine.
#[derive(Clone, Copy, Debug, Eq, PartialEq, ValueEnum)]
pub(crate) enum Browser {
    /// Chromium, over the `DevTools` protocol.
    Chromium,
    /// Firefox, over `WebDriver` BiDi.
    Firefox,
    /// `WebKitGTK`'s small browser, whose pages report by themselves.
    Webkit,
}

impl Browser {
    /// Its name, for people and for the scripts.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Chromium => "chromium",
            Self::Firefox => "firefox",
            Self::Webkit => "webkit",
        }
    }

    /// Variables that name this browser and its programs.
    pub(crate) fn programs(self) -> Result<Vec<(&'static str, OsString)>> {
        let programs = match self {
            Self::Chromium => [("CHROMIUM", tools::chromium())].to_vec(),
            Self::Firefox => {
                [("FIREFOX", tools::firefox()), ("SQLITE3", tools::sqlite3())].to_vec()
            }
            Self::Webkit => {
                [("MINIBROWSER", tools::minibrowser()), ("XVFB", tools::xvfb())].to_vec()
            }
        };
        let mut variables = vec![("HOLDFAST_BROWSER", self.name().into())];
        for (variable, program) in programs {
            let program = program.with_context(|| {
                format!("no program for {variable} ({}): `cargo xtask setup`", self.name())
            })?;
            variables.push((variable, program.into()));
        }
        Ok(variables)
    }

    /// The same, with packages and a service, which are built.
    pub(crate) fn environment(
        self,
        workspace: &Workspace,
        variants: &[Variant],
    ) -> Result<Vec<(&'static str, OsString)>> {
        let mut variables = self.programs()?;
        variables.extend(built(workspace, variants)?);
        Ok(variables)
    }
}

/// Variables that name packages and a service, which are built.
pub(crate) fn built(
    workspace: &Workspace,
    variants: &[Variant],
) -> Result<Vec<(&'static str, OsString)>> {
    let mut variables = Vec::new();
    for variant in variants {
        let name = match variant {
            Variant::Published => "HOLDFAST_PKG",
            Variant::FailPoints => "HOLDFAST_PKG_FAIL_POINTS",
        };
        variables.push((name, build::run(workspace, *variant)?.into()));
    }
    variables.push(("HOLDFAST_LOOPBACK", demo::loopback(workspace)?.into()));
    Ok(variables)
}
