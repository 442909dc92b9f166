//! Rows as plain objects of strings and numbers, and back. What comes back is untrusted: anything
//! may have been written to the database.

use js_sys::{Array, Uint8Array};
use wasm_bindgen::prelude::*;

use crate::driver::ports::store::{JournalRow, Row};
use crate::model::ids::{ContextId, Epoch, LaneId, OperationId, Revision, WriteId};
use crate::model::lane::Lane;
use crate::model::time::{Timestamp, Wait};
use crate::web::promise::{list, object, property, set};

/// A key, or a part of an index, of several parts.
pub(super) fn key(parts: &[JsValue]) -> JsValue {
    list(parts).into()
}

/// A number as it is stored: exact below 2^53 (for milliseconds: for 285,000 years), and the end of
/// time stays the end of time.
pub(super) fn float(number: u64) -> JsValue {
    (number as f64).into()
}

pub(super) fn row_to_js(row: &Row) -> JsValue {
    let out = object(&[
        ("id", row.id.as_str().into()),
        ("account", row.account.as_str().into()),
        ("lane", row.lane.as_str().into()),
        ("createdAt", float(row.created_at.0)),
        ("revision", float(row.revision.0)),
        ("writeId", row.write_id.as_str().into()),
        ("document", row.document.as_str().into()),
    ]);
    if let Some(due) = row.due {
        set(&out, "due", &float(due.0));
    }
    if let Some(due) = row.delivery_due {
        set(&out, "deliveryDue", &float(due.0));
    }
    out
}

/// A row; `None` where nothing is stored.
pub(super) fn some_row_from_js(value: &JsValue) -> Result<Option<Row>, JsValue> {
    if value.is_undefined() { Ok(None) } else { row_from_js(value).map(Some) }
}

pub(super) fn row_from_js(value: &JsValue) -> Result<Row, JsValue> {
    Ok(Row {
        id: OperationId(text(value, "id")?),
        account: text(value, "account")?.as_str().into(),
        lane: LaneId::from_key(text(value, "lane")?),
        created_at: Timestamp(number(value, "createdAt")?),
        due: optional(value, "due")?.map(Timestamp),
        delivery_due: optional(value, "deliveryDue")?.map(Timestamp),
        revision: Revision(number(value, "revision")?),
        write_id: WriteId(text(value, "writeId")?),
        document: text(value, "document")?,
    })
}

pub(super) fn lane_to_js(lane: &Lane) -> JsValue {
    let fields = [
        ("epoch", float(lane.epoch.0)),
        ("renewedAt", float(lane.renewed_at.0)),
        ("leaseUntil", float(lane.lease_until.0)),
    ];
    let out = object(&fields);
    if let Some(owner) = &lane.owner {
        set(&out, "owner", &owner.as_str().into());
    }
    if let Some(gate) = lane.gate {
        set(&out, "gateSetAt", &float(gate.set_at.0));
        set(&out, "gateLengthMs", &float(gate.length_ms));
    }
    out
}

/// The lane under a key; `None` where nothing is stored.
pub(super) fn lane_from_js(id: &LaneId, value: &JsValue) -> Result<Option<Lane>, JsValue> {
    if value.is_undefined() {
        return Ok(None);
    }
    let owner = match property(value, "owner") {
        owner if owner.is_undefined() => None,
        owner => Some(ContextId(string(&owner)?)),
    };
    let gate = match (optional(value, "gateSetAt")?, optional(value, "gateLengthMs")?) {
        (Some(set_at), Some(length_ms)) => Some(Wait { set_at: Timestamp(set_at), length_ms }),
        (None, None) => None,
        _ => return Err(malformed()),
    };
    Ok(Some(Lane {
        id: id.clone(),
        owner,
        epoch: Epoch(number(value, "epoch")?),
        renewed_at: Timestamp(number(value, "renewedAt")?),
        lease_until: Timestamp(number(value, "leaseUntil")?),
        gate,
    }))
}

pub(super) fn entry_to_js(entry: &JournalRow) -> JsValue {
    object(&[("number", entry.number.into()), ("document", entry.document.as_str().into())])
}

pub(super) fn entry_from_js(value: &JsValue) -> Result<JournalRow, JsValue> {
    let number = u32::try_from(number(value, "number")?).map_err(|_| malformed())?;
    Ok(JournalRow { number, document: text(value, "document")? })
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
    if value.is_undefined() { Ok(None) } else { string(value).map(Some) }
}

/// An operation's id; `None` where nothing is stored.
pub(super) fn id_from_js(value: &JsValue) -> Result<Option<OperationId>, JsValue> {
    if value.is_undefined() { Ok(None) } else { Ok(Some(OperationId(string(value)?))) }
}

/// The elements of an answer of many.
pub(super) fn elements<T>(
    value: &JsValue,
    decode: fn(&JsValue) -> Result<T, JsValue>,
) -> Result<Vec<T>, JsValue> {
    let array = value.dyn_ref::<Array>().ok_or_else(malformed)?;
    let mut all = Vec::new();
    for index in 0..array.length() {
        all.push(decode(&array.get(index))?);
    }
    Ok(all)
}

/// What is said of a stored value that this code has not written.
pub(super) fn malformed() -> JsValue {
    "malformed row".into()
}

fn string(value: &JsValue) -> Result<String, JsValue> {
    value.as_string().ok_or_else(malformed)
}

fn text(row: &JsValue, name: &str) -> Result<String, JsValue> {
    string(&property(row, name))
}

fn number(row: &JsValue, name: &str) -> Result<u64, JsValue> {
    optional(row, name)?.ok_or_else(malformed)
}

fn optional(row: &JsValue, name: &str) -> Result<Option<u64>, JsValue> {
    let value = property(row, name);
    if value.is_undefined() {
        return Ok(None);
    }
    // The cast saturates, so that the end of time comes back as the end of time.
    let whole = value.as_f64().filter(|number| *number >= 0.0 && number.fract() == 0.0);
    whole.map(|number| Some(number as u64)).ok_or_else(malformed)
}
