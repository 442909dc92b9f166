//! `mutants`: the code of rules and engine is changed in one place after the other, and what no test
//! notices is told: a test is missing there, or the code is needless.
//!
//! All changes are compiled at once into a copy of the crate, each behind a switch that a variable
//! sets: a build for each would take days.

mod copy;
mod find;
mod programs;
mod render;
mod shapes;

use std::collections::BTreeMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use anyhow::Result;

use crate::workspace::Workspace;
use copy::{Copy, Mutant};
use programs::Case;

/// What is asked for.
#[derive(clap::Args, Clone, Debug)]
pub(crate) struct Wanted {
    /// Only files whose path contains this, in this order; may be said again
    #[arg(long)]
    file: Vec<String>,
    /// Only these numbers of the list; may be said again
    #[arg(long)]
    number: Vec<u32>,
    /// Tells what would be changed
    #[arg(long)]
    list: bool,
    /// How many at a time
    #[arg(long, default_value_t = 2)]
    threads: usize,
    /// Only tests that take so many seconds each at most
    #[arg(long, default_value_t = f64::INFINITY)]
    seconds: f64,
}

/// Changes what is wanted, and tells what nobody notices.
pub(crate) fn run(workspace: &Workspace, wanted: &Wanted) -> Result<()> {
    let mut copy = Copy::new(workspace)?;
    copy.compile()?;
    let mut chosen: Vec<&Mutant> = copy.mutants.iter().filter(|own| wanted.wants(own)).collect();
    chosen.sort_by_key(|own| wanted.file.iter().position(|part| own.file.contains(part)));
    if wanted.list {
        chosen.iter().for_each(|own| println!("{}", line(own)));
        println!("{} of {}", chosen.len(), copy.mutants.len());
        return Ok(());
    }
    let mut cases = programs::cases(&copy.programs(&programs::needed())?, copy.root())?;
    cases.retain(|own| own.seconds() <= wanted.seconds);
    let tally = Mutex::new(BTreeMap::new());
    let next = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        for _ in 0..wanted.threads {
            scope.spawn(|| {
                while let Some(mutant) = chosen.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let by =
                        show(mutant, &cases, &copy).unwrap_or_else(|error| format!("{error:#}"));
                    if let Ok(mut tally) = tally.lock() {
                        *tally.entry(by).or_insert(0_usize) += 1;
                    }
                }
            });
        }
    });
    println!("\n{} mutants", chosen.len());
    for (by, count) in tally.into_inner().unwrap_or_default() {
        println!("{count:>6} {by}");
    }
    Ok(())
}

impl Wanted {
    fn wants(&self, mutant: &Mutant) -> bool {
        let number = self.number.is_empty() || self.number.contains(&mutant.number);
        number && (self.file.is_empty() || self.file.iter().any(|own| mutant.file.contains(own)))
    }
}

/// Shows a mutant to the tests that come to it; who has noticed it.
fn show(mutant: &Mutant, cases: &[Case], copy: &Copy<'_>) -> Result<String> {
    let reaching: Vec<&Case> = cases.iter().filter(|own| own.reaches(mutant.number)).collect();
    if let Some((program, how)) = programs::noticed(&reaching, copy.root(), mutant.number)? {
        println!("{} | {program}: {how}", line(mutant));
        return Ok(format!("caught by {program}"));
    }
    let by = if reaching.is_empty() { "SURVIVED, for no test comes there" } else { "SURVIVED" };
    println!("{} | {by}", line(mutant));
    Ok(by.to_owned())
}

fn line(mutant: &Mutant) -> String {
    let Mutant { number, file, change } = mutant;
    format!("{number:>4} {file}:{}: {}", change.line, change.what)
}
