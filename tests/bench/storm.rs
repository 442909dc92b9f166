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

/// How it went.
struct Outcome {
    /// When jobs came home, in milliseconds from the beginning, soonest first.
    home: Vec<u64>,
    requests: u64,
    refused: u64,
    parked: usize,
}

pub fn run() {
    compare(CLIENTS, 300);
}

/// A small one, to show that all still works.
pub fn rehearse() {
    compare(100, 3);
}

fn compare(clients: u64, rate: u64) {
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
        table.row(row(telling, "holdfast", clients, &own));
        for other in &others::ALL {
            let make = |now, seed| Plain::submitting(other, now, seed);
            let outcome = storm(clients, rate, telling, make);
            table.row(row(telling, other.name, clients, &outcome));
        }
    }
    table.print();
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

fn row(telling: Telling, name: &str, clients: u64, outcome: &Outcome) -> Vec<Value> {
    let back_at = OUTAGE_MS.end;
    let count = usize::try_from(clients).unwrap_or(usize::MAX);
    // Seconds after the recovery at which so many of a hundred jobs are home.
    let seconds = |percent: usize| {
        let at = outcome.home.get((count * percent).div_ceil(100).saturating_sub(1));
        at.map(|at| at.saturating_sub(back_at) as f64 / 1000.0)
    };
    let shown = |percent| seconds(percent).map_or(Value::Null, |own| number(own, 0));
    let before = outcome.home.iter().filter(|at| **at < back_at).count();
    let jobs_per_s = seconds(90).map(|own| (count * 9 / 10 - before) as f64 / own);
    let per_job = |requests: u64| number(requests as f64 / outcome.home.len() as f64, 1);
    let left = count - outcome.home.len();
    vec![
        json!(telling.name()),
        json!(name),
        jobs_per_s.map_or(Value::Null, |own| number(own, 1)),
        shown(50),
        shown(90),
        shown(99),
        shown(100),
        per_job(outcome.requests),
        per_job(outcome.refused),
        json!(format!("{left} ({} parked)", outcome.parked)),
    ]
}
