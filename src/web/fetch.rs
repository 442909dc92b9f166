//! HTTP, by `fetch()`.

use js_sys::{Array, Function, Reflect, Uint8Array};
use wasm_bindgen::prelude::*;
use web_sys::{AbortController, ReadableStreamDefaultReader};

use super::clock;
use super::promise::{object, property, set, within};
use super::sys::{array_from, global};
use crate::driver::ports::{Body, Head, Lost, Outgoing, Transport};
use crate::model::http::Headers;
use crate::model::time::Timestamp;

/// How much of a body is taken into the module's memory at a time, in bytes: Firefox and WebKit give what has come
/// while nobody read in one piece, which may be all of it, and that memory does not shrink again.
const TAKEN_MAX: u32 = 256 * 1024;

/// Sends requests with `fetch()`: without cookies, cache, referrer or redirects.
pub struct FetchTransport {
    fetch: Option<Function>,
}

impl FetchTransport {
    /// A transport that calls this function; `None`: the `fetch` that the global object has when a
    /// request is sent.
    pub const fn new(fetch: Option<Function>) -> Self {
        Self { fetch }
    }

    /// Calls `fetch()` in this turn, and gives the promise of its response.
    fn start(&self, outgoing: &Outgoing, signal: JsValue) -> Result<JsValue, JsValue> {
        let usual = || property(&global(), "fetch").dyn_into();
        let fetch = self.fetch.clone().map_or_else(usual, Ok)?;
        let init = object(&[
            ("method", outgoing.method.as_str().into()),
            ("headers", pairs(&outgoing.headers)),
            ("redirect", "manual".into()),
            ("signal", signal),
        ]);
        if let Some(body) = &outgoing.body {
            set(&init, "body", &Uint8Array::from(body.as_slice()));
        }
        // Options that only browsers know; other hosts may throw at them, and need none.
        let known = property(&property(&global(), "Request"), "prototype");
        for (name, value) in
            [("credentials", "omit"), ("cache", "no-store"), ("referrerPolicy", "no-referrer")]
        {
            if Reflect::has(&known, &name.into()).unwrap_or(false) {
                set(&init, name, &value.into());
            }
        }
        fetch.call2(&JsValue::UNDEFINED, &outgoing.url.as_str().into(), &init)
    }
}

impl Transport for FetchTransport {
    type Body = FetchBody;

    fn is_online(&self) -> bool {
        property(&property(&global(), "navigator"), "onLine") != false
    }

    fn send(
        &self,
        outgoing: Outgoing,
    ) -> impl Future<Output = Result<Head<FetchBody>, Lost>> + 'static {
        let sent = Exchange::new(outgoing.timeout_ms, outgoing.idle).and_then(|exchange| {
            let response = self.start(&outgoing, exchange.controller.signal().into())?;
            Ok((exchange.wait(&response), exchange))
        });
        async {
            let (response, exchange) = sent.map_err(|_| Lost)?;
            let response = response.await.map_err(|_| Lost)?;
            head(&response, exchange).map_err(|_| Lost)
        }
    }
}

/// One exchange. Dropped before its end, it is aborted.
struct Exchange {
    controller: AbortController,
    ends_at: Timestamp,
    timeout_ms: u32,
    idle: bool,
    is_over: bool,
}

impl Exchange {
    fn new(timeout_ms: u32, idle: bool) -> Result<Self, JsValue> {
        Ok(Self {
            controller: AbortController::new()?,
            ends_at: clock::now().after(timeout_ms.into()),
            timeout_ms,
            idle,
            is_over: false,
        })
    }

    /// Waits for a promise in what is left of the exchange's time.
    fn wait(&self, promise: &JsValue) -> impl Future<Output = Result<JsValue, JsValue>> + use<> {
        // A clock that jumps back does not lengthen the wait.
        let left_ms = self.ends_at.since(clock::now()).min(self.timeout_ms.into());
        within(left_ms as u32, promise)
    }
}

impl Drop for Exchange {
    fn drop(&mut self) {
        if !self.is_over {
            self.controller.abort();
        }
    }
}

/// The body of a response, read piece by piece. Dropped before its end, it aborts the exchange.
pub struct FetchBody {
    state: State,
    exchange: Exchange,
}

enum State {
    /// With what has come and is not taken yet.
    Open(ReadableStreamDefaultReader, Option<Uint8Array>),
    Ended,
    Lost,
}

impl Body for FetchBody {
    async fn next(&mut self) -> Result<Option<Vec<u8>>, Lost> {
        // Lost until the piece is here: also where this future is dropped in the middle.
        match core::mem::replace(&mut self.state, State::Lost) {
            State::Lost => Err(Lost),
            State::Ended => Ok(self.end()),
            State::Open(reader, Some(rest)) => Ok(Some(self.take(reader, rest))),
            State::Open(reader, None) => {
                let Ok(piece) = self.exchange.wait(&reader.read()).await else {
                    self.exchange.controller.abort();
                    return Err(Lost);
                };
                if property(&piece, "done") == true {
                    return Ok(self.end());
                }
                let bytes = property(&piece, "value").dyn_into().map_err(|_| Lost)?;
                if self.exchange.idle {
                    self.exchange.ends_at = clock::now().after(self.exchange.timeout_ms.into());
                }
                Ok(Some(self.take(reader, bytes)))
            }
        }
    }
}

impl FetchBody {
    /// Takes what has come as far as it may be taken at once; the rest waits where it is.
    fn take(&mut self, reader: ReadableStreamDefaultReader, come: Uint8Array) -> Vec<u8> {
        let length = come.length();
        let rest = (length > TAKEN_MAX).then(|| come.subarray(TAKEN_MAX, length));
        let taken = if rest.is_some() { come.subarray(0, TAKEN_MAX) } else { come };
        self.state = State::Open(reader, rest);
        taken.to_vec()
    }

    fn end<T>(&mut self) -> Option<T> {
        self.exchange.is_over = true;
        self.state = State::Ended;
        None
    }
}

/// What a response tells before its body. Properties are read from whatever `fetch` has given.
fn head(response: &JsValue, mut exchange: Exchange) -> Result<Head<FetchBody>, JsValue> {
    let status = property(response, "status").as_f64().ok_or(JsValue::UNDEFINED)?;
    let mut headers = Headers::default();
    for field in array_from(&property(response, "headers"))?.iter() {
        let field = array_from(&field)?;
        if let (Some(name), Some(value)) = (field.get(0).as_string(), field.get(1).as_string()) {
            headers.push(name, value);
        }
    }
    let body = property(response, "body");
    let state = if body.is_object() {
        let reader = property(&body, "getReader").dyn_into::<Function>()?.call0(&body)?;
        State::Open(reader.unchecked_into(), None)
    } else {
        exchange.is_over = true;
        State::Ended
    };
    Ok(Head { status: status as u16, headers, body: FetchBody { state, exchange } })
}

fn pairs(headers: &Headers) -> JsValue {
    let all = Array::new();
    for (name, value) in headers.iter() {
        all.push(&Array::of2(&name.into(), &value.into()));
    }
    all.into()
}
