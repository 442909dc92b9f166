//! What the engine wants done. Nothing here has happened yet.

use std::rc::Rc;

use super::event::Event;
use super::reply::{CallId, Reply};
use crate::model::http::Headers;
use crate::model::ids::{LaneId, OperationId, Revision, ServiceName, WriteId};
use crate::model::journal::Entry;
use crate::model::lane::{Claim, Fence};
use crate::model::operation::Operation;
use crate::model::pages::Paged;
use crate::model::profile::{FactSource, Purpose, Stream};
use crate::model::storage::{Durability, Erase, Piece, Queue, Unique};
use crate::model::time::Timestamp;
use crate::rules::listing::Sought;
use crate::rules::pages::Wanted;

/// One thing to do.
#[derive(Clone, Debug)]
pub enum Output {
    /// Ask the app for a credential; answer with `Authorized` or `Unauthorized`.
    Authorize {
        /// For which operation.
        id: OperationId,
        /// For which service.
        service: ServiceName,
        /// For which exchange.
        purpose: Purpose,
        /// The last credential was refused.
        refresh: bool,
        /// The operation's body goes with the exchange: have it at hand.
        with_body: bool,
        /// For a submission without a key: the digest of its request.
        alone: Option<String>,
    },
    /// Claim a lane; answer with `Claimed`.
    Claim(Claim),
    /// Hand an ending to `onSettled`; answer with `Delivered`.
    Deliver(Box<Operation>),
    /// Tell the app. Comes only after what it tells is durable.
    Event(Box<Event>),
    /// Give a lane back. No answer is wanted.
    GiveBack(Fence),
    /// Read one operation; answer with `Loaded`.
    Load(OperationId),
    /// Write; answer with `Persisted`.
    Persist(Box<WriteSet>),
    /// Read what is due in a lane; answer with `Due`.
    ReadDue {
        /// Which lane.
        lane: LaneId,
        /// Which of its indexes.
        queue: Queue,
        /// Due at this point or earlier.
        before: Timestamp,
        /// At most so many.
        limit: u32,
    },
    /// Answer a call of the app.
    Reply(CallId, Reply),
    /// Make an exchange; answer with `NotSent`, `Lost` or `Answered`. Comes only after its attempt
    /// is durable. Ask [`super::Engine::may_send`] in the very turn in which it leaves.
    Transmit(Box<Transmit>),
}

/// Names one write until it is answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Ticket(pub u64);

/// Everything that changes together for one operation.
#[derive(Clone, Debug)]
pub struct WriteSet {
    /// Names it until it is answered.
    pub ticket: Ticket,
    /// The operation as it shall be.
    pub operation: Operation,
    /// What must be stored now: nothing, or exactly this revision.
    pub replaces: Option<Revision>,
    /// Makes repeating it safe.
    pub write_id: WriteId,
    /// How durable.
    pub durability: Durability,
    /// Ownership that must hold.
    pub fence: Option<Fence>,
    /// Without a fence: by when the lane's owner must take the change up.
    pub answer_by: Option<Timestamp>,
    /// For a new operation: whom the intent must stand for now (`None`: nobody).
    pub name: Option<Option<OperationId>>,
    /// Another operation that changes together with this one.
    pub beside: Option<Box<BesideSet>>,
    /// For a new operation: its exact body.
    pub body: Option<Vec<u8>>,
    /// For a new operation: digest and text of its profile.
    pub profile: Option<(String, String)>,
    /// The last piece of its result, where that has come.
    pub piece: Option<Rc<Piece>>,
    /// What it takes for its own: its key when it is new, the service's id when that is known.
    pub takes: Vec<Unique>,
    /// Journal lines, with their numbers and how often in a row.
    pub journal: Vec<Line>,
    /// What goes of what is stored.
    pub erase: Erase,
}

/// An operation that changes together with another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BesideSet {
    /// The operation as it shall be.
    pub operation: Operation,
    /// The revision that must be stored.
    pub replaces: Revision,
    /// Its journal lines.
    pub journal: Vec<Line>,
    /// What happened to it.
    pub entries: Vec<Entry>,
}

/// One journal line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line {
    /// Its number, from 1; a line written again under its number replaces itself.
    pub number: u32,
    /// How often in a row.
    pub count: u32,
    /// What happened.
    pub entry: Entry,
}

/// Which answers to an exchange hold the result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Keeps {
    /// None.
    Nothing,
    /// Every success.
    Success,
    /// Those with one of these statuses.
    On(Vec<u16>),
}

impl Keeps {
    /// Whether an answer with this status does.
    pub fn covers(&self, status: u16) -> bool {
        match self {
            Self::Nothing => false,
            Self::Success => (200..300).contains(&status),
            Self::On(statuses) => statuses.contains(&status),
        }
    }
}

/// One exchange to make. Its header fields are not shown: `Headers` has no `Debug`, on purpose.
#[derive(Clone, PartialEq, Eq)]
pub struct Transmit {
    /// For which operation.
    pub id: OperationId,
    /// In which lane.
    pub lane: LaneId,
    /// For which service.
    pub service: ServiceName,
    /// What for.
    pub purpose: Purpose,
    /// HTTP method.
    pub method: String,
    /// Absolute URL.
    pub url: String,
    /// Header fields besides the credential's.
    pub headers: Headers,
    /// Whether the credential goes with it: only to the service's own origin.
    pub with_credential: bool,
    /// Whether the operation's body is wanted: it goes with a submission, and tells what is sought in a
    /// listing.
    pub with_body: bool,
    /// For a listing: what is looked for in it.
    pub sought: Option<Sought>,
    /// For a page of a result: which, and what it is added to.
    pub page: Option<Box<Wanted>>,
    /// For a result: the service gives parts of it.
    pub ranges: bool,
    /// For a result that broke off: what has come of it.
    pub before: Option<Box<Paged>>,
    /// How long it may take, in milliseconds.
    pub timeout_ms: u64,
    /// Which answers hold the result, to be kept as they come.
    pub keeps: Keeps,
    /// How a kept answer comes, where it may come as events.
    pub stream: Option<Stream>,
    /// When it was handed out.
    pub at: Timestamp,
    /// Its timeout begins anew with each piece of the answer.
    pub idle: bool,
    /// Of such an answer, any piece is told after so many milliseconds.
    pub untold_ms: u64,
    /// No such answer is read longer than this.
    pub open_until: Timestamp,
    /// Names this exchange among all that are under way ([`super::Engine::is_own_exchange`]), and the
    /// download under which pieces of a result are kept.
    pub download: u64,
    /// For a result: where in the body it stands (a JSON pointer); `None`: it is the body.
    pub result_at: Option<String>,
    /// Where the facts stand in the answer.
    pub facts: Vec<FactSource>,
}

impl core::fmt::Debug for Transmit {
    fn fmt(&self, out: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        let mut shown = out.debug_struct("Transmit");
        shown.field("id", &self.id).field("purpose", &self.purpose).field("url", &self.url);
        shown.finish_non_exhaustive()
    }
}
