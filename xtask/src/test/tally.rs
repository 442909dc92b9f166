//! Sums up what came of the parts.

use super::work::Outcome;

/// How many tests passed and failed, which parts did, and how long each took.
pub(super) struct Tally {
    parts: Vec<Part>,
}

struct Part {
    name: String,
    seconds: f64,
    passed: u64,
    failed: u64,
    has_failed: bool,
}

impl Tally {
    pub(super) fn new(outcomes: Vec<Outcome>) -> Self {
        Self { parts: outcomes.into_iter().map(Part::of).collect() }
    }

    pub(super) fn passed(&self) -> u64 {
        self.parts.iter().map(|part| part.passed).sum()
    }

    pub(super) fn failed(&self) -> u64 {
        self.parts.iter().map(|part| part.failed).sum()
    }

    /// The parts that failed, for people.
    pub(super) fn failures(&self) -> String {
        let failed = self.parts.iter().filter(|part| part.has_failed);
        format!("failed: {}", failed.map(|part| part.name.as_str()).collect::<Vec<_>>().join(", "))
    }

    /// What each part took; those that run beside others sum up to more than all of it.
    pub(super) fn table(&self, all: f64) -> String {
        let mut table =
            format!("{:<24} {:>7} {:>7} {:>8}\n", "part", "passed", "failed", "seconds");
        for Part { name, passed, failed, seconds, .. } in &self.parts {
            table.push_str(&format!("{name:<24} {passed:>7} {failed:>7} {seconds:>8.1}\n"));
        }
        table.push_str(&format!(
            "{:<24} {:>7} {:>7} {all:>8.1}",
            "all",
            self.passed(),
            self.failed()
        ));
        table
    }
}

impl Part {
    /// A program that fails and names no failed test counts as one.
    fn of(Outcome { name, seconds, counts }: Outcome) -> Self {
        let (passed, named, has_failed) =
            counts.map_or((0, 0, true), |own| (own.passed, own.failed, own.end.is_err()));
        let failed = if has_failed { named.max(1) } else { named };
        Self { name, seconds, passed, failed, has_failed }
    }
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::{super::work::Work, *};

    fn program(name: &str, script: &'static str) -> Work<'static> {
        Work::tests(name, move || {
            let mut command = Command::new("sh");
            command.args(["-c", script]);
            Ok(command)
        })
    }

    #[test]
    fn a_program_that_fails_without_a_failed_test_counts_as_one() {
        let script = "echo 'test result: ok. 2 passed; 0 failed;'; exit 1";
        let tally = Tally::new(program("x", script).run(false));
        assert_eq!((tally.passed(), tally.failed()), (2, 1));
    }

    #[test]
    fn programs_that_run_at_the_same_time_are_counted_each() {
        let two = "echo '# pass 2'; echo '# fail 1'; exit 1";
        let tally = Tally::new(
            Work::Together(vec![program("one", "echo '# pass 3'"), program("two", two)]).run(false),
        );
        assert_eq!(
            (tally.passed(), tally.failed(), tally.failures()),
            (5, 1, "failed: two".to_owned())
        );
    }

    #[test]
    fn each_part_is_in_the_table_with_its_seconds() {
        let part = |name: &str, seconds, passed| Part {
            name: name.to_owned(),
            seconds,
            passed,
            failed: 0,
            has_failed: false,
        };
        let tally = Tally { parts: vec![part("lint", 61.25, 0), part("cargo test", 2.0, 1040)] };
        let lines: Vec<_> = tally
            .table(62.0)
            .lines()
            .map(|line| line.split_whitespace().collect::<Vec<_>>().join(" "))
            .collect();
        assert_eq!(
            lines,
            [
                "part passed failed seconds",
                "lint 0 0 61.2",
                "cargo test 1040 0 2.0",
                "all 1040 0 62.0"
            ]
        );
    }
}
