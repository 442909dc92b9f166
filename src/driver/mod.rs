//! Floor 4: the loop that connects the engine with its host's ports.
//!
//! Inputs are queued and carried into the engine one at a time; what the engine wants done is
//! started as tasks of the host, each of which ends by queuing an input. The driver decides nothing.

pub mod admission;
mod adopt;
mod claims;
#[cfg(any(test, feature = "conformance"))]
pub mod conformance;
mod exchange;
mod forget;
mod keep;
pub mod memory;
mod news;
mod oneshot;
pub mod outbox;
mod pages;
mod part;
pub mod ports;
mod prepare;
mod quote;
mod reads;
mod revise;
mod secrets;
mod submit;
mod writer;

use std::cell::{Cell, RefCell};
use std::rc::Rc;

pub use adopt::Adoption;
pub use quote::Inquiry;
pub use revise::Revision;
pub use submit::Submission;

use crate::engine::output::Output;
use crate::engine::{CallId, Engine, Input, Reply, ServiceSetup, Transmit, WriteSet};
use crate::model::dice::Dice;
use crate::model::error::Error;
use crate::model::http::Headers;
use crate::model::ids::{ContextId, OperationId, ServiceName};
use crate::model::profile::Purpose;
use crate::model::table::{Table, take_first};
use crate::model::time::Timestamp;
use crate::rules::guidance::timer_ms;
use crate::rules::teeth::{Tooth, bites};
use oneshot::Oneshot;
use ports::{
    App, AuthorizeRequest, Clock, Entropy, Locks, Ports, Spawn, Store, Timer, Transport, Turn,
    transport::Outgoing,
};
use secrets::Secrets;

/// One context's client. Cloning gives another handle to the same.
pub struct Driver<P: Ports>(Rc<Shared<P>>);

impl<P: Ports> Clone for Driver<P> {
    fn clone(&self) -> Self {
        Self(Rc::clone(&self.0))
    }
}

struct Shared<P: Ports> {
    ports: P,
    context: ContextId,
    engine: RefCell<Engine>,
    inputs: RefCell<Vec<Input>>,
    pumping: Cell<bool>,
    writes: RefCell<Vec<WriteSet>>,
    writing: Cell<bool>,
    /// Credential and body for the exchange that is being written ahead. Memory only.
    prepared: RefCell<Table<OperationId, Prepared>>,
    calls: RefCell<Table<CallId, Oneshot<Reply>>>,
    next_call: Cell<u64>,
    closed: Cell<bool>,
    /// Whether other contexts can learn of this one's death.
    shown: Cell<bool>,
}

#[derive(Default)]
struct Prepared {
    headers: Headers,
    body: Option<Vec<u8>>,
}

impl<P: Ports> Driver<P> {
    /// A client that does nothing until it is called. `None` when the host has no randomness.
    pub fn new(ports: P, services: Vec<ServiceSetup>) -> Option<Self> {
        let seed = ports.runtime().bytes()?;
        let context = uuid_text(ports.runtime().bytes()?);
        let dice = Dice::seeded(seed.iter().fold(0, |sum, byte| (sum << 8) ^ u64::from(*byte)));
        let context = ContextId(context);
        let engine = Engine::new(context.clone(), services, ports.app().consumes(), dice);
        Some(Self(Rc::new(Shared {
            ports,
            context,
            engine: RefCell::new(engine),
            inputs: RefCell::default(),
            pumping: Cell::new(false),
            writes: RefCell::default(),
            writing: Cell::new(false),
            prepared: RefCell::default(),
            calls: RefCell::default(),
            next_call: Cell::new(0),
            closed: Cell::new(false),
            shown: Cell::new(false),
        })))
    }

    /// Looks at what is due now: at start, when the page is seen again or comes online. Too often
    /// does no harm.
    pub fn wake(&self) {
        self.feed(Input::Wake);
    }

    /// Looks at what is due now, as the timer has it. Too often does no harm.
    pub fn tick(&self) {
        self.feed(Input::Tick);
    }

    /// Looks at the store again: another context has changed something of this service.
    pub fn hint(&self, service: ServiceName) {
        self.feed(Input::Hint(service));
    }

    /// Opens storage and resumes whatever is pending.
    ///
    /// # Errors
    /// `STORAGE_UNAVAILABLE`, `NO_ACCOUNT`.
    pub async fn start(&self) -> Result<(), Error> {
        let account = self.account()?;
        let first = self.0.ports.store().list(&account, None, 1).await;
        first.map(|_| self.wake()).map_err(reads::storage)
    }

    /// Gives every lane back, for other contexts to take up at once: the page is going away, or
    /// freezes, or its account is left. The next [`Driver::wake`] begins anew.
    pub fn give_back(&self) {
        if !self.0.closed.get() {
            self.feed(Input::Yield);
        }
    }

    /// Gives the lanes back as soon as nothing is under way, and begins nothing until then: somebody looks at another
    /// context, and nobody at this one, which may be throttled. Of one service, because another context says that it can
    /// go on where this one has no credential. It asks for them again when something is due and they are free.
    pub fn offer(&self, service: Option<ServiceName>) {
        self.feed(Input::Offer(service));
    }

    /// Stops for good. What is pending stays stored.
    pub fn close(&self) {
        self.give_back();
        self.0.closed.set(true);
        self.0.ports.runtime().arm(None);
    }

    /// Carries inputs into the engine, one at a time, each followed by everything it leads to.
    fn feed(&self, input: Input) {
        let shared = &self.0;
        if shared.closed.get() {
            return self.forget_unwanted();
        }
        shared.inputs.borrow_mut().push(input);
        if shared.pumping.replace(true) {
            return;
        }
        let account = shared.ports.app().account();
        shared.inputs.borrow_mut().insert(0, Input::Account(account));
        shared.engine.borrow_mut().set_online(shared.ports.transport().is_online());
        while let Some(input) = self.next_input() {
            let now = shared.ports.runtime().now();
            shared.engine.borrow_mut().handle_input(now, input);
            while let Some(output) = self.next_output() {
                self.carry_out(output);
            }
        }
        shared.pumping.set(false);
        self.forget_unwanted();
        let now = shared.ports.runtime().now();
        let wake_at = shared.engine.borrow().poll_timeout();
        shared.ports.runtime().arm(wake_at.map(|at| timer_ms(at.since(now))));
        self.show_life(now);
    }

    /// A lock that is held can keep a page out of the back-forward cache, and from being frozen: it is held
    /// only while something is due.
    fn show_life(&self, now: Timestamp) {
        let is_busy = self.0.engine.borrow().is_busy(now);
        if self.0.shown.replace(is_busy) == is_busy {
            return;
        }
        let runtime = self.0.ports.runtime();
        if is_busy {
            runtime.hold(&self.0.context);
        } else {
            runtime.release();
        }
    }

    /// Forgets the credential and body of every exchange that is not being prepared any more: it has
    /// been given up, its operation has left memory, or nobody is signed in.
    fn forget_unwanted(&self) {
        let engine = self.0.engine.borrow();
        self.0.prepared.borrow_mut().retain(|id| engine.is_preparing(id));
    }

    /// Whether a credential or a body is in memory, for an exchange that is being prepared.
    pub fn is_prepared(&self) -> bool {
        self.0.prepared.borrow().iter().next().is_some()
    }

    fn next_input(&self) -> Option<Input> {
        take_first(&mut self.0.inputs.borrow_mut())
    }

    fn next_output(&self) -> Option<Output> {
        self.0.engine.borrow_mut().poll_output()
    }

    fn carry_out(&self, output: Output) {
        match output {
            Output::Authorize { id, service, purpose, refresh, with_body, alone } => {
                let turn = Turn { id, service: service.clone(), alone };
                let request = AuthorizeRequest { service, purpose, refresh };
                self.spawn(|driver| driver.authorize(turn, request, with_body));
            }
            Output::Claim(claim) => self.spawn(|driver| driver.claim(claim)),
            Output::Deliver(operation) => self.spawn(|driver| async move {
                driver.reach("deliver.before");
                let done = driver.0.ports.app().settled(&operation).await;
                driver.reach("deliver.after");
                driver.feed(Input::Delivered(operation.identity.id.clone(), done));
            }),
            Output::Event(event) => self.0.ports.app().notify(event),
            Output::GiveBack(fence) => self.spawn(|driver| async move {
                // Whether or not this reaches the store: the lease runs out by itself.
                let _ = driver.0.ports.store().give_back(&fence).await;
            }),
            Output::Load(id) => self.spawn(|driver| async move {
                let loaded = driver.load_for_engine(&id).await;
                driver.feed(Input::Loaded(id, loaded));
            }),
            Output::Persist(set) => {
                self.0.writes.borrow_mut().push(*set);
                if !self.0.writing.replace(true) {
                    self.spawn(|driver| async move { driver.write_all().await });
                }
            }
            Output::ReadDue { lane, queue, before, limit } => self.spawn(|driver| async move {
                let due = driver.read_due(&lane, queue, before, limit).await;
                driver.feed(Input::Due(lane, queue, due));
            }),
            Output::Reply(call, reply) => {
                if let Some(waiter) = self.0.calls.borrow_mut().remove(&call) {
                    waiter.resolve(reply);
                }
            }
            Output::Transmit(transmit) => self.transmit(*transmit),
        }
    }

    fn spawn<F: Future<Output = ()> + 'static>(&self, task: impl FnOnce(Self) -> F) {
        self.0.ports.runtime().spawn(task(self.clone()));
    }

    /// Sends. Ownership and time are looked at once more, in the very turn of the sending.
    fn transmit(&self, mut transmit: Transmit) {
        let prepared = self.0.prepared.borrow_mut().remove(&transmit.id);
        self.reach_for("send.before", transmit.purpose);
        let now = self.0.ports.runtime().now();
        let may_send = self.0.engine.borrow().may_send(now, &transmit.id, transmit.purpose);
        // A diagnosis bears nothing.
        let prepared =
            prepared.or_else(|| (transmit.purpose == Purpose::Diagnose).then(Prepared::default));
        let prepared = prepared.filter(|own| transmit.with_body == own.body.is_some());
        let goes = may_send || bites(Tooth::SkipSameTurnCheck);
        let Some(mut prepared) = prepared.filter(|_| goes) else {
            return self.feed(Input::NotSent(transmit.id, transmit.purpose));
        };
        let secrets = Secrets::of(&prepared.headers);
        let mut headers = transmit.headers.clone();
        if transmit.with_credential {
            headers.complete(&prepared.headers);
        }
        let mut body = prepared.body.take();
        if let (Some(sought), Some(bytes)) = (&mut transmit.sought, &body) {
            sought.add_body(bytes);
            body = None;
        }
        let answer = self.0.ports.transport().send(Outgoing {
            method: transmit.method.clone(),
            url: transmit.url.clone(),
            headers,
            body,
            timeout_ms: timer_ms(transmit.timeout_ms),
            idle: transmit.idle,
        });
        self.reach_for("send.after", transmit.purpose);
        self.spawn(|driver| driver.exchange(transmit, secrets, answer));
    }

    fn call(&self, input: impl FnOnce(CallId) -> Input) -> Oneshot<Reply> {
        let call = CallId(self.0.next_call.get());
        self.0.next_call.set(call.0 + 1);
        let waiter = Oneshot::new();
        self.0.calls.borrow_mut().insert(call, waiter.clone());
        self.feed(input(call));
        waiter
    }

    /// Names a point at which a test may end the process. Does nothing in a published build.
    fn reach(&self, point: &str) {
        #[cfg(feature = "fail-points")]
        ports::FailPoints::reach(self.0.ports.runtime(), point);
        #[cfg(not(feature = "fail-points"))]
        let _ = point;
    }

    fn reach_for(&self, point: &str, purpose: Purpose) {
        #[cfg(feature = "fail-points")]
        self.reach(&[point, ".", purpose.name()].concat());
        #[cfg(not(feature = "fail-points"))]
        let _ = (point, purpose);
    }
}

/// A version 4 UUID (RFC 9562) from fresh bytes.
fn uuid_text(bytes: [u8; 16]) -> String {
    let uuid = uuid::Builder::from_random_bytes(bytes).into_uuid();
    let mut buffer = uuid::Uuid::encode_buffer();
    String::from(&*uuid.hyphenated().encode_lower(&mut buffer))
}
