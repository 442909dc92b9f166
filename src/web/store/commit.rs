//! A batch of writes as one transaction: all reads, one judgement a member, all writes.

use std::cell::RefCell;
use std::rc::Rc;

use js_sys::{Array, Uint8Array};
use wasm_bindgen::prelude::*;

use super::Decide;
use super::codec::{
    chunk_key, delete, entry_to_js, float, lane_from_js, lane_to_js, name_key, parts, put,
    row_to_js, some_row_from_js, text_from_js,
};
use super::fields::Fields;
use crate::driver::admission::{Admission, Stored, admit};
use crate::driver::ports::store::{
    ChunkId, Durability, Erase, JournalRow, Name, Row, Unique, Write, Written,
};
use crate::model::ids::{LaneId, OperationId, Revision, WriteId};
use crate::model::journal::JOURNAL_MAX;
use crate::model::lane::Lane;

/// What the script calls a batch, by whether it touches pieces of results, and how durable it is. What erases
/// is strict.
pub(super) fn plan(batch: &[Write], durability: Durability) -> &'static str {
    let erases = batch.iter().any(|write| write.erase > Erase::Nothing);
    let touches = erases || batch.iter().any(|write| write.piece.is_some());
    match durability {
        Durability::Strict if touches => "whole",
        Durability::Relaxed if erases => "whole",
        Durability::Relaxed if touches => "loose",
        Durability::Strict => "strict",
        Durability::Relaxed => "relaxed",
    }
}

/// What a batch reads: of each member the lane, the name and the row beside, absent where it needs
/// none or an earlier member has that lane, then what it takes for its own, and the row last.
pub(super) fn reads(batch: &[Write]) -> Array {
    let reads = Array::new();
    let mut lanes = Vec::new();
    for write in batch {
        let lane = lane_of(write).filter(|lane| !lanes.contains(lane));
        lanes.extend(lane);
        let lane = lane.map(lane_read);
        let name = write.name.as_ref().map(|(name, _)| parts(&["names".into(), name_key(name)]));
        reads.push(&lane.unwrap_or_default());
        reads.push(&name.unwrap_or_default());
        let beside = write.beside.as_ref().map(|own| row_read(&own.row.id));
        reads.push(&beside.unwrap_or_default());
        for unique in &write.takes {
            reads.push(&parts(&["service_ids".into(), unique_key(unique)]));
        }
        reads.push(&row_read(&write.row.id));
    }
    reads
}

/// Judges the members by what was read, gives what is to be written, and leaves the answers.
pub(super) fn decision(batch: Rc<[Write]>, answers: Rc<RefCell<Vec<Written>>>) -> Decide {
    Decide::new(move |found: Array| {
        let mut view = View::default();
        let mut found = Fields::of(found.into());
        for write in batch.iter() {
            view.note(write, &mut found)?;
        }
        let (puts, mut written) = (Array::new(), Vec::new());
        for write in batch.iter() {
            written.push(view.apply(write, &puts));
        }
        view.put_what_is_shared(&puts);
        answers.replace(written);
        Ok(puts)
    })
}

fn row_read(id: &OperationId) -> JsValue {
    parts(&["operations".into(), id.as_str().into()])
}

/// The reading of a lane.
pub(super) fn lane_read(lane: &LaneId) -> JsValue {
    parts(&["lanes".into(), lane.as_str().into()])
}

/// The writing of a lane.
pub(super) fn lane_put(lane: &Lane) -> JsValue {
    put("lanes", &lane_to_js(lane), &lane.id.as_str().into())
}

/// The lane whose row a write needs.
fn lane_of(write: &Write) -> Option<&LaneId> {
    let poked = write.answer_by.map(|_| &write.row.lane);
    write.fence.as_ref().map(|fence| &fence.lane).or(poked)
}

/// The key of what belongs to one operation alone: the service's id under a profile, or a key under
/// account and service.
pub(super) fn unique_key(unique: &Unique) -> JsValue {
    let key = Array::new();
    for part in unique.parts() {
        key.push(&part.into());
    }
    key.into()
}

/// What is known under keys; the newest counts. Batches are short, so that a walk is quicker, and
/// its code much smaller, than a tree.
struct Known<K, V>(Vec<(K, Option<V>)>);

impl<K, V> Default for Known<K, V> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<K: PartialEq, V> Known<K, V> {
    fn put(&mut self, key: K, value: V) {
        self.0.push((key, Some(value)));
    }

    fn remove(&mut self, key: K) {
        self.0.push((key, None));
    }

    fn get(&self, key: &K) -> Option<&V> {
        self.0.iter().rev().find(|(own, _)| own == key)?.1.as_ref()
    }
}

/// The part of the store that a batch rests on, as it stands after the members so far.
#[derive(Default)]
struct View<'a> {
    versions: Known<OperationId, (Revision, WriteId)>,
    lanes: Known<LaneId, Lane>,
    names: Known<Name, OperationId>,
    taken: Known<Unique, OperationId>,
    /// What members have in common, and is written once for all of them: the lanes that have changed, and
    /// the profiles by their digests.
    granted: Vec<LaneId>,
    profiles: Vec<&'a (String, String)>,
}

impl Stored for View<'_> {
    fn version(&self, id: &OperationId) -> Option<(Revision, &WriteId)> {
        self.versions.get(id).map(|(revision, write_id)| (*revision, write_id))
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

impl<'a> View<'a> {
    /// Notes what was found for a member.
    fn note(&mut self, write: &Write, found: &mut Fields) -> Result<(), JsValue> {
        let (lane, name, beside) = (found.value(), found.value(), found.value());
        if let Some(id) = lane_of(write)
            && let Some(lane) = lane_from_js(id, lane)?
        {
            self.lanes.put(id.clone(), lane);
        }
        if let Some((own, _)) = &write.name
            && let Some(id) = text_from_js(&name)?
        {
            self.names.put(own.clone(), OperationId(id));
        }
        for unique in &write.takes {
            if let Some(id) = text_from_js(&found.value())? {
                self.taken.put(unique.clone(), OperationId(id));
            }
        }
        for row in [beside, found.value()] {
            if let Some(row) = some_row_from_js(row)? {
                self.versions.put(row.id, (row.revision, row.write_id));
            }
        }
        Ok(())
    }

    /// Writes a member whole, or not at all.
    fn apply(&mut self, write: &'a Write, puts: &Array) -> Written {
        let lane = match admit(self, write) {
            Admission::Answered(written) => return written,
            Admission::Granted(lane) => lane,
        };
        let row = &write.row;
        let id = JsValue::from(row.id.as_str());
        if let Some(lane) = lane {
            if !self.granted.contains(&lane.id) {
                self.granted.push(lane.id.clone());
            }
            self.lanes.put(lane.id.clone(), lane);
        }
        if write.erase > Erase::Nothing {
            for store in ["bodies", "chunks", "journal"] {
                puts.push(&delete(store, &id));
            }
        }
        if write.erase == Erase::Everything {
            self.erase(write, puts);
            return Written::Done;
        }
        self.put_row(row, &write.journal, puts);
        if let Some(beside) = &write.beside {
            self.put_row(&beside.row, &beside.journal, puts);
        }
        if let Some((name, _)) = &write.name {
            puts.push(&put("names", &id, &name_key(name)));
            self.names.put(name.clone(), row.id.clone());
        }
        for unique in &write.takes {
            puts.push(&put("service_ids", &id, &unique_key(unique)));
            self.taken.put(unique.clone(), row.id.clone());
        }
        if let Some(body) = write.new_body() {
            puts.push(&put("bodies", &Uint8Array::from(body).into(), &id));
        }
        if let Some(piece) = &write.piece {
            let key = chunk_key(&ChunkId::of(&row.id, piece));
            puts.push(&put("chunks", &Uint8Array::from(piece.bytes.as_slice()).into(), &key));
        }
        self.profiles.extend(&write.profile);
        Written::Done
    }

    fn put_what_is_shared(&mut self, puts: &Array) {
        for lane in self.granted.iter().filter_map(|id| self.lanes.get(id)) {
            puts.push(&lane_put(lane));
        }
        // Those of one digest are the same text.
        self.profiles.dedup_by_key(|(digest, _)| digest.as_str());
        for (digest, text) in &self.profiles {
            puts.push(&put("profiles", &text.into(), &digest.into()));
        }
    }

    fn erase(&mut self, write: &Write, puts: &Array) {
        let id = &write.row.id;
        puts.push(&delete("operations", &id.as_str().into()));
        self.versions.remove(id.clone());
        if let Some((name, _)) = &write.name
            && self.names.get(name) == Some(id)
        {
            puts.push(&delete("names", &name_key(name)));
            self.names.remove(name.clone());
        }
        for unique in &write.takes {
            if self.taken.get(unique) == Some(id) {
                puts.push(&delete("service_ids", &unique_key(unique)));
                self.taken.remove(unique.clone());
            }
        }
    }

    fn put_row(&mut self, row: &Row, journal: &[JournalRow], puts: &Array) {
        // The row names itself.
        puts.push(&parts(&["operations".into(), row_to_js(row)]));
        self.versions.put(row.id.clone(), (row.revision, row.write_id.clone()));
        for entry in journal {
            let slot = float((entry.number % JOURNAL_MAX).into());
            let place = parts(&[row.id.as_str().into(), slot]);
            puts.push(&put("journal", &entry_to_js(entry), &place));
        }
    }
}
