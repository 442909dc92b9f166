//! One real client: the shipped `Driver` over `MemoryStore`, in virtual time and without a network.
//!
//! Storage, credentials and tasks take no time; an answer comes when [`Client::answer`] brings it, and
//! the timer fires when [`Client::wake`] is called. What it wants to send is taken by
//! [`Client::requests`].

use std::cell::{Cell, RefCell};
use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll, Waker};

use holdfast::driver::memory::MemoryStore;
use holdfast::driver::ports::{
    App, Authorization, AuthorizeRequest, Body, Clock, Entropy, FailPoints, Head, Locks, Lost,
    Outgoing, Ports, Spawn, Timer, Transport,
};
use holdfast::driver::{Driver, Submission};
use holdfast::engine::ServiceSetup;
use holdfast::engine::event::Event;
use holdfast::model::dice::Dice;
use holdfast::model::ending::ResultRef;
use holdfast::model::hold::Hold;
use holdfast::model::http::Headers;
use holdfast::model::ids::{Account, ContextId, ServiceName};
use holdfast::model::operation::Operation;
use holdfast::model::policy::{Backoff, Limits, LimitsPatch, Retention};
use holdfast::model::profile::Profile;
use holdfast::model::time::Timestamp;

use crate::host::entropy;
use crate::wire::{Answer, Ask, Client, Request};

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

/// Its host.
#[derive(Clone)]
struct Host(Rc<State>);

struct State {
    now: Cell<u64>,
    timer: Cell<Option<u64>>,
    store: MemoryStore,
    dice: RefCell<Dice>,
    tasks: RefCell<Vec<Task>>,
    requests: RefCell<Vec<Request>>,
    answers: RefCell<Vec<(u64, Option<Answer>)>>,
    sent: Cell<u64>,
    /// How it stands, as the app was last told.
    told: RefCell<Option<Operation>>,
}

type Task = Pin<Box<dyn Future<Output = ()>>>;

impl Holdfast {
    /// A client that submits its job at once.
    pub fn submitting(now: u64, seed: u64) -> Self {
        let host = Host(Rc::new(State {
            now: Cell::new(now),
            timer: Cell::new(None),
            store: MemoryStore::new(),
            dice: RefCell::new(Dice::seeded(seed)),
            tasks: RefCell::default(),
            requests: RefCell::default(),
            answers: RefCell::default(),
            sent: Cell::new(0),
            told: RefCell::default(),
        }));
        let driver = Driver::new(host.clone(), vec![setup()]).expect("randomness");
        let submitter = driver.clone();
        host.spawn(async move {
            submitter.submit(submission()).await.expect("it is taken on");
        });
        let client = Self { driver, host };
        client.run();
        client
    }

    fn told(&self, look: impl Fn(&Operation) -> bool) -> bool {
        self.host.0.told.borrow().as_ref().is_some_and(look)
    }

    /// Polls every task until none moves any more.
    fn run(&self) {
        let mut context = Context::from_waker(Waker::noop());
        loop {
            let tasks = std::mem::take(&mut *self.host.0.tasks.borrow_mut());
            let before = (tasks.len(), self.host.0.sent.get());
            let mut left = Vec::new();
            for mut task in tasks {
                if task.as_mut().poll(&mut context).is_pending() {
                    left.push(task);
                }
            }
            let new = std::mem::take(&mut *self.host.0.tasks.borrow_mut());
            let still = new.is_empty() && before == (left.len(), self.host.0.sent.get());
            left.extend(new);
            *self.host.0.tasks.borrow_mut() = left;
            if still {
                return;
            }
        }
    }
}

impl Client for Holdfast {
    fn wake(&mut self, now: u64) {
        self.host.0.now.set(now);
        self.host.0.timer.set(None);
        self.driver.wake();
        self.run();
    }

    fn answer(&mut self, now: u64, number: u64, answer: Option<Answer>) {
        self.host.0.now.set(now);
        self.host.0.answers.borrow_mut().push((number, answer));
        self.run();
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

impl Ports for Host {
    type App = Self;
    type Runtime = Self;
    type Store = MemoryStore;
    type Transport = Self;

    fn store(&self) -> &MemoryStore {
        &self.0.store
    }

    fn transport(&self) -> &Self {
        self
    }

    fn app(&self) -> &Self {
        self
    }

    fn runtime(&self) -> &Self {
        self
    }
}

impl Transport for Host {
    type Body = Whole;

    fn send(
        &self,
        outgoing: Outgoing,
    ) -> impl Future<Output = Result<Head<Whole>, Lost>> + 'static {
        let (own, number) = (self.clone(), self.0.sent.get());
        self.0.sent.set(number + 1);
        let ask = match outgoing.url.strip_prefix(ORIGIN).and_then(|at| at.strip_prefix("/jobs/")) {
            Some(job) => match job.strip_suffix("/result") {
                Some(_) => Ask::Result,
                None => Ask::Poll { job: job.to_owned() },
            },
            None => {
                let key = outgoing.headers.first("idempotency-key").unwrap_or_default();
                Ask::Submit { key: key.to_owned() }
            }
        };
        self.0.requests.borrow_mut().push(Request { number, ask });
        async move {
            let answer = poll_fn(|_| {
                let mut answers = own.0.answers.borrow_mut();
                match answers.iter().position(|(own, _)| *own == number) {
                    Some(at) => Poll::Ready(answers.remove(at).1),
                    None => Poll::Pending,
                }
            });
            let answer = answer.await.ok_or(Lost)?;
            let headers = answer.retry_after.iter().map(|text| ("retry-after", text.clone()));
            let (status, headers) = (answer.status, headers.collect());
            Ok(Head { status, headers, body: Whole(Some(answer.body.into_bytes())) })
        }
    }
}

/// A body in one piece.
struct Whole(Option<Vec<u8>>);

impl Body for Whole {
    async fn next(&mut self) -> Result<Option<Vec<u8>>, Lost> {
        Ok(self.0.take())
    }
}

impl App for Host {
    fn account(&self) -> Option<Account> {
        Some("ann".into())
    }

    async fn authorize(&self, _request: AuthorizeRequest) -> Option<Authorization> {
        Some(Authorization { headers: Headers::default(), scope: None })
    }

    fn validates(&self, _service: &ServiceName) -> bool {
        false
    }

    async fn fault_of(&self, _: &ServiceName, _: &ResultRef, _: &[u8]) -> Option<String> {
        None
    }

    fn consumes(&self) -> bool {
        false
    }

    async fn settled(&self, _operation: &Operation) -> bool {
        true
    }

    fn notify(&self, event: Box<Event>) {
        *self.0.told.borrow_mut() = Some(event.operation);
    }
}

impl Clock for Host {
    fn now(&self) -> Timestamp {
        Timestamp(self.0.now.get())
    }
}

impl Timer for Host {
    fn arm(&self, delay_ms: Option<u32>) {
        self.0.timer.set(delay_ms.map(|ms| self.0.now.get() + u64::from(ms)));
    }
}

impl Entropy for Host {
    fn bytes(&self) -> Option<[u8; 16]> {
        Some(entropy(&mut self.0.dice.borrow_mut()))
    }
}

impl Spawn for Host {
    fn spawn(&self, task: impl Future<Output = ()> + 'static) {
        self.0.tasks.borrow_mut().push(Box::pin(task));
    }
}

impl Locks for Host {
    fn hold(&self, _own: &ContextId) {}

    fn release(&self) {}

    async fn is_dead(&self, _other: &ContextId) -> bool {
        false
    }
}

impl FailPoints for Host {}
