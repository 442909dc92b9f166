//! `setup`: everything that a fresh machine lacks.
//!
//! Each step skips what is there, installs what it can, and names the command for what it cannot.

mod apt;
mod steps;

use anyhow::{Result, bail};

use crate::workspace::Workspace;
use apt::Apt;

/// How a step came out.
enum Outcome {
    /// It was there.
    There(String),
    /// It is there now.
    Installed(String),
    /// It could not be installed; the text says what a person would do.
    Missing(String),
}

struct Step {
    name: &'static str,
    run: fn(&Workspace, &mut Apt) -> Result<Outcome>,
}

const STEPS: [Step; 8] = [
    Step { name: "compiler for WebAssembly", run: steps::wasm_target },
    Step { name: "npm's tools in tests/", run: steps::npm_packages },
    Step { name: "SQLite for this Node", run: steps::sqlite },
    Step { name: "Chromium and its driver", run: steps::chromium },
    Step { name: "Firefox, and what reads its storage", run: steps::firefox },
    Step { name: "WebKitGTK's browser and a screen for it", run: steps::webkit },
    Step { name: "runner of browser tests", run: steps::test_runner },
    Step { name: "strace", run: steps::strace },
];

/// Runs every step; an error when something is missing.
pub(crate) fn run(workspace: &Workspace) -> Result<()> {
    let mut apt = Apt::default();
    let mut missing = Vec::new();
    for (number, step) in STEPS.iter().enumerate() {
        println!("[{}/{}] {}", number + 1, STEPS.len(), step.name);
        let outcome = (step.run)(workspace, &mut apt)
            .unwrap_or_else(|error| Outcome::Missing(format!("{error:#}")));
        match outcome {
            Outcome::There(what) => println!("      there: {what}"),
            Outcome::Installed(what) => println!("      installed: {what}"),
            Outcome::Missing(what) => {
                println!("      missing: {what}");
                missing.push(step.name);
            }
        }
    }
    if !missing.is_empty() {
        bail!("still missing: {}", missing.join(", "));
    }
    Ok(())
}
