//! The world of one run: a machine with its disk and its clock, contexts that come and go, a network
//! and a service, all in one thread and in virtual time, all decided by one seed.

use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use holdfast::driver::Driver;
use holdfast::engine::ServiceSetup;
use holdfast::model::dice::Dice;
use holdfast::model::ids::{ContextId, OperationId, Revision};
use holdfast::model::operation::Operation;
use holdfast_services::{AnyService, Loopback};

use super::clock::Clock;
use super::house::House;
use super::kinds::Kind;
use super::oracle::{Member, Oracle};
use super::plan::Plan;
use super::ports::SimPorts;
use super::store::Disk;
use super::tasks::{Being, Tasks};

/// The credential of every exchange; it must turn up nowhere.
pub const SECRET: &str = "demo-token";

/// When every run begins.
const BEGIN_MS: u64 = 1_790_000_000_000;

/// Operations by record and revision, each with the text that it was read from.
pub type Read = BTreeMap<(OperationId, Revision), (String, Rc<Operation>)>;

/// What all share.
pub struct Shared {
    pub plan: Plan,
    pub clock: Clock,
    pub disk: Disk,
    pub service: RefCell<Loopback<AnyService>>,
    pub tasks: Tasks,
    /// Lives as long as the run: the network, the service, people.
    pub outside: Rc<Being>,
    /// What the machine has under way; it ends when power is lost.
    pub machine: RefCell<Rc<Being>>,
    pub contexts: RefCell<Vec<Rc<Tab>>>,
    /// The names of contexts that have ended.
    pub dead: RefCell<BTreeSet<ContextId>>,
    pub born: Cell<u64>,
    /// How often some task has run.
    pub turns: Cell<u64>,
    /// The faults are over.
    pub calm: Cell<bool>,
    /// How far the machine's clock has been set wrong, in milliseconds.
    pub offset_ms: Cell<i64>,
    pub offline_until: Cell<u64>,
    pub down_until: Cell<u64>,
    pub scope_until: Cell<u64>,
    pub account: Cell<&'static str>,
    /// `authorize` has just failed.
    pub denied: Cell<bool>,
    pub oracle: RefCell<Oracle>,
    /// What was read already.
    pub read: RefCell<Read>,
    setup: ServiceSetup,
    dice: RefCell<Dice>,
    struck: RefCell<Vec<u64>>,
    trace: Cell<bool>,
    /// How long the calm has taken.
    pub calm_ms: Cell<u64>,
}

/// One context.
pub struct Tab {
    pub number: u64,
    pub being: Rc<Being>,
    pub driver: RefCell<Option<Driver<SimPorts>>>,
    pub name: RefCell<Option<ContextId>>,
    /// Randomness of its own.
    pub dice: RefCell<Dice>,
    /// When its last transaction is over: a browser runs them in order.
    pub disk_free_at: Cell<u64>,
}

impl Tab {
    /// Its driver, while it lives and is awake.
    pub fn awake(&self) -> Option<Driver<SimPorts>> {
        let awake = self.being.alive.get() && !self.being.frozen.get();
        if awake { self.driver.borrow().clone() } else { None }
    }
}

/// The world.
#[derive(Clone)]
pub struct World(pub Rc<Shared>);

impl World {
    pub fn new(plan: Plan, trace: bool) -> Self {
        let (seed, service, setup) = (plan.seed, House::open(&plan), House::setup(&plan));
        Self(Rc::new(Shared {
            plan,
            clock: Clock::at(BEGIN_MS),
            disk: Disk::default(),
            service: RefCell::new(service),
            tasks: Tasks::default(),
            outside: Being::new(),
            machine: RefCell::new(Being::new()),
            contexts: RefCell::default(),
            dead: RefCell::default(),
            born: Cell::new(0),
            turns: Cell::new(0),
            calm: Cell::new(false),
            offset_ms: Cell::new(0),
            offline_until: Cell::new(0),
            down_until: Cell::new(0),
            scope_until: Cell::new(0),
            account: Cell::new("ann"),
            denied: Cell::new(false),
            oracle: RefCell::default(),
            read: RefCell::default(),
            setup,
            dice: RefCell::new(Dice::seeded(seed ^ 0x5EED_0F57_0FF5)),
            struck: RefCell::new(vec![0; Kind::ALL.len()]),
            trace: Cell::new(trace),
            calm_ms: Cell::new(0),
        }))
    }

    pub fn now(&self) -> u64 {
        self.0.clock.now()
    }

    /// How long the run has lasted.
    pub fn elapsed(&self) -> u64 {
        self.now() - BEGIN_MS
    }

    /// What the machine's clock shows.
    pub fn wall(&self) -> u64 {
        let elapsed = i64::try_from(self.elapsed()).unwrap_or(0);
        let drift = elapsed.saturating_mul(self.0.plan.drift_ppm) / 1_000_000;
        self.now().saturating_add_signed(self.0.offset_ms.get() + drift)
    }

    pub fn up_to(&self, max: u64) -> u64 {
        self.0.dice.borrow_mut().up_to(max)
    }

    pub fn pick<T: Copy>(&self, from: &[T]) -> T {
        super::plan::pick(&mut self.0.dice.borrow_mut(), from)
    }

    /// Whether a fault strikes now; `rarer` times less often than the mix says.
    pub fn strikes(&self, kind: Kind, rarer: u64) -> bool {
        let rate = self.0.plan.mix.rate(kind);
        let strikes = rate > 0 && !self.0.calm.get() && self.up_to(1_000 * rarer - 1) < rate;
        if strikes {
            self.0.struck.borrow_mut()[kind as usize] += 1;
            self.note(|| format!("! {}", kind.name()));
        }
        strikes
    }

    pub fn struck(&self) -> Vec<u64> {
        self.0.struck.borrow().clone()
    }

    /// A line of the trace.
    pub fn note(&self, line: impl FnOnce() -> String) {
        if self.0.trace.get() {
            eprintln!("{:>9.3} {}", self.elapsed() as f64 / 1_000.0, line());
        }
    }

    /// A promise is broken.
    pub fn breach(&self, what: impl FnOnce() -> String) {
        if !self.is_breached() {
            let what = what();
            self.note(|| format!("BREACH {what}"));
            self.0.oracle.borrow_mut().breach = Some(what);
        }
    }

    pub fn is_breached(&self) -> bool {
        self.0.oracle.borrow().breach.is_some()
    }

    /// Runs until a point in time, unless a promise is broken before.
    pub fn run(&self, until_ms: u64) {
        const TURNS_MAX: u64 = 20_000;
        const ALL_TURNS_MAX: u64 = 1_000_000;
        let mut turns = 0_u64;
        while !self.is_breached() {
            if self.0.tasks.run_ready() {
                turns += 1;
                self.0.turns.set(self.0.turns.get() + 1);
                if turns > TURNS_MAX || self.0.turns.get() > ALL_TURNS_MAX {
                    self.breach(|| "it is busy without coming to rest".into());
                }
                continue;
            }
            match self.0.clock.next() {
                Some(at) if at <= until_ms => {
                    if at > self.now() {
                        turns = 0;
                    }
                    self.0.clock.advance(at);
                }
                Some(_) | None => break,
            }
        }
        self.0.clock.advance(until_ms);
    }

    /// Lets something of the world itself go on.
    pub fn outside(&self, task: impl Future<Output = ()> + 'static) {
        self.0.tasks.spawn(Rc::clone(&self.0.outside), task);
    }

    pub fn alive(&self) -> Vec<Rc<Tab>> {
        let contexts = self.0.contexts.borrow();
        contexts.iter().filter(|tab| tab.being.alive.get()).cloned().collect()
    }

    /// Opens a context: the app's script starts in it.
    pub fn open(&self) {
        let number = self.0.born.get() + 1;
        self.0.born.set(number);
        let seed = self.0.plan.seed.wrapping_mul(0x9E37_79B9).wrapping_add(number << 40);
        let tab = Rc::new(Tab {
            number,
            being: Being::new(),
            driver: RefCell::new(None),
            name: RefCell::new(None),
            dice: RefCell::new(Dice::seeded(seed)),
            disk_free_at: Cell::new(0),
        });
        let ports = SimPorts::new(self.clone(), Rc::clone(&tab));
        let Some(driver) = Driver::new(ports, vec![self.0.setup.clone()]) else {
            return self.breach(|| "no client can be made".into());
        };
        *tab.driver.borrow_mut() = Some(driver.clone());
        self.note(|| format!("tab {number} opens"));
        self.0.contexts.borrow_mut().push(Rc::clone(&tab));
        driver.wake();
        let script = super::app::live(self.clone(), Rc::clone(&tab), driver);
        self.0.tasks.spawn(Rc::clone(&tab.being), script);
    }

    /// Ends a context at once; another is opened later.
    pub fn kill(&self, tab: &Rc<Tab>) {
        if !tab.being.alive.replace(false) {
            return;
        }
        self.note(|| format!("tab {} ends", tab.number));
        self.0.dead.borrow_mut().extend(tab.name.borrow().clone());
        self.0.contexts.borrow_mut().retain(|own| own.number != tab.number);
        self.0.tasks.drop_dead();
        self.0.clock.drop_dead();
        // Its driver holds it: neither would ever go.
        tab.driver.take();
        let (world, pause_ms) = (self.clone(), self.pick(&[0, 300, 2_000, 10_000, 50_000]));
        self.outside(async move {
            world.0.clock.sleep(pause_ms).await;
            if world.alive().len() < world.0.plan.contexts {
                world.open();
            }
        });
    }

    pub fn freeze(&self, tab: &Rc<Tab>, length_ms: u64) {
        if tab.being.frozen.replace(true) {
            return;
        }
        self.note(|| format!("tab {} freezes for {length_ms} ms", tab.number));
        let (world, tab) = (self.clone(), Rc::clone(tab));
        self.outside(async move {
            world.0.clock.sleep(length_ms).await;
            world.thaw(&tab);
        });
    }

    pub fn thaw(&self, tab: &Rc<Tab>) {
        if tab.being.frozen.replace(false) && tab.being.alive.get() {
            self.note(|| format!("tab {} thaws", tab.number));
            let driver = tab.driver.borrow().clone();
            if let Some(driver) = driver.filter(|_| tab.being.missed.replace(false)) {
                self.0.tasks.spawn(Rc::clone(&tab.being), async move { driver.wake() });
            }
        }
    }

    /// The service's id of the job that was made for a member of a lineage.
    pub fn job_of(&self, whose: &Member) -> Option<String> {
        let oracle = self.0.oracle.borrow();
        let found = oracle.jobs.iter().find(|(_, job)| job.whose == *whose);
        found.map(|(id, _)| id.clone())
    }
}
