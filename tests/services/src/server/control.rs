//! The control plane: what tests and the demo tell a service, and ask it. Each service has its own.
//!
//! | under `BASE/_control/` | does |
//! |---|---|
//! | `GET ledger` | the counters, and the jobs as a list |
//! | `GET requests` | the latest requests, oldest first |
//! | `POST faults` | adds a JSON list of faults |
//! | `DELETE faults` | removes all faults and holds |
//! | `POST hold` | `{"call": "submit"}`: from now on withholds the answers of that call |
//! | `POST release` | lets withheld answers go, and withholds no more |
//! | `GET held` | waits until an answer is withheld: `{"held": 1}`; 204 after 10 s |
//! | `GET`, `POST fail-point?name=…&hold=1` | notes the name; with `hold=1` never answers |
//! | `GET reached?after=n` | waits for more than `n` names: those after the first `n`; 204 after 10 s |
//! | `POST reset` | forgets jobs, faults, holds and names; ids go on |
use std::future::pending;

use serde::Deserialize;
use serde_json::{Value, json};

use super::shared::{Place, now_ms};
use crate::{Call, Fault, Request, Response, Service};

/// What a hold covers.
#[derive(Deserialize)]
struct Hold {
    #[serde(default = "submit")]
    call: Call,
}

/// Answers a request whose path, after the control plane's own part, is `path`.
pub(super) async fn answer(place: &Place, request: &Request, path: &str) -> Response {
    let (name, query) = path.split_once('?').unwrap_or((path, ""));
    match (request.method.as_str(), name) {
        ("GET", "ledger") => {
            let mut world = place.world();
            world.service.advance(now_ms());
            Response::json(200, &world.ledger().to_json())
        }
        ("GET", "requests") => Response::json(200, &place.world().ledger().requests_json()),
        ("POST", "faults") => add_faults(place, request),
        ("DELETE", "faults") => {
            place.world().faults.clear();
            place.release();
            done()
        }
        ("POST", "reset") => {
            let mut world = place.world();
            world.faults.clear();
            world.service.reset();
            place.release();
            place.signal(|signals| signals.reached.clear());
            done()
        }
        ("POST", "hold") => hold(place, request),
        ("POST", "release") => {
            place.release();
            done()
        }
        ("GET", "held") => {
            let held = place.wait_for(|signals| Some(signals.held).filter(|&held| held > 0));
            told(held.await.map(|held| json!({ "held": held })))
        }
        ("GET" | "POST", "fail-point") => fail_point(place, query).await,
        ("GET", "reached") => {
            let after = parameter(query, "after").and_then(|after| after.parse().ok());
            let after = after.unwrap_or(0_usize);
            let reached = place.wait_for(|signals| {
                let names = signals.reached.get(after..).filter(|names| !names.is_empty())?;
                Some(json!({ "names": names }))
            });
            told(reached.await)
        }
        (_, _) => wrong(404, "The control plane has no such call."),
    }
}

fn add_faults(place: &Place, request: &Request) -> Response {
    match serde_json::from_slice::<Vec<Fault>>(&request.body) {
        Ok(faults) => {
            place.world().faults.add(faults);
            done()
        }
        Err(error) => wrong(400, &error.to_string()),
    }
}

fn hold(place: &Place, request: &Request) -> Response {
    let body: &[u8] = if request.body.is_empty() { b"{}" } else { &request.body };
    match serde_json::from_slice::<Hold>(body) {
        Ok(Hold { call }) => {
            place.signal(|signals| signals.hold.push(call));
            done()
        }
        Err(error) => wrong(400, &error.to_string()),
    }
}

/// Takes note of a fail point; where it holds, the caller waits here until it is killed.
async fn fail_point(place: &Place, query: &str) -> Response {
    let name = parameter(query, "name").unwrap_or_default().to_owned();
    place.signal(|signals| signals.reached.push(name));
    if parameter(query, "hold") == Some("1") {
        return pending().await;
    }
    done()
}

fn parameter<'a>(query: &'a str, name: &str) -> Option<&'a str> {
    let mut pairs = query.split('&').filter_map(|pair| pair.split_once('='));
    pairs.find(|(known, _)| *known == name).map(|(_, value)| value)
}

fn submit() -> Call {
    Call::Submit
}

fn done() -> Response {
    Response { status: 204, ..Response::default() }
}

fn told(found: Option<Value>) -> Response {
    found.map_or_else(done, |found| Response::json(200, &found))
}

fn wrong(status: u16, message: &str) -> Response {
    Response::json(status, &json!({"error": {"message": message}}))
}
