//! What is known of a run from outside, and the promises that are checked as it goes.

use std::collections::{BTreeMap, BTreeSet};

use holdfast::driver::ports::Store;
use holdfast::driver::ports::store::{Durability, Row, Write, Written};
use holdfast::engine::event::Event;
use holdfast::model::ids::OperationId;
use holdfast::model::life::Stage;
use holdfast::model::operation::Operation;
use holdfast::record;
use holdfast::record::view::view;
use pollster::block_on;

use super::kinds::Kind;
use super::parks;
use super::store::{Change, Changed};
use super::transitions::{self, Transition};
use super::world::{SECRET, World};

/// What is known of a run.
#[derive(Default)]
pub struct Oracle {
    /// The first broken promise.
    pub breach: Option<String>,
    /// Operations that an app was told are taken on, with their keys.
    pub acknowledged: BTreeMap<OperationId, String>,
    /// Whose key, and whose job.
    pub keys: BTreeMap<String, OperationId>,
    /// Every job that was executed.
    pub jobs: BTreeMap<String, Job>,
    /// Executions of each (work, ordinal).
    pub executions: BTreeMap<(String, u64), u64>,
    /// Faults that were put in the place of answers, by the key of the work.
    pub lies: BTreeMap<(String, Kind), u64>,
    /// Keys of jobs whose result the service has said to be gone.
    pub gone: BTreeSet<String>,
    /// State-changing attempts that left: (operation, cancel, number).
    pub left: BTreeSet<(OperationId, bool, u32)>,
    /// The last request of each operation: when, from which context, after how many clock changes.
    pub last: BTreeMap<OperationId, (u64, u64)>,
    /// The last accepted ownership of each lane.
    pub owners: BTreeMap<String, (u64, String)>,
    /// Endings that `onSettled` took.
    pub delivered: BTreeSet<OperationId>,
    /// Operations that the app wished to cancel, or gave up.
    pub cancelled: BTreeSet<OperationId>,
    /// How often a person accepted a possible second execution of a work.
    pub risked: BTreeMap<String, u64>,
    pub abandoned: BTreeSet<OperationId>,
    /// Parks that no wish led to, by reason.
    pub parked: BTreeMap<OperationId, Vec<String>>,
    /// When the clock was last set, by the time that really passes; when it was set back.
    pub clock_set_at: u64,
    pub clock_set_back: Vec<u64>,
    /// When the credential's scope last was another.
    pub scope_changes: u64,
    pub transitions: BTreeMap<Transition, u64>,
    /// Records that must not be driven.
    pub planted: Vec<Row>,
    pub commits: u64,
    pub requests: u64,
}

/// A job at the service.
#[derive(Clone, Debug)]
pub struct Job {
    pub work: String,
    pub ordinal: u64,
    pub key: String,
    pub at: u64,
}

impl World {
    /// Carries a change out, and looks at what it does.
    pub fn apply(&self, tab: u64, change: Change, durability: Durability) -> Changed {
        let Change::Commit(batch) = &change else {
            let asked = format!("tab {tab} {change:?}");
            let changed = self.0.disk.apply(change, durability);
            self.note(|| format!("{} -> {changed:?}", cut(&asked)));
            return changed;
        };
        let batch = batch.clone();
        let before: Vec<_> = batch.iter().map(|write| self.row(&write.row.id)).collect();
        let changed = self.0.disk.apply(change, durability);
        if let Changed::Written(written) = &changed {
            for ((write, before), written) in batch.iter().zip(before).zip(written) {
                let again = before.as_ref().is_some_and(|row| row.write_id == write.row.write_id);
                if *written == Written::Done && !again {
                    self.committed(tab, write, before, durability);
                } else {
                    self.note(|| {
                        format!("tab {tab} write of {} {written:?}", write.row.id.as_str())
                    });
                }
            }
        }
        changed
    }

    pub fn row(&self, id: &OperationId) -> Option<Row> {
        block_on(self.0.disk.live.load(id)).ok().flatten()
    }

    pub fn operation(&self, id: &OperationId) -> Option<Operation> {
        record::decode(&self.row(id)?.document).ok()
    }

    /// What of an operation survives a loss of power.
    pub fn safe(&self, id: &OperationId) -> Option<Operation> {
        let row = block_on(self.0.disk.safe.load(id)).ok().flatten()?;
        record::decode(&row.document).ok()
    }

    fn committed(&self, tab: u64, write: &Write, before: Option<Row>, durability: Durability) {
        let journal = write.journal.iter().map(|line| line.document.as_str());
        let documents = journal.clone().chain([write.row.document.as_str()]);
        if documents.into_iter().any(|text| text.contains(SECRET)) {
            self.breach(|| "a credential is written to the store".into());
        }
        let Ok(after) = record::decode(&write.row.document) else {
            return self.breach(|| format!("a record that cannot be read: {}", write.row.document));
        };
        let before = before.and_then(|row| record::decode(&row.document).ok());
        let events: Vec<String> = journal.filter_map(event_of).collect();
        self.note(|| {
            format!(
                "tab {tab} {} r{} {durability:?}{} {events:?} -> {}",
                after.identity.intent.as_str(),
                after.revision.0,
                write.fence.as_ref().map_or_else(
                    || " unfenced".to_owned(),
                    |fence| format!(" lease {} s", fence.lease_until.since(fence.now) / 1_000),
                ),
                transitions::standing(&after),
            )
        });
        self.take_note(write, &after);
        self.check_owner(write, before.as_ref(), &after);
        if let Some(before) = &before {
            self.check_change(before, &after);
        }
        self.check_strictness(before.as_ref(), &after, durability);
        self.check_ending(before.as_ref(), &after);
        parks::check(self, before.as_ref(), &after);
        let mut oracle = self.0.oracle.borrow_mut();
        oracle.commits += 1;
        for transition in transitions::between(before.as_ref(), &after, &events) {
            *oracle.transitions.entry(transition).or_default() += 1;
        }
    }

    fn take_note(&self, write: &Write, after: &Operation) {
        let mut oracle = self.0.oracle.borrow_mut();
        let identity = &after.identity;
        oracle.keys.insert(identity.key.as_str().into(), identity.id.clone());
        drop(oracle);
        if write.row.due != after.due() || write.row.delivery_due != after.delivery_due() {
            self.breach(|| "the index does not say when it is due".into());
        }
    }

    /// One owner at a time, and the owner alone drives.
    fn check_owner(&self, write: &Write, before: Option<&Operation>, after: &Operation) {
        let Some(fence) = &write.fence else {
            let answered = |own: &Operation| own.counters.polls + own.life.attempts();
            if answered(after) > before.map_or(0, answered) {
                self.breach(|| "a context drives a lane that it does not own".into());
            }
            return;
        };
        let (lane, own) = (fence.lane.as_str().to_owned(), fence.context.as_str().to_owned());
        let mut oracle = self.0.oracle.borrow_mut();
        let last = oracle.owners.insert(lane, (fence.epoch.0, own.clone()));
        drop(oracle);
        if let Some((epoch, owner)) = last
            && (fence.epoch.0 < epoch || (fence.epoch.0 == epoch && owner != own))
        {
            self.breach(|| format!("epoch {} writes after epoch {epoch}", fence.epoch.0));
        }
    }

    /// Identity never changes, evidence grows only, and what is over stays as it is.
    fn check_change(&self, before: &Operation, after: &Operation) {
        if before.identity != after.identity || before.request != after.request {
            self.breach(|| "an operation's identity or request has changed".into());
        }
        if after.revision != before.revision.next() {
            self.breach(|| "a revision is left out".into());
        }
        let (old, new) = (&before.life, &after.life);
        let forgotten = old.evidence.accepted.is_some()
            && old.evidence.accepted != new.evidence.accepted
            || old.evidence.unresolved.is_some()
                && new.evidence.unresolved.is_none()
                && !new.evidence.disproved;
        if forgotten {
            self.breach(|| format!("evidence is forgotten: {:?}", old.evidence));
        }
        if let Stage::Ended { .. } = old.stage
            && old.stage != new.stage
        {
            self.breach(|| "an ending has changed".into());
        }
    }

    /// What must be on the disk before anything follows from it.
    fn check_strictness(
        &self,
        before: Option<&Operation>,
        after: &Operation,
        durability: Durability,
    ) {
        let part = |own: &Operation| {
            let cancel = own.life.cancel.as_ref();
            (
                own.life.attempts(),
                own.life.evidence.accepted.is_some(),
                own.life.is_ended(),
                cancel.is_some(),
                cancel.map(|cancel| cancel.attempts),
            )
        };
        if before.map(part) != Some(part(after)) && durability != Durability::Strict {
            self.breach(|| "a change that must be on the disk is relaxed".into());
        }
    }

    /// An event tells only what is stored, and no secret.
    pub fn told(&self, event: &Event) {
        let id = &event.operation.identity.id;
        let stored = self.row(id).is_some_and(|row| row.revision >= event.operation.revision);
        if !stored {
            self.breach(|| "the app is told what is not stored".into());
        }
        if view(&event.operation).contains(SECRET) {
            self.breach(|| "a credential is told".into());
        }
    }

    pub fn delivered(&self, operation: &Operation) {
        let id = &operation.identity.id;
        if !self.operation(id).is_some_and(|own| own.life.is_ended()) {
            self.breach(|| "an ending is delivered that is not stored".into());
        }
        self.0.oracle.borrow_mut().delivered.insert(id.clone());
    }

    /// The app has been told that its work is taken on.
    pub fn acknowledged(&self, operation: &Operation) {
        let id = operation.identity.id.clone();
        let key = operation.identity.key.as_str().to_owned();
        if self.safe(&id).is_none() {
            self.breach(|| "work is acknowledged that is not on the disk".into());
        }
        self.0.oracle.borrow_mut().acknowledged.insert(id, key);
    }
}

/// The event that a journal line tells of.
pub fn event_of(line: &str) -> Option<String> {
    let rest = line.split_once(r#""event":""#)?.1;
    rest.split_once('"').map(|(event, _)| event.to_owned())
}

/// As much of a text as a line of the trace holds.
fn cut(text: &str) -> &str {
    text.char_indices().nth(160).map_or(text, |(end, _)| &text[..end])
}
