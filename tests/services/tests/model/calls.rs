//! Requests as a well-behaved client sends them.
use holdfast_services::{Delivery, Loopback, Request, Response, RunHarvester, Service};
use serde_json::Value;

pub(crate) type World = Loopback<RunHarvester>;

pub(crate) const ROOT: &str = "/api/v1/data/requests";

pub(crate) fn world() -> World {
    Loopback::new(RunHarvester::default())
}

pub(crate) fn call(method: &str, path: &str) -> Request {
    Request::new(method, path).with_header("authorization", "Bearer demo-token")
}

pub(crate) fn submit(key: &str, body: &Value) -> Request {
    call("POST", ROOT).with_header("idempotency-key", key).with_body(body.to_string())
}

pub(crate) fn poll(id: &str) -> Request {
    call("GET", &format!("{ROOT}/{id}"))
}

pub(crate) fn result(id: &str) -> Request {
    call("GET", &format!("{ROOT}/{id}/result"))
}

pub(crate) fn cancel(id: &str) -> Request {
    call("POST", &format!("{ROOT}/{id}/cancel"))
}

pub(crate) fn retry(id: &str, key: &str) -> Request {
    call("POST", &format!("{ROOT}/{id}/retry")).with_header("idempotency-key", key)
}

/// The answer, where a whole one arrives.
pub(crate) fn answer<S: Service>(
    world: &mut Loopback<S>,
    now_ms: u64,
    request: &Request,
) -> Response {
    match world.exchange(now_ms, request).delivery {
        Delivery::Answer(response) => response,
        Delivery::Lost | Delivery::Truncated(_) => panic!("no whole answer"),
    }
}

/// Submits at time 0 and gives the id.
pub(crate) fn submitted(world: &mut World, body: &Value) -> String {
    let answer = answer(world, 0, &submit("key-1", body));
    assert_eq!(answer.status, 202);
    answer.parsed()["id"].as_str().unwrap().to_owned()
}

pub(crate) fn code(response: &Response) -> String {
    response.parsed()["error"]["code"].as_str().unwrap_or_default().to_owned()
}
