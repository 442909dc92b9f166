//! Rows as lists of strings and numbers, in the order that the script has for each object store, and
//! back.

use js_sys::{Array, Uint8Array};
use wasm_bindgen::prelude::*;

use super::fields::{Fields, malformed};
use crate::driver::ports::store::{ChunkId, Due, JournalRow, Name, Queue, Row};
use crate::model::ids::{Account, ContextId, Epoch, LaneId, OperationId, Revision, WriteId};
use crate::model::lane::{Lane, Sent};
use crate::model::time::{Timestamp, Wait};
use crate::web::promise::list;

/// A list as a value: a key of several parts, or a row.
pub(super) fn parts(parts: &[JsValue]) -> JsValue {
    list(parts).into()
}

/// A number as it is stored: exact below 2^53 (for milliseconds: for 285,000 years), and the end of
/// time stays the end of time.
pub(super) fn float(number: u64) -> JsValue {
    (number as f64).into()
}

fn some_float(number: Option<u64>) -> JsValue {
    number.map_or(JsValue::UNDEFINED, float)
}

/// The key of a name.
pub(super) fn name_key(name: &Name) -> JsValue {
    parts(&[
        name.account.as_str().into(),
        name.service.as_str().into(),
        name.intent.as_str().into(),
    ])
}

/// The key of a piece of a result.
pub(super) fn chunk_key(chunk: &ChunkId) -> JsValue {
    parts(&[chunk.operation.as_str().into(), float(chunk.download), chunk.index.into()])
}

pub(super) fn row_to_js(row: &Row) -> JsValue {
    parts(&[
        row.id.as_str().into(),
        row.account.as_str().into(),
        row.lane.as_str().into(),
        float(row.created_at.0),
        some_float(row.due.map(|due| due.0)),
        some_float(row.delivery_due.map(|due| due.0)),
        float(row.revision.0),
        row.write_id.as_str().into(),
        row.document.as_str().into(),
    ])
}

/// A row; `None` where nothing is stored.
pub(super) fn some_row_from_js(value: JsValue) -> Result<Option<Row>, JsValue> {
    if value.is_undefined() { Ok(None) } else { row_from_js(value).map(Some) }
}

fn row_from_js(value: JsValue) -> Result<Row, JsValue> {
    let mut fields = Fields::of(value);
    let row = Row {
        id: OperationId(fields.text()),
        account: Account(fields.text()),
        lane: LaneId::from_key(fields.text()),
        created_at: Timestamp(fields.number()),
        due: fields.some_number().map(Timestamp),
        delivery_due: fields.some_number().map(Timestamp),
        revision: Revision(fields.number()),
        write_id: WriteId(fields.text()),
        document: fields.text(),
    };
    fields.settle(row)
}

pub(super) fn rows_from_js(value: JsValue) -> Result<Vec<Row>, JsValue> {
    let mut fields = Fields::of(value);
    let mut rows = Vec::new();
    for _ in 0..fields.count() {
        rows.push(row_from_js(fields.value())?);
    }
    fields.settle(rows)
}

/// What is due: the rows, one more than wanted, and the first that is later.
pub(super) fn due_from_js(value: JsValue, queue: Queue, limit: u32) -> Result<Due, JsValue> {
    let mut fields = Fields::of(value);
    let mut rows = rows_from_js(fields.value())?;
    let later = some_row_from_js(fields.value())?;
    let first_out = if rows.len() > limit as usize { rows.pop() } else { later };
    let next = first_out.and_then(|row| match queue {
        Queue::Work => row.due,
        Queue::Delivery => row.delivery_due,
    });
    Ok(Due { rows, next })
}

pub(super) fn lane_to_js(lane: &Lane) -> JsValue {
    parts(&[
        lane.owner.as_ref().map_or(JsValue::UNDEFINED, |owner| owner.as_str().into()),
        float(lane.epoch.0),
        float(lane.renewed_at.0),
        float(lane.lease_until.0),
        some_float(lane.gate.map(|gate| gate.set_at.0)),
        some_float(lane.gate.map(|gate| gate.length_ms)),
        sent_to_js(&lane.sent),
    ])
}

/// What has left: times and counts, one after the other.
fn sent_to_js(sent: &Sent) -> JsValue {
    if sent.is_empty() {
        return JsValue::UNDEFINED;
    }
    let all = Array::new();
    for (at, count) in sent {
        all.push(&float(at.0));
        all.push(&(*count).into());
    }
    all.into()
}

fn sent_from_js(value: JsValue) -> Result<Sent, JsValue> {
    let mut sent = Sent::new();
    if value.is_undefined() {
        return Ok(sent);
    }
    let mut fields = Fields::of(value);
    for _ in 0..fields.count() / 2 {
        let at = Timestamp(fields.number());
        sent.push((at, u32::try_from(fields.number()).unwrap_or(u32::MAX)));
    }
    fields.settle(sent)
}

/// The lane under a key; `None` where nothing is stored.
pub(super) fn lane_from_js(id: &LaneId, value: JsValue) -> Result<Option<Lane>, JsValue> {
    if value.is_undefined() {
        return Ok(None);
    }
    let mut fields = Fields::of(value);
    let owner = fields.some_text().map(ContextId);
    let epoch = Epoch(fields.number());
    let renewed_at = Timestamp(fields.number());
    let lease_until = Timestamp(fields.number());
    let (set_at, length_ms) = (fields.some_number(), fields.some_number());
    if set_at.is_some() != length_ms.is_some() {
        fields.refuse();
    }
    let gate = set_at.zip(length_ms);
    let gate = gate.map(|(set_at, length_ms)| Wait { set_at: Timestamp(set_at), length_ms });
    let sent = sent_from_js(fields.value())?;
    fields.settle(Some(Lane { id: id.clone(), owner, epoch, renewed_at, lease_until, gate, sent }))
}

pub(super) fn entry_to_js(entry: &JournalRow) -> JsValue {
    parts(&[entry.number.into(), entry.document.as_str().into()])
}

/// Journal entries, in the order that the script gives.
pub(super) fn entries_from_js(value: JsValue) -> Result<Vec<JournalRow>, JsValue> {
    let mut fields = Fields::of(value);
    let mut entries = Vec::new();
    for _ in 0..fields.count() {
        let mut own = Fields::of(fields.value());
        let number = u32::try_from(own.number()).map_err(|_| malformed())?;
        let document = own.text();
        entries.push(own.settle(JournalRow { number, document })?);
    }
    fields.settle(entries)
}

/// Bytes; `None` where nothing is stored.
pub(super) fn bytes_from_js(value: &JsValue) -> Result<Option<Vec<u8>>, JsValue> {
    if value.is_undefined() {
        return Ok(None);
    }
    value.dyn_ref::<Uint8Array>().map(|bytes| Some(bytes.to_vec())).ok_or_else(malformed)
}

/// A text; `None` where nothing is stored.
pub(super) fn text_from_js(value: &JsValue) -> Result<Option<String>, JsValue> {
    let text = value.as_string();
    if text.is_none() && !value.is_undefined() { Err(malformed()) } else { Ok(text) }
}

/// What is written to an object store under a key.
pub(super) fn put(store: &str, value: &JsValue, key: &JsValue) -> JsValue {
    Array::of3(&store.into(), value, key).into()
}

/// What goes from an object store: what is under a key, or all pieces that belong to it.
pub(super) fn delete(store: &str, key: &JsValue) -> JsValue {
    put(store, &JsValue::UNDEFINED, key)
}
