//! `poll`: how often a client asks for a job's status, and how late it learns of the job's end.
//!
//! The shipped engine and driver follow one job at a time, in virtual time, over jobs whose lengths are
//! drawn from five distributions, at a service that says nothing of when to come again and at one that
//! asks for 10 s each time. The same jobs are followed by fixed intervals and by the policies of other
//! libraries. Two figures count, and each can be had at the other's cost: polls of one job, and the lag
//! from the job's end to the client's knowledge of it, relative to the job's length (both as means over
//! the jobs). A policy is *on the frontier* where no other has both fewer polls and less lag; where the
//! service asks for a wait, those count that heed it. A second table shows that no service, whatever it
//! answers, makes a hot loop of it.

mod hostile;
mod lengths;
mod others;

use holdfast::model::dice::Dice;
use serde_json::json;

use crate::BEGIN_MS;
use crate::client::Holdfast;
use crate::table::{Table, number};
use crate::wire::{Answer, Ask, Service, World};
use lengths::Lengths;
use others::Other;

/// Jobs of each distribution.
const JOBS: u64 = 2_000;

/// One way of the network, in milliseconds.
const ONE_WAY_MS: u64 = 50;

/// What the service may say of when to come again, in seconds.
const ADVICE: [Option<u64>; 2] = [None, Some(10)];

const OWN: &str = "holdfast";

/// What following one job has cost.
struct Followed {
    polls: u64,
    lag_ms: u64,
    length_ms: u64,
}

/// The means over many jobs.
struct Means {
    name: &'static str,
    /// It does as the service asks.
    heeds: bool,
    polls: f64,
    lag: f64,
    lag_p95: f64,
}

pub fn run(count: Option<u64>) {
    compare(count.unwrap_or(JOBS)).0.print();
    hostile::compare(3_600).0.print();
}

/// What a small run shows that should not be.
pub fn faults() -> Vec<String> {
    [compare(200).1, hostile::compare(120).1].concat()
}

/// The table, and where Holdfast is not on the frontier.
fn compare(jobs: u64) -> (Table, Vec<String>) {
    let mut table = Table::new(
        "poll",
        &["lengths", "policy", "advice s", "polls", "lag/length", "lag/length p95", "frontier"],
    );
    let mut faults = Vec::new();
    for lengths in lengths::ALL {
        for advice in ADVICE {
            let all = measure(lengths, advice, jobs);
            for own in &all {
                let peers = all.iter().filter(|other| advice.is_none() || other.heeds);
                let better = { peers }.find(|other| dominates(other, own));
                let standing = match better {
                    _ if advice.is_some() && !own.heeds => "ignores it".to_owned(),
                    Some(other) => format!("below {}", other.name),
                    None => "on".to_owned(),
                };
                if own.name == OWN && standing != "on" {
                    faults.push(format!("polls over {}: {standing}", lengths.name));
                }
                table.row([
                    json!(lengths.name),
                    json!(own.name),
                    json!(advice),
                    number(own.polls, 1),
                    number(own.lag, 3),
                    number(own.lag_p95, 3),
                    json!(standing),
                ]);
            }
        }
    }
    (table, faults)
}

fn measure(lengths: Lengths, advice: Option<u64>, jobs: u64) -> Vec<Means> {
    let drawn: Vec<_> = {
        let dice = &mut Dice::seeded(1);
        (0..jobs).map(|_| lengths.draw_ms(dice)).collect()
    };
    let own = drawn.iter().zip(1..).map(|(length_ms, seed)| follow_own(*length_ms, advice, seed));
    let mut all = vec![means(OWN, true, own.collect())];
    for other in &others::ALL {
        let dice = &mut Dice::seeded(2);
        let followed = drawn.iter().map(|length_ms| follow(other, *length_ms, advice, dice));
        all.push(means(other.name, other.heeds, followed.collect()));
    }
    all
}

fn means(name: &'static str, heeds: bool, followed: Vec<Followed>) -> Means {
    let count = followed.len() as f64;
    let mut lags: Vec<_> =
        followed.iter().map(|own| own.lag_ms as f64 / own.length_ms as f64).collect();
    lags.sort_by(f64::total_cmp);
    Means {
        name,
        heeds,
        polls: followed.iter().map(|own| own.polls).sum::<u64>() as f64 / count,
        lag: lags.iter().sum::<f64>() / count,
        lag_p95: lags[lags.len() * 95 / 100],
    }
}

/// Whether one is better in one figure and not worse in the other, by more than chance.
fn dominates(one: &Means, other: &Means) -> bool {
    const NEAR: f64 = 1.01;
    let no_worse = one.polls <= other.polls && one.lag <= other.lag;
    no_worse && (one.polls * NEAR < other.polls || one.lag * NEAR < other.lag)
}

/// A policy follows a job.
fn follow(policy: &Other, length_ms: u64, advice: Option<u64>, dice: &mut Dice) -> Followed {
    let mut now = ONE_WAY_MS;
    for index in 0.. {
        now += (policy.wait_ms)(index, advice.map(|seconds| seconds * 1000), dice) + ONE_WAY_MS;
        let over = now >= length_ms;
        now += ONE_WAY_MS;
        if over {
            return Followed { polls: u64::from(index) + 1, lag_ms: now - length_ms, length_ms };
        }
    }
    unreachable!("it ends")
}

/// The shipped code follows a job.
fn follow_own(length_ms: u64, advice: Option<u64>, seed: u64) -> Followed {
    let service = OneJob { length_ms, advice, accepted_at: 0, polls: 0, ended_polls: 0 };
    let mut world = World::new(service, ONE_WAY_MS, BEGIN_MS);
    world.add(Holdfast::submitting(BEGIN_MS, seed));
    while world.service.ended_polls == 0 {
        world.step().expect("it goes on polling");
    }
    let known_at = world.now + ONE_WAY_MS;
    let ended_at = world.service.accepted_at + length_ms;
    Followed { polls: world.service.polls, lag_ms: known_at - ended_at, length_ms }
}

/// A service with one job.
struct OneJob {
    length_ms: u64,
    advice: Option<u64>,
    accepted_at: u64,
    polls: u64,
    ended_polls: u64,
}

impl Service for OneJob {
    fn take(&mut self, now: u64, ask: &Ask) -> Option<Answer> {
        let active = Answer::new(200, r#"{"id":"job_1","status":"running"}"#);
        Some(match ask {
            Ask::Submit { .. } => {
                self.accepted_at = now;
                Answer { status: 202, ..active }.asking_to_wait(self.advice)
            }
            Ask::Result => Answer::new(200, "{}"),
            Ask::Poll { .. } => {
                self.polls += 1;
                if now < self.accepted_at + self.length_ms {
                    active.asking_to_wait(self.advice)
                } else {
                    self.ended_polls += 1;
                    Answer::new(200, r#"{"id":"job_1","status":"completed"}"#)
                }
            }
        })
    }
}
