//! What the tests are made of: the faults of browsers, one write, and futures.

use holdfast::driver::ports::store::{Durability, Row, Store, StoreError, Write, Written};
use holdfast::model::ids::{LaneId, Revision};
use holdfast::model::time::Timestamp;
use holdfast::web::store::HostStore;
use js_sys::{Array, Function, Promise};
use wasm_bindgen::prelude::*;
use wasm_bindgen_futures::JsFuture;

use crate::write::write_of;

#[wasm_bindgen(module = "/tests/indexeddb_faults.js")]
extern "C" {
    #[wasm_bindgen(js_name = recordCalls)]
    pub(crate) fn record_calls(kind: &str, method: &str, log: &Array) -> Function;
    #[wasm_bindgen(js_name = throwing)]
    pub(crate) fn throwing(kind: &str, method: &str, error: &str, times: u32) -> Function;
    #[wasm_bindgen(js_name = neverOpening)]
    pub(crate) fn never_opening() -> Function;
    #[wasm_bindgen(js_name = neverCompleting)]
    pub(crate) fn never_completing() -> Function;
    #[wasm_bindgen(js_name = withoutIndexedDb)]
    pub(crate) fn without_indexed_db() -> Function;
    #[wasm_bindgen(js_name = openRaw)]
    fn open_raw(name: &str, version: Option<u32>) -> Promise;
    #[wasm_bindgen(js_name = putRaw)]
    pub(crate) fn put_raw(name: &str, store: &str, value: &JsValue) -> Promise;
    #[wasm_bindgen(js_name = losingTheServer)]
    pub(crate) fn losing_the_server(before_step: bool) -> Function;
}

pub(crate) fn undo(fault: &Function) {
    fault.call0(&JsValue::UNDEFINED).unwrap();
}

pub(crate) fn write(id: &str) -> Write {
    write_of(Row {
        id: id.into(),
        account: "ann".into(),
        lane: LaneId::from_key("lane".into()),
        created_at: Timestamp(1),
        due: Some(Timestamp(2)),
        delivery_due: None,
        revision: Revision(1),
        write_id: id.into(),
        document: "{}".into(),
    })
}

pub(crate) async fn commit(store: &HostStore, id: &str) -> Result<Vec<Written>, StoreError> {
    store.commit(&[write(id)], Durability::Strict).await
}

pub(crate) async fn raw(name: &str, version: Option<u32>) -> web_sys::IdbDatabase {
    JsFuture::from(open_raw(name, version)).await.unwrap().unchecked_into()
}

/// All values, the futures running at the same time.
pub(crate) async fn futures<F: Future + Unpin, const N: usize>(mut all: [F; N]) -> Vec<F::Output> {
    let mut values: [Option<F::Output>; N] = [const { None }; N];
    core::future::poll_fn(|context| {
        for (future, value) in all.iter_mut().zip(&mut values) {
            if value.is_none()
                && let core::task::Poll::Ready(ready) = core::pin::Pin::new(future).poll(context)
            {
                *value = Some(ready);
            }
        }
        if values.iter().all(Option::is_some) {
            core::task::Poll::Ready(())
        } else {
            core::task::Poll::Pending
        }
    })
    .await;
    values.into_iter().flatten().collect()
}

/// One poll of a future.
pub(crate) async fn once<F: Future + Unpin>(mut future: F) -> Option<F::Output> {
    core::future::poll_fn(|context| match core::pin::Pin::new(&mut future).poll(context) {
        core::task::Poll::Ready(value) => core::task::Poll::Ready(Some(value)),
        core::task::Poll::Pending => core::task::Poll::Ready(None),
    })
    .await
}
