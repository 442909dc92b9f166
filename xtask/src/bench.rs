//! `bench`: what it costs, as ratios that are measured side by side. A time never fails a bench.

mod bytes;
mod names;

use std::{ffi::OsString, process::Command};

use anyhow::{Context as _, Result, bail};

use crate::{
    browsers::{self, Browser},
    build::{self, Variant},
    process, setup, test, tools,
    workspace::{Workspace, write},
};

/// What is asked for.
#[derive(clap::Args, Clone, Debug)]
pub(crate) struct Wanted {
    /// One bench only; all without it
    name: Option<String>,
    /// Names the benches
    #[arg(long, conflicts_with = "name")]
    list: bool,
    /// In this browser only, where a bench runs in several
    #[arg(long, value_enum)]
    browser: Option<Browser>,
    /// How much of it: rounds, operations, runs; each bench has its own usual number
    #[arg(long)]
    count: Option<u32>,
    /// Keeps the lines of JSON, which the page of results is drawn from
    #[arg(long)]
    save: bool,
}

/// One bench: its name, what it measures, and how it runs.
struct Bench {
    name: &'static str,
    about: &'static str,
    run: Run,
}

enum Run {
    /// `tests/bench/{name}.mjs` in each of these browsers.
    Browsers(&'static [Browser]),
    /// `tests/bench/{name}.mjs`, which starts what it needs by itself.
    Node,
    /// In this program.
    Here(fn(&Workspace) -> Result<String>),
    /// `tests/bench/peers/{name}.mjs`, beside what others publish, which its first use installs.
    Peers,
    /// `tests/bench/main.rs`, in virtual time.
    Virtual,
}

/// Where what others publish is installed.
const PEERS: &str = "tests/bench/peers";

const ALL: &[Browser] = &[Browser::Chromium, Browser::Firefox, Browser::Webkit];

/// Where memory and the like can be looked at from outside.
const CHROMIUM: &[Browser] = &[Browser::Chromium];

const BENCHES: &[Bench] = &[
    Bench {
        name: "bytes",
        about: "what each part of the module costs, and what peers cost, bundled in the same way",
        run: Run::Here(bytes::run),
    },
    Bench {
        name: "operation",
        about: "one operation against a floor by hand: wall time, the way to the POST, crossings",
        run: Run::Browsers(ALL),
    },
    Bench {
        name: "many",
        about: "1,000 submits at once against a transaction each: group commit, longest task",
        run: Run::Browsers(ALL),
    },
    Bench {
        name: "outbox",
        about: "100, 10,000 and 50,000 stored, ten due: time to the first request, a step, memory",
        run: Run::Browsers(CHROMIUM),
    },
    Bench {
        name: "long",
        about: "operations through one tab, one after the other: memory, listeners, rows (20,000 with --count)",
        run: Run::Browsers(CHROMIUM),
    },
    Bench {
        name: "cold",
        about: "navigation to the first durable submit, reopening to the visible job, takeover",
        run: Run::Browsers(CHROMIUM),
    },
    Bench {
        name: "edge",
        about: "operations over 16 objects in workerd: rows, alarms, requests and memory, first and last",
        run: Run::Node,
    },
    Bench {
        name: "poll",
        about: "polls and lag over job lengths, against fixed intervals and other libraries",
        run: Run::Virtual,
    },
    Bench {
        name: "storm",
        about: "10,000 clients, a rate limit and five minutes of outage, against other ways to retry",
        run: Run::Virtual,
    },
    Bench {
        name: "lost-answers",
        about: "how many jobs one call makes where answers are lost, with the clients that people use",
        run: Run::Peers,
    },
];

/// Runs what is wanted: a table of each bench, and a line of JSON for each of its rows.
pub(crate) fn run(workspace: &Workspace, wanted: &Wanted) -> Result<()> {
    if wanted.list {
        for Bench { name, about, .. } in BENCHES {
            println!("{name:14} {about}");
        }
        return Ok(());
    }
    let is_wanted = |bench: &&Bench| wanted.name.as_ref().is_none_or(|name| name == bench.name);
    let benches: Vec<&Bench> = BENCHES.iter().filter(is_wanted).collect();
    if benches.is_empty() {
        bail!("there is no such bench: `cargo xtask bench --list` names them");
    }
    for bench in benches {
        let mut lines = String::new();
        if let Run::Here(measure) = bench.run {
            lines.push_str(&told(&measure(workspace)?));
        }
        for mut command in commands(workspace, bench, wanted)? {
            let output = process::output(&mut command);
            lines.push_str(&told(&output.context("the bench did not come to its end")?));
        }
        if wanted.save {
            let file = ["www/benchmarks/", bench.name, ".jsonl"].concat();
            write(&workspace.path(file), lines)?;
        }
    }
    Ok(())
}

/// The programs that a bench is, one after the other.
fn commands(workspace: &Workspace, bench: &Bench, wanted: &Wanted) -> Result<Vec<Command>> {
    let mut commands = match bench.run {
        Run::Browsers(browsers) => {
            let is_wanted = |own: &&Browser| wanted.browser.is_none_or(|browser| browser == **own);
            let of = |browser: &Browser| {
                let environment = browser.environment(workspace, &[Variant::Published])?;
                script(workspace, bench.name, environment)
            };
            browsers.iter().filter(is_wanted).map(of).collect::<Result<Vec<_>>>()?
        }
        Run::Here(_) => Vec::new(),
        Run::Node => {
            let environment = browsers::built(workspace, &[Variant::Published])?;
            vec![script(workspace, bench.name, environment)?]
        }
        Run::Peers => vec![beside_peers(workspace, bench.name)?],
        Run::Virtual => {
            let mut command = test::program(workspace, "bench", false)?;
            command.arg(bench.name);
            vec![command]
        }
    };
    for command in &mut commands {
        command.env("HOLDFAST_VERSION", workspace.version());
        if let Some(count) = wanted.count {
            command.env("HOLDFAST_BENCH_COUNT", count.to_string());
        }
    }
    Ok(commands)
}

fn script(
    workspace: &Workspace,
    name: &str,
    environment: Vec<(&'static str, OsString)>,
) -> Result<Command> {
    let mut node = Command::new(tools::node()?);
    node.current_dir(workspace.root()).arg(["tests/bench/", name, ".mjs"].concat());
    node.envs(environment);
    Ok(node)
}

fn beside_peers(workspace: &Workspace, name: &str) -> Result<Command> {
    let folder = workspace.path(PEERS);
    setup::npm_ci(&folder)?;
    let mut node = Command::new(tools::newer_node(workspace)?);
    node.current_dir(&folder).arg([name, ".mjs"].concat());
    node.arg(build::run(workspace, Variant::Published)?);
    Ok(node)
}

/// Prints what a bench says, and gives its lines of JSON.
fn told(output: &str) -> String {
    print!("{output}");
    let is_json = |line: &&str| line.starts_with('{');
    output.lines().filter(is_json).flat_map(|line| [line, "\n"]).collect()
}
