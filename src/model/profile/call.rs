//! The calls that a service has, and what they are made for.

use crate::model::money::Credits;

/// The calls of a service.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Calls {
    /// Hands work over.
    pub submit: Call,
    /// Statuses with which the answer to a submission is the result itself.
    pub result_on: Vec<u16>,
    /// Reads the job. A service without it answers a submission with the result: by any success
    /// but 202, where [`Calls::result_on`] names none.
    pub poll: Option<Call>,
    /// Reads the result; without it, the result stands in the answer to `poll`.
    pub result: Option<Call>,
    /// Stops the job.
    pub cancel: Option<Call>,
    /// Runs a failed job again as new work.
    pub retry: Option<Call>,
    /// Deletes a job that has stopped, with its result.
    pub delete: Option<Call>,
    /// Lists recent jobs, newest first; `{page}` stands for the page.
    pub list: Option<Call>,
    /// Says what a submission would cost, and changes nothing; it is sent the submission's body.
    pub quote: Option<Call>,
    /// Tells whether the service is there at all: a read that needs no credential.
    pub diagnose: Option<Call>,
}

/// One call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Call {
    /// HTTP method.
    pub method: String,
    /// Path below the base URL, with a query where the service wants one. `{id}` stands for the
    /// job's id, any other `{name}` for a parameter of the submission or a carried value.
    pub path: Option<String>,
    /// Name of the carried value that is this call's URL; goes before `path` where it is known.
    pub link: Option<String>,
    /// The link may lead to any origin; such a request carries no credential.
    pub any_origin: bool,
    /// Fixed header fields.
    pub headers: Vec<(String, String)>,
    /// How an answer that is the result comes, where it is no single body.
    pub stream: Option<Stream>,
    /// The service gives parts of what this reads, so that what broke off can be gone on with.
    pub ranges: bool,
    /// How long one exchange may take, in milliseconds; where it is `idle`, each piece of its answer.
    pub timeout_ms: u64,
    /// Its time begins anew with each piece of the body: how long a result or a stream takes is the line's affair.
    pub idle: bool,
    /// What one read costs, where its answer does not say.
    pub cost: Option<Credits>,
}

/// An answer that comes as events.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stream {
    /// How events are written.
    pub form: StreamForm,
    /// The event whose data are the result; `None`: the data of all events are, in their order.
    pub result: Option<String>,
    /// The event that ends the stream, which is broken without it.
    pub end: Option<String>,
    /// The text of an event that ends the stream and is no part of it, such as `[DONE]`; without it
    /// too the stream is broken. Where neither is named, it ends when it ends.
    pub end_data: Option<String>,
    /// Events whose data are gathered into a list that is a member of the result: event and member.
    /// They are what was asked for, and say nothing of the work: no facts are looked for in them.
    pub gather: Vec<(String, String)>,
}

/// How the events of a stream are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StreamForm {
    /// Server-sent events (`text/event-stream`).
    Sse,
    /// Lines of JSON, each of which names its event in the member `event` or `type`.
    Ndjson,
}

impl Call {
    /// Whether a body goes with it.
    pub fn has_body(&self) -> bool {
        self.method != "GET"
    }

    /// How long an exchange goes on at most when nothing more is told of it, in milliseconds. Each piece of
    /// a result or a stream gives it its whole time again, and not each is told.
    pub const fn silence_ms(&self) -> u64 {
        self.timeout_ms + if self.idle { self.untold_ms() } else { 0 }
    }

    /// Such a piece is told where nothing was for this long, in milliseconds, whatever it holds.
    pub const fn untold_ms(&self) -> u64 {
        self.timeout_ms / 4
    }
}

impl StreamForm {
    /// Its media type.
    pub const fn media_type(self) -> &'static str {
        match self {
            Self::Sse => "text/event-stream",
            Self::Ndjson => "application/x-ndjson",
        }
    }
}

/// A part of a call's address that the app names with the submission.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Param {
    /// Its name.
    pub name: String,
    /// The values that it may have, the first as the default; empty: any, and none by default.
    pub allowed: Vec<String>,
}

/// What an exchange is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Purpose {
    /// Hands work over; changes state.
    Submit,
    /// Reads the job.
    Poll,
    /// Reads the result.
    Result,
    /// Stops the job; changes state.
    Cancel,
    /// Reads the job after its ending: for late billing, and for what became of a deletion.
    Settle,
    /// Deletes the job; changes state.
    Delete,
    /// Lists recent jobs, to find the one that a lost answer may have named.
    Reconcile,
    /// Asks what the work would cost, before it is handed over.
    Quote,
    /// Asks whether the service is there, where submissions are not answered.
    Diagnose,
}

impl Purpose {
    /// Whether it changes state, and so is written down, under ownership, before it leaves.
    pub const fn is_written_ahead(self) -> bool {
        matches!(self, Self::Submit | Self::Cancel | Self::Delete)
    }
}
