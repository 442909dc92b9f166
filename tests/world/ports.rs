//! The ports of a simulated context: each await is a point at which the context may end.

mod app;
mod store;
mod transport;

use std::cell::RefCell;
use std::future::pending;
use std::rc::Rc;

use holdfast::driver::ports::{Clock, Entropy, Locks, Spawn, Timer};
use holdfast::model::dice::Dice;
use holdfast::model::ids::ContextId;
use holdfast::model::time::Timestamp;

use super::World;
use super::host::{entropy, is_its_own_ports};
use super::tasks::Being;

/// The ports of one context.
#[derive(Clone)]
pub struct SimPorts {
    world: World,
    being: Rc<Being>,
    own: Rc<RefCell<Own>>,
}

struct Own {
    name: Option<ContextId>,
    dice: Dice,
    timer: Option<Rc<dyn Fn()>>,
}

/// Where the driver's `wake` is put, once there is a driver.
pub struct TimerSlot(SimPorts);

impl TimerSlot {
    pub fn on_timer(&self, call: Rc<dyn Fn()>) {
        self.0.own.borrow_mut().timer = Some(call);
    }
}

impl SimPorts {
    pub fn new(world: World, being: Rc<Being>) -> Self {
        let born = &world.0.born;
        born.set(born.get() + 1);
        let seed = (born.get() << 48) ^ (world.0.points.get() + world.0.clock.now());
        let own = Own { name: None, dice: Dice::seeded(seed), timer: None };
        Self { world, being, own: Rc::new(RefCell::new(own)) }
    }

    pub fn timer(&self) -> TimerSlot {
        TimerSlot(self.clone())
    }

    /// Counts a point; the context may end here. False when it has ended.
    fn reach_point(&self) -> bool {
        if !self.being.alive.get() {
            return false;
        }
        let points = &self.world.0.points;
        points.set(points.get() + 1);
        let crash = self.world.0.settings.borrow().crash_at == Some(points.get());
        if crash {
            self.being.alive.set(false);
            if let Some(name) = &self.own.borrow().name {
                self.world.0.dead.borrow_mut().insert(name.clone());
            }
        }
        !crash
    }

    async fn point(&self) {
        if !self.reach_point() {
            pending::<()>().await;
        }
    }

    /// What the context calls itself, once it has owned a lane.
    pub fn name(&self) -> Option<ContextId> {
        self.own.borrow().name.clone()
    }
}

is_its_own_ports!(SimPorts);

impl Clock for SimPorts {
    fn now(&self) -> Timestamp {
        Timestamp(
            self.world.0.clock.now().saturating_add_signed(self.world.0.settings.borrow().skew_ms),
        )
    }
}

impl Timer for SimPorts {
    fn arm(&self, delay_ms: Option<u32>) {
        let call = self.own.borrow().timer.clone();
        if let Some(call) = call.filter(|_| self.being.alive.get()) {
            let owner = Rc::as_ptr(&self.own) as *const () as usize;
            let at = delay_ms.map(|ms| self.world.0.clock.now() + u64::from(ms));
            self.world.0.clock.order(owner, &self.being, at, call);
        }
    }
}

impl Entropy for SimPorts {
    fn bytes(&self) -> Option<[u8; 16]> {
        Some(entropy(&mut self.own.borrow_mut().dice))
    }
}

impl Spawn for SimPorts {
    fn spawn(&self, task: impl Future<Output = ()> + 'static) {
        if self.being.alive.get() {
            self.world.0.tasks.spawn(Rc::clone(&self.being), task);
        }
    }
}

impl Locks for SimPorts {
    fn hold(&self, own: &ContextId) {
        self.own.borrow_mut().name = Some(own.clone());
        self.world.0.dead.borrow_mut().remove(own);
    }

    // Others take who holds no lock for dead.
    fn release(&self) {
        self.world.0.dead.borrow_mut().extend(self.name());
    }

    async fn is_dead(&self, other: &ContextId) -> bool {
        self.world.0.settings.borrow().locks && self.world.0.dead.borrow().contains(other)
    }
}
