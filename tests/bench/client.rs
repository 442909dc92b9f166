//! One real client: the shipped `Driver` over `MemoryStore`, in virtual time and without a network.
//!
//! Storage, credentials and tasks take no time; an answer comes when [`Client::answer`] brings it, and
//! the timer fires when [`Client::wake`] is called. What it wants to send is taken by
//! [`Client::requests`].

mod host;

use holdfast::driver::ports::Spawn;
use holdfast::driver::{Driver, Submission};
use holdfast::engine::ServiceSetup;
use holdfast::model::hold::Hold;
use holdfast::model::ids::ServiceName;
use holdfast::model::operation::Operation;
use holdfast::model::policy::{Backoff, Limits, LimitsPatch, Retention};
use holdfast::model::profile::Profile;

use self::host::Host;
use crate::wire::{Answer, Client, Request};

/// The simplest service there can be: a key, a submission, a status, a result. All paces are the defaults.
const PROFILE: &str = r#"{
  "profile": 1,
  "name": "bench",
  "key": { "header": "Idempotency-Key" },
  "calls": {
    "submit": { "method": "POST", "path": "/jobs" },
    "poll": { "method": "GET", "path": "/jobs/{id}" },
    "result": { "method": "GET", "path": "/jobs/{id}/result" }
  },
  "facts": { "id": ["/id"], "status": ["/status"] },
  "states": { "running": "active", "completed": "completed" }
}"#;

const ORIGIN: &str = "https://api.example.com";

/// A client with one job.
pub struct Holdfast {
    driver: Driver<Host>,
    host: Host,
}

impl Holdfast {
    /// A client that submits its job at once.
    pub fn submitting(now: u64, seed: u64) -> Self {
        let host = Host::new(now, seed);
        let driver = Driver::new(host.clone(), vec![setup()]).expect("randomness");
        let submitter = driver.clone();
        host.spawn(async move {
            submitter.submit(submission()).await.expect("it is taken on");
        });
        let client = Self { driver, host };
        client.host.run();
        client
    }

    fn told(&self, look: impl Fn(&Operation) -> bool) -> bool {
        self.host.0.told.borrow().as_ref().is_some_and(look)
    }
}

impl Client for Holdfast {
    fn wake(&mut self, now: u64) {
        self.host.0.now.set(now);
        self.host.0.timer.set(None);
        self.driver.wake();
        self.host.run();
    }

    fn answer(&mut self, now: u64, number: u64, answer: Option<Answer>) {
        self.host.0.now.set(now);
        self.host.0.answers.borrow_mut().push((number, answer));
        self.host.run();
    }

    fn requests(&mut self) -> Vec<Request> {
        std::mem::take(&mut *self.host.0.requests.borrow_mut())
    }

    fn wakes_at(&self) -> Option<u64> {
        self.host.0.timer.get()
    }

    fn has_ended(&self) -> bool {
        self.told(|own| own.life.is_ended())
    }

    fn has_given_up(&self) -> bool {
        self.told(|own| matches!(own.life.hold, Hold::Parked { .. }))
    }
}

fn profile() -> Profile {
    holdfast::rules::profile::read(PROFILE).expect("a good profile")
}

/// The pace of polls that it has by default.
pub fn pace() -> Backoff {
    profile().poll
}

fn setup() -> ServiceSetup {
    ServiceSetup {
        name: ServiceName::from("bench"),
        profile: profile(),
        profile_text: PROFILE.into(),
        base_url: ORIGIN.into(),
        origin: ORIGIN.into(),
        derives_keys: false,
        retention: Retention::default(),
        params: Vec::new(),
        limits: Limits::default(),
    }
}

fn submission() -> Submission {
    Submission {
        service: "bench".into(),
        intent: "job".into(),
        content_type: "application/json".into(),
        key: None,
        params: Vec::new(),
        limits: LimitsPatch::default(),
        body: b"{}".to_vec(),
    }
}
