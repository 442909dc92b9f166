//! A client that shows what really came over the socket.
use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use holdfast_services::{Mount, Options, RunHarvester, Server, serve};
use serde_json::Value;

pub(crate) fn server() -> Server {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/http").into();
    let mounts = vec![Mount { at: "/".to_owned(), folder }];
    serve(RunHarvester::default(), Options { mounts, ..Options::default() }).unwrap()
}

/// The bytes of an answer.
#[derive(Debug)]
pub(crate) struct Got {
    pub(crate) head: String,
    pub(crate) body: String,
}

impl Got {
    pub(crate) fn status(&self) -> u16 {
        self.head.split(' ').nth(1).unwrap_or_default().parse().unwrap_or_default()
    }

    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        let mut fields = self.head.lines().filter_map(|line| line.split_once(": "));
        fields.find(|(known, _)| known.eq_ignore_ascii_case(name)).map(|(_, value)| value)
    }

    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or(Value::Null)
    }
}

/// Sends a request and leaves the connection open.
pub(crate) fn send(server: &Server, method: &str, path: &str, body: &str) -> TcpStream {
    let length = body.len();
    let request = format!(
        "{method} {path} HTTP/1.1\r\nHost: loopback\r\nAuthorization: Bearer demo-token\r\n\
         Idempotency-Key: key-1\r\nContent-Length: {length}\r\n\r\n{body}"
    );
    send_raw(server, &request)
}

/// Sends a request as it is written.
pub(crate) fn send_raw(server: &Server, request: &str) -> TcpStream {
    let mut stream = TcpStream::connect(server.local_addr()).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(5))).unwrap();
    stream.write_all(request.as_bytes()).unwrap();
    stream
}

/// Everything that comes until the connection ends; nothing may come at all.
pub(crate) fn receive(mut stream: TcpStream) -> Option<Got> {
    let mut bytes = Vec::new();
    stream.read_to_end(&mut bytes).unwrap();
    let text = String::from_utf8(bytes).unwrap();
    let (head, body) = text.split_once("\r\n\r\n")?;
    Some(Got { head: head.to_owned(), body: body.to_owned() })
}

pub(crate) fn ask(server: &Server, method: &str, path: &str, body: &str) -> Got {
    receive(send(server, method, path, body)).unwrap()
}

pub(crate) fn submit(server: &Server) -> TcpStream {
    send(server, "POST", "/api/v1/data/requests", r#"{"url":"u","duration_ms":0}"#)
}

pub(crate) fn set_fault(server: &Server, faults: &str) {
    assert_eq!(ask(server, "POST", "/_control/faults", faults).status(), 204);
}

pub(crate) fn ledger(server: &Server) -> Value {
    ask(server, "GET", "/_control/ledger", "").json()
}
