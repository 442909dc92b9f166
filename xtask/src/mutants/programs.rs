//! The programs that a mutant is shown to, the cheapest first.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, ensure};

use super::render::{REACHED, WHICH};

/// What is run, by a name for people.
struct Stage {
    name: &'static str,
    program: &'static str,
    arguments: &'static str,
    /// Seconds of processor time that end it: some five times what it needs.
    limit: u64,
}

/// Tests that take longer than all others together.
const SLOW: [&str; 8] = [
    "hostile::",
    "crash_",
    "a_crash_at_any_point",
    "a_credential_that_comes_after_the_key_has_lapsed",
    "deliveries_that_",
    "polls_stop_at_the_application_s_deadline",
    "jobs_beyond_the_working_set",
    "the_last_of_many_operations",
];

const STAGES: [Stage; 7] = [
    stage("unit tests", "holdfast", "--test-threads 1", 8),
    stage("exploration", "exhaustive", "--depth 3", 12),
    stage("simulation", "sim", "--first --threads 1 --seeds 20 --from 1", 20),
    stage("native tests", "native", "--test-threads 1 --skip SLOW", 50),
    stage("more seeds", "sim", "--first --threads 1 --seeds 300 --from 1001", 80),
    stage("crash points", "crash_points", "--test-threads 1", 150),
    stage("slow native tests", "native", "--test-threads 1 SLOW", 300),
];

const fn stage(
    name: &'static str,
    program: &'static str,
    arguments: &'static str,
    limit: u64,
) -> Stage {
    Stage { name, program, arguments, limit }
}

impl Stage {
    /// Its arguments, with the slow tests in their places.
    fn arguments(&self) -> Vec<&'static str> {
        let mut arguments = Vec::new();
        let mut skips = false;
        for word in self.arguments.split(' ') {
            match word {
                "--skip" => skips = true,
                "SLOW" if skips => arguments.extend(SLOW.iter().flat_map(|own| ["--skip", own])),
                "SLOW" => arguments.extend(SLOW),
                _ => arguments.push(word),
            }
        }
        arguments
    }
}

/// The test programs that the first stages need, besides the library's own.
pub(super) fn needed(count: usize) -> BTreeSet<&'static str> {
    STAGES.iter().skip(1).take(count.saturating_sub(1)).map(|own| own.program).collect()
}

/// How much longer a program may take by the clock: one may sleep for ever, and others are at work.
const PATIENCE: u64 = 8;

/// Most memory of one process, in kilobytes.
const MEMORY_KB: &str = "4000000";

/// A stage as it is when nothing is changed.
pub(super) struct Base {
    stage: &'static Stage,
    program: PathBuf,
    /// The numbers that it asks for.
    reached: BTreeSet<u32>,
}

impl Base {
    pub(super) fn name(&self) -> &'static str {
        self.stage.name
    }

    /// Whether a mutant makes any difference to it.
    pub(super) fn reaches(&self, number: u32) -> bool {
        self.reached.contains(&number)
    }

    /// Who notices the mutant, if anybody does.
    pub(super) fn noticed(&self, root: &Path, number: u32) -> Result<Option<String>> {
        let mut command = command(&self.program, root, self.stage, 1);
        run(command.env(WHICH, number.to_string()), self.stage.limit)
    }
}

/// Runs the first stages with nothing changed.
pub(super) fn bases(
    programs: &BTreeMap<String, PathBuf>,
    root: &Path,
    count: usize,
) -> Result<Vec<Base>> {
    let mut bases = Vec::new();
    for stage in STAGES.iter().take(count) {
        let program = programs.get(stage.program).context("a program is missing")?.clone();
        let path = root.join("reached");
        std::fs::write(&path, "")?;
        let began = now();
        // To tell what it reaches takes longer.
        let noticed =
            run(command(&program, root, stage, PATIENCE).env(REACHED, &path), stage.limit)?;
        ensure!(noticed.is_none(), "{} fails with nothing changed: {noticed:?}", stage.name);
        let took = began.elapsed();
        let reached: BTreeSet<u32> =
            std::fs::read_to_string(&path)?.lines().filter_map(|line| line.parse().ok()).collect();
        println!("{:<18} {:>6.1} s, reaches {}", stage.name, took.as_secs_f64(), reached.len());
        bases.push(Base { stage, program, reached });
    }
    Ok(bases)
}

/// A stage's program within bounds of memory and of so many times its limit.
fn command(program: &Path, root: &Path, stage: &Stage, times: u64) -> Command {
    let mut command = Command::new("sh");
    let limit = stage.limit * times;
    let bounds = format!("ulimit -v {MEMORY_KB}; ulimit -t {limit}; exec \"$0\" \"$@\"");
    command.args(["-c", &bounds]).arg(program).args(stage.arguments());
    command.current_dir(root).env("PROPTEST_CASES", "64").env("RUST_BACKTRACE", "0");
    command
}

/// Runs to the first test that fails, or to the end; what failed, in words.
fn run(command: &mut Command, limit: u64) -> Result<Option<String>> {
    let mut child =
        command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().context("cannot start it")?;
    let (began, lines) = (now(), lines(&mut child)?);
    let limit = Duration::from_secs(limit * PATIENCE);
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
