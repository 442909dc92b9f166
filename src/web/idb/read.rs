//! What reading transactions ask for, and what they make of the answers.

use wasm_bindgen::prelude::*;
use web_sys::{IdbCursorDirection, IdbCursorWithValue, IdbKeyRange};

use super::Found;
use super::codec::{elements, entry_from_js, float, id_from_js, key, malformed, row_from_js};
use super::commit::name_key;
use super::schema::{BY_CREATION, BY_DELIVERY_DUE, BY_DUE, JOURNAL, NAMES, OPERATIONS};
use super::transaction::{Step, Transaction};
use crate::driver::ports::store::{Due, JournalRow, Name, Queue, Row};
use crate::model::ids::{Account, LaneId, OperationId};
use crate::model::time::Timestamp;

/// A step that leaves the decoded answer.
pub(super) fn into<T: 'static>(
    found: Found<T>,
    decode: impl Fn(&JsValue) -> Result<T, JsValue> + 'static,
) -> Step {
    Box::new(move |_, value| {
        found.replace(Some(decode(&value)?));
        Ok(())
    })
}

/// A row; `None` where nothing is stored.
pub(super) fn row(value: &JsValue) -> Result<Option<Row>, JsValue> {
    if value.is_undefined() { Ok(None) } else { row_from_js(value).map(Some) }
}

/// After every key that begins with the parts before it: arrays sort after numbers and strings.
fn end() -> JsValue {
    js_sys::Array::new().into()
}

/// The row that a name leads to: two reads, the second made when the first has told where.
pub(super) fn find(
    transaction: &Transaction,
    name: &Name,
    found: Found<Option<Row>>,
) -> Result<Step, JsValue> {
    transaction.follow(&transaction.store(NAMES)?.get(&name_key(name))?);
    let mut is_named = false;
    Ok(Box::new(move |transaction, value| {
        if is_named {
            found.replace(Some(row(&value)?));
            return Ok(());
        }
        is_named = true;
        if let Some(id) = id_from_js(&value)? {
            let store = transaction.store(OPERATIONS)?;
            transaction.follow(&store.get(&id.as_str().into())?);
        } else {
            found.replace(Some(None));
        }
        Ok(())
    }))
}

/// What is due: one row more than wanted, and the first that is later.
pub(super) fn due(
    transaction: &Transaction,
    lane: &LaneId,
    queue: Queue,
    before: Timestamp,
    limit: u32,
    found: Found<Due>,
) -> Result<Step, JsValue> {
    let lane = JsValue::from(lane.as_str());
    let at = key([lane.clone(), float(before.0)]);
    let ready = IdbKeyRange::bound(&key([lane.clone()]), &at)?;
    let later = IdbKeyRange::bound_with_lower_open(&at, &key([lane, end()]), true)?;
    let (index, time_of): (_, fn(&Row) -> Option<Timestamp>) = match queue {
        Queue::Work => (BY_DUE, |row| row.due),
        Queue::Delivery => (BY_DELIVERY_DUE, |row| row.delivery_due),
    };
    let index = transaction.store(OPERATIONS)?.index(index)?;
    let rows = index.get_all_with_key_and_limit(&ready, limit.saturating_add(1))?;
    transaction.follow(&index.get(&later)?);
    Ok(Box::new(move |_, first_later| {
        let mut rows = elements(&rows.result()?, row_from_js)?;
        let beyond = (rows.len() > limit as usize).then(|| rows.pop()).flatten();
        let first_out = match beyond {
            Some(beyond) => Some(beyond),
            None => row(&first_later)?,
        };
        let next = first_out.as_ref().and_then(time_of);
        found.replace(Some(Due { rows, next }));
        Ok(())
    }))
}

/// A page of an account's operations, by a cursor that goes backwards.
pub(super) fn list(
    transaction: &Transaction,
    account: &Account,
    cursor: Option<&(Timestamp, OperationId)>,
    limit: u32,
    found: Found<Vec<Row>>,
) -> Result<Step, JsValue> {
    let account = JsValue::from(account.as_str());
    let upper = match cursor {
        Some((at, id)) => key([account.clone(), float(at.0), id.as_str().into()]),
        None => key([account.clone(), end()]),
    };
    let range =
        IdbKeyRange::bound_with_lower_open_and_upper_open(&key([account]), &upper, false, true)?;
    let index = transaction.store(OPERATIONS)?.index(BY_CREATION)?;
    let backwards = IdbCursorDirection::Prev;
    transaction.follow(&index.open_cursor_with_range_and_direction(&range, backwards)?);
    let mut rows = Vec::new();
    Ok(Box::new(move |_, value| {
        if !value.is_null() && rows.len() < limit as usize {
            let cursor = value.dyn_ref::<IdbCursorWithValue>().ok_or_else(malformed)?;
            rows.push(row_from_js(&cursor.value()?)?);
            return cursor.continue_();
        }
        found.replace(Some(core::mem::take(&mut rows)));
        Ok(())
    }))
}

/// The journal's ring, in the order of its numbers.
pub(super) fn journal(
    transaction: &Transaction,
    id: &OperationId,
    found: Found<Vec<JournalRow>>,
) -> Result<Step, JsValue> {
    let id = JsValue::from(id.as_str());
    let range = IdbKeyRange::bound(&key([id.clone()]), &key([id, end()]))?;
    transaction.follow(&transaction.store(JOURNAL)?.get_all_with_key(&range)?);
    Ok(into(found, |value| {
        let mut entries = elements(value, entry_from_js)?;
        entries.sort_unstable_by_key(|entry| entry.number);
        Ok(entries)
    }))
}
