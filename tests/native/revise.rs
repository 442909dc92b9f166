//! Corrected work in the place of work of which nothing ran.

use crate::world::{Context, PROFILE, Settings, World, park, patch, service, standing, submission};
use holdfast::model::error::Code;
use holdfast::model::hold::ParkReason;
use holdfast::model::operation::Operation;
use holdfast::model::policy::Limits;
use holdfast::rules::exits::exits;
use holdfast_services::Call;

const GOOD: &str = r#"{"url":"https://example.com/corrected"}"#;
const REFUSED: &str = r#"[{"call":"submit","fault":"status","status":402}]"#;
const REVISE: &str = "revise({body})";

fn lived(faults: &str, options: &str) -> (World, Context, Operation) {
    let world = World::with_faults(faults);
    let context = world.open();
    let rested = world.live(&context, "daily", options);
    (world, context, rested)
}

#[test]
fn rejected_work_is_corrected_under_a_new_key_and_linked() {
    let (world, context, rejected) = lived("[]", r#","url":7"#);
    assert_eq!(standing(&rejected), "rejected");
    let revised = world.revise(&context, &rejected, GOOD).expect("nothing ran");
    assert_eq!(revised.identity.parent.as_ref(), Some(&rejected.identity.id));
    assert_eq!(revised.identity.ordinal, 1);
    assert_ne!(revised.identity.key, rejected.identity.key);
    let ended = world.settle(&context, "daily").expect("it ends");
    assert_eq!(ended.identity.id, revised.identity.id);
    assert_eq!(standing(&ended), "succeeded");
    assert_eq!(world.loaded(&rejected.identity.id).life, rejected.life);
    assert_eq!(world.executions(), 1);
    let keys: Vec<_> = world.requests(Call::Submit).into_iter().map(|own| own.key).collect();
    assert_ne!(keys.first(), keys.last());
}

#[test]
fn the_derived_key_that_is_shown_of_corrected_work_is_the_key_that_is_sent() {
    for (place, name) in [("query", "client_key"), ("field", "/client_key")] {
        let mut profile: serde_json::Value = serde_json::from_str(PROFILE).expect("JSON");
        profile["key"] = serde_json::json!({ place: name });
        profile["calls"].as_object_mut().expect("calls").remove("retry");
        let settings = Settings { derives_keys: true, ..Settings::default() };
        let world = World::of(settings, service(), &profile.to_string());
        let context = world.open();
        world.add_faults(r#"[{"call":"submit","fault":"status","status":422}]"#);
        let rejected = world.live(&context, "daily", "");
        assert_eq!(standing(&rejected), "rejected");
        let revised = world.revise(&context, &rejected, GOOD).expect("nothing ran");
        let (key, sent) = (revised.identity.key.as_str(), sent(&world, &revised));
        assert!(sent.contains(key), "{key} is not in {sent}");
        assert!(!sent.contains(rejected.identity.key.as_str()));
    }
}

/// URL and body of its request.
fn sent(world: &World, operation: &Operation) -> String {
    let body = pollster::block_on(holdfast::driver::ports::Store::body(
        &world.0.store,
        &operation.identity.id,
    ))
    .expect("memory");
    let body = String::from_utf8(body.expect("a body")).expect("text");
    [operation.request.url.as_str(), " ", &body].concat()
}

#[test]
fn parked_work_with_every_attempt_refused_is_abandoned_for_the_corrected() {
    let (world, context, parked) = lived(REFUSED, "");
    assert_eq!(park(&parked), Some(ParkReason::NeedsCredit));
    assert!(exits(&parked).contains(&REVISE));
    world.revise(&context, &parked, GOOD).expect("nothing ran");
    let ended = world.settle(&context, "daily").expect("it ends");
    assert_eq!(standing(&ended), "succeeded");
    let old = world.loaded(&parked.identity.id);
    assert_eq!(standing(&old), "abandoned");
    assert_eq!(ended.counters.authorizations, 0);
    let told = world.journal(&context, &ended.identity.id);
    assert!(!told.iter().any(|own| own.contains("unauthorized")), "its body is at hand: {told:?}");
    world.pass(60_000);
    let delivered = world.0.delivered.borrow();
    assert!(delivered.contains(&old.identity.id.0) && delivered.contains(&ended.identity.id.0));
    assert!(world.journal(&context, &old.identity.id).iter().any(|own| own.contains("revised")));
}

#[test]
fn work_that_was_never_sent_is_corrected_after_its_deadline() {
    let world = World::new();
    world.0.settings.borrow_mut().unauthorized = u32::MAX;
    let limits = Limits { send_within_ms: 1_000, ..Limits::default() };
    let context = world.open_with(limits, PROFILE);
    let parked = world.live(&context, "daily", "");
    assert_eq!(park(&parked), Some(ParkReason::DeadlineExceeded));
    assert!(exits(&parked).contains(&REVISE));
    world.0.settings.borrow_mut().unauthorized = 0;
    world.revise(&context, &parked, GOOD).expect("nothing ran");
    assert_eq!(standing(&world.settle(&context, "daily").expect("it ends")), "succeeded");
}

#[test]
fn nothing_that_may_have_run_is_revised() {
    for (faults, options) in [
        (r#"[{"call":"submit","fault":"status","status":302}]"#, ""),
        (
            r#"[{"call":"submit","fault":"lose_after"},{"call":"submit","fault":"status","status":402}]"#,
            "",
        ),
        (r#"[{"call":"poll","fault":"status","status":403,"times":9}]"#, ""),
        ("[]", ""),
        ("[]", r#","outcome":"failed""#),
    ] {
        let (world, context, rested) = lived(faults, options);
        assert!(!exits(&rested).contains(&REVISE), "{faults}");
        let error = world.revise(&context, &rested, GOOD).expect_err("refused");
        assert_eq!(error.code, Code::NotAllowed, "{faults}");
        assert_eq!(error.operation, Some(rested.identity.id.clone()));
        assert_eq!(world.stored("daily").expect("it is stored"), rested);
    }
}

#[test]
fn the_same_request_is_no_correction() {
    let (world, context, parked) = lived(REFUSED, "");
    let body = String::from_utf8(submission("daily", "").body).expect("text");
    let error = world.revise(&context, &parked, &body).expect_err("refused");
    assert_eq!((error.code, error.field.as_deref()), (Code::InvalidInput, Some("body")));
}

#[test]
fn a_request_equal_to_any_member_s_gives_the_newest() {
    let (world, context, rejected) = lived("[]", r#","url":7"#);
    let revised = world.revise(&context, &rejected, GOOD).expect("nothing ran");
    let again = world.submit(&context, "daily", r#","url":7"#);
    assert_eq!(again.identity.id, revised.identity.id);
    let error = world.try_submit(&context, "daily", r#","url":8"#).expect_err("another request");
    assert_eq!(error.code, Code::IntentConflict);
}

#[test]
fn the_attempts_of_a_lineage_are_bounded_unless_more_are_given() {
    let world = World::with_faults(REFUSED);
    let context = world.open_with(Limits { attempts: 1, ..Limits::default() }, PROFILE);
    let parked = world.live(&context, "daily", "");
    assert!(!exits(&parked).contains(&REVISE));
    let error = world.revise(&context, &parked, GOOD).expect_err("refused");
    assert_eq!(error.code, Code::NotAllowed);
    let more = patch(|own| own.attempts = Some(9));
    let revised = world.try_revise(&context, &parked, GOOD, more).expect("an answer");
    assert_eq!(revised.expect("attempts are left").spent.attempts, 1);
}

#[test]
fn of_two_revisions_at_once_one_takes_the_place() {
    let (world, context, parked) = lived(REFUSED, "");
    let beside = world.open();
    let id = parked.identity.id;
    for (context, body) in [(&context, GOOD), (&beside, r#"{"url":"https://example.com/2"}"#)] {
        let (driver, id) = (context.driver.clone(), id.clone());
        let limits = patch(|_| {});
        let body = body.as_bytes().to_vec();
        world.spawn(context, async move {
            let revision = holdfast::driver::Revision { content_type: None, limits, body };
            let _ = driver.revise(&id, revision).await;
        });
    }
    world.pass(120_000);
    assert_eq!(world.executions(), 1);
    assert_eq!(standing(&world.stored("daily").expect("it is stored")), "succeeded");
}

#[test]
fn a_revision_and_a_resume_at_once_run_it_once() {
    let (world, context, parked) = lived(REFUSED, "");
    let beside = world.open();
    let (id, driver) = (parked.identity.id.clone(), beside.driver.clone());
    world.spawn(&beside, async move {
        let command =
            holdfast::rules::step::Command::Resume { limits: None, accept_duplicate: false };
        let _ = driver.command(&id, command).await;
    });
    let _ = world.revise(&context, &parked, GOOD);
    world.pass(120_000);
    assert_eq!(world.executions(), 1);
}

#[test]
fn a_derived_key_is_another_for_corrected_work() {
    let world = World::with(Settings { derives_keys: true, ..Settings::default() }, service());
    let context = world.open();
    let rejected = world.live(&context, "daily", r#","url":7"#);
    let revised = world.revise(&context, &rejected, GOOD).expect("nothing ran");
    assert_ne!(revised.identity.key, rejected.identity.key);
    assert_eq!(revised.identity.key.as_str().as_bytes()[14], b'8');
}

#[test]
fn a_crash_at_any_point_of_a_revision_leaves_one_that_lives_and_runs_once() {
    let story = |crash: Option<u64>| {
        let (world, context, parked) = lived(REFUSED, "");
        world.0.settings.borrow_mut().crash_at = crash.map(|crash| world.0.points.get() + crash);
        let before = world.0.points.get();
        let mut context = context;
        for _ in 0..3 {
            let limits = patch(|_| {});
            let newest = world.stored("daily").expect("it is stored");
            let known = newest.identity.id != parked.identity.id;
            let done = known
                || world.try_revise(&context, &parked, GOOD, limits).is_some_and(|own| own.is_ok());
            if done && world.settle(&context, "daily").is_some() {
                break;
            }
            context = world.open();
        }
        let ended = world.stored("daily").expect("it is stored");
        assert_eq!(standing(&ended), "succeeded", "crash at {crash:?}");
        assert_eq!(standing(&world.loaded(&parked.identity.id)), "abandoned", "crash at {crash:?}");
        assert_eq!(world.executions(), 1, "crash at {crash:?}");
        world.0.points.get() - before
    };
    for crash in 1..=story(None) {
        story(Some(crash));
    }
}

/// A result with fewer records than it declares, and what stands in the place of what is missing.
fn incomplete() -> (World, Context, Operation) {
    let body = r#"{\"records\":[{\"n\":0}],\"record_count\":2}"#;
    let (world, context, ended) = lived(
        &format!(r#"[{{"call":"result","fault":"status","status":200,"body":"{body}"}}]"#),
        "",
    );
    assert_eq!(standing(&ended), "incomplete");
    (world, context, ended)
}

#[test]
fn what_is_incomplete_is_completed_by_linked_new_work() {
    let (world, context, first) = incomplete();
    let second = world.revise(&context, &first, GOOD).expect("it may be completed");
    assert_eq!(second.identity.parent.as_ref(), Some(&first.identity.id));
    assert_ne!(second.identity.key, first.identity.key);
    let ended = world.settle(&context, "daily").expect("it ends");
    assert_eq!((ended.identity.id == second.identity.id, standing(&ended)), (true, "succeeded"));
    assert_eq!(world.loaded(&first.identity.id).life.stage, first.life.stage);
    assert_eq!(
        world.kept_bytes(&context, &first.identity.id),
        br#"{"records":[{"n":0}],"record_count":2}"#
    );
    assert_eq!(ended.spent.cost, first.lineage_cost());
    assert_eq!((world.executions(), world.requests(Call::Submit).len()), (2, 2));
}

#[test]
fn what_is_incomplete_may_be_asked_for_again_as_it_was() {
    let (world, context, first) = incomplete();
    let body = String::from_utf8(submission("daily", "").body).expect("text");
    let second = world.revise(&context, &first, &body).expect("it may be completed");
    assert_eq!(second.identity.fingerprint, first.identity.fingerprint);
    assert_eq!(standing(&world.settle(&context, "daily").expect("it ends")), "succeeded");
    let again = world.submit(&context, "daily", "");
    assert_eq!(again.identity.id, second.identity.id, "the intent stands for the newest");
    assert_eq!(world.executions(), 2);
}

#[test]
fn what_completes_it_is_bounded_by_what_the_lineage_may_cost() {
    let (world, context, first) = incomplete();
    let cost = holdfast::model::money::Credits::parse("5");
    let limits = patch(|own| own.cost = cost);
    let refused = world.try_revise(&context, &first, GOOD, limits).expect("an answer");
    assert_eq!(refused.expect_err("5 are spent").code, Code::NotAllowed);
    assert_eq!(world.executions(), 1);
}
