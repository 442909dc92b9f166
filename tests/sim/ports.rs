//! The ports of a context: every await of them is a point at which it may end or freeze.

use std::future::pending;
use std::rc::Rc;

use holdfast::driver::ports::store::{
    ChunkId, Due, Durability, JournalRow, Name, Queue, Row, Store, StoreError, Unique, Write,
    Written,
};
use holdfast::driver::ports::{
    App, Authorization, AuthorizeRequest, Clock, Entropy, Locks, Spawn, Timer,
};
use holdfast::engine::event::Event;
use holdfast::model::ids::{Account, ContextId, Epoch, LaneId, OperationId, Scope, ServiceName};
use holdfast::model::lane::{Claim, Fence, Lane};
use holdfast::model::operation::Operation;
use holdfast::model::time::Timestamp;

use super::host::{entropy, is_its_own_ports, one_turn};
use super::house::House;
use super::kinds::Kind;
use super::slot::Slot;
use super::store::{Change, Changed};
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

    /// When the disk has done what this context asks of it now.
    fn disk_turn(&self) -> u64 {
        let slow = self.world.strikes(Kind::SlowDisk, 1);
        let length_ms = if slow { self.world.up_to(8_000) } else { self.world.up_to(4) };
        let at = self.tab.disk_free_at.get().max(self.world.now() + length_ms);
        self.tab.disk_free_at.set(at);
        at
    }

    /// A transaction: it goes its own way whatever becomes of the context that began it.
    async fn transact<T: 'static>(
        &self,
        run: impl FnOnce(&World) -> Result<T, StoreError> + 'static,
    ) -> Result<T, StoreError> {
        self.point().await;
        let (slot, world, at) = (Slot::new(), self.world.clone(), self.disk_turn());
        let (filled, machine) = (slot.clone(), Rc::clone(&*self.world.0.machine.borrow()));
        self.world.0.tasks.spawn(machine, async move {
            world.0.clock.sleep(at.saturating_sub(world.now())).await;
            filled.fill(run(&world));
        });
        let result = slot.wait().await;
        self.point().await;
        result
    }

    async fn read<T: 'static>(
        &self,
        what: &str,
        read: impl FnOnce(&World) -> Result<T, StoreError> + 'static,
    ) -> Result<T, StoreError> {
        self.world.note(|| format!("tab {} reads {what}", self.tab.number));
        self.transact(|world| {
            if world.strikes(Kind::ReadFailed, 1) {
                return Err(StoreError::Unavailable("a read that fails".into()));
            }
            read(world)
        })
        .await
    }

    async fn change<T: 'static>(
        &self,
        change: Change,
        durability: Durability,
        take: impl FnOnce(Changed) -> T + 'static,
    ) -> Result<T, StoreError> {
        let tab = self.tab.number;
        self.transact(move |world| {
            let fails = |kind| world.strikes(kind, 1);
            let why = || "a commit that fails".to_owned();
            if fails(Kind::CommitRefused) {
                return Err(StoreError::Unavailable(why()));
            }
            if fails(Kind::CommitAborted) {
                return Err(StoreError::Aborted(why()));
            }
            if fails(Kind::CommitFull) {
                return Err(StoreError::Full(why()));
            }
            if fails(Kind::CommitUnknownLost) {
                return Err(StoreError::Unknown(why()));
            }
            let changed = world.apply(tab, change, durability);
            if fails(Kind::CommitUnknownDone) {
                return Err(StoreError::Unknown(why()));
            }
            Ok(take(changed))
        })
        .await
    }
}

is_its_own_ports!(SimPorts);

macro_rules! live {
    ($world:ident.$method:ident($($argument:expr),*)) => {
        pollster::block_on($world.0.disk.live.$method($($argument),*))
    };
}

impl Store for SimPorts {
    async fn commit(
        &self,
        batch: &[Write],
        durability: Durability,
    ) -> Result<Vec<Written>, StoreError> {
        let take = |changed| match changed {
            Changed::Written(written) => written,
            Changed::Lane(_) | Changed::Chunk(_) | Changed::Nothing => Vec::new(),
        };
        self.change(Change::Commit(batch.to_vec()), durability, take).await
    }

    async fn claim(&self, claim: &Claim) -> Result<Lane, StoreError> {
        let take = |changed| match changed {
            Changed::Lane(lane) => Ok(lane),
            Changed::Written(_) | Changed::Chunk(_) | Changed::Nothing => {
                Err(StoreError::Aborted("no lane".into()))
            }
        };
        self.change(Change::Claim(claim.clone()), Durability::Strict, take).await?
    }

    async fn give_back(&self, fence: &Fence) -> Result<(), StoreError> {
        self.change(Change::GiveBack(fence.clone()), Durability::Strict, |_| ()).await
    }

    async fn lane(&self, id: &LaneId) -> Result<Option<Lane>, StoreError> {
        let id = id.clone();
        self.read("lane", move |world| live!(world.lane(&id))).await
    }

    async fn load(&self, id: &OperationId) -> Result<Option<Row>, StoreError> {
        let id = id.clone();
        self.read("load", move |world| live!(world.load(&id))).await
    }

    async fn find(&self, name: &Name) -> Result<Option<Row>, StoreError> {
        let name = name.clone();
        self.read("find", move |world| live!(world.find(&name))).await
    }

    async fn due(
        &self,
        lane: &LaneId,
        queue: Queue,
        before: Timestamp,
        limit: u32,
    ) -> Result<Due, StoreError> {
        let lane = lane.clone();
        self.read("due", move |world| live!(world.due(&lane, queue, before, limit))).await
    }

    async fn list(
        &self,
        account: &Account,
        cursor: Option<&(Timestamp, OperationId)>,
        limit: u32,
    ) -> Result<Vec<Row>, StoreError> {
        let (account, cursor) = (account.clone(), cursor.cloned());
        self.read("list", move |world| live!(world.list(&account, cursor.as_ref(), limit))).await
    }

    async fn body(&self, id: &OperationId) -> Result<Option<Vec<u8>>, StoreError> {
        let id = id.clone();
        self.read("body", move |world| live!(world.body(&id))).await
    }

    async fn profile(&self, digest: &str) -> Result<Option<String>, StoreError> {
        let digest = digest.to_owned();
        self.read("profile", move |world| live!(world.profile(&digest))).await
    }

    async fn journal(&self, id: &OperationId) -> Result<Vec<JournalRow>, StoreError> {
        let id = id.clone();
        self.read("journal", move |world| live!(world.journal(&id))).await
    }

    async fn owner(&self, unique: &Unique) -> Result<Option<OperationId>, StoreError> {
        let unique = unique.clone();
        self.read("owner", move |world| live!(world.owner(&unique))).await
    }

    async fn put_chunk(
        &self,
        lane: &LaneId,
        epoch: Epoch,
        chunk: &ChunkId,
        bytes: &[u8],
    ) -> Result<bool, StoreError> {
        let change = Change::Chunk(lane.clone(), epoch, chunk.clone(), bytes.to_vec());
        let kept = |changed| matches!(changed, Changed::Chunk(true));
        self.change(change, Durability::Relaxed, kept).await
    }

    async fn chunk(&self, chunk: &ChunkId) -> Result<Option<Vec<u8>>, StoreError> {
        let chunk = chunk.clone();
        self.read("chunk", move |world| live!(world.chunk(&chunk))).await
    }

    fn forget_connection(&self) {}
}

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
        // Where no person shall be needed, the next one is there.
        let again = self.world.0.denied.get() && !self.world.0.plan.hard;
        let denied = !again && self.world.strikes(Kind::NoCredential, 1);
        self.world.0.denied.set(denied);
        if denied {
            return None;
        }
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
        _kept: &holdfast::model::ending::ResultRef,
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
            self.world.0.clock.order(owner, &self.tab.being, at, Rc::new(move || driver.wake()));
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
    }

    fn release(&self) {}

    async fn is_dead(&self, other: &ContextId) -> bool {
        self.point().await;
        self.world.0.plan.locks && self.world.0.dead.borrow().contains(other)
    }
}
