//! Counts tests, from what the test programs print.

use std::{
    io::{BufRead as _, BufReader},
    process::{Command, Stdio},
};

use anyhow::{Context as _, Result, anyhow};

/// How many tests passed and failed, and which sections did.
pub(super) struct Tally {
    deep: bool,
    passed: u64,
    failed: u64,
    failures: Vec<String>,
}

impl Tally {
    pub(super) fn new(deep: bool) -> Self {
        Self { deep, passed: 0, failed: 0, failures: Vec::new() }
    }

    pub(super) fn is_deep(&self) -> bool {
        self.deep
    }

    pub(super) fn passed(&self) -> u64 {
        self.passed
    }

    pub(super) fn failed(&self) -> u64 {
        self.failed
    }

    /// The sections that failed, for people.
    pub(super) fn failures(&self) -> String {
        format!("failed: {}", self.failures.join(", "))
    }

    /// Runs something that counts no tests: it adds a failure or nothing.
    pub(super) fn section(&mut self, name: &str, run: impl FnOnce() -> Result<()>) {
        println!("\n== {name}");
        if let Err(error) = run() {
            self.fail(name, 0, &error);
        }
    }

    /// Runs a test program, shows what it prints and counts its tests.
    pub(super) fn count(&mut self, name: &str, command: Result<Command>) {
        println!("\n== {name}");
        let told = command.and_then(|command| read(command, self.deep, ""));
        self.add(name, told);
    }

    /// Like [`Self::count`], for programs that run at the same time; each line says whose it is.
    pub(super) fn count_together(&mut self, programs: Vec<(String, Result<Command>)>) {
        let deep = self.deep;
        let names: Vec<&str> = programs.iter().map(|(name, _)| name.as_str()).collect();
        println!("\n== {}", names.join(", "));
        let running: Vec<_> = programs
            .into_iter()
            .map(|(name, command)| {
                let own = name.clone();
                let run = move || read(command?, deep, &format!("{own} | "));
                (name, std::thread::spawn(run))
            })
            .collect();
        for (name, thread) in running {
            let told = thread.join().unwrap_or_else(|_| Err(anyhow!("its reader has ended")));
            self.add(&name, told);
        }
    }

    fn add(&mut self, name: &str, told: Result<Counts>) {
        match told {
            Ok(Counts { passed, failed, end }) => {
                self.passed += passed;
                self.failed += failed;
                if let Err(error) = end {
                    self.fail(name, failed, &error);
                }
            }
            Err(error) => self.fail(name, 0, &error),
        }
    }

    /// A program that fails and names no failed test counts as one.
    fn fail(&mut self, name: &str, named: u64, error: &anyhow::Error) {
        println!("{error:#}");
        if named == 0 {
            self.failed += 1;
        }
        self.failures.push(name.to_owned());
    }
}

/// What one test program has told, and how it ended.
struct Counts {
    passed: u64,
    failed: u64,
    end: Result<()>,
}

fn read(mut command: Command, deep: bool, before_each_line: &str) -> Result<Counts> {
    if deep {
        command.env("PROPTEST_CASES", "4096");
    }
    let mut child = command.stdout(Stdio::piped()).spawn().context("cannot start the tests")?;
    let output = child.stdout.take().context("the tests have no output")?;
    let (mut passed, mut failed) = (0, 0);
    for line in BufReader::new(output).lines() {
        let line = line?;
        let (more_passed, more_failed) = counts(&line);
        passed += more_passed;
        failed += more_failed;
        println!("{before_each_line}{line}");
    }
    let status = child.wait()?;
    let end = if status.success() { Ok(()) } else { Err(anyhow!("the tests ended with {status}")) };
    Ok(Counts { passed, failed, end })
}

/// The passed and failed tests that a line reports: libtest's summary, or node's in TAP.
fn counts(line: &str) -> (u64, u64) {
    if let Some(summary) = line.trim_start().strip_prefix("test result: ") {
        return (number_before(summary, " passed"), number_before(summary, " failed"));
    }
    let number = |prefix| line.strip_prefix(prefix).and_then(|text: &str| text.parse().ok());
    (number("# pass ").unwrap_or(0), number("# fail ").unwrap_or(0))
}

fn number_before(text: &str, word: &str) -> u64 {
    let before = text.split_once(word).map_or("", |(before, _)| before);
    before.rsplit(' ').next().and_then(|digits| digits.parse().ok()).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_summary_of_cargo_test_is_counted() {
        let line = "test result: FAILED. 12 passed; 3 failed; 0 ignored; 0 measured";
        assert_eq!(counts(line), (12, 3));
    }

    #[test]
    fn the_summary_of_node_is_counted() {
        assert_eq!((counts("# pass 7"), counts("# fail 2")), ((7, 0), (0, 2)));
    }

    #[test]
    fn other_lines_count_nothing() {
        assert_eq!(counts("test a::passed ... ok"), (0, 0));
    }

    #[test]
    fn a_program_that_fails_without_a_failed_test_counts_as_one() {
        let mut tally = Tally::new(false);
        let mut command = Command::new("sh");
        command.args(["-c", "echo 'test result: ok. 2 passed; 0 failed;'; exit 1"]);
        tally.count("x", Ok(command));
        assert_eq!((tally.passed(), tally.failed()), (2, 1));
    }

    #[test]
    fn programs_that_run_at_the_same_time_are_counted_each() {
        let mut tally = Tally::new(false);
        let program = |script: &str| {
            let mut command = Command::new("sh");
            command.args(["-c", script]);
            Ok(command)
        };
        tally.count_together(vec![
            ("one".to_owned(), program("echo '# pass 3'")),
            ("two".to_owned(), program("echo '# pass 2'; echo '# fail 1'; exit 1")),
        ]);
        assert_eq!(
            (tally.passed(), tally.failed(), tally.failures()),
            (5, 1, "failed: two".to_owned())
        );
    }
}
