//! `setup`: everything that a fresh machine lacks.
//!
//! Each step skips what is there, installs what it can, and names the command for what it cannot.

mod apt;
mod steps;

pub(crate) use steps::npm_ci;

use anyhow::{Result, anyhow, bail};

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

const STEPS: [Step; 7] = [
    Step { name: "compiler for WebAssembly", run: steps::wasm_target },
    Step { name: "npm's tools in tests/", run: steps::npm_packages },
    Step { name: "SQLite for this Node", run: steps::sqlite },
    Step { name: "Chromium and its driver", run: steps::chromium },
    Step { name: "Firefox, and what reads its storage", run: steps::firefox },
    Step { name: "WebKitGTK's browser and a screen for it", run: steps::webkit },
    Step { name: "strace", run: steps::strace },
];

/// Compiled while the others wait for the network.
const RUNNER: &str = "runner of browser tests";

/// Runs every step; an error when something is missing.
pub(crate) fn run(workspace: &Workspace) -> Result<()> {
    let mut missing = Vec::new();
    std::thread::scope(|scope| {
        let runner = scope.spawn(|| steps::test_runner(workspace));
        let mut apt = Apt::default();
        for step in &STEPS {
            println!("{}", step.name);
            missing.extend(told(step.name, (step.run)(workspace, &mut apt)));
        }
        println!("{RUNNER}");
        let outcome = runner.join().unwrap_or_else(|_| Err(anyhow!("its installation panicked")));
        missing.extend(told(RUNNER, outcome));
    });
    if !missing.is_empty() {
        bail!("still missing: {}", missing.join(", "));
    }
    Ok(())
}

/// Says how a step came out; its name, if something is missing.
fn told(name: &'static str, outcome: Result<Outcome>) -> Option<&'static str> {
    match outcome.unwrap_or_else(|error| Outcome::Missing(format!("{error:#}"))) {
        Outcome::There(what) => println!("      there: {what}"),
        Outcome::Installed(what) => println!("      installed: {what}"),
        Outcome::Missing(what) => {
            println!("      missing: {what}");
            return Some(name);
        }
    }
    None
}
