//! A service without idempotency: work whose answer was lost is looked up, never sent blindly.

use crate::world::{Context, Logged, Settings, World, park, standing, submission};
use holdfast::driver::Submission;
use holdfast::model::error::Code;
use holdfast::model::evidence::AcceptedHow;
use holdfast::model::hold::ParkReason;
use holdfast::model::life::Stage;
use holdfast::model::operation::Operation;
use holdfast::model::policy::{Limits, OnUnknown};
use holdfast::rules::exits::exits;
use holdfast::rules::step::{Command, Resolution};
use holdfast_services::{Bulkgrid, BulkgridConfig, Call, Loopback};
use serde_json::{Value, json};

pub(super) const PROFILE: &str = include_str!("../../pkg-template/profiles/bulkgrid.json");

pub(super) const LOST: &str = r#"[{"call":"submit","fault":"lose_after","times":1}]"#;

pub(super) const UNSENT: &str = r#"[{"call":"submit","fault":"lose_before","times":1}]"#;

pub(super) const ACCEPT: Command = Command::Resume { limits: None, accept_duplicate: true };

pub(super) fn world(faults: &str) -> World {
    world_with(faults, BulkgridConfig::default())
}

pub(super) fn world_with(faults: &str, config: BulkgridConfig) -> World {
    let world = World::of(Settings::default(), Loopback::new(Bulkgrid::new(config)), PROFILE);
    world.add_faults(faults);
    world
}

/// The profile with another value at one place.
pub(super) fn profile_with(change: impl FnOnce(&mut Value)) -> String {
    let mut profile: Value = serde_json::from_str(PROFILE).expect("JSON");
    change(&mut profile);
    profile.to_string()
}

/// Runs are known by their URL alone.
pub(super) fn by_url() -> String {
    profile_with(|profile| {
        let rule = profile["reconcile"].as_object_mut().expect("a rule");
        rule.remove("echo");
        rule.remove("sendEcho");
        rule.insert("same".into(), json!({ "/url": "/url" }));
    })
}

pub(super) fn resubmitting(world: &World) -> Context {
    let limits = Limits { on_unknown: OnUnknown::Resubmit, ..Limits::default() };
    world.open_with(limits, PROFILE)
}

pub(super) fn sent(world: &World) -> usize {
    world.requests(Call::Submit).len()
}

pub(super) fn read(world: &World) -> usize {
    world.requests(Call::List).len()
}

/// A run that somebody else has submitted with the same URL.
pub(super) fn foreign_run(world: &World) {
    let request = holdfast_services::Request::new("POST", "/api/v1/extract")
        .with_header("x-api-key", crate::world::SECRET)
        .with_body(r#"{"url":"https://example.com"}"#);
    let now = world.0.clock.now();
    world.0.service.borrow_mut().exchange(now, &request);
}

pub(super) fn how(operation: &Operation) -> Option<AcceptedHow> {
    operation.life.evidence.accepted.as_ref().map(|proof| proof.how)
}

#[test]
fn a_run_that_was_not_listed_may_be_named_by_a_person() {
    let world = world(UNSENT);
    let context = world.open();
    let parked = world.live(&context, "daily", "");
    assert!(matches!(parked.life.stage, Stage::Reconcile(_)));
    assert!(exits(&parked).contains(&"resolve({found})"));
    let found = Command::Resolve(Resolution::Found("run_7".into()));
    let followed = world.command(&context, &parked, found).expect("an exit");
    assert_eq!(followed.life.stage, Stage::Work);
    assert_eq!(how(&followed), Some(AcceptedHow::Found));
}

#[test]
fn a_run_whose_answer_was_lost_is_found_and_followed_to_its_result() {
    let world = world(LOST);
    let operation = world.live(&world.open(), "daily", "");
    assert_eq!(standing(&operation), "succeeded");
    assert_eq!(how(&operation), Some(AcceptedHow::Listed));
    assert_eq!((world.executions(), sent(&world)), (1, 1));
}

#[test]
fn a_request_that_never_arrived_is_proven_absent_and_a_person_decides() {
    let world = world(UNSENT);
    let context = world.open();
    let operation = world.live(&context, "daily", "");
    assert_eq!(park(&operation), Some(ParkReason::OutcomeUnknown));
    let Stage::Reconcile(listing) = &operation.life.stage else { panic!("not looked up") };
    assert!(listing.absent && listing.found.is_empty());
    assert_eq!(
        exits(&operation),
        [
            "resolve({found})",
            "resolve(\"not-executed\")",
            "resume({acceptRisk: \"duplicate\"})",
            "resolve(\"abandon\")"
        ]
    );
    let journal = world.journal(&context, &operation.identity.id).join("\n");
    assert!(journal.contains("reconcile.absent"), "{journal}");
    assert_eq!((world.executions(), sent(&world)), (0, 1));
    world.resolve(&context, &operation, Resolution::NotExecuted).expect("an exit");
    let operation = world.settle(&context, "daily").expect("it ends");
    assert_eq!(standing(&operation), "succeeded");
    assert_eq!((world.executions(), sent(&world)), (1, 2));
}

#[test]
fn what_is_proven_absent_is_submitted_once_more_where_the_app_says_so() {
    let world = world(UNSENT);
    let operation = world.live(&resubmitting(&world), "daily", "");
    assert_eq!(standing(&operation), "succeeded");
    assert_eq!((world.executions(), sent(&world)), (1, 2));
    let mut bodies = Vec::new();
    for own in world.0.log.all() {
        if let Logged::Sent { method, body, .. } = own
            && method == "POST"
        {
            bodies.push(body);
        }
    }
    assert_eq!(bodies.len(), 2);
    assert_eq!(bodies[0], bodies[1]);
}

#[test]
fn only_one_resubmission_follows_by_itself() {
    let world = world(r#"[{"call":"submit","fault":"lose_before","times":2}]"#);
    let context = resubmitting(&world);
    let operation = world.live(&context, "daily", "");
    assert_eq!(park(&operation), Some(ParkReason::OutcomeUnknown));
    assert_eq!((world.executions(), sent(&world)), (0, 2));
    world.command(&context, &operation, ACCEPT).expect("an exit");
    assert_eq!(standing(&world.settle(&context, "daily").expect("it ends")), "succeeded");
    assert_eq!(sent(&world), 3);
}

#[test]
fn without_a_listing_nothing_is_sent_twice_whatever_the_app_says() {
    let world = world(UNSENT);
    let profile = profile_with(|profile| {
        profile["calls"].as_object_mut().expect("calls").remove("list");
        profile.as_object_mut().expect("a profile").remove("reconcile");
    });
    let limits = Limits { on_unknown: OnUnknown::Resubmit, ..Limits::default() };
    let context = world.open_with(limits, &profile);
    let operation = world.live(&context, "daily", "");
    assert_eq!(park(&operation), Some(ParkReason::OutcomeUnknown));
    assert_eq!(sent(&world), 1);
    world.command(&context, &operation, ACCEPT).expect("an exit");
    assert_eq!(standing(&world.settle(&context, "daily").expect("it ends")), "succeeded");
    assert_eq!((world.executions(), sent(&world)), (1, 2));
}

#[test]
fn several_runs_that_look_the_same_are_for_a_person() {
    let world = world("[]");
    let context = world.open_with(Limits::default(), &by_url());
    foreign_run(&world);
    world.add_faults(LOST);
    let operation = world.live(&context, "daily", "");
    assert_eq!(park(&operation), Some(ParkReason::Ambiguous));
    let view: Value =
        serde_json::from_str(&holdfast::record::view::view(&operation)).expect("JSON");
    let candidates = view["parked"]["candidates"].as_array().expect("candidates").clone();
    assert_eq!(candidates.len(), 2);
    let found = candidates[0].as_str().expect("an id").into();
    world.resolve(&context, &operation, Resolution::Found(found)).expect("an exit");
    assert_eq!(standing(&world.settle(&context, "daily").expect("it ends")), "succeeded");
    assert_eq!(world.executions(), 2, "one of them is somebody else's");
}

#[test]
fn work_whose_run_could_never_be_found_is_refused_before_it_is_sent() {
    let world = world("[]");
    let context = world.open_with(Limits::default(), &by_url());
    for body in ["url=https%3A%2F%2Fexample.com", "{}", r#"{"url":"a","url":"b"}"#] {
        let request = Submission { body: body.into(), ..submission("daily", "") };
        let driver = context.driver.clone();
        let refused = world.call(&context, async move { driver.submit(request).await });
        let error = refused.expect("an answer").expect_err("it is refused");
        assert_eq!((error.code, error.field.as_deref()), (Code::InvalidInput, Some("body")));
    }
    assert_eq!(sent(&world), 0);
}

#[test]
fn one_run_is_never_adopted_twice() {
    let world = world("[]");
    let context = world.open_with(Limits::default(), &by_url());
    world.live(&context, "one", "");
    world.add_faults(UNSENT);
    let second = world.live(&context, "two", "");
    // The run of the first is all that the listing shows; it is not the second's.
    assert_eq!(park(&second), Some(ParkReason::OutcomeUnknown), "{:?}", second.life);
    let Stage::Reconcile(listing) = &second.life.stage else { panic!("not looked up") };
    assert!(listing.absent && listing.found.is_empty());
    assert_eq!(world.executions(), 1);
}

#[test]
fn the_same_request_under_two_intents_is_handed_over_one_at_a_time() {
    let world = world(LOST);
    let context = world.open();
    world.submit(&context, "one", "");
    world.submit(&context, "two", "");
    world.pass(20_000);
    assert_eq!(sent(&world), 1, "the second waits until the first is settled");
    world.submit(&context, "other", r#","depth":2"#);
    world.pass(1_000);
    assert_eq!(sent(&world), 2, "another request does not");
    for intent in ["one", "two", "other"] {
        assert_eq!(standing(&world.settle(&context, intent).expect("it ends")), "succeeded");
    }
    assert_eq!((world.executions(), sent(&world)), (3, 3));
}

#[test]
fn a_cancel_looks_the_run_up_and_stops_it() {
    let world = world(LOST);
    let context = world.open();
    let operation = world.submit(&context, "daily", r#","duration_ms":900000"#);
    world.until("daily", |own| standing(own) == "reconciling");
    world.cancel(&context, &operation).expect("it may be cancelled");
    let operation = world.settle(&context, "daily").expect("it ends");
    assert_eq!(standing(&operation), "cancelled");
    assert_eq!((sent(&world), world.requests(Call::Cancel).len()), (1, 1));
}

#[test]
fn a_cancel_of_what_never_arrived_ends_without_another_sending() {
    let world = world(UNSENT);
    let context = resubmitting(&world);
    let operation = world.submit(&context, "daily", "");
    world.until("daily", |own| own.life.evidence.unresolved.is_some());
    world.cancel(&context, &operation).expect("it may be cancelled");
    let operation = world.settle(&context, "daily").expect("it ends");
    assert_eq!(standing(&operation), "cancelled");
    assert_eq!((world.executions(), sent(&world)), (0, 1));
}

#[test]
fn a_cancel_is_kept_to_where_no_call_stops_a_run() {
    let world = world(UNSENT);
    let profile = profile_with(|profile| {
        profile["calls"].as_object_mut().expect("calls").remove("cancel");
    });
    let limits = Limits { on_unknown: OnUnknown::Resubmit, ..Limits::default() };
    let context = world.open_with(limits, &profile);
    let operation = world.submit(&context, "daily", "");
    world.until("daily", |own| standing(own) == "reconciling");
    world.cancel(&context, &operation).expect("nothing is known to run");
    let operation = world.settle(&context, "daily").expect("it ends");
    assert_eq!(standing(&operation), "cancelled");
    assert_eq!((world.executions(), sent(&world)), (0, 1));
}

#[test]
fn a_rerun_whose_answer_was_lost_is_found_by_the_run_that_it_repeats() {
    let world = world("[]");
    let context = world.open();
    let first = world.live(&context, "daily", r#","fail_times":1"#);
    let reviewed = crate::world::failed(&first).id.clone();
    world.add_faults(r#"[{"call":"retry","fault":"lose_after","times":1}]"#);
    world.retry(&context, &first, &reviewed, true).expect("a rerun");
    let second = world.settle(&context, "daily").expect("it ends");
    assert_eq!(standing(&second), "succeeded");
    assert_eq!(how(&second), Some(AcceptedHow::Listed));
    assert_eq!((world.executions(), world.requests(Call::Retry).len()), (2, 1));
}

#[test]
fn a_rerun_whose_answer_was_lost_is_found_by_a_clock_that_is_wrong_by_minutes() {
    let world = world("[]");
    world.0.settings.borrow_mut().skew_ms = 600_000;
    let context = resubmitting(&world);
    let first = world.live(&context, "daily", r#","fail_times":1"#);
    let reviewed = crate::world::failed(&first).id.clone();
    world.add_faults(r#"[{"call":"retry","fault":"lose_after","times":1}]"#);
    world.retry(&context, &first, &reviewed, true).expect("a rerun");
    let second = world.settle(&context, "daily").expect("it ends");
    assert_eq!(how(&second), Some(AcceptedHow::Listed));
    assert_eq!((world.executions(), world.requests(Call::Retry).len()), (2, 1));
}

#[test]
fn a_run_that_belongs_to_another_operation_is_no_candidate() {
    let world = world("[]");
    let context = world.open_with(Limits::default(), &by_url());
    let first = world.live(&context, "first", "");
    world.add_faults(LOST);
    let second = world.live(&context, "second", "");
    assert_eq!((standing(&second), how(&second)), ("succeeded", Some(AcceptedHow::Listed)));
    assert_ne!(first.life.job(), second.life.job());
    assert_eq!((world.executions(), sent(&world)), (2, 2));
}
