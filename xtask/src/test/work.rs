//! What the tests are made of, and what of it runs at the same time.

use std::{
    panic::{self, AssertUnwindSafe},
    process::Command,
    thread,
    time::Instant,
};

use anyhow::{Result, anyhow};

use super::counts::{self, Counts};

/// A part of the tests, or several.
pub(super) enum Work<'a> {
    One(Step<'a>),
    /// One after the other.
    InTurn(Vec<Self>),
    /// At the same time: what waits for a browser leaves the processor to what computes.
    Together(Vec<Self>),
}

/// A part of the tests that runs as a whole.
pub(super) struct Step<'a> {
    name: String,
    run: Box<dyn FnOnce(Around<'_>) -> Result<Counts> + Send + 'a>,
}

/// What a part of the tests runs in.
#[derive(Clone, Copy)]
pub(super) struct Around<'a> {
    /// Tests for a night.
    pub(super) deep: bool,
    /// What each line begins with, so that it says whose it is.
    pub(super) before_each_line: &'a str,
}

/// What came of one part.
pub(super) struct Outcome {
    pub(super) name: String,
    pub(super) seconds: f64,
    pub(super) counts: Result<Counts>,
}

impl<'a> Work<'a> {
    /// A test program: what it prints is shown, and its tests are counted.
    pub(super) fn tests(
        name: impl Into<String>,
        command: impl FnOnce() -> Result<Command> + Send + 'a,
    ) -> Self {
        let run = |around: Around<'_>| counts::read(command()?, around);
        Self::One(Step { name: name.into(), run: Box::new(run) })
    }

    /// Something that counts no tests: it fails or it does not.
    pub(super) fn check(
        name: impl Into<String>,
        check: impl FnOnce() -> Result<()> + Send + 'a,
    ) -> Self {
        let run = |_: Around<'_>| check().map(|()| Counts::default());
        Self::One(Step { name: name.into(), run: Box::new(run) })
    }

    /// Does all of it, also after something has failed.
    pub(super) fn run(self, deep: bool) -> Vec<Outcome> {
        self.run_beside(deep, false)
    }

    fn run_beside(self, deep: bool, others: bool) -> Vec<Outcome> {
        match self {
            Self::One(step) => vec![step.run(deep, others)],
            Self::InTurn(all) => {
                all.into_iter().flat_map(|own| own.run_beside(deep, others)).collect()
            }
            Self::Together(all) => thread::scope(|scope| {
                let start = |own: Self| scope.spawn(move || own.run_beside(deep, true));
                let running: Vec<_> = all.into_iter().map(start).collect();
                let join = |own: thread::ScopedJoinHandle<'_, Vec<Outcome>>| {
                    own.join().unwrap_or_else(|panic| panic::resume_unwind(panic))
                };
                running.into_iter().flat_map(join).collect()
            }),
        }
    }
}

impl Step<'_> {
    fn run(self, deep: bool, beside_others: bool) -> Outcome {
        let Self { name, run } = self;
        println!("\n== {name}");
        let before_each_line = if beside_others { format!("{name} | ") } else { String::new() };
        let around = Around { deep, before_each_line: &before_each_line };
        // What panics is a failure of this part, and the others are told all the same.
        let (counts, seconds) = timed(|| {
            panic::catch_unwind(AssertUnwindSafe(|| run(around)))
                .unwrap_or_else(|_| Err(anyhow!("it panicked")))
        });
        let end = counts.as_ref().map(|own| &own.end);
        if let Err(error) | Ok(Err(error)) = end {
            println!("{before_each_line}{error:#}");
        }
        Outcome { name, seconds, counts }
    }
}

/// What a call gives, and how many seconds it took.
#[expect(clippy::disallowed_methods, reason = "what is measured is this machine, for people")]
pub(super) fn timed<T>(call: impl FnOnce() -> T) -> (T, f64) {
    let begun = Instant::now();
    let given = call();
    (given, begun.elapsed().as_secs_f64())
}

#[cfg(test)]
mod tests {
    use std::{
        sync::mpsc::{Receiver, Sender, channel},
        time::Duration,
    };

    use super::*;

    fn names(outcomes: &[Outcome]) -> Vec<&str> {
        outcomes.iter().map(|own| own.name.as_str()).collect()
    }

    #[test]
    fn what_runs_together_is_under_way_at_the_same_time_and_told_in_its_order() {
        let meet = |name, (here, there): (Sender<()>, Receiver<()>)| {
            Work::check(name, move || {
                here.send(())?;
                Ok(there.recv_timeout(Duration::from_secs(60))?)
            })
        };
        let ((one, of_one), (three, of_three)) = (channel(), channel());
        let inner = Work::InTurn(vec![meet("one", (one, of_three)), Work::check("two", || Ok(()))]);
        let outcomes = Work::Together(vec![inner, meet("three", (three, of_one))]).run(false);
        assert_eq!(names(&outcomes), ["one", "two", "three"]);
        assert!(outcomes.iter().all(|own| own.counts.is_ok()));
    }

    #[test]
    fn what_panics_has_failed_and_the_others_are_told() {
        let panics = Work::check("one", || panic!("deliberately"));
        let outcomes = Work::Together(vec![panics, Work::check("two", || Ok(()))]).run(false);
        assert_eq!(names(&outcomes), ["one", "two"]);
        assert!(outcomes[0].counts.is_err() && outcomes[1].counts.is_ok());
    }

    #[test]
    fn what_runs_in_turn_goes_on_after_a_failure() {
        let fails = Work::check("one", || anyhow::bail!("broken"));
        let outcomes = Work::InTurn(vec![fails, Work::check("two", || Ok(()))]).run(false);
        assert!(outcomes[0].counts.is_err() && outcomes[1].counts.is_ok());
    }

    #[test]
    fn a_program_is_asked_for_when_its_turn_comes() {
        let is_first_done = std::sync::atomic::AtomicBool::new(false);
        let ordering = std::sync::atomic::Ordering::SeqCst;
        let first = Work::check("one", || {
            is_first_done.store(true, ordering);
            Ok(())
        });
        let second = Work::tests("two", || {
            assert!(is_first_done.load(ordering));
            Ok(Command::new("true"))
        });
        assert!(Work::InTurn(vec![first, second]).run(false).iter().all(|own| own.counts.is_ok()));
    }
}
