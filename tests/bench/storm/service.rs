//! A service with a rate, which is away for a while.

use std::collections::BTreeMap;
use std::ops::Range;

use crate::wire::{Answer, Ask, Service};

/// When it is away, in milliseconds from the beginning.
pub const OUTAGE_MS: Range<u64> = 60_000..360_000;

/// How long a job takes, in milliseconds.
const JOB_MS: u64 = 20_000;

/// Tokens are counted in thousandths: what serving costs, and saying no.
const SERVED: u64 = 1_000;
const REFUSED: u64 = 100;

/// What it says of when to come again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Telling {
    /// Nothing.
    Nothing,
    /// With a 429 when the next request would be served, to the second; with a 503 half a minute. To
    /// everybody the same, as services do.
    Seconds,
}

impl Telling {
    pub const fn name(self) -> &'static str {
        match self {
            Self::Nothing => "nothing",
            Self::Seconds => "Retry-After",
        }
    }
}

pub struct Busy {
    begin: u64,
    rate: u64,
    telling: Telling,
    /// Thousandths of requests that it can serve now: at most what it serves in a second.
    tokens: u64,
    counted_at: u64,
    /// Job and the end of its work, by key.
    jobs: BTreeMap<String, (usize, u64)>,
    ends: Vec<u64>,
    pub requests: u64,
    pub refused: u64,
}

impl Busy {
    pub const fn new(begin: u64, rate: u64, telling: Telling) -> Self {
        Self {
            begin,
            rate,
            telling,
            tokens: rate * SERVED,
            counted_at: begin,
            jobs: BTreeMap::new(),
            ends: Vec::new(),
            requests: 0,
            refused: 0,
        }
    }

    fn seconds(&self, seconds: u64) -> Option<u64> {
        (self.telling == Telling::Seconds).then_some(seconds)
    }
}

impl Service for Busy {
    fn take(&mut self, now: u64, ask: &Ask) -> Option<Answer> {
        self.requests += 1;
        if OUTAGE_MS.contains(&(now - self.begin)) {
            // Every second one gets no answer at all.
            let broken = self.requests.is_multiple_of(2);
            return (!broken).then(|| Answer::new(503, "{}").asking_to_wait(self.seconds(30)));
        }
        // A thousandth of a request for each request a second and millisecond.
        let earned = (now - self.counted_at) * self.rate;
        self.tokens = (self.tokens + earned).min(self.rate * SERVED);
        self.counted_at = now;
        if self.tokens < SERVED {
            self.tokens = self.tokens.saturating_sub(REFUSED);
            self.refused += 1;
            return Some(Answer::new(429, "{}").asking_to_wait(self.seconds(1)));
        }
        self.tokens -= SERVED;
        Some(match ask {
            Ask::Submit { key } => {
                let next = self.ends.len();
                let (job, _) = *self.jobs.entry(key.clone()).or_insert((next, now + JOB_MS));
                if job == next {
                    self.ends.push(now + JOB_MS);
                }
                Answer::new(202, format!(r#"{{"id":"{job}","status":"running"}}"#))
            }
            Ask::Result => Answer::new(200, r#"{"status":"fetched"}"#),
            Ask::Poll { job } => {
                let end = job.parse().ok().and_then(|job: usize| self.ends.get(job));
                let word = if end.is_some_and(|end| *end <= now) { "completed" } else { "running" };
                Answer::new(200, format!(r#"{{"id":"{job}","status":"{word}"}}"#))
            }
        })
    }
}
