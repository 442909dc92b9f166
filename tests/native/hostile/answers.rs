//! Answers that no client should have to bear, as data that fits on a line.

#![allow(unreachable_pub, reason = "helpers of tests")]

use holdfast_services::Response;
use proptest::prelude::*;

/// One answer.
#[derive(Clone, Debug)]
pub struct Reply {
    pub status: u16,
    pub headers: Vec<(&'static str, String)>,
    pub body: Body,
}

/// A body, by how it is made.
#[derive(Clone, Debug)]
pub enum Body {
    Text(String),
    Bytes(&'static [u8]),
    /// A text, again and again.
    Many(&'static str, usize),
    /// Half of a text.
    Half(String),
}

impl Reply {
    pub fn response(&self) -> Response {
        let mut response = Response { status: self.status, ..Response::default() };
        for (name, value) in &self.headers {
            response = response.with_header(name, value);
        }
        response.body = match &self.body {
            Body::Text(text) => text.clone().into_bytes(),
            Body::Bytes(bytes) => bytes.to_vec(),
            Body::Many(text, times) => text.repeat(*times).into_bytes(),
            Body::Half(text) => text.as_bytes()[..text.len() / 2].to_vec(),
        };
        response
    }
}

pub fn any_reply() -> impl Strategy<Value = Reply> {
    let headers = prop::collection::vec(any_header(), 0..4);
    (any_status(), headers, any_body()).prop_map(|(status, headers, body)| Reply {
        status,
        headers,
        body,
    })
}

fn any_status() -> impl Strategy<Value = u16> {
    let usual = [
        0, 201, 204, 206, 301, 302, 303, 304, 307, 308, 400, 401, 402, 403, 404, 405, 408, 409,
        410, 412, 413, 415, 422, 423, 425, 429, 451, 500, 501, 502, 503, 504, 520,
    ];
    prop_oneof![
        4 => Just(200_u16),
        3 => Just(202_u16),
        6 => prop::sample::select(usual.to_vec()),
        1 => 100..600_u16,
    ]
}

fn any_header() -> impl Strategy<Value = (&'static str, String)> {
    let value = |all: &'static [&'static str]| {
        prop_oneof![
            8 => prop::sample::select(all).prop_map(String::from),
            1 => "[ -~]{0,40}",
        ]
    };
    let waits = [
        "retry-after",
        "Retry-After",
        "retry-after-ms",
        "x-ms-retry-after-ms",
        "x-ratelimit-reset-after",
    ];
    let links =
        ["location", "operation-location", "azure-asyncoperation", "content-location", "link"];
    prop_oneof![
        (prop::sample::select(waits.to_vec()), value(WAITS)),
        (Just("date"), value(DATES)),
        (
            Just("ratelimit"),
            value(&[r#""a";r=0;t=30"#, r#""a";r=0;t=99999999999999"#, "r=0", ";;"])
        ),
        (Just("x-ratelimit-remaining"), value(&["0", "-1", "NaN"])),
        (prop::sample::select(links.to_vec()), value(LINKS)),
        (Just("content-type"), value(&["text/event-stream", "text/html", "application/json", "x"])),
        (Just("idempotency-replayed"), value(&["true", "TRUE", "maybe"])),
    ]
}

const WAITS: &[&str] = &[
    "0",
    "-1",
    "1",
    "0.001",
    "250",
    "2200000",
    "99999999999999999999999999",
    "Wednesday-ish",
    "NaN",
    "Infinity",
    "1e9",
    "",
    "Wed, 21 Oct 2026 07:28:00 GMT",
    "Wednesday, 21-Oct-26 07:28:00 GMT",
    "Wed Oct 21 07:28:00 2026",
    "Thu, 01 Jan 1970 00:00:00 GMT",
    "Fri, 31 Dec 9999 23:59:59 GMT",
];

const DATES: &[&str] = &[
    "Wed, 21 Oct 2026 07:28:00 GMT",
    "Thu, 01 Jan 1970 00:00:00 GMT",
    "Fri, 31 Dec 9999 23:59:59 GMT",
    "today",
];

const LINKS: &[&str] = &[
    "/v1/operations/op_1",
    "/v1/operations/demo-token",
    "operations/op_1",
    "?page=2",
    "//elsewhere.example/op_1",
    "https://elsewhere.example/op_1",
    "https://api.example.com.elsewhere.example/op_1",
    "https://api.example.com@elsewhere.example/op_1",
    "https://user:secret@api.example.com/op_1",
    "https://api.example.com:444/op_1",
    "http://api.example.com/op_1",
    "https:\\\\elsewhere.example/op_1",
    "javascript:alert(1)",
    "data:application/json,{}",
    "file:///etc/passwd",
    "/../../admin",
    "",
    "#",
];

fn any_body() -> impl Strategy<Value = Body> {
    let odd = prop::sample::select(vec![
        Body::Bytes(b""),
        Body::Bytes(b" \n\t"),
        Body::Bytes(b"<!doctype html><title>502 Bad Gateway</title>"),
        Body::Bytes(b"\xFF\xFE{\x00}\x00"),
        Body::Bytes(b"{\"id\":\"\xC3\x28\",\"status\":\"completed\"}"),
        Body::Bytes(b"\xEF\xBB\xBF{\"id\":\"r_1\"}"),
        Body::Bytes(b"{\"id\":\"\\ud800\",\"status\":\"\\udfff\"}"),
        Body::Bytes(b"{\"id\":\"r_1\"}{\"id\":\"r_2\"}"),
        Body::Bytes(
            b"{\"id\":\"r_1\",\"id\":\"r_2\",\"status\":\"failed\",\"status\":\"running\"}",
        ),
        Body::Bytes(b"null"),
        Body::Bytes(b"\"r_1\""),
        Body::Bytes(b"[{\"id\":\"r_1\"}]"),
        Body::Bytes(b"event: started\ndata: {\"runId\":\"run_1\"}\n\n"),
        Body::Bytes(b"event: summary\ndata: {\"delivery\":{\"runId\":\"run_1\"}}\n\n"),
        Body::Many("[", 200_000),
        Body::Many("{\"a\":", 50_000),
        Body::Many("9", 300_000),
        Body::Many("\"", 1),
        Body::Many(" ", 1_200_000),
        Body::Many("{\"id\":\"r_1\"}\n", 20_000),
        Body::Many("data: {\"percent\":1}\n\n", 20_000),
    ]);
    prop_oneof![
        2 => odd,
        4 => any_job().prop_map(Body::Text),
        4 => any_object().prop_map(Body::Text),
        1 => any_object().prop_map(Body::Half),
    ]
}

/// What a job looks like that is well, but for where it leads.
fn any_job() -> impl Strategy<Value = String> {
    let words = ["running", "completed", "Succeeded", "failed", "half-way"];
    (prop::sample::select(words.to_vec()), prop::sample::select(LINKS)).prop_map(|(word, link)| {
        let link = link.replace('\\', "\\\\");
        format!(
            r#"{{"id":"r_1","name":"operations/op_1","request_id":"r_1","status":"{word}","done":true,
                "result":"{link}","resultUrl":"{link}","resourceLocation":"{link}"}}"#
        )
    })
}

/// An object with members that profiles look for.
fn any_object() -> impl Strategy<Value = String> {
    let names = [
        "id",
        "name",
        "request_id",
        "runId",
        "status",
        "state",
        "done",
        "error",
        "code",
        "message",
        "result",
        "resultUrl",
        "response",
        "expires_at",
        "records",
        "items",
        "runs",
        "data",
        "next",
        "created_at",
        "delivery",
        "token_state",
        "percent",
        "replayed",
        "credits",
        "metadata",
        "resourceLocation",
        "type",
    ];
    let member = (prop::sample::select(names.to_vec()), any_value());
    prop::collection::vec(member, 0..6).prop_map(|members| {
        let members: Vec<_> =
            members.iter().map(|(name, value)| format!("\"{name}\":{value}")).collect();
        format!("{{{}}}", members.join(","))
    })
}

fn any_value() -> impl Strategy<Value = String> {
    let values = [
        r#""r_1""#,
        r#""r_demo-token""#,
        r#"{"code":"demo-token","message":"no demo-token"}"#,
        r#""../../admin""#,
        r#""r_1/result?x=1#y""#,
        r#""""#,
        "9223372036854775807",
        "9007199254740993",
        "1e999",
        "-0",
        "null",
        "true",
        "false",
        "[]",
        "{}",
        "[{}]",
        r#""pending""#,
        r#""running""#,
        r#""completed""#,
        r#""COMPLETED""#,
        r#""succeeded""#,
        r#""failed""#,
        r#""cancelled""#,
        r#""expired""#,
        r#""half-way""#,
        r#""Succeeded""#,
        r#"{"code":"RESULT_NOT_READY","message":"No."}"#,
        r#"{"code":"RESULT_EXPIRED"}"#,
        r#"{"code":"REQUEST_IN_PROGRESS"}"#,
        r#"{"code":"replay_conflict"}"#,
        r#"{"runId":"run_1","recordCount":3}"#,
        r#""2026-10-21T07:28:00Z""#,
        r#""0001-01-01T00:00:00Z""#,
        "99999999999999999999",
        r#""https://elsewhere.example/result""#,
        r#""/v1/operations/op_1""#,
        r#"[{"id":"r_9","created_at":"2026-10-21T07:28:00Z"}]"#,
    ];
    prop_oneof![
        20 => prop::sample::select(values.to_vec()).prop_map(String::from),
        1 => (1..200_000_usize).prop_map(|length| format!("\"{}\"", "x".repeat(length))),
        1 => (1..100_000_usize).prop_map(|depth| "[".repeat(depth)),
    ]
}
