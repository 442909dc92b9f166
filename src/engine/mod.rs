//! Floor 2: many operations, without I/O.
//!
//! The engine reads no clock, rolls no dice of its own and touches nothing. It is told what has
//! happened ([`Input`]) and says what shall be done ([`Output`]).
//!
//! **One mutation at a time.** Give it one input, drain its outputs, give it the next:
//!
//! 1. `engine.handle_input(now, input)`
//! 2. until it gives `None`: `engine.poll_output()`, and do what it says
//! 3. arm the one timer for `engine.poll_timeout()`, and give it `Input::Tick` then
//!
//! What depends on a write being durable (an exchange, an event, an answer to the app) comes out
//! only after `Input::Persisted` of that write.

mod births;
mod calls;
mod drive;
mod entry;
pub mod event;
mod fold;
mod giving;
pub mod input;
mod lanes;
pub mod output;
mod persist;
mod promises;
mod rate;
pub mod reply;
pub mod request;
mod revise;
mod setbacks;
mod setup;
mod shelves;

pub use input::{Input, LoadError, Newborn, Rerun};
pub use output::{Output, Ticket, Transmit, WriteSet};
pub use reply::{CallError, CallId, Reply};
pub use request::epoch_of;
pub use setup::ServiceSetup;

use calls::Waiting;
use entry::{Entry, Exchange, Phase};
use lanes::LaneState;
use persist::PendingWrite;

use crate::model::answer::Answer;
use crate::model::dice::Dice;
use crate::model::ids::{Account, ContextId, LaneId, OperationId, ServiceName};
use crate::model::lane::Sent;
use crate::model::profile::{Profile, Purpose};
use crate::model::table::{Table, take_first};
use crate::model::time::Timestamp;
use crate::rules::classify::{classify, told};
use crate::rules::step;

/// Everything that one context knows of its outbox. See the module for how to use it.
///
/// A copy lives on by itself: from one state, tests follow every way in which the world may go on.
#[derive(Clone)]
pub struct Engine {
    context: ContextId,
    services: Table<ServiceName, ServiceSetup>,
    /// Profiles by digest: those configured, and those that stored operations are pinned to.
    profiles: Table<String, Profile>,
    consumes: bool,
    online: bool,
    account: Option<Account>,
    /// Every lane was given back, and nothing was begun since.
    yielded: bool,
    lanes: Table<LaneId, LaneState>,
    entries: Table<OperationId, Entry>,
    writes: Table<Ticket, PendingWrite>,
    waiting: Table<OperationId, Vec<Waiting>>,
    /// When requests left, by lane; only where the service states a rate.
    sent: Table<LaneId, Sent>,
    outputs: Vec<Output>,
    dice: Dice,
    tickets: u64,
    wake_at: Option<Timestamp>,
    /// When the last input came.
    last_now: Timestamp,
}

impl Engine {
    /// An engine for one context, with nothing to do until it is told of an account.
    ///
    /// `consumes` tells whether endings can be delivered here (`onSettled`).
    pub fn new(
        context: ContextId,
        services: Vec<ServiceSetup>,
        consumes: bool,
        dice: Dice,
    ) -> Self {
        let (mut known, mut profiles) = (Table::new(), Table::new());
        for service in services {
            profiles.insert(service.profile.digest.clone(), service.profile.clone());
            known.insert(service.name.clone(), service);
        }
        Self {
            context,
            services: known,
            profiles,
            consumes,
            online: true,
            account: None,
            yielded: false,
            lanes: Table::new(),
            entries: Table::new(),
            writes: Table::new(),
            waiting: Table::new(),
            sent: Table::new(),
            outputs: Vec::new(),
            dice,
            tickets: 0,
            wake_at: None,
            last_now: Timestamp(0),
        }
    }

    /// Whether the host has a network. Without one nothing is begun, save towards this machine.
    pub const fn set_online(&mut self, online: bool) {
        self.online = online;
    }

    /// Takes one input. Outputs and the timeout may change by this and by [`Engine::may_ask`], and by nothing else.
    pub fn handle_input(&mut self, now: Timestamp, input: Input) {
        let before = core::mem::replace(&mut self.last_now, now);
        if now < before {
            self.jumped_back(before, now);
        }
        match input {
            Input::Account(account) => self.switch_account(account),
            Input::Answered(id, purpose, answer) => self.answered(now, &id, purpose, &answer),
            Input::Authorized(id, purpose, scope) => self.authorized(now, &id, purpose, scope),
            Input::Claimed(lane, claimed) => self.claimed(now, &lane, claimed),
            Input::Command(call, id, command) => {
                self.call_on(now, &id, Waiting::Command(call, command));
            }
            Input::Delivered(id, done) => {
                if let Some(entry) = self.entries.get_mut(&id) {
                    entry.delivering = false;
                    self.apply(now, &id, step::Input::Delivered(done), None);
                }
            }
            Input::Due(lane, queue, due) => self.read_due(now, &lane, queue, due),
            Input::Heard(id, answer) => self.heard(now, &id, &answer),
            Input::Hint(service) => self.hint(&service),
            Input::Loaded(id, loaded) => self.loaded(now, &id, loaded),
            Input::Lost(id, purpose) => {
                if self.exchange_over(&id) {
                    self.apply(now, &id, step::Input::Lost(purpose), None);
                }
            }
            Input::NotSent(id, purpose) => self.not_sent(now, &id, purpose),
            Input::Persisted(ticket, result) => self.persisted(now, ticket, result),
            Input::Postponed(id, purpose, delay_ms) => self.postponed(now, &id, purpose, delay_ms),
            Input::Retry(call, id, rerun) => self.call_on(now, &id, Waiting::Retry(call, rerun)),
            Input::Revise(call, id, newborn) => {
                self.call_on(now, &id, Waiting::Revise(call, newborn));
            }
            Input::Submit(call, newborn) => self.submit(now, call, *newborn),
            Input::Tick => {}
            Input::Unauthorized(id, purpose) => self.unauthorized(now, &id, purpose),
            Input::Wake => self.begin_anew(now),
            Input::Yield => self.give_back_all(now),
            Input::Offer(service) => self.offer(now, service.as_ref()),
        }
        self.drive(now);
    }

    /// The next thing to do, until there is none.
    pub fn poll_output(&mut self) -> Option<Output> {
        take_first(&mut self.outputs)
    }

    /// When the engine wants an `Input::Tick`; `None` while only other inputs can move it.
    pub const fn poll_timeout(&self) -> Option<Timestamp> {
        self.wake_at
    }

    /// Whether an exchange may leave: asked in the very turn in which it does. False once the lane
    /// has another owner, or when the attempt's time to leave has passed; answer `NotSent` then.
    pub fn may_send(&self, now: Timestamp, id: &OperationId, purpose: Purpose) -> bool {
        self.entries
            .get(id)
            .is_some_and(|entry| self.owns(&entry.lane) && entry.may_send(now, purpose))
    }

    /// Whether an exchange of this operation is being prepared: only then are its credential and its
    /// body wanted in memory.
    pub fn is_preparing(&self, id: &OperationId) -> bool {
        let entry = self.entries.get(id).is_some_and(|entry| {
            let exchange = entry.exchange.as_ref();
            entry.birth.is_some() || exchange.is_some_and(|own| own.phase != Phase::OnWire)
        });
        entry || self.waiting.iter().flat_map(|(_, all)| all).any(|own| own.bears(id))
    }

    /// Whether the exchange with this download's name is still the one under way. Once its operation
    /// has left memory, it is not: it must write nothing more, and what it says is no news.
    pub fn is_own_exchange(&self, id: &OperationId, download: u64) -> bool {
        let exchange = self.entries.get(id).and_then(|entry| entry.exchange.as_ref());
        exchange.is_some_and(|own| own.download == Some(download))
    }

    /// Whether operations that are pinned to the profile of this digest can be driven.
    pub fn knows_profile(&self, digest: &str) -> bool {
        self.profiles.contains_key(digest)
    }

    /// Learns a profile that stored operations are pinned to.
    pub fn learn_profile(&mut self, profile: Profile) {
        self.profiles.insert(profile.digest.clone(), profile);
    }

    /// A configured service.
    pub fn service(&self, name: &ServiceName) -> Option<&ServiceSetup> {
        self.services.get(name)
    }

    fn answered(&mut self, now: Timestamp, id: &OperationId, purpose: Purpose, answer: &Answer) {
        if !self.exchange_over(id) {
            return;
        }
        let verdict = self.entries.get(id).and_then(|entry| {
            let profile = self.profiles.get(&entry.operation.identity.profile_digest)?;
            Some(classify(profile, purpose, answer, now))
        });
        if let Some(verdict) = verdict {
            self.apply(now, id, step::Input::Answered(purpose, Box::new(verdict)), None);
        }
    }

    /// A stream goes on: what it tells is kept at once, and it may take as long again.
    fn heard(&mut self, now: Timestamp, id: &OperationId, answer: &Answer) {
        let Some(entry) = self.entries.get_mut(id) else {
            return;
        };
        let Some(profile) = self.profiles.get(&entry.operation.identity.profile_digest) else {
            return;
        };
        let exchange = entry.exchange.as_mut().filter(|own| own.phase == Phase::OnWire);
        let Some(exchange) = exchange else {
            return;
        };
        exchange.ends_by = calls::ends_by(now, Some(profile), exchange.purpose);
        let said = told(profile, answer, now);
        self.apply(now, id, step::Input::Heard(Box::new(said)), None);
    }

    /// Ends the exchange of an operation; false when there is none, and its news is no news.
    fn exchange_over(&mut self, id: &OperationId) -> bool {
        let Some(entry) = self.entries.get_mut(id) else {
            return false;
        };
        let over = entry.exchange.take();
        if let Some(Exchange { download: Some(name), .. }) = over {
            entry.download = Some(name);
        }
        over.is_some()
    }

    fn not_sent(&mut self, now: Timestamp, id: &OperationId, purpose: Purpose) {
        if !self.exchange_over(id) {
            return;
        }
        match purpose {
            Purpose::Submit | Purpose::Cancel | Purpose::Delete => {
                self.apply(now, id, step::Input::NotSent(purpose), None);
            }
            Purpose::Poll
            | Purpose::Result
            | Purpose::Settle
            | Purpose::Reconcile
            | Purpose::Quote
            | Purpose::Diagnose => {}
        }
    }

    /// An exchange has no address: it did not leave, and will not.
    fn not_addressable(&mut self, now: Timestamp, id: &OperationId, purpose: Purpose) {
        match purpose {
            Purpose::Submit => self.not_sent(now, id, purpose),
            Purpose::Cancel
            | Purpose::Poll
            | Purpose::Result
            | Purpose::Settle
            | Purpose::Delete
            | Purpose::Reconcile
            | Purpose::Quote
            | Purpose::Diagnose => {
                if self.exchange_over(id) {
                    self.apply(now, id, step::Input::NoAddress(purpose), None);
                }
            }
        }
    }
}

/// All that changes; what the app has configured, and profiles, are left out.
impl core::fmt::Debug for Engine {
    fn fmt(&self, out: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        let mut shown = out.debug_struct("Engine");
        shown.field("context", &self.context).field("account", &self.account);
        shown.field("online", &self.online);
        shown.field("lanes", &self.lanes).field("entries", &self.entries);
        shown.field("writes", &self.writes).field("waiting", &self.waiting);
        shown.field("sent", &self.sent);
        shown.field("outputs", &self.outputs).field("dice", &self.dice);
        shown.field("tickets", &self.tickets).field("wake_at", &self.wake_at);
        shown.field("last_now", &self.last_now).finish_non_exhaustive()
    }
}
