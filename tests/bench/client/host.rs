//! What a client runs in. Its time stands still until it is told what time it is.

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
use holdfast::engine::event::Event;
use holdfast::model::dice::Dice;
use holdfast::model::ending::ResultRef;
use holdfast::model::http::Headers;
use holdfast::model::ids::{Account, ContextId, ServiceName};
use holdfast::model::operation::Operation;
use holdfast::model::time::Timestamp;

use super::ORIGIN;
use crate::host::entropy;
use crate::wire::{Answer, Ask, Request};

/// The host of one client.
#[derive(Clone)]
pub struct Host(pub Rc<State>);

pub struct State {
    pub now: Cell<u64>,
    pub timer: Cell<Option<u64>>,
    store: MemoryStore,
    dice: RefCell<Dice>,
    tasks: RefCell<Vec<Task>>,
    pub requests: RefCell<Vec<Request>>,
    pub answers: RefCell<Vec<(u64, Option<Answer>)>>,
    sent: Cell<u64>,
    /// How it stands, as the app was last told.
    pub told: RefCell<Option<Operation>>,
}

type Task = Pin<Box<dyn Future<Output = ()>>>;

impl Host {
    pub fn new(now: u64, seed: u64) -> Self {
        Self(Rc::new(State {
            now: Cell::new(now),
            timer: Cell::new(None),
            store: MemoryStore::new(),
            dice: RefCell::new(Dice::seeded(seed)),
            tasks: RefCell::default(),
            requests: RefCell::default(),
            answers: RefCell::default(),
            sent: Cell::new(0),
            told: RefCell::default(),
        }))
    }

    /// Polls every task until none moves any more.
    pub fn run(&self) {
        let mut context = Context::from_waker(Waker::noop());
        loop {
            let tasks = std::mem::take(&mut *self.0.tasks.borrow_mut());
            let before = (tasks.len(), self.0.sent.get());
            let mut left = Vec::new();
            for mut task in tasks {
                if task.as_mut().poll(&mut context).is_pending() {
                    left.push(task);
                }
            }
            let new = std::mem::take(&mut *self.0.tasks.borrow_mut());
            let still = new.is_empty() && before == (left.len(), self.0.sent.get());
            left.extend(new);
            *self.0.tasks.borrow_mut() = left;
            if still {
                return;
            }
        }
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
pub struct Whole(Option<Vec<u8>>);

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
