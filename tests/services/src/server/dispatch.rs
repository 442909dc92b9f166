//! Where a request goes: the control plane, the service, or a file.
use std::io;
use std::sync::Arc;
use std::time::Duration;

use http_body_util::{BodyExt, Limited};
use hyper::StatusCode;
use hyper::body::Incoming;
use hyper::header::{CONTENT_LENGTH, HeaderName, HeaderValue};

use super::body::Answer;
use super::shared::{Shared, now_ms};
use super::{control, files};
use crate::{Call, Delivery, Request, Response, Service};

/// The longest request body that is read.
const BODY_BYTES_MAX: usize = 16 << 20;

/// Answers a request; an error closes the connection without a byte.
pub(super) async fn answer<S: Service>(
    shared: &Arc<Shared<S>>,
    incoming: hyper::Request<Incoming>,
) -> io::Result<hyper::Response<Answer>> {
    let request = read(incoming).await?;
    if let Some(path) = request.path.strip_prefix("/_control/") {
        let response = if request.method == "OPTIONS" {
            Response { status: 204, ..Response::default() }
        } else {
            control::answer(shared, &request, path).await
        };
        return written(open_to_all(shared, response), Answer::whole);
    }
    if request.method == "OPTIONS" {
        let response = Response { status: 204, ..Response::default() };
        return written(open_to_all(shared, response), Answer::whole);
    }
    let call = shared.world().service.stage_of(&request);
    if call == Call::Other && matches!(request.method.as_str(), "GET" | "HEAD") {
        return written(files::answer(&shared.options.mounts, request.route()), Answer::whole);
    }
    exchange(shared, call, &request).await
}

/// Puts the request to the service, and lets its faults happen.
async fn exchange<S: Service>(
    shared: &Shared<S>,
    call: Call,
    request: &Request,
) -> io::Result<hyper::Response<Answer>> {
    let outcome = shared.world().process(now_ms(), request);
    if outcome.delivery != Delivery::Lost {
        shared.withhold(call).await;
    }
    if outcome.delay_ms > 0 {
        tokio::time::sleep(Duration::from_millis(outcome.delay_ms)).await;
    }
    shared.world().deliver(request, &outcome);
    match outcome.delivery {
        Delivery::Answer(response) => written(open_to_all(shared, response), Answer::whole),
        Delivery::Truncated(response) => written(open_to_all(shared, response), Answer::cut),
        Delivery::Lost => Err(io::ErrorKind::ConnectionAborted.into()),
    }
}

async fn read(incoming: hyper::Request<Incoming>) -> io::Result<Request> {
    let (head, body) = incoming.into_parts();
    let path = head.uri.path_and_query().map_or("/", |path| path.as_str()).to_owned();
    let text = |value: &HeaderValue| String::from_utf8_lossy(value.as_bytes()).into_owned();
    let headers = head.headers.iter().map(|(name, value)| (name.to_string(), text(value)));
    let headers = headers.collect();
    let body = Limited::new(body, BODY_BYTES_MAX).collect().await.map_err(io::Error::other)?;
    let body = body.to_bytes().to_vec();
    Ok(Request { method: head.method.to_string(), path, headers, body })
}

/// Lets every origin read the answer, as the service does that browsers call directly.
fn open_to_all<S>(shared: &Shared<S>, response: Response) -> Response {
    let options = &shared.options;
    response
        .with_header("access-control-allow-origin", "*")
        .with_header("access-control-allow-methods", "GET, POST, DELETE")
        .with_header("access-control-allow-headers", &options.allow_headers.join(", "))
        .with_header("access-control-expose-headers", &options.expose_headers.join(", "))
}

fn written(
    response: Response,
    body: impl FnOnce(Vec<u8>) -> Answer,
) -> io::Result<hyper::Response<Answer>> {
    let length = response.body.len();
    let mut answer = hyper::Response::new(body(response.body));
    *answer.status_mut() = StatusCode::from_u16(response.status).map_err(io::Error::other)?;
    for (name, value) in response.headers {
        let name = name.parse::<HeaderName>().map_err(io::Error::other)?;
        let value = HeaderValue::from_str(&value).map_err(io::Error::other)?;
        answer.headers_mut().append(name, value);
    }
    if response.status != 204 {
        answer.headers_mut().insert(CONTENT_LENGTH, HeaderValue::from(length));
    }
    answer.headers_mut().entry("cache-control").or_insert(HeaderValue::from_static("no-store"));
    Ok(answer)
}
