//! One operation in the working set: what this context is doing with it right now.

use super::output::{BesideSet, Line, Ticket};
use super::reply::CallId;
use crate::model::evidence::Attempt;
use crate::model::hold::Hold;
use crate::model::ids::{LaneId, OperationId};
use crate::model::life::Stage;
use crate::model::operation::Operation;
use crate::model::profile::Purpose;
use crate::model::time::Timestamp;
use crate::rules::bounds::REQUEST_FLOOR_MS;
use crate::rules::step;
use crate::rules::teeth::{Tooth, bites};

/// What has come while something was being written, and whom it is to be answered to.
pub(super) type Inbox = Vec<(step::Input, Option<CallId>)>;

#[derive(Clone, Debug)]
pub(super) struct Entry {
    /// Its operation's lane.
    pub(super) lane: LaneId,
    /// As it is stored; for a newborn, as it shall be.
    pub(super) operation: Operation,
    /// What its first write carries; `None` once it is stored.
    pub(super) birth: Option<Birth>,
    /// The exchange that is under way.
    pub(super) exchange: Option<Exchange>,
    /// The write that is under way. Inputs wait in `inbox` until it is answered.
    pub(super) writing: Option<Ticket>,
    /// It is being read again, because another context has written it.
    pub(super) reloading: bool,
    /// How often in a row that has happened.
    pub(super) reloads: u32,
    pub(super) inbox: Inbox,
    pub(super) delivering: bool,
    /// No request of this operation before this point.
    pub(super) not_before: Timestamp,
    /// A download's name under which nothing is written any more.
    pub(super) download: Option<u64>,
    /// The last journal line, which the next may be folded into.
    pub(super) last_line: Option<Line>,
}

/// What the first write of an operation carries.
#[derive(Clone, Debug)]
pub(super) struct Birth {
    pub(super) call: CallId,
    pub(super) body: Option<Vec<u8>>,
    pub(super) profile: Option<(String, String)>,
    /// Whom its intent must stand for now.
    pub(super) succeeds: Option<OperationId>,
    /// The operation whose place it takes.
    pub(super) replaces: Option<Box<BesideSet>>,
    /// It is written by then, with or without its first attempt.
    pub(super) write_by: Timestamp,
}

#[derive(Clone, Debug)]
pub(super) struct Exchange {
    pub(super) purpose: Purpose,
    pub(super) phase: Phase,
    /// Its download's name, once it may leave.
    pub(super) download: Option<u64>,
    /// By then it is over.
    pub(super) ends_by: Timestamp,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Phase {
    /// The credential is being asked for.
    Authorizing,
    /// Its attempt is being written ahead.
    Writing,
    /// It may leave, or has left.
    OnWire,
}

impl Entry {
    pub(super) fn new(operation: Operation) -> Self {
        Self {
            lane: operation.lane(),
            operation,
            birth: None,
            exchange: None,
            writing: None,
            reloading: false,
            reloads: 0,
            inbox: Vec::new(),
            delivering: false,
            not_before: Timestamp(0),
            download: None,
            last_line: None,
        }
    }

    /// An operation that comes from the store: whoever drove it before may have sent a request in
    /// this very moment.
    pub(super) fn loaded(operation: Operation, now: Timestamp) -> Self {
        let evidence = &operation.life.evidence;
        let sent = evidence.attempts > 0 || evidence.accepted.is_some();
        let mut entry = Self::new(operation);
        if sent {
            entry.not_before = now.after(REQUEST_FLOOR_MS);
        }
        entry
    }

    /// Whether nothing at all is under way.
    pub(super) fn is_idle(&self) -> bool {
        self.exchange.is_none() && self.is_at_rest()
    }

    /// Whether nothing of it has left this context, and nothing is being written or delivered.
    pub(super) fn is_at_rest(&self) -> bool {
        let asking = |own: &Exchange| own.phase == Phase::Authorizing;
        self.exchange.as_ref().is_none_or(asking) && !self.delivering && self.is_settled()
    }

    /// Whether no write is under way or waiting.
    pub(super) fn is_settled(&self) -> bool {
        self.birth.is_none() && self.writing.is_none() && !self.reloading && self.inbox.is_empty()
    }

    /// Whether it is being handed over, or it is looked up whether it was.
    pub(super) fn is_unsettled(&self) -> bool {
        let life = &self.operation.life;
        let sending = self.exchange.as_ref().is_some_and(|own| own.purpose == Purpose::Submit);
        let unknown = life.evidence.current.is_some() || life.evidence.unresolved.is_some();
        let open = life.evidence.accepted.is_none() && !life.is_ended();
        let parked = matches!(life.hold(), Hold::Parked { .. });
        open && !parked && (sending || unknown)
    }

    pub(super) fn may_send(&self, now: Timestamp, purpose: Purpose) -> bool {
        let on_wire = self
            .exchange
            .as_ref()
            .is_some_and(|own| own.purpose == purpose && own.phase == Phase::OnWire);
        let life = &self.operation.life;
        let attempt = match purpose {
            Purpose::Submit => life.evidence.current.as_ref(),
            Purpose::Cancel => life.cancel.as_ref().and_then(|cancel| cancel.current.as_ref()),
            Purpose::Delete => life.deletion.as_ref().and_then(|own| own.current.as_ref()),
            Purpose::Poll
            | Purpose::Result
            | Purpose::Settle
            | Purpose::Reconcile
            | Purpose::Quote
            | Purpose::Diagnose => return on_wire,
        };
        // A clock that jumped back would let an old attempt leave: it must not.
        let in_time = |attempt: &Attempt| {
            attempt.written_at <= now && now < attempt.send_before || bites(Tooth::SendTooLate)
        };
        on_wire && attempt.is_some_and(in_time)
    }

    /// Who goes first: results that will be dropped soon.
    pub(super) const fn urgency(&self) -> Timestamp {
        match self.operation.life.stage() {
            Stage::Result { expires_at: Some(at), .. } => *at,
            Stage::Result { expires_at: None, .. }
            | Stage::Submit
            | Stage::Reconcile(_)
            | Stage::Work
            | Stage::Ended { .. } => Timestamp(u64::MAX),
        }
    }
}
