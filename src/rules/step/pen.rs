//! What all parts of `step` write with.

use super::super::backoff;
use super::super::classify::Said;
use super::Step;
use crate::model::dice::Dice;
use crate::model::ending::Ending;
use crate::model::evidence::AcceptedHow;
use crate::model::hold::{Hold, ParkReason, WaitReason};
use crate::model::ids::JobId;
use crate::model::journal::Entry;
use crate::model::life::{Illegal, Settlement, Stage};
use crate::model::money::Amount;
use crate::model::operation::Operation;
use crate::model::profile::{Profile, Purpose};
use crate::model::storage::{Durability, Erase};
use crate::model::time::{Timestamp, Wait};
use crate::rules::bounds::{GATE_MS_MAX, REQUEST_FLOOR_MS};
use crate::rules::teeth::{Tooth, bites};

pub(super) struct Pen<'a> {
    pub(super) op: Operation,
    pub(super) profile: &'a Profile,
    pub(super) now: Timestamp,
    pub(super) dice: &'a mut Dice,
    step: Step,
}

impl<'a> Pen<'a> {
    pub(super) fn new(
        op: Operation,
        profile: &'a Profile,
        now: Timestamp,
        dice: &'a mut Dice,
    ) -> Self {
        let step = Step {
            operation: op.clone(),
            durability: Durability::Relaxed,
            entries: Vec::new(),
            send: None,
            gate: None,
            job: None,
            erase: Erase::Nothing,
        };
        Self { op, profile, now, dice, step }
    }

    pub(super) fn finish(mut self) -> Step {
        let cost = self.op.ledger.cost();
        if cost != self.step.operation.ledger.cost()
            && let Some(entry) = self.step.entries.first_mut()
        {
            entry.cost = Some(cost);
        }
        Step { operation: self.op, ..self.step }
    }

    /// What follows from this step must be on the disk first.
    pub(super) fn strictly(&mut self) {
        self.step.durability = Durability::Strict;
    }

    pub(super) fn send(&mut self, purpose: Purpose) {
        self.step.send = Some(purpose);
    }

    /// Takes the job's id for the operation's own.
    pub(super) fn claim_job(&mut self) {
        self.step.job = self.op.life.job().cloned();
    }

    /// What is stored of the operation goes.
    pub(super) fn erase(&mut self, what: Erase) {
        self.strictly();
        self.step.erase = what;
    }

    /// The service has taken the work on: it is followed by its id. Where nothing can be read by an
    /// id, the work stays to be submitted, and its replay brings the result.
    pub(super) fn taken_on(
        &mut self,
        id: &JobId,
        how: AcceptedHow,
        said: Option<&Said>,
    ) -> Result<(), Illegal> {
        let (id, now) = (Some(id.clone()), self.now);
        let life = &mut self.op.life;
        if self.profile.calls.poll.is_some() {
            life.accepted(id, how, now)?;
        } else if self.profile.reads_jobs() {
            let expires_at = self.expiry_told(said);
            self.op.life.fulfilled(id, how, now, expires_at)?;
        } else {
            if life.evidence.current.is_some() {
                life.lost()?;
            }
            life.seen(id, how, now)?;
            life.release()?;
        }
        self.strictly();
        self.claim_job();
        Ok(())
    }

    /// When the service will drop the result: as it says, else as the profile does.
    pub(super) fn expiry_told(&self, said: Option<&Said>) -> Option<Timestamp> {
        let assumed = self.profile.retention_ms.map(|length_ms| self.now.after(length_ms));
        said.and_then(|said| said.expires_at).or(assumed)
    }

    pub(super) fn note(&mut self, event: &'static str) -> &mut Entry {
        self.step.entries.push(Entry::new(self.now, event));
        let last = self.step.entries.len() - 1;
        &mut self.step.entries[last]
    }

    /// Notes an answer with what it says.
    pub(super) fn note_answer(&mut self, event: &'static str, purpose: Purpose, said: &Said) {
        let entry = self.note(event);
        entry.purpose = Some(purpose);
        entry.status = said.fault.status;
        entry.code = said.fault.code.clone();
        entry.state = said.state.clone();
    }

    /// Keeps what an answer reports: later words replace earlier ones, silence replaces nothing.
    pub(super) fn heard(&mut self, said: &Said) {
        fn keep<T: Clone>(own: &mut Option<T>, new: &Option<T>) {
            if new.is_some() {
                own.clone_from(new);
            }
        }
        let reported = &mut self.op.reported;
        keep(&mut reported.state, &said.state);
        keep(&mut reported.progress, &said.progress);
        keep(&mut reported.request_id, &said.request_id);
        keep(&mut reported.trace_id, &said.fault.trace_id);
        keep(&mut reported.charge_receipt_id, &said.charge_receipt_id);
        if said.charge_receipt_id.is_some() {
            reported.charge_receipt_kind = self.profile.charge_receipt;
        }
        keep(&mut reported.record_count, &said.record_count);
        keep(&mut reported.digest, &said.digest);
        let refused = said.fault.status.is_some_and(|status| status >= 400);
        reported.fault = refused.then(|| said.fault.clone());
        for (name, value) in &said.carried {
            match self.op.carried.iter_mut().find(|(own, _)| own == name) {
                Some((_, own)) => own.clone_from(value),
                None => self.op.carried.push((name.clone(), value.clone())),
            }
        }
        self.op.ledger.take_up(&said.ledger);
    }

    /// Counts what a read has cost: as its answer says, else as the profile does. What is refused is
    /// taken to be free.
    pub(super) fn count_read(&mut self, purpose: Purpose, said: Option<&Said>) {
        let call = match purpose {
            Purpose::Poll | Purpose::Result | Purpose::Settle | Purpose::Reconcile => {
                self.profile.call(purpose)
            }
            Purpose::Submit
            | Purpose::Cancel
            | Purpose::Delete
            | Purpose::Quote
            | Purpose::Diagnose => None,
        };
        let Some(call) = call else {
            return;
        };
        let told = said.and_then(|said| said.read_cost);
        let status = said.and_then(|said| said.fault.status);
        let served = status.is_none_or(|status| (200..300).contains(&status));
        let usual = call.cost.filter(|_| served);
        if let Some(cost) = told.or(usual) {
            let before = self.op.ledger.get(Amount::Reads).unwrap_or_default();
            self.op.ledger.set(Amount::Reads, Some(before.plus(cost)));
        }
    }

    /// How long to wait after a failed exchange: by own backoff, and as long as the service says at least.
    pub(super) fn pause_ms(&mut self, said: Option<&Said>) -> (u64, bool) {
        let (own_ms, asked_ms) = (self.own_pause_ms(), self.asked_ms(said));
        (asked_ms.map_or(own_ms, |ms| ms.max(own_ms)), asked_ms.is_some())
    }

    /// How long the service asks to wait, if it does.
    pub(super) fn asked_ms(&mut self, said: Option<&Said>) -> Option<u64> {
        said.and_then(asked_ms).map(|ms| backoff::with_server_floor(ms, self.dice))
    }

    /// How long to wait after so many failures in a row, by own backoff.
    pub(super) fn own_pause_ms(&mut self) -> u64 {
        let index = self.op.counters.failures.saturating_sub(1);
        backoff::full_jitter(&self.profile.retry, index, self.dice)
    }

    /// Counts a failed exchange. A credential was there for it, and it was not what failed.
    pub(super) const fn count_failure(&mut self) {
        self.op.counters.failures += 1;
        self.op.counters.authorizations = 0;
    }

    /// Counts a failed exchange and waits before the next one.
    pub(super) fn back_off(
        &mut self,
        said: Option<&Said>,
        reason: WaitReason,
    ) -> Result<(), Illegal> {
        self.count_failure();
        let (own_ms, asked_ms) = (self.own_pause_ms(), self.asked_ms(said));
        // What is no trouble of the service is asked for again when it says.
        let least_ms = if reason == WaitReason::Backoff { own_ms } else { 0 };
        let length_ms = asked_ms.map_or(own_ms, |ms| ms.max(least_ms));
        self.wait(length_ms, if asked_ms.is_some() { guided(reason) } else { reason })
    }

    /// A good answer after failures: trouble eases by halves, so that those who meet it together do not
    /// all begin anew as soon as the first is served.
    pub(super) const fn ease(&mut self) {
        self.op.counters.failures /= 2;
    }

    /// Waits before the job is read again: as long as the service asks, else at the pace of polls.
    pub(super) fn wait_for_poll(
        &mut self,
        index: u32,
        said: &Said,
        reason: WaitReason,
    ) -> Result<(), Illegal> {
        let (length_ms, reason) = match self.asked_ms(Some(said)) {
            Some(ms) => (ms, guided(reason)),
            None => (self.poll_pause_ms(index), reason),
        };
        self.wait(length_ms, reason)
    }

    /// How long to wait before a poll: after trouble that has only eased, as if more had passed.
    fn poll_pause_ms(&mut self, index: u32) -> u64 {
        const POLLS_OF_FAILURE: u32 = 3;
        let more = self.op.counters.failures.saturating_mul(POLLS_OF_FAILURE);
        backoff::poll_delay(&self.profile.poll, index.saturating_add(more), self.dice)
    }

    /// The service refuses everything of the lane for a while; who is refused again and again waits longer
    /// than that, and a job is read no sooner than it would have been.
    pub(super) fn rate_limited(&mut self, said: &Said) -> Result<(), Illegal> {
        self.count_failure();
        let own_ms = self.own_pause_ms();
        let gate_ms = self.asked_ms(Some(said)).unwrap_or(own_ms);
        self.close_gate(gate_ms);
        let pace_ms = match self.op.life.stage {
            Stage::Work => self.poll_pause_ms(self.op.counters.polls),
            Stage::Submit | Stage::Reconcile(_) | Stage::Result { .. } | Stage::Ended { .. } => 0,
        };
        self.wait(gate_ms.max(own_ms).max(pace_ms), WaitReason::RateLimit)
    }

    pub(super) fn close_gate(&mut self, length_ms: u64) {
        self.step.gate = Some(Wait::new(self.now, length_ms.min(GATE_MS_MAX)));
    }

    /// Waits; a wait that would end past the deadline parks at once instead.
    pub(super) fn wait(&mut self, length_ms: u64, reason: WaitReason) -> Result<(), Illegal> {
        // A result that only needs fetching has no deadline; no wait for it is longer than the whole.
        let longest = self.now.after(self.op.limits.total_ms);
        if self.now.after(length_ms) > self.op.deadline().unwrap_or(longest) {
            return self.park(ParkReason::DeadlineExceeded);
        }
        self.op.life.wait(self.now, length_ms, reason)?;
        let length_ms = match &self.op.life.hold {
            Hold::Until { wait, .. } => wait.length_ms,
            Hold::Ready | Hold::Parked { .. } => 0,
        };
        if let Some(entry) = self.step.entries.last_mut() {
            entry.wait = Some((length_ms, reason.name()));
        }
        Ok(())
    }

    /// Waits for a person or code.
    pub(super) fn park(&mut self, reason: ParkReason) -> Result<(), Illegal> {
        self.op.life.park(self.now, reason)?;
        self.strictly();
        self.note("parked").code = Some(reason.name().into());
        Ok(())
    }

    /// Ends, and opens the reads for late billing where some may come.
    pub(super) fn end(&mut self, ending: Ending) -> Result<(), Illegal> {
        let cancelled = matches!(ending, Ending::Cancelled);
        let event = ending.name();
        self.op.life.end(self.now, ending)?;
        if !bites(Tooth::RelaxedEnding) {
            self.strictly();
        }
        let billing_open = self.profile.settlement.as_ref().is_some_and(|policy| {
            self.op.life.job().is_some()
                && match &self.op.ledger.token_state {
                    Some(word) => !policy.final_states.contains(word),
                    None => cancelled,
                }
        });
        if billing_open {
            self.op.life.settle(Some(Settlement { hold: Hold::Ready, reads: 0 }))?;
        }
        self.note(event);
        Ok(())
    }

    /// Whether the same request is to be sent again by itself, after one whose outcome is unknown.
    pub(super) fn waits_to_send_again(&self) -> bool {
        let (evidence, hold) = (&self.op.life.evidence, &self.op.life.hold);
        self.is_submitting()
            && evidence.current.is_none()
            && evidence.unresolved.is_some()
            && !matches!(hold, Hold::Parked { .. })
    }

    /// Whether the operation is still on its way to the service.
    pub(super) fn is_submitting(&self) -> bool {
        self.op.life.stage == Stage::Submit
    }
}

/// How long the service asks to wait. "Not at all" says nothing: a date that has gone by, by a clock
/// that is ahead or at a service that means it, must not be a hot loop.
fn asked_ms(said: &Said) -> Option<u64> {
    said.server_wait_ms.filter(|wait_ms| *wait_ms >= REQUEST_FLOOR_MS)
}

/// Why it waits, where the service has said how long: a wait of one's own pace becomes guided.
const fn guided(reason: WaitReason) -> WaitReason {
    match reason {
        WaitReason::Backoff | WaitReason::Poll => WaitReason::ServerGuidance,
        WaitReason::ServerGuidance
        | WaitReason::RateLimit
        | WaitReason::NotFoundGrace
        | WaitReason::ResultNotReady
        | WaitReason::Authorization
        | WaitReason::InProgress
        | WaitReason::ListingLag
        | WaitReason::Settlement
        | WaitReason::Delivery
        | WaitReason::Diagnosis => reason,
    }
}
