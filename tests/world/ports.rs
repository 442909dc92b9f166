//! The ports of a simulated context: each await is a point at which the context may end.

use std::cell::RefCell;
use std::future::pending;
use std::rc::Rc;

use holdfast::driver::memory::MemoryStore;
use holdfast::driver::ports::store::{
    ChunkId, Due, Durability, JournalRow, Name, Queue, Row, Store, StoreError, Unique, Write,
    Written,
};
use holdfast::driver::ports::transport::{Body, Head, Lost, Outgoing};
use holdfast::driver::ports::{
    App, Authorization, AuthorizeRequest, Clock, Entropy, Locks, Spawn, Timer, Transport, Turn,
};
use holdfast::engine::event::Event;
use holdfast::model::dice::Dice;
use holdfast::model::ending::ResultRef;
use holdfast::model::ids::{Account, ContextId, Epoch, LaneId, OperationId, Scope, ServiceName};
use holdfast::model::lane::{Claim, Fence, Lane};
use holdfast::model::operation::Operation;
use holdfast::model::time::Timestamp;
use holdfast::record::decode;
use holdfast::record::view::view;
use holdfast_services::Delivery;
use holdfast_services::{Request, Response};

use super::host::{entropy, is_its_own_ports, one_turn};
use super::settings::strikes;
use super::tasks::Being;
use super::{SECRET, World};

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

    fn reading(&self) -> Result<&MemoryStore, StoreError> {
        self.world.0.commits.reading()
    }

    /// What the context calls itself, once it has owned a lane.
    pub fn name(&self) -> Option<ContextId> {
        self.own.borrow().name.clone()
    }

    /// Stops here when a test wants that, until it thaws.
    async fn perhaps_freeze(&self, batch: &[Write]) {
        let freezes = self.world.0.freeze_when.borrow().as_ref().is_some_and(|wanted| {
            batch.iter().any(|write| decode(&write.row.document).is_ok_and(|own| wanted(&own)))
        });
        if freezes {
            self.world.0.freeze_when.borrow_mut().take();
            self.being.frozen.set(true);
            one_turn().await;
        }
    }
}

impl SimPorts {
    /// Others hear of a change, each in a turn of its own.
    fn tell_others(&self) {
        if !self.world.0.settings.borrow().hints {
            return;
        }
        for (being, hint) in self.world.0.peers.borrow().iter() {
            if being.alive.get() && !Rc::ptr_eq(being, &self.being) {
                let hint = Rc::clone(hint);
                self.world.0.tasks.spawn(Rc::clone(being), async move { hint() });
            }
        }
    }
}

is_its_own_ports!(SimPorts);

impl Store for SimPorts {
    async fn commit(
        &self,
        batch: &[Write],
        durability: Durability,
    ) -> Result<Vec<Written>, StoreError> {
        let commit_ms = self.world.0.settings.borrow().commit_ms;
        self.world.0.clock.sleep(commit_ms).await;
        self.point().await;
        let written = self.world.0.commits.commit(batch, durability).await;
        if let Ok(written) = &written {
            self.world.0.log.committed(batch, durability, written);
        }
        self.perhaps_freeze(batch).await;
        self.point().await;
        written
    }

    async fn claim(&self, claim: &Claim) -> Result<Lane, StoreError> {
        let commit_ms = self.world.0.settings.borrow().commit_ms;
        self.world.0.clock.sleep(commit_ms).await;
        self.point().await;
        let lane = self.reading()?.claim(claim).await;
        self.point().await;
        lane
    }

    async fn give_back(&self, fence: &Fence) -> Result<(), StoreError> {
        self.point().await;
        self.reading()?.give_back(fence).await
    }

    async fn lane(&self, id: &LaneId) -> Result<Option<Lane>, StoreError> {
        self.reading()?.lane(id).await
    }

    async fn load(&self, id: &OperationId) -> Result<Option<Row>, StoreError> {
        self.point().await;
        self.reading()?.load(id).await
    }

    async fn find(&self, name: &Name) -> Result<Option<Row>, StoreError> {
        self.point().await;
        self.reading()?.find(name).await
    }

    async fn due(
        &self,
        lane: &LaneId,
        queue: Queue,
        before: Timestamp,
        limit: u32,
    ) -> Result<Due, StoreError> {
        self.point().await;
        self.reading()?.due(lane, queue, before, limit).await
    }

    async fn list(
        &self,
        account: &Account,
        cursor: Option<&(Timestamp, OperationId)>,
        limit: u32,
    ) -> Result<Vec<Row>, StoreError> {
        self.reading()?.list(account, cursor, limit).await
    }

    async fn body(&self, id: &OperationId) -> Result<Option<Vec<u8>>, StoreError> {
        self.point().await;
        self.reading()?.body(id).await
    }

    async fn profile(&self, digest: &str) -> Result<Option<String>, StoreError> {
        self.reading()?.profile(digest).await
    }

    async fn journal(&self, id: &OperationId) -> Result<Vec<JournalRow>, StoreError> {
        self.reading()?.journal(id).await
    }

    async fn owner(&self, unique: &Unique) -> Result<Option<OperationId>, StoreError> {
        self.reading()?.owner(unique).await
    }

    async fn put_chunk(
        &self,
        lane: &LaneId,
        epoch: Epoch,
        chunk: &ChunkId,
        bytes: &[u8],
    ) -> Result<bool, StoreError> {
        self.point().await;
        let put = self.reading()?.put_chunk(lane, epoch, chunk, bytes).await;
        self.point().await;
        put
    }

    async fn chunk(&self, chunk: &ChunkId) -> Result<Option<Vec<u8>>, StoreError> {
        if strikes(&mut self.world.0.settings.borrow_mut().evicted) {
            return Ok(None);
        }
        self.reading()?.chunk(chunk).await
    }

    fn forget_connection(&self) {
        let reconnects = &self.world.0.commits.reconnects;
        reconnects.set(reconnects.get() + 1);
    }
}

/// A body that comes in pieces, each after a while.
pub struct SimBody {
    world: World,
    /// The last comes first; each with the time that passes before it.
    pieces: Vec<(u64, Vec<u8>)>,
    broken: bool,
    ends_at: u64,
    /// How much time each piece gives, where it does.
    idle_ms: Option<u64>,
}

impl Body for SimBody {
    async fn next(&mut self) -> Result<Option<Vec<u8>>, Lost> {
        let clock = &self.world.0.clock;
        match self.pieces.pop() {
            Some((wait_ms, _)) if clock.now() + wait_ms > self.ends_at => {
                clock.sleep(self.ends_at.saturating_sub(clock.now())).await;
                self.pieces.clear();
                self.broken = true;
                Err(Lost)
            }
            Some((wait_ms, piece)) => {
                if wait_ms > 0 {
                    clock.sleep(wait_ms).await;
                }
                if let Some(idle_ms) = self.idle_ms {
                    self.ends_at = clock.now() + idle_ms;
                }
                Ok(Some(piece))
            }
            None if self.broken => Err(Lost),
            None => Ok(None),
        }
    }
}

impl Transport for SimPorts {
    type Body = SimBody;

    fn is_online(&self) -> bool {
        !self.world.0.settings.borrow().offline
    }

    fn send(
        &self,
        outgoing: Outgoing,
    ) -> impl Future<Output = Result<Head<SimBody>, Lost>> + 'static {
        let own = self.clone();
        let timeout_ms = u64::from(outgoing.timeout_ms);
        let idle_ms = outgoing.idle.then_some(timeout_ms);
        let left = own.reach_point();
        let request = request(outgoing, &self.world.0.settings.borrow().origin);
        if left {
            self.world.0.log.sent(&request);
        }
        async move {
            if !left {
                return pending().await;
            }
            let latency_ms = own.world.0.settings.borrow().latency_ms;
            if own.world.0.settings.borrow().offline {
                return Err(Lost);
            }
            own.world.0.clock.sleep(latency_ms).await;
            let now = own.world.0.clock.now();
            let ends_at = now + timeout_ms;
            let outcome = own.world.0.service.borrow_mut().exchange(now, &request);
            own.point().await;
            let (response, broken) = match outcome.delivery {
                Delivery::Answer(response) => (Some(response), false),
                Delivery::Truncated(response) => (Some(response), true),
                Delivery::Lost => (None, true),
            };
            let early = response.as_ref().is_some_and(|answer| answer.early_bytes > 0);
            let work_ms = outcome.delay_ms;
            let head_ms = latency_ms + if early { 0 } else { work_ms };
            let left_ms = ends_at.saturating_sub(now);
            own.world.0.clock.sleep(head_ms.min(left_ms)).await;
            own.point().await;
            if head_ms > left_ms {
                return Err(Lost);
            }
            let response = response.ok_or(Lost)?;
            let mut head = head(&own.world, &response, broken, work_ms, ends_at);
            head.body.idle_ms = idle_ms;
            Ok(head)
        }
    }
}

fn request(outgoing: Outgoing, origin: &str) -> Request {
    // What goes elsewhere keeps its origin.
    let path = outgoing.url.strip_prefix(origin).unwrap_or(&outgoing.url);
    Request {
        method: outgoing.method,
        path: path.into(),
        headers: outgoing.headers.iter().map(|(n, v)| (n.to_owned(), v.to_owned())).collect(),
        body: outgoing.body.unwrap_or_default(),
    }
}

fn head(
    world: &World,
    response: &Response,
    broken: bool,
    work_ms: u64,
    ends_at: u64,
) -> Head<SimBody> {
    let sent = if broken { response.body.len() / 2 } else { response.body.len() };
    let (early, late) = response.body[..sent].split_at(response.early_bytes.min(sent));
    let piece_ms = world.0.settings.borrow().piece_ms;
    let mut pieces = Vec::new();
    for (part, mut wait_ms) in [(early, 0), (late, if early.is_empty() { 0 } else { work_ms })] {
        for piece in part.chunks(7_000) {
            pieces.push((std::mem::take(&mut wait_ms) + piece_ms, piece.to_vec()));
        }
    }
    pieces.reverse();
    Head {
        status: response.status,
        headers: response.headers.iter().map(|(n, v)| (n.clone(), v.clone())).collect(),
        body: SimBody { world: world.clone(), pieces, broken, ends_at, idle_ms: None },
    }
}

impl App for SimPorts {
    fn account(&self) -> Option<Account> {
        self.world.0.settings.borrow().account.clone().map(Account)
    }

    async fn authorize(&self, request: AuthorizeRequest) -> Option<Authorization> {
        self.point().await;
        let authorize_ms = self.world.0.settings.borrow().authorize_ms;
        self.world.0.clock.sleep(authorize_ms).await;
        self.world.0.authorizations.borrow_mut().push((request.purpose, request.refresh));
        let mut settings = self.world.0.settings.borrow_mut();
        if strikes(&mut settings.unauthorized) {
            return None;
        }
        let headers = [("authorization", format!("Bearer {SECRET}")), ("x-api-key", SECRET.into())];
        let headers = headers.into_iter().collect();
        Some(Authorization { headers, scope: settings.scope.clone().map(Scope) })
    }

    async fn turn(&self, _turn: &Turn) -> u32 {
        if strikes(&mut self.world.0.settings.borrow_mut().postponed) { 2_000 } else { 0 }
    }

    fn validates(&self, _service: &ServiceName) -> bool {
        self.world.0.settings.borrow().schema_fault.is_some()
    }

    async fn fault_of(
        &self,
        _service: &ServiceName,
        _kept: &ResultRef,
        _body: &[u8],
    ) -> Option<String> {
        self.world.0.settings.borrow().schema_fault.clone()
    }

    fn consumes(&self) -> bool {
        self.world.0.settings.borrow().consumes
    }

    async fn settled(&self, operation: &Operation) -> bool {
        self.point().await;
        if strikes(&mut self.world.0.settings.borrow_mut().failing_deliveries) {
            return false;
        }
        self.world.0.delivered.borrow_mut().push(operation.identity.id.as_str().to_owned());
        self.point().await;
        true
    }

    fn notify(&self, event: Box<Event>) {
        if self.being.alive.get() {
            self.world.0.log.told(&event.operation);
            self.world.0.events.borrow_mut().push(view(&event.operation));
            self.tell_others();
        }
    }
}

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
    }

    fn release(&self) {}

    async fn is_dead(&self, other: &ContextId) -> bool {
        self.world.0.settings.borrow().locks && self.world.0.dead.borrow().contains(other)
    }
}
