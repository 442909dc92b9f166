//! Where a request goes: the control plane, the service, or a file.
use std::io;
use std::sync::Arc;
use std::time::Duration;

use http_body_util::{BodyExt, Limited};
use hyper::StatusCode;
use hyper::body::Incoming;
use hyper::header::{CONTENT_LENGTH, HeaderName, HeaderValue};

use super::body::Answer;
use super::shared::{Place, Shared, now_ms};
use super::{control, files};
use crate::{Call, Delivery, Request, Response, Service};

/// The longest request body that is read.
const BODY_BYTES_MAX: usize = 16 << 20;

/// Answers a request; an error closes the connection without a byte.
pub(super) async fn answer(
    shared: &Arc<Shared>,
    incoming: hyper::Request<Incoming>,
) -> io::Result<hyper::Response<Answer>> {
    let request = read(incoming).await?;
    let Some((place, path)) = shared.place(&request.path) else {
        return written(files::answer(&shared.options.mounts, request.route()), Answer::new);
    };
    let request = Request { path: path.to_owned(), ..request };
    if request.method == "OPTIONS" {
        let response = Response { status: 204, ..Response::default() };
        return written(open_to_all(shared, place, response), Answer::new);
    }
    if let Some(path) = request.path.strip_prefix("/_control/") {
        let response = control::answer(place, &request, path).await;
        return written(open_to_all(shared, place, response), Answer::new);
    }
    let call = place.world().service.stage_of(&request);
    let may_be_file = place.is_root() && call == Call::Other;
    if may_be_file && matches!(request.method.as_str(), "GET" | "HEAD") {
        return written(files::answer(&shared.options.mounts, request.route()), Answer::new);
    }
    exchange(shared, place, call, &request).await
}

/// Puts the request to the service, and lets its faults happen.
async fn exchange(
    shared: &Shared,
    place: &Place,
    call: Call,
    request: &Request,
) -> io::Result<hyper::Response<Answer>> {
    let outcome = place.world().process(now_ms(), request);
    if outcome.delivery != Delivery::Lost {
        place.withhold(call).await;
    }
    let delay = Duration::from_millis(outcome.delay_ms);
    if let Some(early) = outcome.early() {
        let early = open_to_all(shared, place, early.clone());
        place.world().deliver(request, &outcome);
        return written(early, |response| Answer::in_two(response, delay));
    }
    if outcome.delay_ms > 0 {
        tokio::time::sleep(delay).await;
    }
    place.world().deliver(request, &outcome);
    match outcome.delivery {
        Delivery::Answer(response) => written(open_to_all(shared, place, response), Answer::new),
        Delivery::Truncated(response) => written(open_to_all(shared, place, response), Answer::cut),
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

/// Lets every origin read the answer, as services do that browsers call directly.
fn open_to_all(shared: &Shared, place: &Place, response: Response) -> Response {
    let options = &shared.options;
    let (allow, expose) = place.world().service.browser_headers();
    let list = |usual: &[String], own: &[&str]| {
        let usual = usual.iter().map(String::as_str);
        usual.chain(own.iter().copied()).collect::<Vec<_>>().join(", ")
    };
    response
        .with_header("access-control-allow-origin", "*")
        .with_header("access-control-allow-methods", "GET, POST, PUT, DELETE")
        .with_header("access-control-allow-headers", &list(&options.allow_headers, allow))
        .with_header("access-control-expose-headers", &list(&options.expose_headers, expose))
}

fn written(
    response: Response,
    body: impl FnOnce(Response) -> Answer,
) -> io::Result<hyper::Response<Answer>> {
    let Response { status, headers, .. } = &response;
    let (status, headers) = (*status, headers.clone());
    let length = response.body.len();
    let mut answer = hyper::Response::new(body(response));
    *answer.status_mut() = StatusCode::from_u16(status).map_err(io::Error::other)?;
    for (name, value) in headers {
        let name = name.parse::<HeaderName>().map_err(io::Error::other)?;
        let value = HeaderValue::from_str(&value).map_err(io::Error::other)?;
        answer.headers_mut().append(name, value);
    }
    if status != 204 {
        answer.headers_mut().insert(CONTENT_LENGTH, HeaderValue::from(length));
    }
    answer.headers_mut().entry("cache-control").or_insert(HeaderValue::from_static("no-store"));
    Ok(answer)
}
