//! How others try again, read from their sources, around the same job.

use holdfast::model::dice::Dice;
use holdfast::model::policy::Backoff;
use holdfast::rules::backoff::poll_delay;

use crate::client::pace;
use crate::wire::{Answer, Ask, Client, Request};

/// One way to try again.
#[derive(Debug)]
pub struct Other {
    pub name: &'static str,
    /// The wait before the next try, in milliseconds, after an error.
    wait_ms: fn(&mut Trouble) -> u64,
}

/// What a client knows when an answer is an error.
#[derive(Debug)]
pub struct Trouble {
    dice: Dice,
    /// Errors in a row, this one left out.
    index: u32,
    /// The service said that it was too much (429).
    throttled: bool,
    told_ms: Option<u64>,
    /// What is left of the retry budget.
    tokens: u64,
    /// What the last retry took from it.
    cost: u64,
}

/// All of them.
pub const ALL: [Other; 4] = [
    Other { name: "exponential, no jitter", wait_ms: |own| exponential(own.index, 1_000, 60_000) },
    Other {
        name: "exponential, full jitter",
        wait_ms: |own| {
            let most = exponential(own.index, 1_000, 60_000);
            own.dice.up_to(most)
        },
    },
    // @smithy/util-retry 4.6.2, code in @smithy/core 3.41.1 (`StandardRetryStrategy`, `retries-2026-config`).
    Other { name: "token bucket (@smithy/util-retry)", wait_ms: bucket },
    // openai 7.59.0, `client.ts` (`retryRequest`, `calculateDefaultRetryTimeoutMillis`): what the service
    // says, else half a second, doubled up to 8 s, less up to a quarter.
    Other {
        name: "openai 7.59.0",
        wait_ms: |own| {
            let most = exponential(own.index, 500, 8_000);
            own.told_ms.unwrap_or_else(|| most - own.dice.up_to(most / 4))
        },
    },
];

fn exponential(index: u32, first_ms: u64, cap_ms: u64) -> u64 {
    (first_ms << index.min(30)).min(cap_ms)
}

/// Full jitter under 20 s, from 50 ms or, when throttled, from 1 s; the service's word counts up to 5 s
/// beyond that. Each retry costs 14 of 500 tokens, or 5; an empty bucket fails the call, and whoever
/// called calls again a minute later.
fn bucket(own: &mut Trouble) -> u64 {
    const FAILED_CALL_MS: u64 = 60_000;
    let (first_ms, cost) = if own.throttled { (1_000, 5) } else { (50, 14) };
    if own.tokens < cost {
        own.index = 0;
        own.cost = 0;
        return FAILED_CALL_MS;
    }
    own.tokens -= cost;
    own.cost = cost;
    let drawn = own.dice.up_to(exponential(own.index, first_ms, 20_000));
    own.told_ms.map_or(drawn, |told_ms| drawn.max(told_ms.min(drawn + 5_000)))
}

/// A client that tries again by one of them, for ever.
pub struct Plain {
    other: &'static Other,
    trouble: Trouble,
    key: String,
    job: Option<String>,
    polls: u32,
    /// Holdfast's pace of polls, which everybody has here.
    pace: Backoff,
    wakes_at: Option<u64>,
    number: u64,
    wanted: bool,
    completed: bool,
    ended: bool,
}

impl Plain {
    pub fn submitting(other: &'static Other, seed: u64) -> Self {
        let trouble = Trouble {
            dice: Dice::seeded(seed),
            index: 0,
            throttled: false,
            told_ms: None,
            tokens: 500,
            cost: 0,
        };
        Self {
            other,
            trouble,
            key: seed.to_string(),
            job: None,
            polls: 0,
            pace: pace(),
            wakes_at: None,
            number: 0,
            wanted: true,
            completed: false,
            ended: false,
        }
    }

    /// Takes a good answer, and waits until the next poll; a result is fetched at once.
    fn well(&mut self, answer: &Answer) -> u64 {
        let trouble = &mut self.trouble;
        trouble.tokens = (trouble.tokens + trouble.cost.max(1)).min(500);
        (trouble.index, trouble.cost) = (0, 0);
        let body: serde_json::Value = serde_json::from_str(&answer.body).expect("JSON");
        self.ended = self.completed;
        self.completed = body["status"] == "completed";
        if self.completed {
            return 0;
        }
        match &self.job {
            Some(_) => self.polls += 1,
            None => self.job = body["id"].as_str().map(str::to_owned),
        }
        poll_delay(&self.pace, self.polls, &mut trouble.dice)
    }

    fn badly(&mut self, answer: Option<&Answer>) -> u64 {
        let trouble = &mut self.trouble;
        trouble.throttled = answer.is_some_and(|own| own.status == 429);
        let told = answer.and_then(|own| own.retry_after.as_ref()?.parse::<u64>().ok());
        trouble.told_ms = told.map(|seconds| seconds * 1000);
        let wait_ms = (self.other.wait_ms)(trouble);
        trouble.index += 1;
        wait_ms
    }
}

impl Client for Plain {
    fn wake(&mut self, _now: u64) {
        self.wakes_at = None;
        self.wanted = true;
    }

    fn answer(&mut self, now: u64, _number: u64, answer: Option<Answer>) {
        let wait_ms = match &answer {
            Some(own) if own.status < 300 => self.well(own),
            other => self.badly(other.as_ref()),
        };
        self.wakes_at = Some(now + wait_ms).filter(|_| !self.ended);
    }

    fn requests(&mut self) -> Vec<Request> {
        if !std::mem::take(&mut self.wanted) {
            return Vec::new();
        }
        self.number += 1;
        let ask = match &self.job {
            Some(_) if self.completed => Ask::Result,
            Some(job) => Ask::Poll { job: job.clone() },
            None => Ask::Submit { key: self.key.clone() },
        };
        vec![Request { number: self.number, ask }]
    }

    fn wakes_at(&self) -> Option<u64> {
        self.wakes_at
    }

    fn has_ended(&self) -> bool {
        self.ended
    }

    fn has_given_up(&self) -> bool {
        false
    }
}
