//! What reading transactions ask for, and what they make of the answers.

use std::slice;

use js_sys::Array;
use wasm_bindgen::prelude::*;
use web_sys::{IdbCursorDirection, IdbCursorWithValue, IdbKeyRange};

use super::codec::{
    elements, entry_from_js, float, id_from_js, key, row_from_js, some_row_from_js,
};
use super::commit::name_key;
use super::schema::{BY_CREATION, BY_DELIVERY_DUE, BY_DUE, JOURNAL, NAMES, OPERATIONS};
use super::transaction::{Step, Transaction};
use crate::driver::ports::store::{Due, JournalRow, Name, Queue};
use crate::model::ids::{Account, LaneId, OperationId};
use crate::model::time::Timestamp;

/// A step that leaves the answer.
pub(super) fn leaving() -> Step {
    Box::new(|transaction, value| {
        transaction.leave(value);
        Ok(())
    })
}

/// After every key that begins with the parts before it: arrays sort after numbers and strings.
fn end() -> JsValue {
    Array::new().into()
}

/// Everything whose key begins with this.
pub(super) fn all_of(first: &JsValue) -> Result<IdbKeyRange, JsValue> {
    IdbKeyRange::bound(&key(slice::from_ref(first)), &key(&[first.clone(), end()]))
}

/// The row that a name leads to: two reads, the second made when the first has told where.
pub(super) fn find(transaction: &Transaction, name: &Name) -> Result<Step, JsValue> {
    transaction.follow(&transaction.store(NAMES)?.get(&name_key(name))?);
    let mut is_named = false;
    Ok(Box::new(move |transaction, value| {
        if is_named {
            transaction.leave(value);
            return Ok(());
        }
        is_named = true;
        if let Some(id) = id_from_js(&value)? {
            let store = transaction.store(OPERATIONS)?;
            transaction.follow(&store.get(&id.as_str().into())?);
        }
        Ok(())
    }))
}

/// What is due: one row more than wanted, and the first that is later. See [`due_from_js`].
pub(super) fn due(
    transaction: &Transaction,
    lane: &LaneId,
    queue: Queue,
    before: Timestamp,
    limit: u32,
) -> Result<Step, JsValue> {
    let lane = JsValue::from(lane.as_str());
    let at = key(&[lane.clone(), float(before.0)]);
    let ready = IdbKeyRange::bound(&key(slice::from_ref(&lane)), &at)?;
    let later = IdbKeyRange::bound_with_lower_open(&at, &key(&[lane, end()]), true)?;
    let index = match queue {
        Queue::Work => BY_DUE,
        Queue::Delivery => BY_DELIVERY_DUE,
    };
    let index = transaction.store(OPERATIONS)?.index(index)?;
    let rows = index.get_all_with_key_and_limit(&ready, limit.saturating_add(1))?;
    transaction.follow(&index.get(&later)?);
    Ok(Box::new(move |transaction, first_later| {
        transaction.leave(Array::of2(&rows.result()?, &first_later).into());
        Ok(())
    }))
}

/// What [`due`] leaves.
pub(super) fn due_from_js(value: &JsValue, queue: Queue, limit: u32) -> Result<Due, JsValue> {
    let value: &Array = value.unchecked_ref();
    let mut rows = elements(&value.get(0), row_from_js)?;
    let first_out =
        if rows.len() > limit as usize { rows.pop() } else { some_row_from_js(&value.get(1))? };
    let next = first_out.and_then(|row| match queue {
        Queue::Work => row.due,
        Queue::Delivery => row.delivery_due,
    });
    Ok(Due { rows, next })
}

/// A page of an account's operations, by a cursor that goes backwards.
pub(super) fn list(
    transaction: &Transaction,
    account: &Account,
    cursor: Option<&(Timestamp, OperationId)>,
    limit: u32,
) -> Result<Step, JsValue> {
    let account = JsValue::from(account.as_str());
    let upper = match cursor {
        Some((at, id)) => key(&[account.clone(), float(at.0), id.as_str().into()]),
        None => key(&[account.clone(), end()]),
    };
    let range =
        IdbKeyRange::bound_with_lower_open_and_upper_open(&key(&[account]), &upper, false, true)?;
    let index = transaction.store(OPERATIONS)?.index(BY_CREATION)?;
    let backwards = IdbCursorDirection::Prev;
    transaction.follow(&index.open_cursor_with_range_and_direction(&range, backwards)?);
    let rows = Array::new();
    transaction.leave(rows.clone().into());
    Ok(Box::new(move |_, value| {
        if value.is_null() || rows.length() >= limit {
            return Ok(());
        }
        let cursor: &IdbCursorWithValue = value.unchecked_ref();
        rows.push(&cursor.value()?);
        cursor.continue_()
    }))
}

/// The journal's ring, in the order of its numbers.
pub(super) fn journal(transaction: &Transaction, id: &OperationId) -> Result<Step, JsValue> {
    let range = all_of(&id.as_str().into())?;
    transaction.follow(&transaction.store(JOURNAL)?.get_all_with_key(&range)?);
    Ok(leaving())
}

/// What [`journal`] leaves.
pub(super) fn journal_from_js(value: &JsValue) -> Result<Vec<JournalRow>, JsValue> {
    let mut entries = elements(value, entry_from_js)?;
    entries.sort_unstable_by_key(|entry| entry.number);
    Ok(entries)
}
