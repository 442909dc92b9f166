//! The life of an operation: the one place where its state changes.
//!
//! ```text
//!    ┌────────── fulfilled ▸ ◂ again ─────────┐
//!    │       accepted              completed  ▼         kept
//!  Submit ─────────────▶ Work ─────────────▶ Result ─────────────▶ Ended(Succeeded)
//!   ▲│ ▲│                 ▲ │ ▲                │ │
//!   ││ │└ not sent, lost, │ │ └── not ready ───┘ │
//!   ││ │  refused, seen   │ │                    │
//!   ││ └── disproved ──┐  │ │                    │
//!   │└── unresolved ▶ Reconcile                  │
//!   │                    │  │                    │
//!   └────────────────────┴──┴────────────────────┴───────────────▶ Ended(any other)
//! ```
//!
//! From `Reconcile` an operation comes to `Work` when the service's listing shows its run, and back
//! to `Submit` when it is proven that there is none.
//!
//! Readers see every part; only the named transitions below write, and each refuses what the
//! diagram does not show. An ended life moves no more; only its delivery and settlement do.

mod answers;
mod deletion;
mod lookup;
mod parts;

use core::ops::Deref;

pub use parts::{Cancel, Deletion, Delivery, Parts, Purged, Settlement, Stage};

use super::ending::Ending;
use super::evidence::{Accepted, AcceptedHow, Attempt, Evidence, Unresolved};
use super::hold::{Hold, ParkReason, WaitReason};
use super::ids::{JobId, Scope};
use super::time::{Timestamp, Wait};

/// A transition that the diagram does not show.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("no such transition from here")]
pub struct Illegal;

/// See the module.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Life(Parts);

impl Deref for Life {
    type Target = Parts;

    fn deref(&self) -> &Parts {
        &self.0
    }
}

impl Life {
    /// A new operation: nothing sent, due at once.
    pub fn new() -> Self {
        Self(Parts {
            evidence: Evidence::default(),
            stage: Stage::Submit,
            hold: Hold::Ready,
            cancel: None,
            settlement: None,
            delivery: None,
            deletion: None,
            purged: None,
        })
    }

    /// The life of a job that exists at the service already: it is read at once; where it cannot be
    /// polled, by its result.
    pub fn adopted(id: JobId, at: Timestamp, polls: bool) -> Self {
        let mut life = Self::new();
        life.0.evidence.accepted = Some(Accepted { id: Some(id), how: AcceptedHow::Found, at });
        let result = Stage::Result { expires_at: None, partial: false, pages: None };
        life.0.stage = if polls { Stage::Work } else { result };
        life
    }

    /// A life from its stored parts, refused when no sequence of transitions leads to them.
    pub fn restore(parts: Parts) -> Result<Self, Illegal> {
        let ended = matches!(parts.stage, Stage::Ended { .. });
        let rejected = matches!(&parts.stage, Stage::Ended { ending: Ending::Rejected(_), .. });
        let legal = ended == parts.delivery.is_some()
            && (ended || parts.settlement.is_none())
            && (matches!(parts.stage, Stage::Submit) || parts.evidence.current.is_none())
            && (parts.evidence.accepted.is_some()
                || !matches!(parts.stage, Stage::Work | Stage::Result { .. }))
            && (parts.evidence.unresolved.is_some() || !matches!(parts.stage, Stage::Reconcile(_)))
            && !(rejected && parts.evidence.may_be_accepted())
            && (ended || parts.purged.is_none())
            && !parts.deletion.as_ref().is_some_and(|own| {
                parts.purged.is_some() || (own.current.is_some() && !(ended && own.read))
            });
        if legal { Ok(Self(parts)) } else { Err(Illegal) }
    }

    /// Whether it is over.
    pub const fn is_ended(&self) -> bool {
        matches!(self.0.stage, Stage::Ended { .. })
    }

    /// How far it has come.
    pub const fn stage(&self) -> &Stage {
        &self.0.stage
    }

    /// What it waits for.
    pub const fn hold(&self) -> &Hold {
        &self.0.hold
    }

    /// Whether the service can have taken the work on, as far as is known.
    pub const fn may_be_accepted(&self) -> bool {
        self.0.evidence.may_be_accepted()
    }

    /// How many submission attempts were written.
    pub const fn attempts(&self) -> u32 {
        self.0.evidence.attempts
    }

    /// The job's id, where one is known.
    pub fn job(&self) -> Option<&JobId> {
        self.0.evidence.accepted.as_ref()?.id.as_ref()
    }

    /// Writes the next submission attempt down; it may be sent once this is durable.
    pub fn write_ahead(
        &mut self,
        now: Timestamp,
        send_before_ms: u64,
        abort_ms: u64,
        scope: Option<Scope>,
    ) -> Result<(), Illegal> {
        // What is to be cancelled is sent only to have the result of a known job replayed.
        let stopped = self.0.cancel.is_some() && self.job().is_none();
        let held = matches!(self.0.hold, Hold::Parked { .. }) || stopped;
        let evidence = &mut self.0.evidence;
        if self.0.stage != Stage::Submit || evidence.current.is_some() || held {
            return Err(Illegal);
        }
        if evidence.unresolved.is_none() {
            evidence.scope = scope;
        }
        evidence.attempts += 1;
        evidence.current = Some(Attempt::new(evidence.attempts, now, send_before_ms, abort_ms));
        self.0.hold = Hold::Ready;
        Ok(())
    }

    /// The attempt that was written ahead never left.
    pub fn not_sent(&mut self) -> Result<(), Illegal> {
        self.refused()
    }

    /// The attempt that was written ahead has no readable answer: it may have been accepted.
    pub fn lost(&mut self) -> Result<(), Illegal> {
        let evidence = &mut self.0.evidence;
        let attempt = evidence.current.take().ok_or(Illegal)?;
        let first_at = evidence.unresolved.as_ref().map_or(attempt.written_at, |u| u.first_at);
        let abort_at = evidence.unresolved.as_ref().map_or(attempt.abort_at, |u| u.abort_at);
        evidence.unresolved =
            Some(Unresolved { first_at, abort_at: abort_at.max(attempt.abort_at) });
        Ok(())
    }

    /// The attempt that was written ahead was definitely not taken on; earlier ones stay as they are.
    pub fn refused(&mut self) -> Result<(), Illegal> {
        self.0.evidence.current.take().ok_or(Illegal)?;
        self.0.evidence.refused += 1;
        Ok(())
    }

    /// The service took the work on.
    pub fn accepted(
        &mut self,
        id: Option<JobId>,
        how: AcceptedHow,
        at: Timestamp,
    ) -> Result<(), Illegal> {
        if !matches!(self.0.stage, Stage::Submit | Stage::Reconcile(_)) {
            return Err(Illegal);
        }
        self.0.evidence.current = None;
        self.0.evidence.accepted = Some(Accepted { id, how, at });
        self.0.stage = Stage::Work;
        self.0.hold = Hold::Ready;
        Ok(())
    }

    /// The job is complete, or over with a part of its result: that is due.
    pub fn completed(
        &mut self,
        expires_at: Option<Timestamp>,
        partial: bool,
    ) -> Result<(), Illegal> {
        if self.0.stage != Stage::Work {
            return Err(Illegal);
        }
        self.0.stage = Stage::Result { expires_at, partial, pages: None };
        self.0.hold = Hold::Ready;
        Ok(())
    }

    /// The service says that the result is not ready after all: the job is polled again.
    pub fn not_ready(&mut self) -> Result<(), Illegal> {
        match self.0.stage {
            Stage::Result { .. } => {
                self.0.stage = Stage::Work;
                Ok(())
            }
            Stage::Submit | Stage::Reconcile(_) | Stage::Work | Stage::Ended { .. } => Err(Illegal),
        }
    }

    /// Waits for a point in time.
    pub fn wait(
        &mut self,
        now: Timestamp,
        length_ms: u64,
        reason: WaitReason,
    ) -> Result<(), Illegal> {
        self.set_hold(Hold::Until { wait: Wait::new(now, length_ms), reason })
    }

    /// Waits for a person or code; the identity is kept.
    pub fn park(&mut self, now: Timestamp, reason: ParkReason) -> Result<(), Illegal> {
        self.set_hold(Hold::Parked { reason, at: now })
    }

    /// Waits for nothing: due.
    pub fn release(&mut self) -> Result<(), Illegal> {
        self.set_hold(Hold::Ready)
    }

    /// Ends. *Rejected* is refused while any attempt may have been accepted.
    pub fn end(&mut self, now: Timestamp, ending: Ending) -> Result<(), Illegal> {
        let rejected = matches!(ending, Ending::Rejected(_));
        if self.is_ended() || (rejected && self.0.evidence.may_be_accepted()) {
            return Err(Illegal);
        }
        if self.0.evidence.current.is_some() {
            self.lost()?;
        }
        self.0.stage = Stage::Ended { ending, at: now };
        self.0.hold = Hold::Ready;
        self.0.delivery = Some(Delivery::Pending(Hold::Ready));
        Ok(())
    }

    /// Notes the wish to cancel; asking twice is asking once.
    pub fn want_cancel(&mut self, now: Timestamp) -> Result<(), Illegal> {
        if self.is_ended() {
            return Err(Illegal);
        }
        self.0.cancel.get_or_insert(Cancel {
            requested_at: now,
            current: None,
            attempts: 0,
            read: true,
            settled: false,
        });
        Ok(())
    }

    /// Writes the next cancel attempt down; it may be sent once this is durable.
    pub fn write_cancel_ahead(
        &mut self,
        now: Timestamp,
        send_before_ms: u64,
        abort_ms: u64,
    ) -> Result<(), Illegal> {
        let cancel = self.0.cancel.as_mut().filter(|cancel| !cancel.settled);
        let cancel = cancel.ok_or(Illegal)?;
        cancel.attempts += 1;
        cancel.read = false;
        cancel.current = Some(Attempt::new(cancel.attempts, now, send_before_ms, abort_ms));
        Ok(())
    }

    /// The cancel attempt is over; `settled` when the service has answered for good.
    pub fn cancel_answered(&mut self, settled: bool) -> Result<(), Illegal> {
        let cancel = self.0.cancel.as_mut().ok_or(Illegal)?;
        cancel.current = None;
        cancel.settled |= settled;
        Ok(())
    }

    /// The job has been read: whether a lost cancel took effect shows in what was read.
    pub fn job_read(&mut self) {
        if let Some(cancel) = &mut self.0.cancel {
            cancel.read = true;
        }
    }

    /// Opens, moves or (with `None`) closes the reads for late billing.
    pub fn settle(&mut self, settlement: Option<Settlement>) -> Result<(), Illegal> {
        if !self.is_ended() {
            return Err(Illegal);
        }
        self.0.settlement = settlement;
        Ok(())
    }

    /// Moves the delivery of the ending; an acknowledged one stays acknowledged.
    pub fn deliver(&mut self, delivery: Delivery) -> Result<(), Illegal> {
        match &self.0.delivery {
            None => Err(Illegal),
            Some(Delivery::Acknowledged(_)) => Ok(()),
            Some(Delivery::Pending(_) | Delivery::Delivered(_)) => {
                self.0.delivery = Some(delivery);
                Ok(())
            }
        }
    }

    fn set_hold(&mut self, hold: Hold) -> Result<(), Illegal> {
        if self.is_ended() {
            return Err(Illegal);
        }
        self.0.hold = hold;
        Ok(())
    }
}

impl Default for Life {
    fn default() -> Self {
        Self::new()
    }
}

impl Attempt {
    const fn new(number: u32, now: Timestamp, send_before_ms: u64, abort_ms: u64) -> Self {
        Self {
            number,
            written_at: now,
            send_before: now.after(send_before_ms),
            abort_at: now.after(abort_ms),
        }
    }
}
