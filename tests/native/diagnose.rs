//! Where submissions are not answered, a read that the profile names tells whether the service is there.

use super::cost::RUNHARVESTER;
use super::streams::{WHOLE, answering, exchange, stream, world_of};
use crate::world::{Context, Settings, World, park, standing, succeeds_once};
use holdfast::model::hold::ParkReason;
use holdfast::model::policy::Limits;
use holdfast::rules::profile;
use holdfast_services::{Call, Loopback, RunHarvester};
use serde_json::{Value, json};

/// A profile with a diagnosis, behind faults.
fn asking(faults: &str) -> World {
    let service = Loopback::new(RunHarvester::default());
    let world = World::of(Settings::default(), service, &with(&json!("/health")));
    world.add_faults(faults);
    world
}

fn with(path: &Value) -> String {
    let mut profile: Value = serde_json::from_str(RUNHARVESTER).expect("JSON");
    profile["calls"]["diagnose"] = json!({ "method": "GET", "path": path });
    profile.to_string()
}

fn losing(times: u32) -> String {
    json!([{ "call": "submit", "fault": "lose_before", "times": times }]).to_string()
}

fn diagnoses(world: &World) -> usize {
    world.requests(Call::Any).iter().filter(|own| own.path == "/health").count()
}

fn told(world: &World, context: &Context, event: &str) -> bool {
    let id = world.stored("daily").expect("it is stored").identity.id;
    world.journal(context, &id).iter().any(|line| line.contains(event))
}

#[test]
fn one_lost_answer_is_no_reason_to_ask() {
    let world = asking(&losing(1));
    let ended = world.live(&world.open(), "daily", "");
    succeeds_once(&world, &ended);
    assert_eq!(diagnoses(&world), 0);
}

#[test]
fn each_further_one_leads_to_one_read_and_never_to_another_submission() {
    let world = asking(&losing(3));
    let context = world.open();
    let ended = world.live(&context, "daily", "");
    succeeds_once(&world, &ended);
    assert_eq!((diagnoses(&world), world.requests(Call::Submit).len()), (2, 4));
    assert!(told(&world, &context, "diagnose.answered"));
    let times: Vec<_> = world.requests(Call::Any).iter().map(|own| own.time_ms).collect();
    assert!(times.windows(2).all(|pair| pair[1] - pair[0] >= 250), "{times:?}");
}

#[test]
fn it_bears_no_credential_no_key_and_no_body() {
    let calls = json!({ "diagnose": { "method": "GET", "path": "/health" } });
    let exchanges = vec![
        exchange("POST /v1/chat", &stream(WHOLE)),
        json!({ "request": "GET /health", "status": 200, "body": "fine" }),
    ];
    let profile = answering(&calls, &json!({}));
    let (world, seen) = world_of(profile, exchanges, Settings::default());
    world.add_faults(&losing(2));
    assert_eq!(standing(&world.live(&world.open(), "daily", "")), "succeeded");
    let seen = seen.lock().expect("one thread");
    let asked = seen.iter().find(|own| own.path == "/health").expect("it was asked");
    let names: Vec<_> = asked.headers.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!((asked.method.as_str(), names), ("GET", vec!["accept"]));
    assert!(asked.body.is_empty());
}

#[test]
fn what_it_says_settles_nothing_and_bounds_hold() {
    let world = asking(&losing(9));
    let limits = Limits { attempts: 2, ..Limits::default() };
    let context = world.open_with(limits, &world.0.profile.clone());
    let parked = world.live(&context, "daily", "");
    assert_eq!(park(&parked), Some(ParkReason::BudgetExhausted));
    assert!(parked.life.evidence.unresolved.is_some());
    assert!(told(&world, &context, "diagnose.answered"));
    assert_eq!((diagnoses(&world), world.requests(Call::Submit).len()), (1, 2));
}

#[test]
fn a_service_that_is_not_there_is_told_too() {
    let world = asking(r#"[{"call":"any","fault":"lose_before","times":5}]"#);
    let context = world.open();
    let ended = world.live(&context, "daily", "");
    succeeds_once(&world, &ended);
    assert!(told(&world, &context, "diagnose.lost"));
}

#[test]
fn a_wish_to_cancel_meanwhile_ends_the_sending() {
    let world = asking(&losing(9));
    let context = world.open();
    let operation = world.submit(&context, "daily", "");
    world.until("daily", |own| own.counters.failures == 2);
    world.cancel(&context, &operation).expect("it is wanted");
    let sent = world.requests(Call::Submit).len();
    let rested = world.settle(&context, "daily").expect("it comes to rest");
    assert_eq!(park(&rested), Some(ParkReason::CancelUnconfirmed));
    assert_eq!(world.requests(Call::Submit).len(), sent);
}

#[test]
fn without_a_network_it_is_not_asked() {
    let world = asking(&losing(9));
    let context = world.open();
    world.submit(&context, "daily", "");
    world.until("daily", |own| own.counters.failures == 2);
    world.0.settings.borrow_mut().offline = true;
    world.pass(600_000);
    assert_eq!(diagnoses(&world), 0);
    assert_eq!(standing(&world.stored("daily").expect("stored")), "submitting");
}

#[test]
fn only_a_read_that_needs_nothing_is_a_diagnosis() {
    let mut posting: Value = serde_json::from_str(&with(&json!("/health"))).expect("JSON");
    posting["calls"]["diagnose"]["method"] = json!("POST");
    for (text, pointer) in [
        (posting.to_string(), "/calls/diagnose"),
        (with(&json!("/jobs/{id}")), "/calls/diagnose/path"),
    ] {
        let faults = profile::read(&text).expect_err("a fault");
        assert!(faults.iter().any(|own| own.pointer == pointer), "{faults:?}");
    }
}
