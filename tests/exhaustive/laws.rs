//! The laws, looked at whenever something leaves, arrives, is written or is told.

use holdfast::driver::ports::store::Write;
use holdfast::engine::Transmit;
use holdfast::engine::event::Event;
use holdfast::model::evidence::Attempt;
use holdfast::model::life::Stage;
use holdfast::model::operation::Operation;
use holdfast::model::profile::Purpose;
use holdfast::model::storage::Durability;

use super::service::Kind;
use super::state::State;

/// What must be remembered of the way here.
#[derive(Clone, Debug, Default)]
pub struct Seen {
    /// Submissions that have left: the number of the attempt, from where, until when it may arrive.
    pub left: Vec<(u32, u8, u64)>,
    /// Under which epoch, and by whom, the last fenced write was made.
    pub owner: Option<(u64, String)>,
    /// The app has been told that its work is taken on.
    pub acknowledged: bool,
    /// Refusals by the service.
    pub refused: u8,
    /// The app has wished to cancel.
    pub wished: bool,
}

impl State {
    /// A law is broken.
    pub fn breach(&mut self, what: impl Into<String>) {
        self.breach.get_or_insert_with(|| what.into());
    }

    /// A request leaves the context of this number.
    pub fn leaves(&mut self, from: u8, transmit: &Transmit) {
        let Some(stored) = self.operation(&transmit.id) else {
            return self.breach("a request for what is not stored");
        };
        let name = format!("context-{from}");
        let owns = self.lane().and_then(|lane| lane.owner).is_some_and(|own| own.as_str() == name);
        match transmit.purpose {
            Purpose::Submit => self.submission_leaves(from, transmit, &stored, owns),
            Purpose::Poll
            | Purpose::Result
            | Purpose::Reconcile
            | Purpose::Quote
            | Purpose::Diagnose => {
                if owns && stored.life.is_ended() {
                    self.breach("a read after the ending");
                }
            }
            Purpose::Settle | Purpose::Cancel | Purpose::Delete => {}
        }
    }

    fn submission_leaves(&mut self, from: u8, transmit: &Transmit, stored: &Operation, owns: bool) {
        let Some(attempt) = stored.life.evidence.current.clone() else {
            return self.breach("an attempt leaves that is not written down");
        };
        if stored.life.is_ended() {
            self.breach("an attempt leaves after the ending");
        }
        if attempt.number > 1 && stored.life.cancel.is_some() {
            self.breach("work is sent again that shall be cancelled");
        }
        if !owns {
            self.breach("an attempt leaves from a context that does not own the lane");
        }
        if self.now < attempt.written_at.0 || attempt.send_before.0 <= self.now {
            self.breach("an attempt leaves too late");
        }
        if attempt.number > stored.limits.attempts {
            self.breach("more attempts than the limit");
        }
        if self.seen.left.iter().any(|(number, _, _)| *number == attempt.number) {
            self.breach("one attempt leaves twice");
        }
        self.check_request(transmit, stored);
        self.check_repetition(&attempt);
        self.seen.left.push((attempt.number, from, attempt.abort_at.0));
    }

    fn check_request(&mut self, transmit: &Transmit, stored: &Operation) {
        let key = transmit.headers.first("idempotency-key");
        let keyed = matches!(self.service.kind, Kind::Keyed { .. });
        let same = !keyed || key == Some(stored.identity.key.as_str());
        if !same || transmit.url != stored.request.url {
            self.breach("an attempt differs from what is stored");
        }
    }

    /// Where there is no key, nothing leaves while an earlier attempt may be live, or has been
    /// executed; where there is one, not after its lifetime.
    fn check_repetition(&mut self, attempt: &Attempt) {
        match self.service.kind {
            Kind::Keyed { .. } => {}
            Kind::Unlisted if !self.seen.left.is_empty() => {
                self.breach("a second attempt where nothing tells the two apart");
            }
            Kind::Listed | Kind::Unlisted => {
                let live = self.seen.left.iter().any(|(_, _, until)| self.now < *until);
                if live {
                    self.breach(format!("attempt {} leaves beside a live one", attempt.number));
                }
                if self.service.executions() > 0 {
                    self.breach("work is sent again that was executed");
                }
            }
        }
    }

    /// A request has been at the service.
    pub fn arrived(&mut self) {
        if self.service.executions() > 1 {
            self.breach("one intent is executed twice");
        }
    }

    /// A write has reached the store.
    pub fn written(
        &mut self,
        write: &Write,
        before: Option<&Operation>,
        after: &Operation,
        durability: Durability,
    ) {
        if write.row.due != after.due() || write.row.delivery_due != after.delivery_due() {
            self.breach("the index does not say when it is due");
        }
        self.check_owner(write, before, after);
        if before.map(part) != Some(part(after)) && durability != Durability::Strict {
            self.breach("a change that must be on the disk is relaxed");
        }
        if let Stage::Ended { ending, .. } = &after.life.stage
            && ending.name() == "rejected"
            && self.service.executions() > 0
        {
            self.breach("work is called rejected that was executed");
        }
        let Some(before) = before else { return };
        if before.identity != after.identity || before.request != after.request {
            self.breach("identity or request has changed");
        }
        if after.revision != before.revision.next() {
            self.breach("a write takes another's place");
        }
        if before.life.is_ended() && before.life.stage != after.life.stage {
            self.breach("an ending has changed");
        }
        let (old, new) = (&before.life.evidence, &after.life.evidence);
        let forgotten = old.accepted.is_some() && old.accepted != new.accepted
            || old.unresolved.is_some() && new.unresolved.is_none() && !new.disproved;
        if forgotten {
            self.breach("evidence is forgotten");
        }
    }

    /// One owner at a time, and the owner alone drives.
    fn check_owner(&mut self, write: &Write, before: Option<&Operation>, after: &Operation) {
        let Some(fence) = &write.fence else {
            let done = |own: &Operation| own.counters.polls + own.life.attempts();
            if done(after) > before.map_or(0, done) {
                self.breach("a context drives a lane that it does not own");
            }
            return;
        };
        let own = (fence.epoch.0, fence.context.as_str().to_owned());
        if let Some((epoch, owner)) = &self.seen.owner
            && (own.0 < *epoch || own.0 == *epoch && own.1 != *owner)
        {
            self.breach("a former owner writes");
        }
        self.seen.owner = Some(own);
    }

    /// The app is told something.
    pub fn told(&mut self, event: &Event) {
        let stored = self.operation(&event.operation.identity.id);
        if stored.is_none_or(|own| own.revision < event.operation.revision) {
            self.breach("the app is told what is not stored");
        }
    }

    /// The app is told that its work is taken on.
    pub fn acknowledged(&mut self, operation: &Operation) {
        let own =
            self.stored.as_deref().is_some_and(|own| own.identity.id == operation.identity.id);
        if !own {
            self.breach("work is acknowledged that is not stored");
        }
        self.seen.acknowledged = true;
    }
}

/// What must be on the disk before anything follows from it.
fn part(own: &Operation) -> (u32, bool, bool) {
    (own.life.attempts(), own.life.evidence.accepted.is_some(), own.life.is_ended())
}
