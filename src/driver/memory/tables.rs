//! The tables of a store in memory, with their indexes.

use std::collections::BTreeMap;

use super::index::{Index, Place};
use crate::driver::admission::{Admission, Stored, admit};
use crate::driver::ports::store::{
    ChunkId, Due, Erase, JournalRow, Name, Queue, Row, Unique, Write, Written,
};
use crate::model::ids::{Account, LaneId, OperationId, Revision, WriteId};
use crate::model::journal::JOURNAL_MAX;
use crate::model::lane::Lane;
use crate::model::time::Timestamp;

/// All tables. A change is made to a row and to its indexes together.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Tables {
    operations: BTreeMap<OperationId, Row>,
    by_due: Index<LaneId>,
    by_delivery_due: Index<LaneId>,
    by_creation: Index<Account>,
    journal: BTreeMap<(OperationId, u32), JournalRow>,
    pub(super) profiles: BTreeMap<String, String>,
    taken: BTreeMap<Unique, OperationId>,
    pub(super) bodies: BTreeMap<OperationId, Vec<u8>>,
    pub(super) chunks: BTreeMap<ChunkId, Vec<u8>>,
    pub(super) lanes: BTreeMap<LaneId, Lane>,
    pub(super) names: BTreeMap<Name, OperationId>,
}

impl Stored for Tables {
    fn version(&self, id: &OperationId) -> Option<(Revision, &WriteId)> {
        self.operations.get(id).map(|row| (row.revision, &row.write_id))
    }

    fn lane(&self, id: &LaneId) -> Option<&Lane> {
        self.lanes.get(id)
    }

    fn named(&self, name: &Name) -> Option<&OperationId> {
        self.names.get(name)
    }

    fn owner(&self, unique: &Unique) -> Option<&OperationId> {
        self.taken.get(unique)
    }
}

impl Tables {
    /// Writes a member whole, or not at all.
    pub(super) fn apply(&mut self, write: &Write) -> Written {
        let lane = match admit(self, write) {
            Admission::Answered(written) => return written,
            Admission::Granted(lane) => lane,
        };
        let id = &write.row.id;
        if let Some(lane) = lane {
            self.lanes.insert(lane.id.clone(), lane);
        }
        if write.erase > Erase::Nothing {
            self.erase_content(id);
        }
        if write.erase == Erase::Everything {
            self.erase(write);
            return Written::Done;
        }
        self.put_row(&write.row);
        if let Some((name, _)) = &write.name {
            self.names.insert(name.clone(), id.clone());
        }
        for unique in &write.takes {
            self.taken.insert(unique.clone(), id.clone());
        }
        if let Some(body) = write.new_body() {
            self.bodies.insert(id.clone(), body.to_vec());
        }
        if let Some(piece) = &write.piece {
            self.chunks.insert(ChunkId::of(id, piece), piece.bytes.clone());
        }
        if let Some((digest, text)) = &write.profile {
            self.profiles.entry(digest.clone()).or_insert_with(|| text.clone());
        }
        self.put_journal(id, &write.journal);
        if let Some(beside) = &write.beside {
            self.put_row(&beside.row);
            self.put_journal(&beside.row.id, &beside.journal);
        }
        Written::Done
    }

    fn put_journal(&mut self, id: &OperationId, entries: &[JournalRow]) {
        for entry in entries {
            self.journal.insert((id.clone(), entry.number % JOURNAL_MAX), entry.clone());
        }
    }

    fn erase_content(&mut self, id: &OperationId) {
        self.bodies.remove(id);
        self.chunks.retain(|chunk, _| chunk.operation != *id);
        self.journal.retain(|(own, _), _| own != id);
    }

    fn erase(&mut self, write: &Write) {
        let id = &write.row.id;
        self.take_row(id);
        if let Some((name, _)) = &write.name
            && self.names.get(name) == Some(id)
        {
            self.names.remove(name);
        }
        for unique in &write.takes {
            if self.taken.get(unique) == Some(id) {
                self.taken.remove(unique);
            }
        }
    }

    fn take_row(&mut self, id: &OperationId) {
        if let Some(old) = self.operations.remove(id) {
            self.by_creation.remove(&old.account, old.created_at, &old.id);
            if let Some(due) = old.due {
                self.by_due.remove(&old.lane, due, &old.id);
            }
            if let Some(due) = old.delivery_due {
                self.by_delivery_due.remove(&old.lane, due, &old.id);
            }
        }
    }

    fn put_row(&mut self, row: &Row) {
        self.take_row(&row.id);
        self.operations.insert(row.id.clone(), row.clone());
        self.by_creation.insert(&row.account, row.created_at, &row.id);
        if let Some(due) = row.due {
            self.by_due.insert(&row.lane, due, &row.id);
        }
        if let Some(due) = row.delivery_due {
            self.by_delivery_due.insert(&row.lane, due, &row.id);
        }
    }

    pub(super) fn row(&self, id: &OperationId) -> Option<&Row> {
        self.operations.get(id)
    }

    pub(super) fn due(&self, lane: &LaneId, queue: Queue, before: Timestamp, limit: u32) -> Due {
        let index = match queue {
            Queue::Work => &self.by_due,
            Queue::Delivery => &self.by_delivery_due,
        };
        let mut due = Due::default();
        for (at, id) in index.of(lane) {
            if *at > before || due.rows.len() >= limit as usize {
                due.next = Some(*at);
                break;
            }
            due.rows.extend(self.row(id).cloned());
        }
        due
    }

    pub(super) fn list(&self, account: &Account, cursor: Option<&Place>, limit: u32) -> Vec<Row> {
        let places = self.by_creation.back_from(account, cursor);
        places.take(limit as usize).filter_map(|(_, id)| self.row(id)).cloned().collect()
    }

    pub(super) fn journal(&self, id: &OperationId) -> Vec<JournalRow> {
        let slots = (id.clone(), 0)..(id.clone(), JOURNAL_MAX);
        let mut entries: Vec<_> = self.journal.range(slots).map(|(_, row)| row.clone()).collect();
        entries.sort_by_key(|entry| entry.number);
        entries
    }
}
