//! What came of many runs, in numbers.

use std::collections::BTreeMap;

use super::kinds::Kind;
use super::run::Outcome;
use super::transitions::{self, Transition};

/// Seeds that take every transition there is.
const MANY: u64 = 50_000;

/// Operations in which one in a thousand says something.
const ENOUGH: u64 = 5_000;

/// Whose share of operations that settle without a person is told.
pub const SHARES: [&str; 3] =
    ["with keys, recoverable faults", "with keys, hard faults", "other contracts"];

#[derive(Default)]
pub struct Report {
    pub seeds: u64,
    pub failures: Vec<(u64, String)>,
    struck: BTreeMap<Kind, u64>,
    transitions: BTreeMap<Transition, u64>,
    /// Operations, and how many of them needed nobody, for each of [`SHARES`].
    operations: [(u64, u64); 3],
    parks: BTreeMap<(usize, String), u64>,
    commits: u64,
    requests: u64,
    executions: u64,
    longest_calm_ms: u64,
}

impl Report {
    pub fn of(seed: u64, outcome: &Outcome) -> Self {
        let mut report = Self::default();
        report.add(seed, outcome);
        report
    }

    pub fn is_good(&self) -> bool {
        self.failures.is_empty() && self.faults_of_the_table().is_empty()
    }

    fn never_taken(&self) -> Vec<(&'static str, &'static str, &'static str)> {
        let all = &self.transitions;
        transitions::never(|from, what| all.keys().any(|own| own.0 == from && own.1 == what))
    }

    /// What the sweep as a whole shows to be wrong: a transition that the table does not show, or, in
    /// many seeds, one that is never taken for no reason; too many people asked.
    pub fn faults_of_the_table(&self) -> Vec<String> {
        let unknown =
            self.transitions.keys().filter(|(from, what)| !transitions::is_known(from, what));
        let mut faults: Vec<_> =
            unknown.map(|(from, what)| format!("not in the table: {from}: {what}")).collect();
        if self.seeds >= MANY {
            let missing = self.never_taken().into_iter().filter(|line| line.2.is_empty());
            faults.extend(missing.map(|(from, what, _)| format!("never taken: {from}: {what}")));
        }
        let (all, unaided) = self.operations[0];
        if all >= ENOUGH && unaided * 1_000 < all * 999 {
            faults.push(format!("only {unaided} of {all} operations settled unaided"));
        }
        faults
    }

    pub fn add(&mut self, seed: u64, outcome: &Outcome) {
        self.seeds += 1;
        if let Some(breach) = &outcome.breach {
            println!("seed {seed}: {breach}\n  cargo xtask sim --seed {seed} --trace");
            self.failures.push((seed, breach.clone()));
        }
        for (kind, count) in Kind::ALL.iter().zip(&outcome.struck) {
            *self.struck.entry(*kind).or_default() += count;
        }
        for (transition, count) in &outcome.transitions {
            *self.transitions.entry(transition.clone()).or_default() += count;
        }
        let part = &mut self.operations[outcome.share];
        part.0 += outcome.operations;
        part.1 += outcome.unaided;
        for (reason, count) in &outcome.parks {
            *self.parks.entry((outcome.share, reason.clone())).or_default() += count;
        }
        self.commits += outcome.commits;
        self.requests += outcome.requests;
        self.executions += outcome.executions;
        self.longest_calm_ms = self.longest_calm_ms.max(outcome.calm_ms);
    }

    pub fn join(&mut self, other: Self) {
        self.seeds += other.seeds;
        self.failures.extend(other.failures);
        for (kind, count) in other.struck {
            *self.struck.entry(kind).or_default() += count;
        }
        for (transition, count) in other.transitions {
            *self.transitions.entry(transition).or_default() += count;
        }
        for (own, other) in self.operations.iter_mut().zip(other.operations) {
            own.0 += other.0;
            own.1 += other.1;
        }
        for (reason, count) in other.parks {
            *self.parks.entry(reason).or_default() += count;
        }
        self.commits += other.commits;
        self.requests += other.requests;
        self.executions += other.executions;
        self.longest_calm_ms = self.longest_calm_ms.max(other.longest_calm_ms);
    }

    pub fn print(&self) {
        println!("\nfaults");
        for (kind, count) in &self.struck {
            println!("  {count:>9}  {}", kind.name());
        }
        println!("\ntransitions taken");
        for ((from, what), count) in &self.transitions {
            let known = if transitions::is_known(from, what) { "" } else { "  (not in the table)" };
            println!("  {count:>9}  {from}: {what}{known}");
        }
        println!("\ntransitions never taken");
        for (from, what, reason) in self.never_taken() {
            let reason = if reason.is_empty() { "too few seeds" } else { reason };
            println!("             {from}: {what} ({reason})");
        }
        println!("\nparks that asked for a person");
        for ((share, reason), count) in &self.parks {
            println!("  {count:>9}  {reason} ({})", SHARES[*share]);
        }
        println!();
        for fault in self.faults_of_the_table() {
            println!("FAILED {fault}");
        }
        for (name, (all, unaided)) in SHARES.iter().zip(self.operations) {
            let share = unaided as f64 * 100.0 / (all.max(1)) as f64;
            println!("{name}: {unaided} of {all} operations settled unaided ({share:.3} %)");
        }
        println!(
            "{} commits, {} requests, {} executions; the longest calm took {} s",
            self.commits,
            self.requests,
            self.executions,
            self.longest_calm_ms / 1_000
        );
        for (seed, breach) in &self.failures {
            println!("FAILED seed {seed}: {breach}");
        }
    }
}
