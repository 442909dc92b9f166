//! A whole world in one thread: contexts with the real engine and driver, one shared store, one
//! service with its ledger, and a clock that jumps to whatever happens next.
//!
//! Every await of a port is a *point*, numbered as it is reached. A world can end a context at any
//! of them, for good: nothing that it would have done afterwards happens.

#![allow(
    dead_code,
    unused_imports,
    unreachable_pub,
    reason = "each test uses its own part of the world"
)]
#![allow(
    clippy::expect_used,
    clippy::panic,
    reason = "a world that cannot be made is a failed test"
)]

mod app;
mod clock;
mod faulty;
mod host;
mod log;
mod ports;
mod seen;
mod settings;
mod submission;
mod tasks;
mod write;

use std::cell::{Cell, RefCell};
use std::collections::BTreeSet;
use std::rc::Rc;

use holdfast::driver::Driver;
use holdfast::driver::memory::MemoryStore;
use holdfast::engine::ServiceSetup;
use holdfast::model::ids::{ContextId, OperationId};
use holdfast::model::lane::Lane;
use holdfast::model::operation::Operation;
use holdfast::model::policy::Limits;
use holdfast::model::profile::Purpose;
use holdfast_services::{AnyService, Fault, Loopback, RunHarvester, Service};

pub use app::{adoption, patch};
pub use clock::Clock;
pub use faulty::{CommitFault, FaultyStore};
pub use log::{Log, Logged};
pub use ports::SimPorts;
pub use seen::{ending, failed, is_whole, keys, park, replayed, result, standing, succeeds_once};
pub use settings::Settings;
use submission::setup;
pub use submission::{DAY_MS, service, submission};
pub use tasks::Being;
use tasks::Tasks;
pub(crate) use write::write_of;

/// The profile that the worlds go by.
pub const PROFILE: &str = include_str!("../../pkg-template/profiles/runharvester.json");

/// The credential of every exchange; it must turn up nowhere.
pub const SECRET: &str = "demo-token";

/// What all contexts share.
pub struct Shared {
    pub clock: Clock,
    pub store: MemoryStore,
    pub service: RefCell<Loopback<AnyService>>,
    /// The profile that its contexts go by.
    pub profile: String,
    pub settings: RefCell<Settings>,
    /// Points reached so far, over all contexts.
    pub points: Cell<u64>,
    /// How many contexts there have been.
    pub born: Cell<u64>,
    /// The contexts that have ended, by their own names for themselves.
    pub dead: RefCell<BTreeSet<ContextId>>,
    /// Endings that `onSettled` took, as (operation, status).
    pub delivered: RefCell<Vec<String>>,
    /// Every event told to an app.
    pub events: RefCell<Vec<String>>,
    /// What was told to have happened, as (operation, event).
    pub happened: RefCell<Vec<(OperationId, &'static str)>>,
    /// What the ports were asked for, in order.
    pub log: Log,
    /// The store as contexts see it, with its faults.
    pub commits: FaultyStore,
    /// Credentials that were asked for, and whether as fresh ones.
    pub authorizations: RefCell<Vec<(Purpose, bool)>>,
    /// A context freezes when it has committed a record like this one, before it hears of that.
    pub freeze_when: RefCell<Option<FreezeWhen>>,
    /// What tells each context of changes by others, as BroadcastChannel does.
    pub peers: RefCell<Vec<Peer>>,
    tasks: Tasks,
}

/// A context, what tells it of changes by others, and what asks it for its work.
pub type Peer = (Rc<Being>, Rc<dyn Fn()>, Rc<dyn Fn()>);

/// Which commit freezes its context.
pub type FreezeWhen = Box<dyn Fn(&Operation) -> bool>;

/// The world.
#[derive(Clone)]
pub struct World(pub Rc<Shared>);

/// One context: a tab, as it were.
pub struct Context {
    pub driver: Driver<SimPorts>,
    pub being: Rc<Being>,
    ports: SimPorts,
}

impl World {
    /// A world with nothing stored and a service without faults.
    pub fn new() -> Self {
        Self::with(Settings::default(), Loopback::new(RunHarvester::default()))
    }

    pub fn with(settings: Settings, service: Loopback<impl Service + Send + 'static>) -> Self {
        Self::of(settings, service, PROFILE)
    }

    /// A world around any service, by its profile.
    pub fn of(
        settings: Settings,
        service: Loopback<impl Service + Send + 'static>,
        profile: &str,
    ) -> Self {
        let service =
            Loopback::<AnyService> { service: Box::new(service.service), faults: service.faults };
        let store = MemoryStore::new();
        Self(Rc::new(Shared {
            clock: Clock::at(1_790_000_000_000),
            commits: FaultyStore::over(store.clone()),
            store,
            log: Log::default(),
            authorizations: RefCell::default(),
            freeze_when: RefCell::default(),
            service: RefCell::new(service),
            profile: profile.into(),
            settings: RefCell::new(settings),
            points: Cell::new(0),
            born: Cell::new(0),
            dead: RefCell::default(),
            delivered: RefCell::default(),
            events: RefCell::default(),
            happened: RefCell::default(),
            peers: RefCell::default(),
            tasks: Tasks::default(),
        }))
    }

    /// A new context over the shared store.
    pub fn open(&self) -> Context {
        self.open_with(Limits::default(), &self.0.profile.clone())
    }

    pub fn open_with(&self, limits: Limits, profile_text: &str) -> Context {
        let being = Being::new();
        let ports = SimPorts::new(self.clone(), Rc::clone(&being));
        let timer = ports.timer();
        let settings = self.0.settings.borrow().clone();
        let service = ServiceSetup {
            base_url: settings.origin.clone(),
            origin: settings.origin,
            derives_keys: settings.derives_keys,
            retention: settings.retention,
            params: settings.params,
            ..setup(limits, profile_text)
        };
        let driver = Driver::new(ports.clone(), vec![service]).expect("randomness");
        let waker = driver.clone();
        timer.on_timer(Rc::new(move || waker.tick()));
        let told = driver.clone();
        let hint: Rc<dyn Fn()> = Rc::new(move || told.hint("reports".into()));
        let asked = driver.clone();
        let offer: Rc<dyn Fn()> = Rc::new(move || asked.offer(Some("reports".into())));
        self.0.peers.borrow_mut().push((Rc::clone(&being), hint, offer));
        driver.wake();
        Context { driver, being, ports }
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
        let being = Rc::clone(&context.being);
        self.0.tasks.spawn(Rc::clone(&being), async move {
            let value = call.await;
            *slot.borrow_mut() = Some(value);
        });
        let until = self.0.clock.now() + DAY_MS;
        self.run(until, || result.borrow().is_some() || !being.alive.get());
        let value = result.borrow_mut().take();
        value.filter(|_| context.being.alive.get())
    }

    /// Runs until an operation is over or parked (seen from the store), or a virtual day passes.
    pub fn settle(&self, context: &Context, intent: &str) -> Option<Operation> {
        let until = self.0.clock.now() + 2 * DAY_MS;
        self.run(until, || {
            !context.being.alive.get()
                || self.stored(intent).is_some_and(|operation| {
                    operation.due().is_none() && operation.delivery_due().is_none()
                })
        });
        self.stored(intent).filter(|_| context.being.alive.get())
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
        context.being.alive.set(false);
        self.0.dead.borrow_mut().extend(context.ports.name());
        self.0.tasks.drop_dead();
        self.0.clock.drop_dead();
    }
}

/// What a test does with a world.
impl World {
    /// A world whose service has these faults.
    pub fn with_faults(faults: &str) -> Self {
        let world = Self::new();
        world.add_faults(faults);
        world
    }

    pub fn add_faults(&self, faults: &str) {
        let faults: Vec<Fault> = serde_json::from_str(faults).expect("good faults");
        self.0.service.borrow_mut().faults.add(faults);
    }

    /// Stops a context as an operating system does: it goes on from the same place when it thaws.
    pub fn freeze(&self, context: &Context) {
        context.being.frozen.set(true);
    }

    pub fn thaw(&self, context: &Context) {
        context.being.frozen.set(false);
        if context.being.missed.replace(false) {
            context.driver.wake();
        }
    }

    /// What a context held is let go, as if it were dead; it is not.
    pub fn lose_lock(&self, context: &Context) {
        self.0.dead.borrow_mut().extend(context.ports.name());
    }

    /// Whether a context holds the lock that shows that it lives.
    pub fn is_shown(&self, context: &Context) -> bool {
        context.ports.name().is_some_and(|own| !self.0.dead.borrow().contains(&own))
    }

    /// Runs a call of the app beside everything else.
    pub fn spawn(&self, context: &Context, call: impl Future<Output = ()> + 'static) {
        self.0.tasks.spawn(Rc::clone(&context.being), call);
    }

    /// An operation's lane, as it is stored.
    pub fn lane(&self, intent: &str) -> Lane {
        use holdfast::driver::ports::Store;
        let lane = self.stored(intent).expect("it is stored").lane();
        pollster::block_on(self.0.store.lane(&lane)).expect("memory").expect("a lane")
    }

    /// By when the owner of an operation's lane must have written again.
    pub fn lease_until(&self, intent: &str) -> u64 {
        self.lane(intent).lease_until.0
    }

    /// Lets so much time pass.
    pub fn pass(&self, length_ms: u64) {
        let until = self.0.clock.now() + length_ms;
        self.run(until, || false);
        self.0.clock.advance(until);
    }
}
