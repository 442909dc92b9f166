//! The promises about what is written, and what is told; they are checked as it goes.

mod changes;
mod removal;

use holdfast::driver::ports::Store;
use holdfast::driver::ports::store::{Durability, Erase, JournalRow, Row, Write, Written};
use holdfast::engine::event::Event;
use holdfast::model::lane::Fence;
use holdfast::model::operation::Operation;
use holdfast::record::view::view;
use pollster::block_on;

use super::oracle::{Birth, Member};
use super::parks;
use super::rows::event_of;
use super::store::{Change, Changed};
use super::transitions;
use super::world::{SECRET, World};

impl World {
    /// Carries a change out, and looks at what it does.
    pub fn apply(&self, tab: u64, change: Change, durability: Durability) -> Changed {
        let Change::Commit(batch) = &change else {
            let changed = self.0.disk.apply(change.clone(), durability);
            self.check_piece(&change, &changed);
            self.note(|| format!("{} -> {changed:?}", cut(&format!("tab {tab} {change:?}"))));
            return changed;
        };
        let batch = batch.clone();
        let before: Vec<_> = batch.iter().map(|write| self.row(&write.row.id)).collect();
        let beside = |write: &Write| write.beside.as_ref().and_then(|own| self.row(&own.row.id));
        let beside: Vec<_> = batch.iter().map(beside).collect();
        let changed = self.0.disk.apply(change, durability);
        if let Changed::Written(written) = &changed {
            for (((write, before), beside), written) in
                batch.iter().zip(before).zip(beside).zip(written)
            {
                let again = before.as_ref().is_some_and(|row| row.write_id == write.row.write_id);
                let gone = before.is_none() && write.erase == Erase::Everything;
                if *written == Written::Done && !again && !gone {
                    let change = Commit::of(tab, write, durability);
                    self.committed(&change, before);
                    if let Some(other) = &write.beside {
                        let (row, journal) = (&other.row, other.journal.as_slice());
                        let erase = Erase::Nothing;
                        self.committed(&Commit { row, journal, erase, ..change }, beside);
                    }
                } else {
                    self.note(|| {
                        format!("tab {tab} write of {} {written:?}", write.row.id.as_str())
                    });
                }
            }
        }
        changed
    }

    /// A piece of a result is kept only under the epoch in which its download began, and of nothing that is
    /// deleted.
    fn check_piece(&self, change: &Change, changed: &Changed) {
        let (Change::Chunk(lane, epoch, piece, _), Changed::Chunk(true)) = (change, changed) else {
            return;
        };
        let lane = block_on(self.0.disk.live.lane(lane)).ok().flatten();
        let owned = lane.is_some_and(|own| own.is_driven_under(*epoch));
        let operation = self.operation(&piece.operation);
        if !owned || operation.is_none_or(|own| own.life.purged.is_some()) {
            self.breach(|| "a piece is kept of what another drives, or is deleted".into());
        }
    }

    fn committed(&self, commit: &Commit<'_>, before: Option<Row>) {
        let row = commit.row;
        let journal = commit.journal.iter().map(|line| line.document.as_str());
        let documents = journal.clone().chain([row.document.as_str()]);
        if documents.into_iter().any(|text| text.contains(SECRET)) {
            self.breach(|| "a credential is written to the store".into());
        }
        let Some(after) = self.read(row) else {
            return self.breach(|| format!("a record that cannot be read: {}", row.document));
        };
        let (before, after) = (before.and_then(|row| self.read(&row)), after.as_ref());
        let before = before.as_deref();
        let events: Vec<String> = journal.filter_map(event_of).collect();
        self.note(|| commit.told(after, &events));
        self.take_note(row, before.is_none(), after);
        self.check_owner(commit.fence, before, after);
        if let Some(before) = before {
            self.check_change(before, after);
            self.check_removal(commit.erase, before, after, &events);
            self.check_said(&events, before, after);
        }
        self.check_strictness(before, after, commit.durability);
        self.check_ending(before, after);
        parks::check(self, before, after, &events);
        let mut oracle = self.0.oracle.borrow_mut();
        oracle.commits += 1;
        for transition in transitions::between(before, after, &events) {
            *oracle.transitions.entry(transition).or_default() += 1;
        }
    }

    fn take_note(&self, row: &Row, is_new: bool, after: &Operation) {
        if row.due != after.due() || row.delivery_due != after.delivery_due() {
            self.breach(|| "the index does not say when it is due".into());
        }
        if !is_new {
            return;
        }
        let birth = self.birth_of(after);
        let mut oracle = self.0.oracle.borrow_mut();
        let id = after.identity.id.clone();
        let other = oracle.members.insert(birth.whose.clone(), id.clone());
        let free = oracle.freed.contains(&birth.whose.0);
        oracle.births.insert(id, birth);
        drop(oracle);
        if other.is_some() && !free {
            self.breach(|| "one intent has two operations".into());
        }
    }

    fn birth_of(&self, own: &Operation) -> Birth {
        let identity = &own.identity;
        let work = format!("{}/{}", identity.account.as_str(), identity.intent.as_str());
        let whose = (work, u64::from(identity.ordinal));
        let oracle = self.0.oracle.borrow();
        let parent = identity.parent.as_ref().and_then(|id| oracle.births.get(id));
        let Some(parent) = parent else {
            return Birth { whose, reruns: 0, corrected: false };
        };
        if own.request.content_type.is_none() {
            return Birth { whose, reruns: parent.reruns + 1, corrected: parent.corrected };
        }
        Birth { whose, reruns: 0, corrected: true }
    }

    /// Which member of which lineage an operation is.
    pub fn whose(&self, own: &Operation) -> Member {
        let oracle = self.0.oracle.borrow();
        oracle.births.get(&own.identity.id).map(|own| own.whose.clone()).unwrap_or_default()
    }

    /// An event tells only what is stored, and no secret.
    pub fn told(&self, event: &Event) {
        let id = &event.operation.identity.id;
        let stored = self.row(id).is_some_and(|row| row.revision >= event.operation.revision);
        if !stored && !self.0.oracle.borrow().erased.contains(id) {
            self.breach(|| "the app is told what is not stored".into());
        }
        if view(&event.operation).contains(SECRET) {
            self.breach(|| "a credential is told".into());
        }
    }

    pub fn delivered(&self, operation: &Operation) {
        let id = &operation.identity.id;
        let erased = self.0.oracle.borrow().erased.contains(id);
        if !erased && !self.operation(id).is_some_and(|own| own.life.is_ended()) {
            self.breach(|| "an ending is delivered that is not stored".into());
        }
        self.0.oracle.borrow_mut().delivered.insert(id.clone());
    }

    /// The app has been told that its work is taken on.
    pub fn acknowledged(&self, operation: &Operation) {
        let id = operation.identity.id.clone();
        let key = operation.identity.key.as_str().to_owned();
        let erased = self.0.oracle.borrow().erased.contains(&id);
        if !erased && self.safe(&id).is_none() {
            self.breach(|| "work is acknowledged that is not on the disk".into());
        }
        self.0.oracle.borrow_mut().acknowledged.insert(id, key);
    }
}

/// One operation's part of a commit.
#[derive(Clone, Copy)]
struct Commit<'a> {
    tab: u64,
    row: &'a Row,
    journal: &'a [JournalRow],
    fence: Option<&'a Fence>,
    erase: Erase,
    durability: Durability,
}

impl<'a> Commit<'a> {
    fn of(tab: u64, write: &'a Write, durability: Durability) -> Self {
        let (row, journal, fence) = (&write.row, write.journal.as_slice(), write.fence.as_ref());
        Self { tab, row, journal, fence, erase: write.erase, durability }
    }

    fn told(&self, after: &Operation, events: &[String]) -> String {
        format!(
            "tab {} {} r{} {:?}{} {events:?} -> {}",
            self.tab,
            after.identity.intent.as_str(),
            after.revision.0,
            self.durability,
            self.fence.map_or_else(
                || " unfenced".to_owned(),
                |fence| format!(" lease {} s", fence.lease_until.since(fence.now) / 1_000),
            ),
            transitions::standing(after),
        )
    }
}

/// As much of a text as a line of the trace holds.
fn cut(text: &str) -> &str {
    text.char_indices().nth(160).map_or(text, |(end, _)| &text[..end])
}
