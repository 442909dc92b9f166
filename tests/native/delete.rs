//! Deleting, at the service and here.

use crate::world::{Context, PROFILE, World, standing};
use holdfast::model::error::Code;
use holdfast::model::hold::{Hold, ParkReason};
use holdfast::model::operation::Operation;
use holdfast::model::policy::Limits;
use holdfast_services::Call;

/// The profile with a call that deletes.
pub(super) fn deletable() -> String {
    let mut profile: serde_json::Value = serde_json::from_str(PROFILE).expect("JSON");
    profile["calls"]["delete"] =
        serde_json::json!({"method": "DELETE", "path": "/api/v1/data/requests/{id}"});
    profile.to_string()
}

pub(super) fn opened(faults: &str) -> (World, Context) {
    let world = World::with_faults(faults);
    let context = world.open_with(Limits::default(), &deletable());
    (world, context)
}

/// Lives to its end, wants to be deleted, and comes to rest.
pub(super) fn deleted(faults: &str, options: &str) -> (World, Context, Operation) {
    let (world, context) = opened(faults);
    let ended = world.live(&context, "daily", options);
    world.delete(&context, &ended).expect("a wish");
    world.pass(600_000);
    let rested = world.stored("daily").expect("a tombstone");
    (world, context, rested)
}

pub(super) fn deletes(world: &World) -> usize {
    world.requests(Call::Delete).len()
}

#[test]
fn without_a_call_for_it_only_what_is_here_goes() {
    let world = World::new();
    let context = world.open();
    let ended = world.live(&context, "daily", r#","result_bytes":600000"#);
    let id = &ended.identity.id;
    assert!(world.has_content(id));
    world.delete(&context, &ended).expect("a wish");
    world.pass(1_000);
    assert!(!world.has_content(id));
    let tombstone = world.stored("daily").expect("a tombstone");
    assert!(tombstone.life.purged.is_some() && tombstone.life.deletion.is_none());
    assert_eq!(tombstone.identity, ended.identity);
    assert_eq!(tombstone.life.stage, ended.life.stage);
    assert_eq!(tombstone.life.job(), ended.life.job());
    assert!(world.journal(&context, id).len() <= 1);
    assert!(world.kept_bytes(&context, id).is_empty());
}

#[test]
fn the_service_deletes_its_copy_too_and_that_it_is_gone_is_read() {
    let (world, _, tombstone) = deleted("[]", "");
    assert!(tombstone.life.purged.as_ref().expect("a tombstone").at_service);
    assert!(!world.has_content(&tombstone.identity.id));
    assert_eq!(standing(&tombstone), "succeeded");
    let calls: Vec<_> = world.requests(Call::Any).into_iter().map(|own| own.call).collect();
    assert_eq!(calls[calls.len() - 2..], [Call::Delete, Call::Poll]);
}

#[test]
fn a_deletion_that_is_accepted_is_followed_until_its_cleanup_is_done_and_never_sent_again() {
    let slow = r#"{\"status\":\"completed\"}"#;
    let (world, context) = opened("[]");
    let ended = world.live(&context, "daily", "");
    world.add_faults(&format!(
        r#"[{{"call":"poll","fault":"status","status":200,"body":"{slow}","times":3}}]"#
    ));
    let polls = world.requests(Call::Poll).len();
    world.delete(&context, &ended).expect("a wish");
    let tombstone = world.until("daily", |own| own.life.purged.is_some());
    assert!(tombstone.life.purged.as_ref().expect("a tombstone").at_service);
    assert_eq!((deletes(&world), world.requests(Call::Poll).len() - polls), (1, 4));
}

#[test]
fn a_cleanup_that_is_never_seen_done_keeps_nothing_here_and_is_told_as_unconfirmed() {
    for fault in [
        r#""status","status":200,"body":"{\"status\":\"completed\"}""#,
        r#""status","status":403"#,
        r#""lose_before""#,
    ] {
        let (world, context) = opened("[]");
        let ended = world.live(&context, "daily", "");
        let polls = world.requests(Call::Poll).len();
        world.add_faults(&format!(r#"[{{"call":"poll","fault":{fault},"times":9999}}]"#));
        world.delete(&context, &ended).expect("a wish");
        world.pass(3_600_000);
        let tombstone = world.stored("daily").expect("a tombstone");
        let purged = tombstone.life.purged.as_ref().expect("a tombstone");
        assert!(!purged.at_service && !world.has_content(&ended.identity.id), "{fault}");
        assert_eq!(deletes(&world), 1, "{fault}");
        assert!(world.requests(Call::Poll).len() - polls <= 10, "{fault}");
    }
}

#[test]
fn where_no_job_can_be_read_an_accepted_deletion_is_enough() {
    let mut profile: serde_json::Value = serde_json::from_str(&deletable()).expect("JSON");
    profile["calls"].as_object_mut().expect("calls").remove("poll");
    profile.as_object_mut().expect("a profile").remove("settlement");
    let world = World::new();
    let context = world.open_with(Limits::default(), &profile.to_string());
    let ended = world.live(&context, "daily", "");
    world.delete(&context, &ended).expect("a wish");
    let tombstone = world.until("daily", |own| own.life.purged.is_some());
    assert!(tombstone.life.purged.as_ref().expect("a tombstone").at_service);
    assert_eq!(deletes(&world), 1);
}

#[test]
fn a_page_of_a_gateway_does_not_say_that_the_copy_is_gone() {
    let (world, _, tombstone) = deleted(r#"[{"call":"delete","fault":"html","status":200}]"#, "");
    assert!(tombstone.life.purged.as_ref().expect("a tombstone").at_service);
    assert_eq!(deletes(&world), 2);
}

#[test]
fn what_is_under_way_is_cancelled_and_waited_for_first() {
    let (world, context) = opened("[]");
    world.submit(&context, "daily", r#","duration_ms":600000"#);
    let active = world.until("daily", |own| own.life.job().is_some());
    world.delete(&context, &active).expect("a wish");
    let tombstone = world.until("daily", |own| own.life.purged.is_some());
    assert_eq!(standing(&tombstone), "cancelled");
    let calls: Vec<_> = world.requests(Call::Any).into_iter().map(|own| own.call).collect();
    let place = |call| calls.iter().position(|own| *own == call).expect("it is called");
    assert!(place(Call::Cancel) < place(Call::Delete));
    assert_eq!(deletes(&world), 1);
    let billing = tombstone.ledger.token_state.as_deref();
    assert_eq!(billing, Some("released"), "billing is read out before the job is gone");
}

#[test]
fn what_was_never_sent_goes_at_once() {
    let (world, context) = opened("[]");
    world.0.settings.borrow_mut().unauthorized = 1;
    let queued = world.submit(&context, "daily", "");
    world.delete(&context, &queued).expect("a wish");
    world.pass(1_000);
    let tombstone = world.stored("daily").expect("a tombstone");
    assert_eq!(standing(&tombstone), "cancelled");
    assert!(tombstone.life.purged.is_some());
    assert_eq!(world.requests(Call::Any).len(), 0);
}

#[test]
fn what_cannot_be_stopped_is_not_deleted_before_it_ends() {
    let mut profile: serde_json::Value = serde_json::from_str(PROFILE).expect("JSON");
    profile["calls"].as_object_mut().expect("an object").remove("cancel");
    let world = World::new();
    let context = world.open_with(Limits::default(), &profile.to_string());
    world.submit(&context, "daily", r#","duration_ms":60000"#);
    let active = world.until("daily", |own| own.life.job().is_some());
    let error = world.delete(&context, &active).expect_err("refused");
    assert_eq!(error.code, Code::NotAllowed);
    let ended = world.settle(&context, "daily").expect("it ends");
    assert_eq!(standing(&ended), "succeeded");
    world.delete(&context, &ended).expect("it is over");
}

#[test]
fn a_lost_answer_is_settled_by_reading_and_nothing_is_deleted_blindly() {
    let (world, _, tombstone) = deleted(r#"[{"call":"delete","fault":"lose_after"}]"#, "");
    assert!(tombstone.life.purged.as_ref().expect("a tombstone").at_service);
    assert_eq!(deletes(&world), 1);
    let (world, _, tombstone) = deleted(r#"[{"call":"delete","fault":"lose_before"}]"#, "");
    assert!(tombstone.life.purged.is_some());
    assert_eq!(deletes(&world), 2);
    for status in [500, 503, 409] {
        let faults = format!(r#"[{{"call":"delete","fault":"status","status":{status}}}]"#);
        let (world, _, tombstone) = deleted(&faults, "");
        assert!(tombstone.life.purged.is_some(), "{status}");
        let calls: Vec<_> = world.requests(Call::Any).into_iter().map(|own| own.call).collect();
        let settled = [Call::Delete, Call::Poll, Call::Delete, Call::Poll];
        assert_eq!(calls[calls.len() - 4..], settled, "{status}");
    }
}

#[test]
fn a_job_that_is_gone_already_is_deleted() {
    for status in [404, 410] {
        let faults = format!(r#"[{{"call":"delete","fault":"status","status":{status}}}]"#);
        let (world, _, tombstone) = deleted(&faults, "");
        assert!(tombstone.life.purged.as_ref().expect("a tombstone").at_service);
        assert_eq!(deletes(&world), 1);
    }
}

#[test]
fn a_refusal_waits_for_a_person_and_goes_on_when_asked_again() {
    for (status, reason) in [
        (401, ParkReason::NeedsCredential),
        (402, ParkReason::NeedsCredit),
        (400, ParkReason::NeedsAccess),
    ] {
        let faults =
            format!(r#"[{{"call":"delete","fault":"status","status":{status},"times":2}}]"#);
        let (world, context, parked) = deleted(&faults, "");
        let hold = parked.life.deletion.as_ref().map(|own| own.hold.clone());
        assert!(
            matches!(hold, Some(Hold::Parked { reason: own, .. }) if own == reason),
            "{status}: {hold:?}"
        );
        assert!(world.has_content(&parked.identity.id));
        world.0.service.borrow_mut().faults.clear();
        world.delete(&context, &parked).expect("a wish");
        world.until("daily", |own| own.life.purged.is_some());
    }
}

#[test]
fn a_service_that_never_takes_it_is_asked_a_few_times_only() {
    for faults in [
        r#"[{"call":"delete","fault":"status","status":503,"times":99}]"#,
        r#"[{"call":"delete","fault":"status","status":409,"times":99}]"#,
        r#"[{"call":"delete","fault":"lose_before","times":99}]"#,
        r#"[{"call":"delete","fault":"rate_limited","retry_after":1,"times":99}]"#,
        r#"[{"call":"delete","fault":"status","status":302,"times":99}]"#,
    ] {
        let (world, _, parked) = deleted(faults, "");
        let hold = parked.life.deletion.as_ref().map(|own| own.hold.clone());
        let budget = ParkReason::BudgetExhausted;
        assert!(
            matches!(hold, Some(Hold::Parked { reason, .. }) if reason == budget),
            "{faults}: {hold:?}"
        );
        assert!(deletes(&world) <= 5, "{faults}: {}", deletes(&world));
    }
}

fn is_given_up(operation: &Operation) -> bool {
    let hold = operation.life.deletion.as_ref().map(|own| &own.hold);
    matches!(hold, Some(Hold::Parked { reason: ParkReason::BudgetExhausted, .. }))
}

#[test]
fn a_service_that_refuses_the_read_after_a_lost_deletion_is_asked_a_few_times_only() {
    let (world, context) = opened("[]");
    let ended = world.live(&context, "daily", "");
    let polls = world.requests(Call::Poll).len();
    world.add_faults(
        r#"[{"call":"delete","fault":"lose_before"},
            {"call":"poll","fault":"rate_limited","retry_after":1,"times":9999}]"#,
    );
    world.delete(&context, &ended).expect("a wish");
    world.pass(600_000);
    assert!(is_given_up(&world.stored("daily").expect("it is stored")));
    assert!(world.requests(Call::Poll).len() - polls <= 10);
}

#[test]
fn a_deletion_that_is_always_written_too_late_to_be_sent_is_tried_a_few_times_only() {
    let (world, context) = opened("[]");
    let ended = world.live(&context, "daily", "");
    world.0.settings.borrow_mut().commit_ms = 3_000;
    world.delete(&context, &ended).expect("a wish");
    world.pass(600_000);
    let parked = world.stored("daily").expect("it is stored");
    assert!(is_given_up(&parked), "{:?}", parked.life.deletion);
    assert_eq!(deletes(&world), 0);
}

#[test]
fn a_deletion_follows_the_link_that_the_service_gave() {
    let mut profile: serde_json::Value = serde_json::from_str(&deletable()).expect("JSON");
    profile["calls"]["delete"] = serde_json::json!({"method": "DELETE", "link": "self"});
    profile["carry"] = serde_json::json!({"self": ["/self"]});
    let world = World::with_faults(
        r#"[{"call":"poll","fault":"status","status":200,
            "body":"{\"status\":\"failed\",\"self\":\"/api/v1/data/requests/of-the-link\"}"}]"#,
    );
    let context = world.open_with(Limits::default(), &profile.to_string());
    let ended = world.live(&context, "daily", "");
    assert_eq!(standing(&ended), "failed");
    world.delete(&context, &ended).expect("a wish");
    world.pass(600_000);
    let asked = world.requests(Call::Delete);
    let path = asked.first().map(|own| own.path.as_str());
    assert_eq!(path, Some("/api/v1/data/requests/of-the-link"));
}

#[test]
fn a_credential_that_cannot_be_had_parks_the_deletion_alone() {
    let (world, context) = opened("[]");
    let ended = world.live(&context, "daily", "");
    world.0.settings.borrow_mut().unauthorized = u32::MAX;
    world.delete(&context, &ended).expect("a wish");
    world.pass(600_000);
    let parked = world.stored("daily").expect("it is stored");
    assert_eq!(standing(&parked), "succeeded");
    world.0.settings.borrow_mut().unauthorized = 0;
    world.delete(&context, &parked).expect("a wish");
    world.until("daily", |own| own.life.purged.is_some());
}
