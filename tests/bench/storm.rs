//! `storm`: 10,000 clients at one service that takes so many requests a second, and is away for five
//! minutes.
//!
//! Each client has one job: a submission, polls, its result. They come evenly over six minutes; the service is
//! away from the first minute to the sixth (connections break, or 503), and comes back to find nearly
//! everybody waiting. Then it serves 300 requests a second and refuses the rest (429); saying no costs it
//! too, a tenth of a request. Everybody polls work that is under way at Holdfast's pace, keeps the same
//! key, and never gives up by itself: what differs is only what a client does when an answer is an error.
//! Holdfast's clients are 10,000 shipped drivers, each with a store of its own. What counts is how fast
//! jobs come home after the recovery, how long until (nearly) all have, and how many requests one took.

mod others;
mod service;

use holdfast::model::dice::Dice;
use serde_json::{Value, json};

use crate::BEGIN_MS;
use crate::client::Holdfast;
use crate::table::{Table, number};
use crate::wire::{Client, World};
use others::Plain;
use service::{Busy, OUTAGE_MS, Telling};

/// Over how long the clients come, in milliseconds.
const COMING_MS: u64 = 360_000;

/// What is not home then is counted as left, in milliseconds from the beginning.
const END_MS: u64 = 3_600_000;

/// A service that is asked this often for each client has broken down, and no more is counted.
const REQUESTS_EACH_MAX: u64 = 150;

/// One way of the network, in milliseconds.
const ONE_WAY_MS: u64 = 50;

const CLIENTS: u64 = 10_000;

/// Requests that the service serves in a second, for so many clients.
const RATE: u64 = 300;

/// How it went.
struct Outcome {
    /// When jobs came home, in milliseconds from the beginning, soonest first.
    home: Vec<u64>,
    requests: u64,
    refused: u64,
    parked: usize,
}

pub fn run(count: Option<u64>) {
    compare(count.unwrap_or(CLIENTS)).0.print();
}

/// What a small run shows that should not be.
pub fn faults() -> Vec<String> {
    compare(500).1
}

/// The table, and in what Holdfast is not better than each.
fn compare(clients: u64) -> (Table, Vec<String>) {
    let rate = (clients * RATE / CLIENTS).max(1);
    let mut faults = Vec::new();
    let mut table = Table::new(
        "storm",
        &[
            "service says",
            "retries",
            "jobs/s to 90 %",
            "s to 50 %",
            "s to 90 %",
            "s to 99 %",
            "s to all",
            "requests/job",
            "refused/job",
            "left",
        ],
    );
    for telling in [Telling::Nothing, Telling::Seconds] {
        let own = storm(clients, rate, telling, Holdfast::submitting);
        table.row(own.row(telling, "holdfast", clients));
        for other in &others::ALL {
            let make = |_now, seed| Plain::submitting(other, seed);
            let outcome = storm(clients, rate, telling, make);
            table.row(outcome.row(telling, other.name, clients));
            if !own.is_better_than(&outcome, clients) {
                faults.push(format!("a storm is weathered better by {}", other.name));
            }
        }
    }
    (table, faults)
}

fn storm<C: Client>(
    clients: u64,
    rate: u64,
    telling: Telling,
    make: impl Fn(u64, u64) -> C,
) -> Outcome {
    let mut world = World::new(Busy::new(BEGIN_MS, rate, telling), ONE_WAY_MS, BEGIN_MS);
    let mut home = Vec::new();
    let dice = &mut Dice::seeded(7);
    let mut starts: Vec<_> = (0..clients).map(|_| BEGIN_MS + dice.up_to(COMING_MS)).collect();
    starts.sort_unstable();
    for (start, seed) in starts.into_iter().zip(1..) {
        go_on(&mut world, start, &mut home);
        world.now = start;
        world.add(make(start, seed));
    }
    go_on(&mut world, BEGIN_MS + END_MS, &mut home);
    let parked = world.clients.iter().flatten().filter(|own| own.has_given_up()).count();
    Outcome { home, requests: world.service.requests, refused: world.service.refused, parked }
}

fn go_on<C: Client>(world: &mut World<C, Busy>, until: u64, home: &mut Vec<u64>) {
    let most = REQUESTS_EACH_MAX * world.clients.len().max(100) as u64;
    while world.service.requests < most && world.next().is_some_and(|at| at < until) {
        let Some(client) = world.step() else { break };
        if world.clients[client].as_ref().is_some_and(Client::has_ended) {
            world.clients[client] = None;
            home.push(world.now - BEGIN_MS);
        }
    }
}

impl Outcome {
    /// Seconds after the recovery at which so many of a hundred jobs are home.
    fn seconds(&self, clients: u64, percent: u64) -> Option<f64> {
        let at = (clients * percent).div_ceil(100).saturating_sub(1);
        let at = self.home.get(usize::try_from(at).ok()?)?;
        Some(at.saturating_sub(OUTAGE_MS.end) as f64 / 1000.0)
    }

    /// Jobs that came home in each second from the recovery until nine in ten were.
    fn jobs_per_second(&self, clients: u64) -> Option<f64> {
        let before = self.home.iter().filter(|at| **at < OUTAGE_MS.end).count();
        Some((clients as f64 * 0.9 - before as f64) / self.seconds(clients, 90)?)
    }

    fn per_job(&self, requests: u64) -> f64 {
        requests as f64 / self.home.len() as f64
    }

    /// Better in each figure that counts: throughput, time to drain, requests for each job.
    fn is_better_than(&self, other: &Self, clients: u64) -> bool {
        let (own, theirs) = (self.jobs_per_second(clients), other.jobs_per_second(clients));
        let drained = |outcome: &Self| outcome.seconds(clients, 99).unwrap_or(f64::INFINITY);
        own > theirs
            && drained(self) < drained(other)
            && self.per_job(self.requests) < other.per_job(other.requests)
    }

    fn row(&self, telling: Telling, name: &str, clients: u64) -> Vec<Value> {
        let shown =
            |value: Option<f64>, digits| value.map_or(Value::Null, |own| number(own, digits));
        let left = clients - self.home.len() as u64;
        vec![
            json!(telling.name()),
            json!(name),
            shown(self.jobs_per_second(clients), 1),
            shown(self.seconds(clients, 50), 0),
            shown(self.seconds(clients, 90), 0),
            shown(self.seconds(clients, 99), 0),
            shown(self.seconds(clients, 100), 0),
            number(self.per_job(self.requests), 1),
            number(self.per_job(self.refused), 1),
            json!(format!("{left} ({} parked)", self.parked)),
        ]
    }
}
