//! `bench`: what it costs, as ratios that are measured side by side. A time never fails a bench.

mod bytes;
mod names;

use std::{
    ffi::OsString,
    process::{Command, Stdio},
};

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
    #[arg(long, conflicts_with = "browser")]
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

/// Where lines of JSON are kept, with a list of the benches that there are lines of.
const SAVED: &str = "www/benchmarks";

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
        name: "timeline",
        about: "what one operation asks the browser for, and when: transactions, requests, timers",
        run: Run::Browsers(CHROMIUM),
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
        about: "operations through one tab, ten at a time: memory, listeners, rows (20,000 with --count)",
        run: Run::Browsers(CHROMIUM),
    },
    Bench {
        name: "cold",
        about: "navigation to the first durable submit, reopening to the visible job",
        run: Run::Browsers(CHROMIUM),
    },
    Bench {
        name: "takeover",
        about: "from a tab's close, crash, freeze or going into the cache to another's first request",
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
    for bench in chosen(wanted)? {
        let mut lines = String::new();
        if let Run::Here(measure) = bench.run {
            lines.push_str(&told(&measure(workspace)?));
        }
        for mut command in commands(workspace, bench, wanted)? {
            // How far it has come is said there.
            let output = process::output(command.stderr(Stdio::inherit()));
            lines.push_str(&told(&output.context("the bench did not come to its end")?));
        }
        if wanted.save {
            save(workspace, bench.name, &lines)?;
        }
    }
    Ok(())
}

/// The benches that are asked for; an error where there are none, or none in that browser.
fn chosen(wanted: &Wanted) -> Result<Vec<&'static Bench>> {
    let is_called = |bench: &&Bench| wanted.name.as_ref().is_none_or(|name| name == bench.name);
    let mut benches: Vec<_> = BENCHES.iter().filter(is_called).collect();
    if benches.is_empty() {
        bail!("there is no such bench: `cargo xtask bench --list` names them");
    }
    benches.retain(|bench| match bench.run {
        Run::Browsers(own) => own.iter().any(|browser| wanted.is_in(*browser)),
        Run::Node | Run::Here(_) | Run::Peers | Run::Virtual => true,
    });
    if benches.is_empty() {
        bail!("this bench does not run in that browser");
    }
    Ok(benches)
}

impl Wanted {
    fn is_in(&self, browser: Browser) -> bool {
        self.browser.is_none_or(|wanted| wanted == browser)
    }
}

fn save(workspace: &Workspace, name: &str, lines: &str) -> Result<()> {
    let folder = workspace.path(SAVED);
    write(&folder.join(name).with_extension("jsonl"), lines)?;
    write(&folder.join("index.json"), list(workspace)?)
}

/// The names of the benches that there are lines of, for the page.
fn list(workspace: &Workspace) -> Result<String> {
    let files = build::files(&workspace.path(SAVED))?;
    let lines = files.iter().filter(|file| file.extension().is_some_and(|end| end == "jsonl"));
    let names: Vec<_> = lines.filter_map(|file| file.file_stem()?.to_str()).collect();
    Ok(serde_json::to_string(&names)? + "\n")
}

/// The programs that a bench is, one after the other.
fn commands(workspace: &Workspace, bench: &Bench, wanted: &Wanted) -> Result<Vec<Command>> {
    let mut commands = match bench.run {
        Run::Browsers(browsers) => {
            let of = |browser: &Browser| {
                let environment = browser.environment(workspace, &[Variant::Published])?;
                script(workspace, bench.name, environment)
            };
            let own = browsers.iter().filter(|browser| wanted.is_in(**browser));
            own.map(of).collect::<Result<Vec<_>>>()?
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

#[cfg(test)]
mod tests {
    use clap::Parser as _;

    use super::*;
    use crate::workspace::read;

    #[derive(clap::Parser)]
    struct Line {
        #[command(flatten)]
        wanted: Wanted,
    }

    fn line(arguments: &[&str]) -> Result<Wanted, clap::Error> {
        Line::try_parse_from([&["bench"], arguments].concat()).map(|line| line.wanted)
    }

    #[test]
    fn what_is_saved_is_of_every_browser() {
        assert!(line(&["operation", "--save"]).is_ok());
        assert!(line(&["operation", "--save", "--browser", "firefox"]).is_err());
    }

    #[test]
    fn a_bench_that_does_not_run_in_a_browser_is_an_error() {
        let count = |arguments| chosen(&line(arguments).unwrap()).map(|own| own.len());
        assert_eq!(count(&["operation", "--browser", "firefox"]).unwrap(), 1);
        assert_eq!(count(&[]).unwrap(), BENCHES.len());
        assert!(count(&["--browser", "firefox"]).unwrap() < BENCHES.len());
        assert!(count(&["outbox", "--browser", "firefox"]).is_err());
        assert!(count(&["no-such-bench"]).is_err());
    }

    #[test]
    fn the_page_has_words_for_each_bench_and_a_list_of_what_is_saved() {
        let workspace = Workspace::find().unwrap();
        let page = read(&workspace.path("www/benchmarks.js")).unwrap();
        for Bench { name, .. } in BENCHES {
            let is_told = [format!("\n  {name}: "), format!("\n  {name:?}: ")]
                .iter()
                .any(|key| page.contains(key));
            assert!(is_told, "{name}");
        }
        let kept = read(&workspace.path(SAVED).join("index.json")).unwrap();
        assert_eq!(kept, list(&workspace).unwrap());
    }
}
