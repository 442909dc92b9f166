//! A batch of writes as one transaction: all reads, one judgement a member, all writes.

use std::cell::RefCell;
use std::rc::Rc;

use js_sys::Uint8Array;
use wasm_bindgen::prelude::*;
use web_sys::IdbRequest;

use super::codec::{
    entry_to_js, float, id_from_js, key, lane_from_js, lane_to_js, row_to_js, some_row_from_js,
};
use super::read::all_of;
use super::schema::{BODIES, CHUNKS, JOURNAL, LANES, NAMES, OPERATIONS, PROFILES, SERVICE_IDS};
use super::transaction::{Step, Transaction};
use crate::driver::admission::{Admission, Stored, admit};
use crate::driver::ports::store::{Erase, JournalRow, Name, Row, Unique, Write, Written};
use crate::model::ids::{LaneId, OperationId, Revision, WriteId};
use crate::model::journal::JOURNAL_MAX;
use crate::model::lane::Lane;

/// What a commit may touch; the last only where something is erased.
const STORES: [&str; 8] =
    [OPERATIONS, BODIES, JOURNAL, NAMES, SERVICE_IDS, LANES, PROFILES, CHUNKS];

/// The stores that a batch touches.
pub(super) fn stores(batch: &[Write]) -> &'static [&'static str] {
    let erases = batch.iter().any(|write| write.erase > Erase::Nothing);
    &STORES[..STORES.len() - usize::from(!erases)]
}

/// Makes the reads of a batch; the step judges and writes, and leaves its answers.
pub(super) fn begin(
    transaction: &Transaction,
    batch: &Rc<[Write]>,
    answers: &Rc<RefCell<Vec<Written>>>,
) -> Result<Step, JsValue> {
    let mut reads = Vec::new();
    for write in batch.iter() {
        reads.push(Reads::of(transaction, write)?);
    }
    if let Some(last) = reads.last().map(Reads::last) {
        transaction.follow(last);
    }
    let (batch, answers) = (batch.clone(), answers.clone());
    Ok(Box::new(move |transaction, _| {
        let mut view = View::default();
        for (write, reads) in batch.iter().zip(&reads) {
            reads.note(write, &mut view)?;
        }
        let mut written = Vec::new();
        for write in batch.iter() {
            written.push(view.apply(transaction, write)?);
        }
        answers.replace(written);
        Ok(())
    }))
}

/// The lane whose row a write needs.
fn lane_of(write: &Write) -> Option<&LaneId> {
    let poked = write.answer_by.map(|_| &write.row.lane);
    write.fence.as_ref().map(|fence| &fence.lane).or(poked)
}

/// The key of a name.
pub(super) fn name_key(name: &Name) -> JsValue {
    key(&[name.account.as_str().into(), name.service.as_str().into(), name.intent.as_str().into()])
}

fn unique_key(unique: &Unique) -> JsValue {
    let parts: Vec<JsValue> = unique.parts().into_iter().map(JsValue::from).collect();
    key(&parts)
}

/// The requests that tell what a write rests on.
struct Reads {
    lane: Option<IdbRequest>,
    name: Option<IdbRequest>,
    takes: Vec<IdbRequest>,
    body: Option<IdbRequest>,
    profile: Option<IdbRequest>,
    beside: Option<IdbRequest>,
    /// Made last.
    row: IdbRequest,
}

impl Reads {
    fn of(transaction: &Transaction, write: &Write) -> Result<Self, JsValue> {
        let get = |store: &str, key: Option<JsValue>| {
            key.map(|key| transaction.store(store)?.get(&key)).transpose()
        };
        // Whether there is one is all that matters, and it may be large.
        let exists = |store: &str, key: Option<&str>| {
            key.map(|key| transaction.store(store)?.get_key(&key.into())).transpose()
        };
        let mut takes = Vec::new();
        for unique in &write.takes {
            takes.push(transaction.store(SERVICE_IDS)?.get(&unique_key(unique))?);
        }
        let id = write.row.id.as_str();
        let digest = write.profile.as_ref().map(|(digest, _)| digest.as_str());
        Ok(Self {
            lane: get(LANES, lane_of(write).map(|lane| lane.as_str().into()))?,
            name: get(NAMES, write.name.as_ref().map(|(name, _)| name_key(name)))?,
            takes,
            body: exists(BODIES, write.body.as_ref().map(|_| id))?,
            profile: exists(PROFILES, digest)?,
            beside: get(OPERATIONS, write.beside.as_ref().map(|own| own.row.id.as_str().into()))?,
            row: transaction.store(OPERATIONS)?.get(&id.into())?,
        })
    }

    const fn last(&self) -> &IdbRequest {
        &self.row
    }

    /// Notes what was found.
    fn note(&self, write: &Write, view: &mut View) -> Result<(), JsValue> {
        let id = &write.row.id;
        for request in self.beside.iter().chain([&self.row]) {
            if let Some(row) = some_row_from_js(&request.result()?)? {
                view.versions.put(row.id, (row.revision, row.write_id));
            }
        }
        if let (Some(request), Some(lane)) = (&self.lane, lane_of(write))
            && let Some(found) = lane_from_js(lane, &request.result()?)?
        {
            view.lanes.put(lane.clone(), found);
        }
        if let (Some(request), Some((name, _))) = (&self.name, &write.name)
            && let Some(found) = id_from_js(&request.result()?)?
        {
            view.names.put(name.clone(), found);
        }
        for (request, unique) in self.takes.iter().zip(&write.takes) {
            if let Some(found) = id_from_js(&request.result()?)? {
                view.taken.put(unique.clone(), found);
            }
        }
        if let Some(request) = &self.body
            && !request.result()?.is_undefined()
        {
            view.bodies.put(id.clone(), ());
        }
        if let (Some(request), Some((digest, _))) = (&self.profile, &write.profile)
            && !request.result()?.is_undefined()
        {
            view.profiles.put(digest.clone(), ());
        }
        Ok(())
    }
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
struct View {
    versions: Known<OperationId, (Revision, WriteId)>,
    lanes: Known<LaneId, Lane>,
    names: Known<Name, OperationId>,
    taken: Known<Unique, OperationId>,
    bodies: Known<OperationId, ()>,
    profiles: Known<String, ()>,
}

impl Stored for View {
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

impl View {
    /// Writes a member whole, or not at all.
    fn apply(&mut self, transaction: &Transaction, write: &Write) -> Result<Written, JsValue> {
        let lane = match admit(self, write) {
            Admission::Answered(written) => return Ok(written),
            Admission::Granted(lane) => lane,
        };
        let put = |store: &str, key: &JsValue, value: &JsValue| {
            transaction.store(store)?.put_with_key(value, key)
        };
        let row = &write.row;
        let id = JsValue::from(row.id.as_str());
        if let Some(lane) = lane {
            put(LANES, &lane.id.as_str().into(), &lane_to_js(&lane))?;
            self.lanes.put(lane.id.clone(), lane);
        }
        if write.erase > Erase::Nothing {
            self.erase_content(transaction, &row.id)?;
        }
        if write.erase == Erase::Everything {
            self.erase(transaction, write)?;
            return Ok(Written::Done);
        }
        self.put_row(transaction, row, &write.journal)?;
        if let Some(beside) = &write.beside {
            self.put_row(transaction, &beside.row, &beside.journal)?;
        }
        if let Some((name, _)) = &write.name {
            put(NAMES, &name_key(name), &id)?;
            self.names.put(name.clone(), row.id.clone());
        }
        for unique in &write.takes {
            put(SERVICE_IDS, &unique_key(unique), &id)?;
            self.taken.put(unique.clone(), row.id.clone());
        }
        if let Some(body) = write.body.as_ref().filter(|_| self.bodies.get(&row.id).is_none()) {
            put(BODIES, &id, &Uint8Array::from(body.as_slice()))?;
            self.bodies.put(row.id.clone(), ());
        }
        if let Some((digest, text)) = &write.profile
            && self.profiles.get(digest).is_none()
        {
            put(PROFILES, &digest.into(), &text.into())?;
            self.profiles.put(digest.clone(), ());
        }
        Ok(Written::Done)
    }

    fn erase_content(
        &mut self,
        transaction: &Transaction,
        id: &OperationId,
    ) -> Result<(), JsValue> {
        let own = JsValue::from(id.as_str());
        transaction.store(BODIES)?.delete(&own)?;
        let parts = all_of(&own)?;
        transaction.store(CHUNKS)?.delete(&parts)?;
        transaction.store(JOURNAL)?.delete(&parts)?;
        self.bodies.remove(id.clone());
        Ok(())
    }

    fn erase(&mut self, transaction: &Transaction, write: &Write) -> Result<(), JsValue> {
        let id = &write.row.id;
        transaction.store(OPERATIONS)?.delete(&id.as_str().into())?;
        self.versions.remove(id.clone());
        if let Some((name, _)) = &write.name
            && self.names.get(name) == Some(id)
        {
            transaction.store(NAMES)?.delete(&name_key(name))?;
            self.names.remove(name.clone());
        }
        for unique in &write.takes {
            if self.taken.get(unique) == Some(id) {
                transaction.store(SERVICE_IDS)?.delete(&unique_key(unique))?;
                self.taken.remove(unique.clone());
            }
        }
        Ok(())
    }

    fn put_row(
        &mut self,
        transaction: &Transaction,
        row: &Row,
        journal: &[JournalRow],
    ) -> Result<(), JsValue> {
        transaction.store(OPERATIONS)?.put(&row_to_js(row))?;
        self.versions.put(row.id.clone(), (row.revision, row.write_id.clone()));
        for entry in journal {
            let slot = float((entry.number % JOURNAL_MAX).into());
            let place = key(&[row.id.as_str().into(), slot]);
            transaction.store(JOURNAL)?.put_with_key(&entry_to_js(entry), &place)?;
        }
        Ok(())
    }
}
