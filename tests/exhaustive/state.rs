//! One state of the world: two contexts, their storage, the requests under way, the service, the clock.
//!
//! Contexts are shipped [`Engine`]s, storage is the shipped [`MemoryStore`] with its admission and its
//! leases, writes and rows are the driver's and the record's. Copies share what has not changed.

use std::cell::OnceCell;
use std::fmt::{self, Debug, Write as _};
use std::hash::{DefaultHasher, Hasher as _};
use std::rc::Rc;

use holdfast::driver::memory::MemoryStore;
use holdfast::driver::ports::Store as _;
use holdfast::engine::{Engine, Transmit, WriteSet};
use holdfast::model::answer::Answer;
use holdfast::model::dice::Dice;
use holdfast::model::ids::{ContextId, LaneId, OperationId};
use holdfast::model::lane::{Claim, Fence, Lane};
use holdfast::model::operation::Operation;
use holdfast::model::profile::Purpose;
use holdfast::model::storage::{Queue, Written};
use holdfast::model::time::Timestamp;
use holdfast::record;
use pollster::block_on;

use super::laws::Seen;
use super::service::Service;

/// 2026-10-01T00:00:00Z.
pub const BEGIN_MS: u64 = 1_790_812_800_000;

/// What a context has begun and not finished. A transaction is carried out at one point and answered
/// at a later one: everything else may happen in between.
#[derive(Clone, Debug)]
pub enum Task {
    Authorize(OperationId, Purpose),
    Claim(Claim, Option<Lane>),
    Deliver(OperationId),
    GiveBack(Fence),
    Load(OperationId, Option<Option<Box<Operation>>>),
    ReadDue { lane: LaneId, queue: Queue, before: Timestamp, limit: u32, read: Option<Shelf> },
    Write(Box<WriteSet>, Option<Written>),
}

/// What was due, and when the next is.
pub type Shelf = (Vec<Operation>, Option<Timestamp>);

/// One context.
#[derive(Clone, Debug)]
pub struct Context {
    pub number: u8,
    pub engine: Engine,
    pub tasks: Vec<Task>,
    /// The app has submitted in it.
    pub asked: bool,
    /// Another context has said that something has changed.
    pub hinted: bool,
}

/// A request that has left, and what has become of it.
#[derive(Clone, Debug)]
pub struct Exchange {
    pub from: u8,
    pub transmit: Transmit,
    /// The key, or the name that the listing shows.
    pub mark: String,
    /// It does not arrive at this point or later.
    pub until: u64,
    /// It has been at the service, which says this.
    pub answer: Option<Answer>,
    /// Its context has given it up; it may arrive all the same.
    pub given_up: bool,
}

/// Faults that may still happen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Faults {
    /// Contexts that end without a word.
    pub crashes: u8,
    /// Answers, or requests, that are lost.
    pub losses: u8,
    /// Commits that are aborted, or of unknown fate.
    pub commits: u8,
    /// Refusals by the service: 422, or 409 while the first is in progress.
    pub refusals: u8,
    /// Contexts that are opened.
    pub opens: u8,
    /// Wishes of the app to cancel.
    pub wishes: u8,
}

/// Something shared between states, with its hash.
#[derive(Debug)]
pub struct Part<T> {
    value: T,
    hash: OnceCell<u64>,
}

impl<T: Clone> Clone for Part<T> {
    fn clone(&self) -> Self {
        Self::new(self.value.clone())
    }
}

impl<T> Part<T> {
    pub const fn new(value: T) -> Self {
        Self { value, hash: OnceCell::new() }
    }

    pub const fn get(&self) -> &T {
        &self.value
    }

    /// The value, to be changed.
    pub fn change(&mut self) -> &mut T {
        self.hash.take();
        &mut self.value
    }
}

impl<T: Debug> Part<T> {
    fn hash(&self) -> u64 {
        *self.hash.get_or_init(|| hash_of(&self.value))
    }
}

struct Digest(DefaultHasher);

impl fmt::Write for Digest {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        self.0.write(text.as_bytes());
        Ok(())
    }
}

fn hash_of(value: &impl Debug) -> u64 {
    let mut digest = Digest(DefaultHasher::new());
    let _ = write!(digest, "{value:?}");
    digest.0.finish()
}

/// The world at one moment.
#[derive(Clone)]
pub struct State {
    pub now: u64,
    pub slots: [Option<Rc<Part<Context>>>; 2],
    pub store: Rc<Part<MemoryStore>>,
    /// The operation that the intent stands for, as the store has it.
    pub stored: Option<Rc<Operation>>,
    pub net: Vec<Rc<Part<Exchange>>>,
    pub service: Service,
    pub left: Faults,
    pub born: u8,
    pub seen: Seen,
    pub breach: Option<String>,
}

impl State {
    pub fn new(service: Service, left: Faults) -> Self {
        Self {
            now: BEGIN_MS,
            slots: [None, None],
            store: Rc::new(Part::new(MemoryStore::new())),
            stored: None,
            net: Vec::new(),
            service,
            left,
            born: 0,
            seen: Seen::default(),
            breach: None,
        }
    }

    /// Tells two states apart.
    pub fn hash(&self) -> u64 {
        let slots = self.slots.each_ref().map(|slot| slot.as_ref().map_or(0, |own| own.hash()));
        let net: Vec<u64> = self.net.iter().map(|own| own.hash()).collect();
        hash_of(&(
            (self.now, slots, self.store.hash(), net),
            (&self.service, self.left, self.born, &self.seen),
        ))
    }

    pub const fn time(&self) -> Timestamp {
        Timestamp(self.now)
    }

    /// A context that the app's page opens in.
    pub fn open(&mut self, slot: usize) {
        self.born += 1;
        let name = ContextId(format!("context-{}", self.born));
        let engine = Engine::new(name, vec![self.service.setup()], true, Dice::seeded(1));
        let context =
            Context { number: self.born, engine, tasks: Vec::new(), asked: false, hinted: false };
        self.slots[slot] = Some(Rc::new(Part::new(context)));
    }

    pub fn context(&self, slot: usize) -> Option<&Context> {
        self.slots[slot].as_ref().map(|own| own.get())
    }

    /// The context in a slot, to be changed.
    pub fn context_mut(&mut self, slot: usize) -> Option<&mut Context> {
        self.slots[slot].as_mut().map(|own| Rc::make_mut(own).change())
    }

    pub fn slot_of(&self, number: u8) -> Option<usize> {
        (0..2).find(|slot| self.context(*slot).is_some_and(|own| own.number == number))
    }

    /// Storage, to be changed: a copy of its own.
    pub fn store_mut(&mut self) -> &MemoryStore {
        let copy = MemoryStore::from_snapshot(self.store.get().snapshot());
        self.store = Rc::new(Part::new(copy));
        self.store.get()
    }

    /// The stored operation of this name.
    pub fn operation(&self, id: &OperationId) -> Option<Rc<Operation>> {
        self.stored.clone().filter(|own| own.identity.id == *id)
    }

    /// An operation, read from the store.
    pub fn read(&self, id: &OperationId) -> Option<Operation> {
        let row = block_on(self.store.get().load(id)).ok().flatten()?;
        record::decode(&row.document).ok()
    }

    pub fn lane(&self) -> Option<Lane> {
        let id = LaneId::of(&"ann".into(), &"reports".into(), "https://api.example.com");
        block_on(self.store.get().lane(&id)).ok().flatten()
    }
}
