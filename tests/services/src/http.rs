//! HTTP messages as plain data.
use serde_json::Value;
use sha2::{Digest, Sha256};

/// A request as a service receives it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Request {
    /// The method, in capitals.
    pub method: String,
    /// The path, with the query if there is one.
    pub path: String,
    /// Header fields in order; names compare without regard to case.
    pub headers: Vec<(String, String)>,
    /// The body's bytes.
    pub body: Vec<u8>,
}

/// A service's answer.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Response {
    /// The status code.
    pub status: u16,
    /// Header fields in order.
    pub headers: Vec<(String, String)>,
    /// The body's bytes.
    pub body: Vec<u8>,
    /// How long the work takes that is done before the answer, in milliseconds.
    pub after_ms: u64,
    /// How many bytes of the body leave before that work is done; a stream's first events.
    pub early_bytes: usize,
}

impl Request {
    /// A request without headers and body.
    pub fn new(method: &str, path: &str) -> Self {
        Self { method: method.to_owned(), path: path.to_owned(), ..Self::default() }
    }

    /// The same request with one more header field.
    pub fn with_header(mut self, name: &str, value: &str) -> Self {
        self.headers.push((name.to_owned(), value.to_owned()));
        self
    }

    /// The same request with a body.
    pub fn with_body(mut self, body: impl Into<Vec<u8>>) -> Self {
        self.body = body.into();
        self
    }

    /// The first value of a header field.
    pub fn header(&self, name: &str) -> Option<&str> {
        find(&self.headers, name)
    }

    /// The body as JSON; `Null` where it is none.
    pub fn parsed(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or(Value::Null)
    }

    /// The parts of the path between its slashes.
    pub(crate) fn parts(&self) -> Vec<&str> {
        self.route().split('/').skip(1).collect()
    }

    /// The path without its query.
    pub fn route(&self) -> &str {
        self.path.split('?').next().unwrap_or_default()
    }

    /// The SHA-256 of the body, in hexadecimal.
    pub fn body_digest(&self) -> String {
        digest(&[&self.body])
    }
}

impl Response {
    /// An answer with a JSON body.
    pub fn json(status: u16, body: &Value) -> Self {
        Self {
            status,
            headers: vec![("content-type".to_owned(), "application/json".to_owned())],
            body: body.to_string().into_bytes(),
            ..Self::default()
        }
    }

    /// The same answer with one more header field.
    pub fn with_header(mut self, name: &str, value: &str) -> Self {
        self.headers.push((name.to_owned(), value.to_owned()));
        self
    }

    /// The same answer with a `Retry-After` where there is one, in seconds.
    pub(crate) fn with_retry_after(self, seconds: Option<u64>) -> Self {
        match seconds {
            Some(seconds) => self.with_header("retry-after", &seconds.to_string()),
            None => self,
        }
    }

    /// The first value of a header field.
    pub fn header(&self, name: &str) -> Option<&str> {
        find(&self.headers, name)
    }

    /// The body as JSON; `Null` where it is none.
    pub fn parsed(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or(Value::Null)
    }
}

fn find<'a>(headers: &'a [(String, String)], name: &str) -> Option<&'a str> {
    let found = headers.iter().find(|(known, _)| known.eq_ignore_ascii_case(name));
    found.map(|(_, value)| value.as_str())
}

/// The SHA-256 of parts, each preceded by its length, in hexadecimal.
pub(crate) fn digest(parts: &[&[u8]]) -> String {
    let mut hash = Sha256::new();
    if let [only] = parts {
        hash.update(only);
    } else {
        for part in parts {
            hash.update((part.len() as u64).to_be_bytes());
            hash.update(part);
        }
    }
    hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
}
