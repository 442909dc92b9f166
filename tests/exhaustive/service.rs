//! The service of a scene: one that honours keys, one that has a listing instead, one that has neither.

use holdfast::engine::Transmit;
use holdfast::model::answer::Answer;
use holdfast::model::ending::ResultRef;
use holdfast::model::facts::{BodyForm, Fact, Facts};
use holdfast::model::policy::{Limits, OnUnknown, Retention};
use holdfast::model::profile::Purpose;
use holdfast::model::time::Timestamp;
use holdfast::rules::profile;

use super::state::{BEGIN_MS, Exchange};

const KEYED: &str = include_str!("../../pkg-template/profiles/runharvester.json");
const LISTED: &str = include_str!("../../pkg-template/profiles/bulkgrid.json");

/// How long a job takes, in milliseconds.
const JOB_MS: u64 = 1_500;

/// How late a job may show in the listing, in milliseconds: what the profile says.
const LAG_MS: u64 = 30_000;

/// What a service knows of repetitions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Keys, for as long as this, in milliseconds.
    Keyed { retention_ms: u64 },
    /// No keys, and a listing that shows what was sent.
    Listed,
    /// Neither.
    Unlisted,
}

impl Kind {
    /// Whether a key may be forgotten before the operation's own time is over.
    pub const fn lapses(self) -> bool {
        matches!(self, Self::Keyed { retention_ms } if retention_ms < 3_600_000)
    }
}

/// One execution.
#[derive(Clone, Debug)]
struct Job {
    /// The key, or what the listing shows of the request.
    mark: String,
    at: u64,
}

/// The service.
#[derive(Clone, Debug)]
pub struct Service {
    pub kind: Kind,
    jobs: Vec<Job>,
    /// When the job was stopped.
    stopped_at: Option<u64>,
}

impl Service {
    pub const fn new(kind: Kind) -> Self {
        Self { kind, jobs: Vec::new(), stopped_at: None }
    }

    pub const fn executions(&self) -> usize {
        self.jobs.len()
    }

    /// When its listing comes to show more, or its memory of a key ends.
    pub fn changes_at(&self) -> Vec<u64> {
        let length_ms = match self.kind {
            Kind::Keyed { retention_ms } if self.kind.lapses() => retention_ms,
            Kind::Listed => LAG_MS,
            Kind::Keyed { .. } | Kind::Unlisted => return Vec::new(),
        };
        self.jobs.iter().map(|job| job.at + length_ms).collect()
    }

    /// The text of its profile.
    pub fn profile_text(&self) -> String {
        match self.kind {
            Kind::Keyed { retention_ms } => {
                let lifetime = format!("\"retentionMs\": {retention_ms}");
                replaced(KEYED, "\"retentionMs\": 86400000", &lifetime)
            }
            Kind::Listed => listed(),
            Kind::Unlisted => {
                let text = listed();
                let (before, rest) = text.split_once(",\n  \"reconcile\"").expect("a listing");
                let without = format!("{before}{}", rest.split_once("\n  }").expect("its end").1);
                replaced(
                    &without,
                    "    \"list\": { \"method\": \"GET\", \"path\": \"/api/v1/runs?page={page}&limit=100\" },\n",
                    "",
                )
            }
        }
    }

    /// The setup of a context for it.
    pub fn setup(&self) -> holdfast::engine::ServiceSetup {
        let profile_text = self.profile_text();
        holdfast::engine::ServiceSetup {
            name: "reports".into(),
            profile: profile::read(&profile_text).expect("a good profile"),
            profile_text,
            base_url: "https://api.example.com".into(),
            origin: "https://api.example.com".into(),
            derives_keys: false,
            params: Vec::new(),
            retention: Retention::default(),
            limits: Limits { on_unknown: OnUnknown::Resubmit, ..Limits::default() },
        }
    }

    /// A request arrives: what it is answered.
    pub fn take(&mut self, now: u64, exchange: &Exchange) -> Answer {
        match exchange.transmit.purpose {
            Purpose::Submit => {
                let job = self.submitted(now, exchange);
                said(
                    202,
                    &exchange.transmit,
                    &[("id", &format!("job-{job}")), ("status", "pending")],
                )
            }
            Purpose::Poll | Purpose::Settle => {
                let done = self.jobs.first().is_some_and(|job| job.at + JOB_MS <= now);
                let word = match self.stopped_at {
                    Some(_) => "cancelled",
                    None if done => "completed",
                    None => "running",
                };
                said(200, &exchange.transmit, &[("status", word), ("tokenState", "charged")])
            }
            Purpose::Result => kept(&exchange.transmit),
            Purpose::Reconcile => self.listing(now, &exchange.transmit),
            Purpose::Cancel => {
                let runs = self.jobs.first().is_some_and(|job| now < job.at + JOB_MS);
                self.stopped_at = self.stopped_at.or_else(|| runs.then_some(now));
                said(200, &exchange.transmit, &[])
            }
            Purpose::Delete => said(200, &exchange.transmit, &[]),
            Purpose::Diagnose => said(200, &exchange.transmit, &[]),
            Purpose::Quote => said(200, &exchange.transmit, &[("quoted", "1")]),
        }
    }

    /// What a submission leads to: an execution, or the one that its key has led to already.
    fn submitted(&mut self, now: u64, exchange: &Exchange) -> usize {
        if let Kind::Keyed { retention_ms } = self.kind {
            let known = self.jobs.iter().position(|job| {
                job.mark == exchange.mark && now < job.at.saturating_add(retention_ms)
            });
            if let Some(known) = known {
                return known;
            }
        }
        self.jobs.push(Job { mark: exchange.mark.clone(), at: now });
        self.jobs.len() - 1
    }

    fn listing(&self, now: u64, transmit: &Transmit) -> Answer {
        let mut items = Vec::new();
        for (number, job) in self.jobs.iter().enumerate().rev() {
            if job.at + LAG_MS <= now {
                let (at, mark) = (rfc3339(job.at), &job.mark);
                items.push(format!(
                    r#"{{"id":"job-{number}","created_at":"{at}","metadata":{{"holdfast_id":"{mark}"}}}}"#
                ));
            }
        }
        let sought = transmit.sought.as_ref().expect("a listing is read for something");
        let first = sought.page == "1";
        // The oldest run of all is somebody else's, from before.
        items.push(r#"{"id":"old","created_at":"2026-09-30T00:00:00Z","metadata":{}}"#.to_owned());
        let items = if first { items.join(",") } else { String::new() };
        let text = format!(r#"{{"runs":[{items}]}}"#);
        let page = sought.read(text.as_bytes(), Timestamp(now));
        Answer { page, ..said(200, transmit, &[]) }
    }
}

/// A profile with another text in one place, where it must be.
fn replaced(profile: &str, from: &str, to: &str) -> String {
    assert!(profile.contains(from), "the profile has changed: {from}");
    profile.replace(from, to)
}

/// The listed service's profile; its result is one body here, for pages change nothing of who sends.
fn listed() -> String {
    replaced(
        LISTED,
        r#"  "pages": { "items": "/results", "total": "/total", "query": "page" },"#,
        "",
    )
}

/// An answer that says these facts.
pub fn said(status: u16, transmit: &Transmit, facts: &[(&str, &str)]) -> Answer {
    let mut found = Facts { form: BodyForm::Json, ..Facts::default() };
    for (name, text) in facts {
        found.values.insert((*name).to_owned(), Fact::Text((*text).to_owned()));
    }
    let url = transmit.url.clone();
    Answer { status, url, facts: found, whole: true, ..Answer::default() }
}

fn kept(transmit: &Transmit) -> Answer {
    let kept = ResultRef {
        download: transmit.download,
        chunks: 1,
        bytes: 2,
        sha256: "00".into(),
        media_type: Some("application/json".into()),
        at: None,
        stream: None,
        items: None,
        earlier: Vec::new(),
        captured_at: Timestamp(BEGIN_MS),
    };
    Answer { kept: Some(kept), ..said(200, transmit, &[("tokenState", "charged")]) }
}

/// A point within the first days of October 2026.
fn rfc3339(at: u64) -> String {
    let seconds = (at - BEGIN_MS) / 1_000;
    let (day, hour) = (1 + seconds / 86_400, seconds / 3_600 % 24);
    format!("2026-10-{day:02}T{hour:02}:{:02}:{:02}Z", seconds / 60 % 60, seconds % 60)
}
