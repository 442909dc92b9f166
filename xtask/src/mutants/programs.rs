//! The tests that a mutant is shown to: those that come to it, the cheapest first.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, ensure};

use super::render::{REACHED, WHICH};

/// The programs whose tests are run one by one.
const OF_TESTS: [&str; 3] = ["holdfast", "native", "crash_points"];

/// The programs that are one test, each with its arguments.
const WHOLE: [(&str, &str); 4] = [
    ("exhaustive", "--depth 3"),
    ("sim", "--first --threads 1 --seeds 20 --from 1"),
    ("sim", "--first --threads 1 --seeds 80 --from 1001"),
    ("sim", "--first --threads 1 --seeds 300 --from 2001"),
];

/// How much more processor time than unchanged ends a test: it runs for ever then.
const PATIENCE: f64 = 6.0;

/// How much longer it may take by the clock: it may sleep for ever, and others are at work.
const PATIENCE_BY_THE_CLOCK: f64 = 4.0;

/// Most memory of one process, in kilobytes.
const MEMORY_KB: &str = "4000000";

/// Seconds that the first tests take together; those after them take four times as long, and so on.
const FIRST_SECONDS: f64 = 0.25;

/// The test programs besides the library's own.
pub(super) fn needed() -> BTreeSet<&'static str> {
    OF_TESTS.iter().skip(1).chain(WHOLE.iter().map(|(name, _)| name)).copied().collect()
}

/// A test as it is when nothing is changed.
pub(super) struct Case {
    program: &'static str,
    path: PathBuf,
    arguments: Vec<String>,
    seconds: f64,
    /// The numbers that it asks for.
    reached: BTreeSet<u32>,
}

impl Case {
    /// Runs it with nothing changed.
    fn new(
        program: &'static str,
        path: &Path,
        arguments: Vec<String>,
        root: &Path,
    ) -> Result<Self> {
        let reached = root.join("reached");
        std::fs::write(&reached, "")?;
        let mut own = Self {
            program,
            path: path.to_owned(),
            arguments,
            seconds: 60.0,
            reached: BTreeSet::new(),
        };
        let began = now();
        let noticed = run(own.command(root).env(REACHED, &reached), own.seconds * PATIENCE)?;
        own.seconds = began.elapsed().as_secs_f64();
        ensure!(noticed.is_none(), "fails with nothing changed: {program} {:?}", own.arguments);
        let reached = std::fs::read_to_string(&reached)?;
        own.reached = reached.lines().filter_map(|line| line.parse().ok()).collect();
        Ok(own)
    }

    /// Whether a mutant makes any difference to it.
    pub(super) fn reaches(&self, number: u32) -> bool {
        self.reached.contains(&number)
    }

    pub(super) fn seconds(&self) -> f64 {
        self.seconds
    }

    fn is_of_tests(&self) -> bool {
        OF_TESTS.contains(&self.program)
    }

    fn command(&self, root: &Path) -> Command {
        let mut command = Command::new("sh");
        let seconds = (self.seconds * PATIENCE).ceil() + 1.0;
        let bounds = format!("ulimit -v {MEMORY_KB}; ulimit -t {seconds}; exec \"$0\" \"$@\"");
        command.args(["-c", &bounds]).arg(&self.path);
        if self.is_of_tests() {
            command.args(["--test-threads", "1", "--exact"]);
        }
        command.args(&self.arguments);
        command.current_dir(root).env("PROPTEST_CASES", "64").env("RUST_BACKTRACE", "0");
        command
    }
}

/// Every test, with nothing changed, the cheapest first.
pub(super) fn cases(programs: &BTreeMap<String, PathBuf>, root: &Path) -> Result<Vec<Case>> {
    let path = |name: &str| programs.get(name).context("a program is missing");
    let mut cases = Vec::new();
    for name in OF_TESTS {
        let list = Command::new(path(name)?).arg("--list").current_dir(root).output()?;
        for test in String::from_utf8(list.stdout)?.lines() {
            if let Some(test) = test.strip_suffix(": test") {
                cases.push(Case::new(name, path(name)?, vec![test.to_owned()], root)?);
            }
        }
    }
    for (name, arguments) in WHOLE {
        let arguments = arguments.split(' ').map(str::to_owned).collect();
        cases.push(Case::new(name, path(name)?, arguments, root)?);
    }
    cases.sort_by(|a, b| a.seconds.total_cmp(&b.seconds));
    let seconds: f64 = cases.iter().map(|own| own.seconds).sum();
    println!("{} tests, {seconds:.1} s with nothing changed", cases.len());
    Ok(cases)
}

/// Which program notices the mutant, if any does, and how: many tests are run at a time, of those
/// that are at hand soon.
pub(super) fn noticed(
    cases: &[&Case],
    root: &Path,
    number: u32,
) -> Result<Option<(&'static str, String)>> {
    let (mut rest, mut bound) = (cases, FIRST_SECONDS);
    while let Some(cheapest) = rest.first() {
        let mut sum = 0.0;
        let count = rest.iter().take_while(|own| {
            sum += own.seconds;
            sum <= bound.max(cheapest.seconds)
        });
        let (batch, after) = rest.split_at(count.count());
        for group in together(batch) {
            if let Some(how) =
                run(group.command(root).env(WHICH, number.to_string()), group.seconds)?
            {
                return Ok(Some((group.program, how)));
            }
        }
        (rest, bound) = (after, bound * 4.0);
    }
    Ok(None)
}

/// The tests of one program as one run of it.
fn together(batch: &[&Case]) -> Vec<Case> {
    let mut groups: Vec<Case> = Vec::new();
    for case in batch {
        let own = groups.iter_mut().find(|own| own.program == case.program && own.is_of_tests());
        if let Some(own) = own {
            own.arguments.extend_from_slice(&case.arguments);
            own.seconds += case.seconds;
        } else {
            groups.push(Case {
                program: case.program,
                path: case.path.clone(),
                arguments: case.arguments.clone(),
                seconds: case.seconds,
                reached: BTreeSet::new(),
            });
        }
    }
    groups
}

/// Runs to the first test that fails, or to the end; what failed, in words.
fn run(command: &mut Command, seconds: f64) -> Result<Option<String>> {
    let mut child =
        command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().context("cannot start it")?;
    let (began, lines) = (now(), lines(&mut child)?);
    let limit = Duration::from_secs_f64((seconds * PATIENCE + 1.0) * PATIENCE_BY_THE_CLOCK);
    loop {
        let left = limit.saturating_sub(began.elapsed());
        match lines.recv_timeout(left) {
            Ok(line) if line.starts_with("test ") && line.ends_with("FAILED") => {
                end(&mut child)?;
                let name = line.trim_start_matches("test ").trim_end_matches(" ... FAILED");
                return Ok(Some(name.to_owned()));
            }
            Ok(_) => {}
            Err(RecvTimeoutError::Timeout) => {
                end(&mut child)?;
                return Ok(Some("never ends".to_owned()));
            }
            Err(RecvTimeoutError::Disconnected) => break,
        }
    }
    let status = child.wait()?;
    Ok((!status.success()).then(|| status.to_string()))
}

fn end(child: &mut Child) -> Result<()> {
    child.kill()?;
    child.wait()?;
    Ok(())
}

fn lines(child: &mut Child) -> Result<Receiver<String>> {
    let output = child.stdout.take().context("it has no output")?;
    let (sender, receiver) = channel();
    std::thread::spawn(move || {
        for line in BufReader::new(output).lines().map_while(Result::ok) {
            if sender.send(line).is_err() {
                break;
            }
        }
    });
    Ok(receiver)
}

#[expect(clippy::disallowed_methods, reason = "what is measured is this machine's time")]
fn now() -> Instant {
    Instant::now()
}
