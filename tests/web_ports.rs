//! The ports besides the store, in a real browser.
#![cfg(target_arch = "wasm32")]
#![allow(missing_docs, clippy::unwrap_used, reason = "a test")]

use std::cell::Cell;
use std::rc::Rc;

use holdfast::driver::ports::{
    Body, Clock, Entropy, Head, Locks, Lost, Outgoing, Spawn, Timer, Transport,
};
use holdfast::web::fetch::{FetchBody, FetchTransport};
use holdfast::web::runtime::WebRuntime;
use js_sys::{Array, Function, Promise, Reflect, Uint8Array};
use wasm_bindgen::prelude::*;
use wasm_bindgen_futures::JsFuture;
use wasm_bindgen_test::{wasm_bindgen_test, wasm_bindgen_test_configure};

wasm_bindgen_test_configure!(run_in_browser);

#[wasm_bindgen(module = "/tests/web_ports_fakes.js")]
extern "C" {
    #[wasm_bindgen(js_name = fakeFetch)]
    fn fake_fetch(log: &Array, status: u16, pieces: Vec<String>, end: &str) -> Function;
    fn answering(value: &JsValue) -> Function;
    #[wasm_bindgen(js_name = emptyResponse)]
    fn empty_response() -> JsValue;
    #[wasm_bindgen(js_name = opaqueRedirect)]
    fn opaque_redirect() -> JsValue;
    fn rejecting() -> Function;
    fn throwing() -> Function;
    fn silent(log: &Array) -> Function;
    #[wasm_bindgen(js_name = replaceGlobal)]
    fn replace_global(owner: &JsValue, name: &str, value: &JsValue) -> Function;
    fn sleep(ms: u32) -> Promise;
}

fn get(value: &JsValue, path: &[&str]) -> JsValue {
    path.iter().fold(value.clone(), |value, name| Reflect::get(&value, &(*name).into()).unwrap())
}

fn undo(replaced: &Function) {
    replaced.call0(&JsValue::UNDEFINED).unwrap();
}

async fn pause(ms: u32) {
    JsFuture::from(sleep(ms)).await.unwrap();
}

fn outgoing(timeout_ms: u32) -> Outgoing {
    Outgoing {
        method: "POST".into(),
        url: "https://api.example.com/v1/reports".into(),
        headers: [("idempotency-key", "\"k1\""), ("x-twice", "1"), ("x-twice", "2")]
            .into_iter()
            .collect(),
        body: Some(vec![0, 255, 10, 13]),
        timeout_ms,
        idle: false,
    }
}

async fn send(fetch: Function) -> Result<Head<FetchBody>, Lost> {
    FetchTransport::new(Some(fetch)).send(outgoing(60)).await
}

fn pieces(texts: &[&str]) -> Vec<String> {
    texts.iter().map(|text| (*text).to_owned()).collect()
}

fn was_aborted(log: &Array) -> bool {
    get(&log.get(0), &["signal", "aborted"]) == true
}

#[wasm_bindgen_test]
async fn a_request_leaves_in_the_turn_of_send() {
    let log = Array::new();
    let transport = FetchTransport::new(Some(fake_fetch(&log, 200, vec![], "close")));
    let sent = transport.send(outgoing(60));
    assert_eq!(log.length(), 1);
    drop(transport);
    assert!(sent.await.is_ok());
    assert_eq!(log.length(), 1);
}

#[wasm_bindgen_test]
async fn a_request_is_sent_as_it_is_given_and_with_nothing_ambient() {
    let log = Array::new();
    assert!(send(fake_fetch(&log, 200, vec![], "close")).await.is_ok());
    let call = log.get(0);
    let text = |name: &str| get(&call, &[name]).as_string().unwrap();
    assert_eq!(text("url"), "https://api.example.com/v1/reports");
    assert_eq!(text("method"), "POST");
    assert_eq!(text("redirect"), "manual");
    assert_eq!(text("credentials"), "omit");
    assert_eq!(text("cache"), "no-store");
    assert_eq!(text("referrerPolicy"), "no-referrer");
    assert!(get(&call, &["keepalive"]).is_undefined());
    let body: Uint8Array = get(&call, &["body"]).dyn_into().unwrap();
    assert_eq!(body.to_vec(), [0, 255, 10, 13]);
    let headers = Array::from(&get(&call, &["headers"])).join(";").as_string();
    assert_eq!(headers.as_deref(), Some("idempotency-key,\"k1\";x-twice,1;x-twice,2"));
}

#[wasm_bindgen_test]
async fn an_answer_comes_piece_by_piece_to_its_end() {
    let log = Array::new();
    let mut head = send(fake_fetch(&log, 202, pieces(&["ab", "c"]), "close")).await.ok().unwrap();
    assert_eq!(head.status, 202);
    assert_eq!(head.headers.first("X-Request-Id"), Some("r1"));
    assert_eq!(head.body.next().await, Ok(Some(b"ab".to_vec())));
    assert_eq!(head.body.next().await, Ok(Some(b"c".to_vec())));
    assert_eq!(head.body.next().await, Ok(None));
    assert_eq!(head.body.next().await, Ok(None));
    drop(head);
    assert!(!was_aborted(&log));
}

#[wasm_bindgen_test]
async fn an_answer_without_a_body_ends_at_once() {
    let mut head = send(answering(&empty_response())).await.ok().unwrap();
    assert_eq!((head.status, head.body.next().await), (204, Ok(None)));
}

#[wasm_bindgen_test]
async fn a_hidden_redirect_is_an_answer_of_status_0() {
    let mut head = send(answering(&opaque_redirect())).await.ok().unwrap();
    assert_eq!((head.status, head.body.next().await), (0, Ok(None)));
}

#[wasm_bindgen_test]
async fn what_is_no_answer_is_lost() {
    for fetch in [rejecting(), throwing(), answering(&"junk".into()), answering(&JsValue::NULL)] {
        assert!(matches!(send(fetch).await, Err(Lost)));
    }
}

#[wasm_bindgen_test]
async fn silence_ends_in_time_and_aborts_the_exchange() {
    let log = Array::new();
    assert!(matches!(send(silent(&log)).await, Err(Lost)));
    assert!(was_aborted(&log));
}

#[wasm_bindgen_test]
async fn the_time_covers_the_body() {
    let log = Array::new();
    let mut head = send(fake_fetch(&log, 200, pieces(&["ab"]), "hang")).await.ok().unwrap();
    assert_eq!(head.body.next().await, Ok(Some(b"ab".to_vec())));
    assert_eq!(head.body.next().await, Err(Lost));
    assert!(was_aborted(&log));
    assert_eq!(head.body.next().await, Err(Lost));
}

#[wasm_bindgen_test]
async fn a_body_that_breaks_off_is_lost() {
    let fetch = fake_fetch(&Array::new(), 200, vec![], "error");
    let mut head = send(fetch).await.ok().unwrap();
    assert_eq!(head.body.next().await, Err(Lost));
    assert_eq!(head.body.next().await, Err(Lost));
}

#[wasm_bindgen_test]
async fn what_is_dropped_early_is_aborted() {
    let (sent, read) = (Array::new(), Array::new());
    drop(FetchTransport::new(Some(silent(&sent))).send(outgoing(60)));
    assert!(was_aborted(&sent));
    let mut head = send(fake_fetch(&read, 200, pieces(&["ab"]), "hang")).await.ok().unwrap();
    assert!(head.body.next().await.is_ok());
    assert!(!was_aborted(&read));
    drop(head);
    assert!(was_aborted(&read));
}

#[wasm_bindgen_test]
async fn the_hosts_fetch_is_looked_up_when_a_request_is_sent() {
    let (transport, log) = (FetchTransport::new(None), Array::new());
    let fake = fake_fetch(&log, 200, vec![], "close");
    let replaced = replace_global(&js_sys::global(), "fetch", &fake);
    let sent = transport.send(outgoing(60));
    undo(&replaced);
    assert!(sent.await.is_ok());
    assert_eq!(log.length(), 1);
}

#[wasm_bindgen_test]
async fn the_hosts_fetch_is_really_spoken_to() {
    let request = Outgoing {
        method: "GET".into(),
        url: get(&js_sys::global(), &["location", "origin"]).as_string().unwrap() + "/",
        body: None,
        ..outgoing(5000)
    };
    let mut head = FetchTransport::new(None).send(request).await.ok().unwrap();
    assert_eq!(head.status, 200);
    let mut length = 0;
    while let Some(piece) = head.body.next().await.unwrap() {
        length += piece.len();
    }
    assert!(length > 0);
}

/// A runtime, and how often its timer has called.
fn runtime() -> (WebRuntime, Rc<Cell<u32>>) {
    let (runtime, count) = (WebRuntime::new(), Rc::new(Cell::new(0)));
    let calls = count.clone();
    runtime.on_wake(move || calls.set(calls.get() + 1));
    (runtime, count)
}

/// Waits until it has called so often, however busy the machine is, and then for what would be too much.
async fn called(count: &Cell<u32>, times: u32) {
    for _ in 0..500 {
        if count.get() >= times {
            break;
        }
        pause(20).await;
    }
    pause(60).await;
}

#[wasm_bindgen_test]
async fn the_timer_calls_once() {
    let (runtime, calls) = runtime();
    runtime.arm(Some(5));
    assert_eq!(calls.get(), 0);
    called(&calls, 1).await;
    assert_eq!(calls.get(), 1);
}

#[wasm_bindgen_test]
async fn the_timer_forgets_an_earlier_order() {
    let (runtime, calls) = runtime();
    runtime.arm(Some(5));
    runtime.arm(Some(10_000));
    pause(40).await;
    runtime.arm(Some(5));
    runtime.arm(None);
    pause(40).await;
    assert_eq!(calls.get(), 0);
}

#[wasm_bindgen_test]
async fn the_longest_order_is_not_called_at_once() {
    let (runtime, calls) = runtime();
    runtime.arm(Some(u32::MAX));
    pause(40).await;
    assert_eq!(calls.get(), 0);
}

#[wasm_bindgen_test]
async fn a_timer_may_be_armed_by_what_it_calls() {
    let (runtime, count) = (Rc::new(WebRuntime::new()), Rc::new(Cell::new(0)));
    let (again, calls) = (Rc::downgrade(&runtime), count.clone());
    runtime.on_wake(move || {
        calls.set(calls.get() + 1);
        if let Some(runtime) = again.upgrade() {
            runtime.arm((calls.get() < 3).then_some(1));
        }
    });
    runtime.arm(Some(1));
    called(&count, 3).await;
    assert_eq!(count.get(), 3);
}

#[wasm_bindgen_test]
fn the_clock_tells_the_time_of_the_host() {
    let (before, now) = (js_sys::Date::now(), WebRuntime::new().now().0 as f64);
    assert!(before <= now && now <= js_sys::Date::now());
}

#[wasm_bindgen_test]
fn random_bytes_are_fresh() {
    let runtime = WebRuntime::new();
    assert!(runtime.bytes().is_some());
    assert_ne!(runtime.bytes(), runtime.bytes());
}

#[wasm_bindgen_test]
fn a_host_without_randomness_gives_none() {
    let replaced = replace_global(&js_sys::global(), "crypto", &JsValue::UNDEFINED);
    let bytes = WebRuntime::new().bytes();
    undo(&replaced);
    assert_eq!(bytes, None);
}

#[wasm_bindgen_test]
async fn a_spawned_task_runs_to_its_end() {
    let done = Rc::new(Cell::new(false));
    let told = done.clone();
    WebRuntime::new().spawn(async move {
        pause(1).await;
        told.set(true);
    });
    for _ in 0..500 {
        if done.get() {
            break;
        }
        pause(20).await;
    }
    assert!(done.get());
}

/// Whether a context is known to be dead, or not, before long: locks are handed over by another process.
async fn becomes(runtime: &WebRuntime, name: &str, dead: bool) -> bool {
    for _ in 0..500 {
        if runtime.is_dead(&name.into()).await == dead {
            return true;
        }
        pause(20).await;
    }
    false
}

#[wasm_bindgen_test]
async fn who_holds_its_lock_is_not_dead_until_it_lets_go() {
    let (own, other) = (WebRuntime::new(), WebRuntime::new());
    own.hold(&"tab 1".into());
    assert!(becomes(&other, "tab 1", false).await);
    assert!(!own.is_dead(&"tab 1".into()).await);
    own.release();
    assert!(becomes(&other, "tab 1", true).await);
    assert!(other.is_dead(&"tab 1".into()).await, "asking holds nothing");
}

#[wasm_bindgen_test]
async fn a_dropped_runtime_lets_its_lock_go() {
    let own = WebRuntime::new();
    own.hold(&"tab 2".into());
    let other = WebRuntime::new();
    assert!(becomes(&other, "tab 2", false).await);
    drop(own);
    assert!(becomes(&other, "tab 2", true).await);
}

#[wasm_bindgen_test]
async fn of_a_host_without_locks_nobody_is_known_to_be_dead() {
    let navigator = get(&js_sys::global(), &["navigator"]);
    let replaced = replace_global(&navigator, "locks", &JsValue::UNDEFINED);
    let runtime = WebRuntime::new();
    runtime.hold(&"tab 3".into());
    let is_dead = runtime.is_dead(&"nobody".into()).await;
    runtime.release();
    undo(&replaced);
    assert!(!is_dead);
}
