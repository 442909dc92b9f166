//! A whole world in one thread: contexts with the real engine and driver, one shared store, one
//! service with its ledger, and a clock that jumps to whatever happens next.
//!
//! Every await of a port is a *point*, numbered as it is reached. A world can end a context at any
//! of them, for good: nothing that it would have done afterwards happens.

#![allow(dead_code, unreachable_pub, reason = "each test uses its own part of the world")]
#![allow(
    clippy::expect_used,
    clippy::panic,
    reason = "a world that cannot be made is a failed test"
)]

mod clock;
mod ports;
mod tasks;

use std::cell::{Cell, RefCell};
use std::collections::BTreeSet;
use std::rc::Rc;

use holdfast::driver::memory::MemoryStore;
use holdfast::driver::{Driver, Submission};
use holdfast::engine::ServiceSetup;
use holdfast::model::ids::{ContextId, Intent, ServiceName};
use holdfast::model::operation::Operation;
use holdfast::model::policy::{Limits, LimitsPatch};
use holdfast::rules::profile;
use holdfast_services::Loopback;
use holdfast_services::RunHarvester;

pub use clock::Clock;
pub use ports::SimPorts;
use tasks::Tasks;

/// The profile that the worlds go by.
pub const PROFILE: &str = include_str!("../../pkg-template/profiles/runharvester.json");

/// The credential of every exchange; it must turn up nowhere.
pub const SECRET: &str = "demo-token";

/// What all contexts share.
pub struct Shared {
    pub clock: Clock,
    pub store: MemoryStore,
    pub service: RefCell<Loopback<RunHarvester>>,
    pub settings: RefCell<Settings>,
    /// Points reached so far, over all contexts.
    pub points: Cell<u64>,
    /// The contexts that have ended, by their own names for themselves.
    pub dead: RefCell<BTreeSet<ContextId>>,
    /// Endings that `onSettled` took, as (operation, status).
    pub delivered: RefCell<Vec<String>>,
    /// Every event told to an app.
    pub events: RefCell<Vec<String>>,
    tasks: Tasks,
}

/// How the world behaves.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The context ends at this point.
    pub crash_at: Option<u64>,
    /// Whether a context's death is known at once (Web Locks) or only by its lease.
    pub locks: bool,
    /// The account that is signed in.
    pub account: Option<String>,
    /// Credentials that `authorize` cannot give, from now on.
    pub unauthorized: u32,
    /// Whether `onSettled` is there.
    pub consumes: bool,
    /// Deliveries that fail, from now on.
    pub failing_deliveries: u32,
    /// One way of the network, in milliseconds.
    pub latency_ms: u64,
    /// The credential's scope.
    pub scope: Option<String>,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            crash_at: None,
            locks: true,
            account: Some("ann".into()),
            unauthorized: 0,
            consumes: true,
            failing_deliveries: 0,
            latency_ms: 10,
            scope: Some("org_1/key_1".into()),
        }
    }
}

/// The world.
#[derive(Clone)]
pub struct World(pub Rc<Shared>);

/// One context: a tab, as it were.
pub struct Context {
    pub driver: Driver<SimPorts>,
    pub alive: Rc<Cell<bool>>,
}

impl World {
    /// A world with nothing stored and a service without faults.
    pub fn new() -> Self {
        Self::with(Settings::default(), Loopback::new(RunHarvester::default()))
    }

    pub fn with(settings: Settings, service: Loopback<RunHarvester>) -> Self {
        Self(Rc::new(Shared {
            clock: Clock::at(1_790_000_000_000),
            store: MemoryStore::new(),
            service: RefCell::new(service),
            settings: RefCell::new(settings),
            points: Cell::new(0),
            dead: RefCell::default(),
            delivered: RefCell::default(),
            events: RefCell::default(),
            tasks: Tasks::default(),
        }))
    }

    /// A new context over the shared store.
    pub fn open(&self) -> Context {
        self.open_with(Limits::default(), PROFILE)
    }

    pub fn open_with(&self, limits: Limits, profile_text: &str) -> Context {
        let alive = Rc::new(Cell::new(true));
        let ports = SimPorts::new(self.clone(), Rc::clone(&alive));
        let timer = ports.timer();
        let driver = Driver::new(ports, vec![service(limits, profile_text)]).expect("randomness");
        let waker = driver.clone();
        timer.on_timer(Rc::new(move || waker.wake()));
        driver.wake();
        Context { driver, alive }
    }

    /// Runs until nothing is left to happen before `until_ms`, or `done` says so.
    pub fn run(&self, until_ms: u64, mut done: impl FnMut() -> bool) {
        let mut turns = 0_u64;
        while !done() {
            turns += 1;
            assert!(turns < 2_000_000, "the world never comes to rest");
            if self.0.tasks.run_ready() {
                continue;
            }
            match self.0.clock.next() {
                Some(at) if at <= until_ms => self.0.clock.advance(at),
                Some(_) | None => break,
            }
        }
    }

    /// Runs a call of the app to its end; `None` when its context ends first, or nothing happens
    /// for a virtual day.
    pub fn call<T: 'static>(
        &self,
        context: &Context,
        call: impl Future<Output = T> + 'static,
    ) -> Option<T> {
        let result = Rc::new(RefCell::new(None));
        let slot = Rc::clone(&result);
        let alive = Rc::clone(&context.alive);
        self.0.tasks.spawn(Rc::clone(&alive), async move {
            let value = call.await;
            *slot.borrow_mut() = Some(value);
        });
        let until = self.0.clock.now() + DAY_MS;
        self.run(until, || result.borrow().is_some() || !alive.get());
        let value = result.borrow_mut().take();
        value.filter(|_| context.alive.get())
    }

    /// Runs until an operation is over or parked (seen from the store), or a virtual day passes.
    pub fn settle(&self, context: &Context, intent: &str) -> Option<Operation> {
        let until = self.0.clock.now() + 2 * DAY_MS;
        self.run(until, || {
            !context.alive.get()
                || self.stored(intent).is_some_and(|operation| {
                    operation.due().is_none() && operation.delivery_due().is_none()
                })
        });
        self.stored(intent).filter(|_| context.alive.get())
    }

    /// The newest operation of an intent, straight from the store.
    pub fn stored(&self, intent: &str) -> Option<Operation> {
        use holdfast::driver::ports::Store;
        use holdfast::driver::ports::store::Name;
        let name = Name { account: "ann".into(), service: "reports".into(), intent: intent.into() };
        let row = pollster::block_on(self.0.store.find(&name)).expect("memory")?;
        Some(holdfast::record::decode(&row.document).expect("a record that can be read"))
    }

    /// Ends a context at once, as SIGKILL does.
    pub fn kill(&self, context: &Context) {
        context.alive.set(false);
        self.0.tasks.drop_dead();
        self.0.clock.drop_dead();
    }
}

/// A virtual day.
pub const DAY_MS: u64 = 86_400_000;

/// Submits `{"url": …, …options}` under an intent.
pub fn submission(intent: &str, options: &str) -> Submission {
    Submission {
        service: ServiceName::from("reports"),
        intent: Intent::from(intent),
        content_type: "application/json".into(),
        key: None,
        limits: LimitsPatch::default(),
        body: format!("{{\"url\":\"https://example.com\"{options}}}").into_bytes(),
    }
}

fn service(limits: Limits, profile_text: &str) -> ServiceSetup {
    ServiceSetup {
        name: ServiceName::from("reports"),
        profile: profile::read(profile_text).expect("a good profile"),
        profile_text: profile_text.into(),
        base_url: "https://api.example.com".into(),
        origin: "https://api.example.com".into(),
        limits,
    }
}
