//! The store on IndexedDB, in a real browser: every behaviour of the conformance suite, and the
//! faults that browsers are known for, let in where JS meets the browser.
#![cfg(target_arch = "wasm32")]
#![allow(missing_docs, clippy::unwrap_used, reason = "a test")]

#[path = "indexeddb/harness.rs"]
mod harness;
#[path = "indexeddb/tools.rs"]
mod tools;
#[path = "world/write.rs"]
mod write;

use harness::{fresh, open};
use holdfast::driver::conformance;
use holdfast::driver::ports::store::{Durability, Queue, Store, StoreError, Write, Written};
use holdfast::model::ids::LaneId;
use holdfast::model::time::Timestamp;
use js_sys::{Array, Promise};
use tools::{
    commit, futures, losing_the_server, never_completing, never_opening, once, put_raw, raw,
    record_calls, throwing, undo, without_indexed_db, write,
};
use wasm_bindgen::JsValue;
use wasm_bindgen_futures::JsFuture;
use wasm_bindgen_test::{wasm_bindgen_test, wasm_bindgen_test_configure};

wasm_bindgen_test_configure!(run_in_browser);

macro_rules! of_the_store_on_indexeddb {
    ($($name:ident)*) => {$(
        #[wasm_bindgen_test]
        async fn $name() {
            let name = fresh(stringify!($name));
            conformance::$name(|| open(&name)).await;
        }
    )*};
}
holdfast::store_behaviours!(of_the_store_on_indexeddb);

#[wasm_bindgen_test]
async fn making_a_store_opens_nothing() {
    let log = Array::new();
    let fault = record_calls("IDBFactory", "open", &log);
    let store = open(&fresh("untouched"));
    store.forget_connection();
    drop(store);
    undo(&fault);
    assert_eq!(log.length(), 0);
}

#[wasm_bindgen_test]
async fn calls_at_the_same_time_share_one_opening() {
    let name = fresh("single flight");
    assert!(commit(&open(&name), "a").await.is_ok());
    let store = open(&name);
    let log = Array::new();
    let fault = record_calls("IDBFactory", "open", &log);
    let (one, two) = ("a".into(), "b".into());
    let reads = [store.load(&one), store.load(&two)].map(Box::pin);
    for read in futures(reads).await {
        assert!(read.is_ok());
    }
    undo(&fault);
    assert_eq!(log.length(), 1);
}

#[wasm_bindgen_test]
async fn many_may_make_the_database_at_the_same_time() {
    for round in 0..20 {
        let name = fresh(&format!("crowd {round}"));
        let stores: [_; 8] = core::array::from_fn(|_| open(&name));
        let id = "a".into();
        for read in futures(stores.each_ref().map(|store| Box::pin(store.load(&id)))).await {
            assert_eq!(read, Ok(None), "round {round}");
        }
    }
}

#[wasm_bindgen_test]
async fn writes_ask_for_the_durability_that_they_need() {
    let store = open(&fresh("durability"));
    assert!(commit(&store, "a").await.is_ok());
    let log = Array::new();
    let fault = record_calls("IDBDatabase", "transaction", &log);
    assert!(commit(&store, "b").await.is_ok());
    assert!(store.commit(&[write("c")], Durability::Relaxed).await.is_ok());
    undo(&fault);
    let durability = |call: u32| {
        let options = Array::from(&log.get(call)).get(2);
        js_sys::Reflect::get(&options, &"durability".into()).unwrap().as_string()
    };
    assert_eq!(durability(0).as_deref(), Some("strict"));
    assert_eq!(durability(1).as_deref(), Some("relaxed"));
}

#[wasm_bindgen_test]
async fn a_newer_schema_is_let_in_and_older_code_goes_on() {
    let name = fresh("upgrade");
    let store = open(&name);
    assert!(commit(&store, "a").await.is_ok());
    let newer = raw(&name, Some(200)).await;
    assert_eq!(commit(&store, "b").await, Ok(vec![Written::Done]));
    newer.close();
}

#[wasm_bindgen_test]
async fn a_dead_handle_is_replaced_within_the_call() {
    for error in ["InvalidStateError", "UnknownError"] {
        let store = open(&fresh(error));
        assert!(commit(&store, "a").await.is_ok());
        let fault = throwing("IDBDatabase", "transaction", error, 1);
        assert_eq!(commit(&store, "b").await, Ok(vec![Written::Done]), "{error}");
        undo(&fault);
    }
}

#[wasm_bindgen_test]
async fn a_handle_that_is_dead_again_makes_the_store_unavailable() {
    let store = open(&fresh("dead"));
    assert!(commit(&store, "a").await.is_ok());
    let log = Array::new();
    let opens = record_calls("IDBFactory", "open", &log);
    let fault = throwing("IDBDatabase", "transaction", "UnknownError", 9);
    let refused = commit(&store, "b").await;
    undo(&fault);
    undo(&opens);
    assert_eq!(refused, Err(StoreError::Unavailable("UnknownError".into())));
    assert_eq!(log.length(), 1, "reopened once");
    assert_eq!(store.load(&"b".into()).await, Ok(None));
}

#[wasm_bindgen_test]
async fn a_server_lost_before_anything_is_written_is_asked_once_more() {
    let store = open(&fresh("lost early"));
    assert!(commit(&store, "a").await.is_ok());
    let fault = losing_the_server(true);
    assert_eq!(commit(&store, "b").await, Ok(vec![Written::Done]));
    undo(&fault);
}

#[wasm_bindgen_test]
async fn a_server_lost_after_the_writes_leaves_their_fate_unknown() {
    let store = open(&fresh("lost late"));
    assert!(commit(&store, "a").await.is_ok());
    let fault = losing_the_server(false);
    let unknown = commit(&store, "b").await;
    undo(&fault);
    assert_eq!(unknown, Err(StoreError::Unknown("UnknownError".into())));
}

#[wasm_bindgen_test]
async fn a_transaction_that_never_completes_is_unknown() {
    let store = open(&fresh("silent"));
    assert!(commit(&store, "a").await.is_ok());
    let fault = never_completing();
    let unknown = commit(&store, "b").await;
    undo(&fault);
    assert_eq!(unknown, Err(StoreError::Unknown("timeout".into())));
    assert!(commit(&store, "c").await.is_ok());
}

#[wasm_bindgen_test]
async fn a_blocked_upgrade_is_told_and_tried_again_by_the_next_call() {
    let name = fresh("blocked");
    let blocker = raw(&name, None).await;
    let store = open(&name);
    assert_eq!(commit(&store, "a").await, Err(StoreError::Unavailable("blocked".into())));
    blocker.close();
    assert_eq!(commit(&store, "a").await, Ok(vec![Written::Done]));
}

#[wasm_bindgen_test]
async fn an_opening_that_never_settles_is_given_up() {
    let store = open(&fresh("hanging"));
    let fault = never_opening();
    let refused = commit(&store, "a").await;
    undo(&fault);
    assert_eq!(refused, Err(StoreError::Unavailable("timeout".into())));
    assert_eq!(commit(&store, "a").await, Ok(vec![Written::Done]));
}

#[wasm_bindgen_test]
async fn an_opening_that_throws_is_told_by_its_name() {
    let fault = throwing("IDBFactory", "open", "SecurityError", 1);
    let refused = commit(&open(&fresh("forbidden")), "a").await;
    undo(&fault);
    assert_eq!(refused, Err(StoreError::Unavailable("SecurityError".into())));
}

#[wasm_bindgen_test]
async fn a_browser_without_indexeddb_is_told() {
    let fault = without_indexed_db();
    let refused = commit(&open(&fresh("missing")), "a").await;
    undo(&fault);
    assert_eq!(refused, Err(StoreError::Unavailable("indexedDB is missing".into())));
}

#[wasm_bindgen_test]
async fn a_full_disk_is_told_and_nothing_is_written() {
    let store = open(&fresh("full"));
    let batch = [write("a"), Write { body: Some(vec![1]), ..write("b") }];
    assert!(commit(&store, "before").await.is_ok());
    let fault = throwing("IDBObjectStore", "put", "QuotaExceededError", 1);
    let full = store.commit(&batch, Durability::Strict).await;
    undo(&fault);
    assert_eq!(full, Err(StoreError::Full("QuotaExceededError".into())));
    assert_eq!(store.load(&"a".into()).await, Ok(None));
}

#[wasm_bindgen_test]
async fn a_commit_that_nobody_waits_for_is_aborted() {
    let store = open(&fresh("dropped"));
    assert!(commit(&store, "before").await.is_ok());
    let log = Array::new();
    let begun = record_calls("IDBDatabase", "transaction", &log);
    let mut dropped = Box::pin(commit(&store, "a"));
    // Polled until the transaction is under way, and no further.
    while log.length() == 0 {
        assert!(once(dropped.as_mut()).await.is_none());
        JsFuture::from(Promise::resolve(&JsValue::UNDEFINED)).await.unwrap();
    }
    undo(&begun);
    drop(dropped);
    assert_eq!(store.load(&"a".into()).await, Ok(None));
    assert_eq!(commit(&store, "a").await, Ok(vec![Written::Done]));
}

#[wasm_bindgen_test]
async fn a_malformed_row_is_an_error_and_no_panic() {
    let name = fresh("malformed");
    let store = open(&name);
    assert!(commit(&store, "a").await.is_ok());
    let junk = js_sys::JSON::parse(
        r#"{"id": "junk", "lane": "lane", "due": 1, "account": "ann", "createdAt": -1}"#,
    );
    JsFuture::from(put_raw(&name, "operations", &junk.unwrap())).await.unwrap();
    let malformed = StoreError::Aborted("malformed row".into());
    assert_eq!(store.load(&"junk".into()).await, Err(malformed.clone()));
    assert_eq!(store.list(&"ann".into(), None, 9).await, Err(malformed.clone()));
    assert_eq!(commit(&store, "junk").await, Err(malformed));
    assert!(store.load(&"a".into()).await.is_ok_and(|row| row.is_some()));
}

#[wasm_bindgen_test]
async fn the_end_of_time_is_kept() {
    let store = open(&fresh("end of time"));
    let mut last = write("a");
    last.row.due = Some(Timestamp(u64::MAX));
    assert!(store.commit(&[last], Durability::Strict).await.is_ok());
    let lane = LaneId::from_key("lane".into());
    let due = store.due(&lane, Queue::Work, Timestamp(9), 9).await;
    assert_eq!(due.map(|due| due.next), Ok(Some(Timestamp(u64::MAX))));
}
