//! A service that answers a submission with the result, and replays it by key: every row of its
//! contract, against its ledger.

use crate::world::{
    Context, Logged, Settings, World, failed, keys, park, replayed, result, standing, submission,
    succeeds_once,
};
use holdfast::model::dice::Dice;
use holdfast::model::ending::FailureClass;
use holdfast::model::error::Code;
use holdfast::model::hold::ParkReason;
use holdfast::model::life::Stage;
use holdfast::model::operation::Operation;
use holdfast::model::profile::Purpose;
use holdfast::model::storage::Durability;
use holdfast::model::time::Timestamp;
use holdfast::rules::classify::{Finding, Said, Verdict};
use holdfast::rules::step::{Input, Resolution, step};
use holdfast_services::{Call, Fault, Loopback, Replay};

const PROFILE: &str = include_str!("../../pkg-template/profiles/replay.json");

fn world_with(faults: &str) -> World {
    let mut service = Loopback::new(Replay::default());
    service.faults.add(serde_json::from_str::<Vec<Fault>>(faults).expect("good faults"));
    World::of(Settings::default(), service, PROFILE)
}

/// A service that answers the first `times` submissions with this, and does nothing.
fn answering(status: u16, code: &str, times: u32) -> World {
    let body = format!(r#"{{"request_id":"rqx_9","error":{{"code":"{code}","message":"No."}}}}"#);
    let body = serde_json::to_string(&body).expect("a text");
    world_with(&format!(
        r#"[{{"call":"submit","fault":"status","status":{status},"times":{times},"body":{body}}}]"#
    ))
}

fn live(world: &World, options: &str) -> (Context, Operation) {
    let context = world.open();
    let operation = world.live(&context, "daily", options);
    (context, operation)
}

#[test]
fn the_answer_is_kept_and_ends_the_operation_in_one_commit() {
    let world = world_with("[]");
    let (context, ended) = live(&world, r#","result_bytes":600000"#);
    succeeds_once(&world, &ended);
    let kept = world.kept_bytes(&context, &ended.identity.id);
    assert_eq!(kept.len() as u64, result(&ended).expect("a result").bytes);
    assert!(kept.len() > 500_000);
    let body: serde_json::Value = serde_json::from_slice(&kept).expect("the service's JSON");
    assert_eq!(body["success"], true);
    assert!(!replayed(&ended));
    assert!(ended.life.evidence.accepted.is_some(), "the answer proves the acceptance");
    let commits = world.0.log.all().into_iter().filter_map(|logged| match logged {
        Logged::Committed { operation, .. } => Some(operation),
        Logged::Sent { .. } | Logged::Told(_) => None,
    });
    let between =
        commits.filter(|own| matches!(own.life.stage, Stage::Work | Stage::Result { .. })).count();
    assert_eq!(between, 0, "nothing lies between the attempt and the ending");
}

#[test]
fn each_endpoint_is_named_by_a_parameter() {
    let world = world_with("[]");
    let context = world.open();
    let mut request = submission("links", "");
    request.params = vec![("operation".into(), "map".into())];
    let driver = context.driver.clone();
    world
        .call(&context, async move { driver.submit(request).await })
        .expect("alive")
        .expect("taken");
    let ended = world.settle(&context, "links").expect("it ends");
    assert_eq!(standing(&ended), "succeeded");
    assert_eq!(world.requests(Call::Submit)[0].path, "/v1/map");
}

#[test]
fn a_lost_answer_is_replayed_and_says_when_it_was_captured() {
    let world = world_with(r#"[{"call":"submit","fault":"lose_after"}]"#);
    let (_, ended) = live(&world, "");
    succeeds_once(&world, &ended);
    assert!(replayed(&ended));
    assert_eq!(keys(&world), 1);
    let first = world.requests(Call::Submit)[0].time_ms;
    let captured = result(&ended).expect("a result").captured_at.0;
    let (from, to) = (first / 1_000 * 1_000, first + 1_000);
    assert!((from..=to).contains(&captured), "captured when it was executed, not when it came");
}

#[test]
fn an_answer_that_is_cut_short_is_replayed() {
    let world = world_with(r#"[{"call":"submit","fault":"truncate","times":2}]"#);
    let (context, ended) = live(&world, r#","result_bytes":700000"#);
    succeeds_once(&world, &ended);
    assert!(replayed(&ended));
    let kept = world.kept_bytes(&context, &ended.identity.id);
    serde_json::from_slice::<serde_json::Value>(&kept).expect("the whole of it");
}

#[test]
fn an_answer_for_which_there_is_no_room_is_replayed_when_there_is() {
    let world = world_with("[]");
    let context = world.open();
    world.0.commits.full_for_pieces.set(true);
    world.submit(&context, "daily", "");
    world.pass(5_000);
    let waiting = world.stored("daily").expect("stored");
    assert_eq!(standing(&waiting), "submitting");
    assert!(waiting.life.evidence.accepted.is_some(), "what else it has told is kept");
    world.0.commits.full_for_pieces.set(false);
    let ended = world.settle(&context, "daily").expect("it ends");
    succeeds_once(&world, &ended);
    assert!(replayed(&ended));
    assert_eq!(keys(&world), 1);
    crate::world::is_whole(&world, &context, &ended);
}

#[test]
fn a_request_that_never_arrives_is_sent_again_and_executed_once() {
    let world = world_with(r#"[{"call":"submit","fault":"lose_before","times":3}]"#);
    let (_, ended) = live(&world, "");
    succeeds_once(&world, &ended);
    assert!(!replayed(&ended));
}

#[test]
fn a_page_of_a_gateway_is_no_result() {
    let page = r#"[{"call":"submit","fault":"html","status":200,"after_commit":true}]"#;
    let world = world_with(page);
    let (_, ended) = live(&world, "");
    succeeds_once(&world, &ended);
    assert!(replayed(&ended));
}

#[test]
fn work_that_outlasts_the_exchange_is_waited_for_and_replayed() {
    let world = world_with("[]");
    let (_, ended) = live(&world, r#","duration_ms":130000"#);
    succeeds_once(&world, &ended);
    assert!(replayed(&ended));
}

#[test]
fn an_accepted_operation_without_a_replay_parks_for_review_after_a_bounded_wait() {
    let world = world_with(r#"[{"call":"submit","fault":"lose_after"}]"#);
    let (context, parked) = live(&world, r#","outcome":"failed""#);
    assert_eq!(park(&parked), Some(ParkReason::OutcomeUnknown));
    assert!(parked.life.evidence.accepted.is_some(), "a replay conflict proves the acceptance");
    assert_eq!((world.executions(), keys(&world)), (1, 1));
    assert!(world.requests(Call::Submit).len() <= 8);
    let before = world.requests(Call::Submit).len();
    world.pass(crate::world::DAY_MS);
    assert_eq!(world.requests(Call::Submit).len(), before, "it stays parked");
    world.resume(&context, &parked).expect_err("only with the risk, or by a person's word");
}

#[test]
fn a_refusal_after_a_replay_conflict_rejects_nothing() {
    let world = world_with("[]");
    let body = |code: &str| format!(r#"{{"error":{{"code":"{code}"}}}}"#);
    let (conflict, wrong) = (body("replay_conflict"), body("unprocessable_input"));
    world.add_faults(
        &serde_json::json!([
            {"call": "submit", "fault": "status", "status": 409, "body": conflict},
            {"call": "submit", "fault": "status", "status": 422, "times": 100, "body": wrong},
        ])
        .to_string(),
    );
    let (_, parked) = live(&world, "");
    assert_eq!(park(&parked), Some(ParkReason::OutcomeUnknown));
    assert_eq!(keys(&world), 1);
}

#[test]
fn a_stable_source_block_fails_for_good() {
    let world = world_with("[]");
    let (_, ended) = live(&world, r#","outcome":"source_blocked""#);
    assert_eq!(standing(&ended), "failed");
    assert_eq!(failed(&ended).class, FailureClass::Target);
    world.pass(crate::world::DAY_MS);
    assert_eq!(world.requests(Call::Submit).len(), 1);
}

#[test]
fn work_that_was_accepted_and_failed_ends_failed() {
    let world = world_with("[]");
    let (_, ended) = live(&world, r#","outcome":"failed","failure_class":"target""#);
    assert_eq!(standing(&ended), "failed");
    assert_eq!(failed(&ended).fault.code.as_deref(), Some("target_unreachable"));
}

#[test]
fn wrong_input_is_rejected_and_free() {
    for (status, code) in [(400, "invalid_request"), (422, "unprocessable_input")] {
        let (_, ended) = live(&answering(status, code, 100), "");
        assert_eq!(standing(&ended), "rejected", "{status}");
    }
    let world = world_with("[]");
    let (_, ended) = live(&world, r#","url":"""#);
    assert_eq!(standing(&ended), "rejected");
    assert_eq!((world.executions(), world.requests(Call::Submit).len()), (0, 1));
}

#[test]
fn what_a_person_must_restore_parks_and_goes_on_under_the_same_key() {
    for (status, code, reason) in [
        (401, "unauthorized", ParkReason::NeedsCredential),
        (402, "insufficient_credits", ParkReason::NeedsCredit),
        (403, "scope_required", ParkReason::NeedsCredential),
        (403, "source_access_required", ParkReason::NeedsAccess),
    ] {
        let times = if reason == ParkReason::NeedsCredential { 2 } else { 1 };
        let world = answering(status, code, times);
        let (context, parked) = live(&world, "");
        assert_eq!(park(&parked), Some(reason), "{code}");
        world.resume(&context, &parked).expect("it may go on");
        let ended = world.settle(&context, "daily").expect("it ends");
        succeeds_once(&world, &ended);
        assert_eq!(keys(&world), 1, "{code}");
    }
}

#[test]
fn what_passes_is_waited_for_as_the_service_says() {
    let world = world_with(
        r#"[{"call":"submit","fault":"rate_limited","retry_after":"7"},
            {"call":"submit","fault":"status","status":503,"retry_after":"9"}]"#,
    );
    let (_, ended) = live(&world, "");
    succeeds_once(&world, &ended);
    let times: Vec<u64> = world.requests(Call::Submit).iter().map(|own| own.time_ms).collect();
    assert!(times[1] - times[0] >= 7_000 && times[2] - times[1] >= 9_000, "{times:?}");
}

#[test]
fn another_credential_while_the_outcome_is_unknown_parks() {
    let world = world_with(r#"[{"call":"submit","fault":"lose_after"}]"#);
    let context = world.open();
    world.submit(&context, "daily", "");
    world.until("daily", |own| own.life.evidence.unresolved.is_some());
    world.0.settings.borrow_mut().scope = Some("org_1/key_2".into());
    let parked = world.settle(&context, "daily").expect("it parks");
    assert_eq!(park(&parked), Some(ParkReason::ScopeChanged));
    assert_eq!(world.requests(Call::Submit).len(), 1);
    world.0.settings.borrow_mut().scope = Some("org_1/key_1".into());
    world.resume(&context, &parked).expect("under the old scope");
    let ended = world.settle(&context, "daily").expect("it ends");
    succeeds_once(&world, &ended);
}

#[test]
fn another_request_or_endpoint_under_the_same_intent_is_refused_before_anything_is_sent() {
    let world = world_with("[]");
    let (context, _) = live(&world, "");
    let error = world.try_submit(&context, "daily", r#","formats":["html"]"#).expect_err("other");
    assert_eq!(error.code, Code::IntentConflict);
    let mut request = submission("daily", "");
    request.params = vec![("operation".into(), "map".into())];
    let driver = context.driver.clone();
    let other = world.call(&context, async move { driver.submit(request).await }).expect("alive");
    assert_eq!(other.expect_err("another endpoint").code, Code::IntentConflict);
    assert_eq!(world.requests(Call::Submit).len(), 1);
}

#[test]
fn a_key_that_the_service_knows_from_another_request_parks() {
    let (_, parked) = live(&answering(409, "idempotency_key_reused", 1), "");
    assert_eq!(park(&parked), Some(ParkReason::KeyConflict));
}

#[test]
fn a_replay_that_is_no_longer_kept_ends_expired() {
    let world = world_with(r#"[{"call":"submit","fault":"lose_after"}]"#);
    let (_, ended) = live(&world, r#","retention_ms":0"#);
    assert_eq!(standing(&ended), "expired");
    assert_eq!(world.executions(), 1);
}

#[test]
fn answers_that_never_come_are_asked_for_within_a_bound() {
    let world = world_with(r#"[{"call":"submit","fault":"lose_after","times":1000}]"#);
    let context = world.open();
    world.submit(&context, "daily", "");
    let parked = world.settle(&context, "daily").expect("it parks");
    assert_eq!(park(&parked), Some(ParkReason::BudgetExhausted));
    assert_eq!((world.executions(), world.requests(Call::Submit).len()), (1, 100));
}

#[test]
fn a_result_of_another_shape_ends_incomplete_with_its_bytes_kept() {
    let world = world_with("[]");
    world.0.settings.borrow_mut().schema_fault = Some("data is missing".into());
    let (context, ended) = live(&world, "");
    assert_eq!(standing(&ended), "incomplete");
    assert_eq!(world.requests(Call::Submit).len(), 1, "it is not asked for again");
    let kept = world.kept_bytes(&context, &ended.identity.id);
    serde_json::from_slice::<serde_json::Value>(&kept).expect("what came");
}

#[test]
fn completion_that_beats_a_cancel_is_a_success() {
    let world = world_with("[]");
    let context = world.open();
    let operation = world.submit(&context, "daily", r#","duration_ms":5000"#);
    world.until("daily", |own| own.life.evidence.current.is_some());
    world.cancel(&context, &operation).expect("a wish");
    let ended = world.settle(&context, "daily").expect("it ends");
    succeeds_once(&world, &ended);
}

#[test]
fn a_job_that_a_person_found_is_replayed_where_nothing_can_be_read_by_its_id() {
    let world = world_with(r#"[{"call":"submit","fault":"lose_after"}]"#);
    world.add_faults(
        &serde_json::json!([{
            "call": "submit", "fault": "status", "status": 409, "times": 7,
            "body": r#"{"error":{"code":"replay_conflict"}}"#,
        }])
        .to_string(),
    );
    let (context, parked) = live(&world, "");
    assert_eq!(park(&parked), Some(ParkReason::OutcomeUnknown));
    let found = Resolution::Found("rq_1".into());
    world.resolve(&context, &parked, found).expect("it was found");
    let ended = world.settle(&context, "daily").expect("it ends");
    succeeds_once(&world, &ended);
}

#[test]
fn an_answer_that_breaks_off_claims_the_work_that_it_named() {
    let world = world_with("[]");
    let context = world.open();
    world.submit(&context, "daily", "");
    let sent = world.until("daily", |own| own.life.evidence.current.is_some());
    let profile = holdfast::rules::profile::read(PROFILE).expect("a good profile");
    let said = Said { job: Some("rqx_9".into()), ..Said::default() };
    let verdict = Box::new(Verdict { finding: Finding::Unreadable(None), said, last_piece: None });
    let now = Timestamp(world.0.clock.now());
    let answered = Input::Answered(Purpose::Submit, verdict);
    let after = step(&sent, &profile, now, &mut Dice::seeded(1), answered).expect("it is news");
    assert_eq!(after.job, Some("rqx_9".into()));
}

#[test]
fn an_error_that_is_replayed_is_not_asked_for_again() {
    let body = r#"{"replayed":true,"error":{"code":"internal"}}"#;
    let fault = serde_json::json!([
        { "call": "submit", "fault": "lose_after" },
        { "call": "submit", "fault": "status", "status": 500, "times": 99, "body": body },
    ]);
    let world = world_with(&fault.to_string());
    let (_, parked) = live(&world, "");
    assert_eq!(park(&parked), Some(ParkReason::OutcomeUnknown));
    assert_eq!(
        world.requests(Call::Submit).len(),
        2,
        "the key brings this answer whenever it is asked"
    );
}

#[test]
fn a_cancelled_operation_whose_job_a_person_names_has_its_result_replayed() {
    let world = world_with(
        r#"[{"call":"submit","fault":"lose_after"},{"call":"submit","fault":"status","status":307}]"#,
    );
    let context = world.open();
    let operation = world.submit(&context, "daily", "");
    world.until("daily", |own| own.life.evidence.attempts == 2);
    world.cancel(&context, &operation).expect("it may be cancelled");
    let parked = world.settle(&context, "daily").expect("it parks");
    assert_eq!(park(&parked), Some(ParkReason::CancelUnconfirmed));
    let asked = world.0.authorizations.borrow().len();
    let job = world.0.service.borrow().ledger().jobs.keys().next().cloned().expect("a job");
    world.resolve(&context, &parked, Resolution::Found(job.as_str().into())).expect("it is found");
    let ended = world.settle(&context, "daily").expect("it ends");
    succeeds_once(&world, &ended);
    assert!(replayed(&ended));
    assert_eq!(world.0.authorizations.borrow().len(), asked + 1);
}

#[test]
fn what_the_service_says_to_have_taken_on_is_on_the_disk_before_anything_follows() {
    let world = answering(409, "replay_conflict", 1);
    let (_, ended) = live(&world, "");
    assert_eq!(standing(&ended), "succeeded");
    let proven = world.0.log.all().into_iter().find_map(|logged| match logged {
        Logged::Committed { operation, durability } => {
            operation.life.evidence.accepted.is_some().then_some(durability)
        }
        Logged::Sent { .. } | Logged::Told(_) => None,
    });
    assert_eq!(proven, Some(Durability::Strict));
}
