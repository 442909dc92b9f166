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
use programs::Base;

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
    /// Only so many of the programs, from the cheapest on
    #[arg(long, default_value_t = usize::MAX)]
    programs: usize,
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
    let programs = copy.programs(&programs::needed(wanted.programs))?;
    let bases = programs::bases(&programs, copy.root(), wanted.programs)?;
    let tally = Mutex::new(BTreeMap::new());
    let next = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        for _ in 0..wanted.threads {
            scope.spawn(|| {
                while let Some(mutant) = chosen.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let by =
                        show(mutant, &bases, &copy).unwrap_or_else(|error| format!("{error:#}"));
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

/// Shows a mutant to one program after the other; who has noticed it.
fn show(mutant: &Mutant, bases: &[Base], copy: &Copy<'_>) -> Result<String> {
    for base in bases.iter().filter(|base| base.reaches(mutant.number)) {
        if let Some(how) = base.noticed(copy.root(), mutant.number)? {
            println!("{} | {}: {how}", line(mutant), base.name());
            return Ok(format!("caught by {}", base.name()));
        }
    }
    let reached = bases.iter().any(|base| base.reaches(mutant.number));
    let by = if reached { "SURVIVED" } else { "SURVIVED, for no test comes there" };
    println!("{} | {by}", line(mutant));
    Ok(by.to_owned())
}

fn line(mutant: &Mutant) -> String {
    let Mutant { number, file, change } = mutant;
    format!("{number:>4} {file}:{}: {}", change.line, change.what)
}
