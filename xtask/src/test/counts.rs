//! Counts tests, from what the test programs print.

use std::{
    io::{BufRead as _, BufReader},
    process::{Command, Stdio},
};

use anyhow::{Context as _, Result, anyhow};

use super::work::Around;

/// What one test program has told, and how it ended.
pub(super) struct Counts {
    pub(super) passed: u64,
    pub(super) failed: u64,
    pub(super) end: Result<()>,
}

impl Default for Counts {
    fn default() -> Self {
        Self { passed: 0, failed: 0, end: Ok(()) }
    }
}

/// Runs a test program, shows what it prints and counts its tests.
pub(super) fn read(mut command: Command, around: Around<'_>) -> Result<Counts> {
    if around.deep {
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
        println!("{}{line}", around.before_each_line);
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
}
