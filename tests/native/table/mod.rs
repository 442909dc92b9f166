//! A service that answers by a script: what a row of the services table says, as data.

#![allow(clippy::expect_used, dead_code, unreachable_pub, reason = "helpers of tests")]

use std::sync::{Arc, Mutex};

use holdfast_services::{Call, Ledger, Request, Response, Service};
use serde::Deserialize;
use serde_json::{Map, Value};

/// One row: a profile, and a conversation under it.
#[derive(Clone, Deserialize)]
pub struct Row {
    pub profile: Value,
    /// Parameters of the submission.
    #[serde(default)]
    pub params: Map<String, Value>,
    /// Where the key is seen: `header:name` or `field:name`; absent: nowhere.
    pub key: Option<String>,
    /// The submission first.
    pub exchanges: Vec<Exchange>,
    /// What the app gets; text where the bytes are no JSON.
    pub result: Value,
    /// The answer that tells that the job has failed, in the place of the one for this request.
    pub failing: Option<Exchange>,
}

/// A request that is expected, and its answer.
#[derive(Clone, Deserialize)]
pub struct Exchange {
    /// Method and path.
    pub request: String,
    pub status: u16,
    #[serde(default)]
    pub headers: Map<String, Value>,
    #[serde(default)]
    pub body: Value,
    /// How many bytes of the body leave at once, and how much later the rest does, in milliseconds.
    #[serde(default)]
    pub early_bytes: usize,
    #[serde(default)]
    pub after_ms: u64,
}

impl Exchange {
    fn answer(&self) -> Response {
        let (early_bytes, after_ms) = (self.early_bytes, self.after_ms);
        let mut response =
            Response { status: self.status, early_bytes, after_ms, ..Response::default() };
        response.body = match &self.body {
            Value::Null => Vec::new(),
            Value::String(text) => text.clone().into_bytes(),
            Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_) => {
                self.body.to_string().into_bytes()
            }
        };
        for (name, value) in &self.headers {
            let value = value.as_str().expect("a header field is a text");
            response = response.with_header(name, value);
        }
        response
    }
}

/// What came to the service.
pub type Seen = Arc<Mutex<Vec<Request>>>;

/// The service. It hands the same submission the same answer, and all else in order.
#[derive(Clone)]
pub struct Scripted {
    row: Row,
    fails: bool,
    next: usize,
    pub seen: Seen,
    ledger: Ledger,
}

impl Scripted {
    pub fn new(row: &Row, fails: bool) -> Self {
        Self {
            row: row.clone(),
            fails,
            next: 1,
            seen: Seen::default(),
            ledger: Ledger::with_balance(0),
        }
    }
}

impl Service for Scripted {
    fn stage_of(&self, request: &Request) -> Call {
        let line = [request.method.as_str(), " ", &request.path].concat();
        if line == self.row.exchanges[0].request { Call::Submit } else { Call::Poll }
    }

    fn arrive(&mut self, _now_ms: u64, request: &Request) {
        self.seen.lock().expect("one thread").push(request.clone());
    }

    fn handle(&mut self, _now_ms: u64, request: &Request) -> Response {
        if self.stage_of(request) == Call::Submit {
            return self.row.exchanges[0].answer();
        }
        let line = [request.method.as_str(), " ", &request.path].concat();
        let last = self.row.exchanges.len() - 1;
        let expected = &self.row.exchanges[self.next.min(last)];
        let failing = self.row.failing.as_ref().filter(|own| self.fails && own.request == line);
        if let Some(own) = failing.filter(|_| self.next > 1 || expected.request == line) {
            return own.answer();
        }
        if expected.request != line {
            return Response::json(418, &serde_json::json!({ "unexpected": line }));
        }
        self.next += 1;
        expected.answer()
    }

    fn told(&mut self, _request: &Request, _response: &Response) {}

    fn advance(&mut self, _now_ms: u64) {}

    fn set_clock_error(&mut self, _by_ms: i64) {}

    fn reset(&mut self) {}

    fn ledger(&self) -> &Ledger {
        &self.ledger
    }

    fn ledger_mut(&mut self) -> &mut Ledger {
        &mut self.ledger
    }
}

/// The items of all kept pages, which are a sequence of JSON texts.
pub fn items_of(bytes: &[u8], place: &str) -> Vec<Value> {
    let mut items = Vec::new();
    for page in bytes.split(|byte| *byte == 0x1E).skip(1) {
        let page: Value = serde_json::from_slice(page).expect("a page is JSON");
        items.extend(page.pointer(place).and_then(Value::as_array).expect("items").clone());
    }
    items
}
