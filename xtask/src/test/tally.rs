//! Counts tests, from what the test programs print.

use std::{
    io::{BufRead as _, BufReader},
    process::{Command, Stdio},
};

use anyhow::{Context as _, Result, bail};

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
        let before = self.failed;
        if let Err(error) = command.and_then(|command| self.read(command)) {
            self.fail(name, self.failed - before, &error);
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

    fn read(&mut self, mut command: Command) -> Result<()> {
        if self.deep {
            command.env("PROPTEST_CASES", "4096");
        }
        let mut child = command.stdout(Stdio::piped()).spawn().context("cannot start the tests")?;
        let output = child.stdout.take().context("the tests have no output")?;
        for line in BufReader::new(output).lines() {
            let line = line?;
            let (passed, failed) = counts(&line);
            self.passed += passed;
            self.failed += failed;
            println!("{line}");
        }
        let status = child.wait()?;
        if !status.success() {
            bail!("the tests ended with {status}");
        }
        Ok(())
    }
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
}
