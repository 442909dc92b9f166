//! The ports of a context: every await of them is a point at which it may end or freeze.

use std::future::pending;
use std::rc::Rc;

use holdfast::driver::ports::{
    App, Authorization, AuthorizeRequest, Clock, Entropy, Locks, Spawn, Timer,
};
use holdfast::engine::event::Event;
use holdfast::model::ending::ResultRef;
use holdfast::model::ids::{Account, ContextId, Scope, ServiceName};
use holdfast::model::operation::Operation;
use holdfast::model::time::Timestamp;

use super::host::{entropy, is_its_own_ports, one_turn};
use super::house::House;
use super::kinds::Kind;
use super::world::{SECRET, Tab, World};

/// The ports of one context.
#[derive(Clone)]
pub struct SimPorts {
    pub world: World,
    pub tab: Rc<Tab>,
}

impl SimPorts {
    pub fn new(world: World, tab: Rc<Tab>) -> Self {
        Self { world, tab }
    }

    /// A point: the context may end here for good, or stand still for a while.
    pub async fn point(&self) {
        if self.tab.being.alive.get() && self.world.strikes(Kind::Crash, 10) {
            self.world.kill(&self.tab);
        }
        if !self.tab.being.alive.get() {
            pending::<()>().await;
        }
        if self.world.strikes(Kind::Freeze, 10) {
            let length_ms = self.world.pick(&[300, 2_500, 10_000, 45_000, 150_000]);
            self.world.freeze(&self.tab, length_ms);
            one_turn().await;
        }
    }

    /// Whether another context can go on where this one has no credential.
    fn is_another_able(&self) -> bool {
        let goes_on = |own: &Rc<Tab>| own.number != self.tab.number && own.being.goes_on();
        self.world.alive().iter().any(goes_on)
    }

    /// Others hear that there is no credential here; where one of them can go on, it asks for the work.
    fn tell_lack(&self) {
        let is_told = self.tab.being.authorized(false);
        let answered = is_told && self.is_another_able();
        if let Some(driver) = self.tab.awake().filter(|_| answered) {
            let offer = async move { driver.offer(Some("reports".into())) };
            self.world.0.tasks.spawn(Rc::clone(&self.tab.being), offer);
        }
    }
}

is_its_own_ports!(SimPorts);

impl App for SimPorts {
    fn account(&self) -> Option<Account> {
        Some(self.world.0.account.get().into())
    }

    async fn authorize(&self, request: AuthorizeRequest) -> Option<Authorization> {
        self.world.note(|| format!("tab {} asks for a credential: {request:?}", self.tab.number));
        self.point().await;
        if self.world.strikes(Kind::SlowCredential, 1) {
            let length_ms = self.world.pick(&[40, 600, 5_000, 70_000]);
            self.world.0.clock.sleep(length_ms).await;
            self.point().await;
        }
        if self.tab.being.signed_out.get() && self.is_another_able() {
            self.tell_lack();
            return None;
        }
        // Where no person shall be needed, the next one is there.
        let again = self.world.0.denied.get() && !self.world.0.plan.hard;
        let denied = !again && self.world.strikes(Kind::NoCredential, 1);
        self.world.0.denied.set(denied);
        if denied {
            self.tell_lack();
            return None;
        }
        self.tab.being.authorized(true);
        let headers = match self.world.0.plan.house {
            House::Listed | House::Bare => ("x-api-key", SECRET.to_owned()),
            House::Keyed | House::Priced | House::Streamed => {
                ("authorization", format!("Bearer {SECRET}"))
            }
        };
        let headers = [headers].into_iter().collect();
        let other = self.world.now() < self.world.0.scope_until.get();
        let scope = if other { "org_2" } else { "org_1" };
        Some(Authorization { headers, scope: Some(Scope::from(scope)) })
    }

    fn validates(&self, _service: &ServiceName) -> bool {
        false
    }

    async fn fault_of(
        &self,
        _service: &ServiceName,
        _kept: &ResultRef,
        _result: &[u8],
    ) -> Option<String> {
        None
    }

    fn consumes(&self) -> bool {
        self.world.0.plan.consumes
    }

    async fn settled(&self, operation: &Operation) -> bool {
        self.point().await;
        if self.world.strikes(Kind::DeliveryFails, 1) {
            return false;
        }
        self.world.delivered(operation);
        self.point().await;
        true
    }

    fn notify(&self, event: Box<Event>) {
        self.world.told(&event);
        if !self.world.0.plan.hints {
            return;
        }
        for tab in self.world.alive() {
            let driver = tab.driver.borrow().clone();
            if let Some(driver) = driver.filter(|_| tab.number != self.tab.number) {
                let hint = async move { driver.hint("reports".into()) };
                self.world.0.tasks.spawn(Rc::clone(&tab.being), hint);
            }
        }
    }
}

impl Clock for SimPorts {
    fn now(&self) -> Timestamp {
        Timestamp(self.world.wall())
    }
}

impl Timer for SimPorts {
    fn arm(&self, delay_ms: Option<u32>) {
        let driver = self.tab.driver.borrow().clone();
        if let Some(driver) = driver.filter(|_| self.tab.being.alive.get()) {
            let owner = usize::try_from(self.tab.number).unwrap_or(0);
            let at = delay_ms.map(|ms| self.world.now() + u64::from(ms));
            self.world.note(|| format!("tab {owner} arms its timer: {delay_ms:?}"));
            self.world.0.clock.order(owner, &self.tab.being, at, Rc::new(move || driver.tick()));
        }
    }
}

impl Entropy for SimPorts {
    fn bytes(&self) -> Option<[u8; 16]> {
        Some(entropy(&mut self.tab.dice.borrow_mut()))
    }
}

impl Spawn for SimPorts {
    fn spawn(&self, task: impl Future<Output = ()> + 'static) {
        if self.tab.being.alive.get() {
            self.world.0.tasks.spawn(Rc::clone(&self.tab.being), task);
        }
    }
}

impl Locks for SimPorts {
    fn hold(&self, own: &ContextId) {
        *self.tab.name.borrow_mut() = Some(own.clone());
        self.world.0.dead.borrow_mut().remove(own);
    }

    // Others take who holds no lock for dead.
    fn release(&self) {
        self.world.0.dead.borrow_mut().extend(self.tab.name.borrow().clone());
    }

    async fn is_dead(&self, other: &ContextId) -> bool {
        self.point().await;
        self.world.0.plan.locks && self.world.0.dead.borrow().contains(other)
    }
}
