//! A service that delivers in the answer or as a stream, and replays deliveries by key: every row of
//! its contract, against its ledger.

use crate::world::{
    CommitFault, Context, Logged, Settings, World, failed, keys, park, replayed, result, standing,
    submission, succeeds_once,
};
use holdfast::driver::Submission;
use holdfast::model::error::{Code, Error};
use holdfast::model::hold::ParkReason;
use holdfast::model::ids::IdempotencyKey;
use holdfast::model::life::Stage;
use holdfast::model::operation::Operation;
use holdfast_services::{Call, CleanedWeb, CleanedWebConfig, Fault, Loopback};
use serde_json::{Value, json};

const PROFILE: &str = include_str!("../../pkg-template/profiles/cleanedweb.json");

fn world_over(config: CleanedWebConfig, faults: &str) -> World {
    let mut service = Loopback::new(CleanedWeb::new(config));
    service.faults.add(serde_json::from_str::<Vec<Fault>>(faults).expect("good faults"));
    let params = vec![("sourceId".to_owned(), "src_1".to_owned())];
    World::of(Settings { params, ..Settings::default() }, service, PROFILE)
}

fn world(faults: &str) -> World {
    world_over(CleanedWebConfig::default(), faults)
}

fn request(surface: &str, body: &Value) -> Submission {
    let params = vec![("surface".to_owned(), surface.to_owned())];
    Submission { params, body: body.to_string().into_bytes(), ..submission("daily", "") }
}

fn try_submit(world: &World, context: &Context, request: Submission) -> Result<Operation, Error> {
    let driver = context.driver.clone();
    world.call(context, async move { driver.submit(request).await }).expect("an answer")
}

/// Submits under that surface with this input, and follows to the end or to a park.
fn live(world: &World, surface: &str, input: &Value) -> (Context, Operation) {
    let context = world.open();
    let submitted = try_submit(world, &context, request(surface, &json!({"input": input})));
    submitted.expect("it is taken on");
    let operation = world.settle(&context, "daily").expect("it comes to rest");
    (context, operation)
}

#[test]
fn a_new_key_executes_once_on_either_surface() {
    for surface in ["run", "stream"] {
        let world = world("[]");
        let (context, ended) = live(&world, surface, &json!({"result_bytes": 5000}));
        succeeds_once(&world, &ended);
        assert!(!replayed(&ended));
        let run = ended.life.job().expect("the run's id is kept as evidence").as_str();
        let receipt = ended.reported.charge_receipt_id.as_deref();
        assert_eq!(receipt, Some(format!("rcpt_{run}").as_str()), "{surface}");
        assert_eq!(ended.reported.record_count.as_deref(), Some("5"), "{surface}");
        let kept = world.kept_bytes(&context, &ended.identity.id);
        assert_eq!(kept.len() as u64, result(&ended).expect("a result").bytes, "{surface}");
        assert_eq!(result(&ended).expect("a result").stream.is_some(), surface == "stream");
        assert_eq!(world.requests(Call::Result).len(), 0);
    }
}

#[test]
fn a_lost_answer_without_an_id_is_replayed_under_the_same_key() {
    for surface in ["run", "stream"] {
        let world = world(r#"[{"call":"submit","fault":"lose_after"}]"#);
        let (_, ended) = live(&world, surface, &json!({}));
        succeeds_once(&world, &ended);
        assert!(replayed(&ended), "{surface}");
        assert_eq!(keys(&world), 1);
    }
}

#[test]
fn an_id_in_a_stream_is_on_the_disk_while_the_stream_is_open() {
    let world = world("[]");
    let context = world.open();
    let slow = json!({"input": {"duration_ms": 60_000}});
    try_submit(&world, &context, request("stream", &slow)).expect("it is taken on");
    let seen = world.until("daily", |own| own.life.job().is_some());
    assert_eq!(seen.life.stage, Stage::Submit);
    assert!(seen.life.evidence.current.is_some(), "its exchange goes on");
    let ended = world.settle(&context, "daily").expect("it ends");
    succeeds_once(&world, &ended);
    assert_eq!(world.requests(Call::Any).len(), 1);
}

#[test]
fn a_stream_that_breaks_is_recovered_by_the_run_s_id() {
    let world = world(r#"[{"call":"submit","fault":"truncate"}]"#);
    let (context, ended) = live(&world, "stream", &json!({"result_bytes": 20_000}));
    succeeds_once(&world, &ended);
    assert_eq!(world.requests(Call::Submit).len(), 1);
    let read = world.requests(Call::Result);
    assert!(read[0].path.starts_with("/v1/sources/src_1/runs/run_"), "{}", read[0].path);
    let body: Value = serde_json::from_slice(&world.kept_bytes(&context, &ended.identity.id))
        .expect("the delivery");
    assert_eq!(body["records"].as_array().map(Vec::len), Some(20));
}

#[test]
fn a_context_that_dies_while_a_stream_is_open_is_followed_by_the_run_s_id() {
    let world = world("[]");
    let first = world.open();
    let slow = json!({"input": {"duration_ms": 60_000}});
    try_submit(&world, &first, request("stream", &slow)).expect("it is taken on");
    world.until("daily", |own| own.life.job().is_some());
    world.kill(&first);
    let second = world.open();
    let ended = world.settle(&second, "daily").expect("it ends");
    succeeds_once(&world, &ended);
    assert_eq!(world.requests(Call::Submit).len(), 1, "nothing is submitted again");
}

#[test]
fn a_stream_whose_operation_has_left_memory_leaves_the_kept_result_alone() {
    let world = world("[]");
    let context = world.open();
    let slow = json!({"input": {"duration_ms": 10_000, "result_bytes": 20_000}});
    world.0.settings.borrow_mut().piece_ms = 40_000;
    try_submit(&world, &context, request("stream", &slow)).expect("it is taken on");
    world.until("daily", |own| own.life.job().is_some());
    world.0.settings.borrow_mut().piece_ms = 0;
    world.0.commits.fail(&[CommitFault::Aborted]);
    let ended = world.settle(&context, "daily").expect("it ends");
    assert!(!world.0.commits.is_pending());
    assert_eq!((standing(&ended), world.requests(Call::Result).len()), ("succeeded", 1));
    let kept = world.kept_bytes(&context, &ended.identity.id);
    world.pass(600_000);
    assert_eq!(world.kept_bytes(&context, &ended.identity.id), kept);
    assert_eq!(world.stored("daily"), Some(ended));
}

#[test]
fn a_stream_outlasts_its_timeout_as_long_as_it_goes_on() {
    let world = world("[]");
    let context = world.open();
    let slow = json!({"input": {"duration_ms": 100_000}});
    try_submit(&world, &context, request("stream", &slow)).expect("it is taken on");
    let seen = world.until("daily", |own| own.life.job().is_some());
    let attempt = seen.life.evidence.current.clone().expect("it is open");
    assert!(attempt.abort_at.0 >= world.0.clock.now() + 120_000, "it may go on as long again");
    assert!(world.lease_until("daily") > attempt.abort_at.0, "and so does the lease");
    let ended = world.settle(&context, "daily").expect("it ends");
    succeeds_once(&world, &ended);
}

#[test]
fn output_that_is_saved_and_unsettled_is_settled_by_the_same_request() {
    for surface in ["run", "stream"] {
        let world = world("[]");
        let (_, ended) = live(&world, surface, &json!({"unsettled_times": 2}));
        succeeds_once(&world, &ended);
        assert_eq!(keys(&world), 1, "{surface}");
    }
}

#[test]
fn a_broken_stream_whose_output_is_unsettled_is_submitted_again_under_the_same_key() {
    let world = world(r#"[{"call":"submit","fault":"truncate"}]"#);
    let (_, ended) = live(&world, "stream", &json!({"unsettled_times": 1}));
    succeeds_once(&world, &ended);
    assert_eq!(keys(&world), 1);
}

#[test]
fn work_that_still_runs_is_waited_for() {
    let world = world("[]");
    let (_, ended) = live(&world, "run", &json!({"duration_ms": 130_000}));
    succeeds_once(&world, &ended);
    assert!(replayed(&ended));
}

#[test]
fn running_or_failed_parks_for_review_after_a_bounded_wait() {
    let world = world(r#"[{"call":"submit","fault":"lose_after"}]"#);
    let (_, parked) = live(&world, "run", &json!({"outcome": "failed"}));
    assert_eq!(park(&parked), Some(ParkReason::OutcomeUnknown));
    assert!(parked.life.evidence.accepted.is_some());
    let sent = world.requests(Call::Submit).len();
    assert!(sent <= 10, "{sent}");
    world.pass(crate::world::DAY_MS);
    assert_eq!((world.requests(Call::Submit).len(), keys(&world)), (sent, 1));
}

#[test]
fn the_wait_goes_by_retry_after() {
    let config =
        CleanedWebConfig { conflict_retry_after_s: Some(40), ..CleanedWebConfig::default() };
    let world = world_over(config, r#"[{"call":"submit","fault":"lose_after"}]"#);
    let (_, ended) = live(&world, "run", &json!({"duration_ms": 60_000}));
    succeeds_once(&world, &ended);
    let times: Vec<u64> = world.requests(Call::Submit).iter().map(|own| own.time_ms).collect();
    assert!(times[2] - times[1] >= 40_000, "{times:?}");
}

#[test]
fn a_run_that_failed_ends_failed_where_its_id_is_known() {
    let world = world(r#"[{"call":"submit","fault":"truncate"}]"#);
    let (_, ended) = live(&world, "stream", &json!({"outcome": "failed"}));
    assert_eq!(standing(&ended), "failed");
    assert_eq!(failed(&ended).fault.code.as_deref(), Some("run_failed"));
}

#[test]
fn an_execution_that_fails_ends_failed_and_is_not_repeated() {
    for surface in ["run", "stream"] {
        let world = world("[]");
        let (_, ended) = live(&world, surface, &json!({"outcome": "failed"}));
        assert_eq!(standing(&ended), "failed", "{surface}");
        assert_eq!(failed(&ended).fault.code.as_deref(), Some("execution_failed"));
        assert_eq!(world.requests(Call::Submit).len(), 1);
    }
}

#[test]
fn a_definition_that_has_moved_on_parks_and_the_saved_version_stays() {
    let world = world("[]");
    let context = world.open();
    let body = json!({"input": {}, "expected_version": "0"});
    try_submit(&world, &context, request("run", &body)).expect("it is taken on");
    let parked = world.settle(&context, "daily").expect("it parks");
    assert_eq!(park(&parked), Some(ParkReason::VersionMoved));
    assert_eq!((world.executions(), world.requests(Call::Submit).len()), (0, 1));
}

#[test]
fn a_key_that_came_with_another_request_parks() {
    let body = serde_json::to_string(r#"{"error":{"code":"delivery_identity_conflict"}}"#)
        .expect("a text");
    let world =
        world(&format!(r#"[{{"call":"submit","fault":"status","status":409,"body":{body}}}]"#));
    let (_, parked) = live(&world, "run", &json!({}));
    assert_eq!(park(&parked), Some(ParkReason::KeyConflict));
}

#[test]
fn a_key_of_another_grammar_is_refused_before_anything_is_sent() {
    let world = world("[]");
    let context = world.open();
    for key in ["", "a b", "a/b", "ä", &"k".repeat(201)] {
        let key = Some(IdempotencyKey(key.to_owned()));
        let wrong = Submission { key, ..request("run", &json!({"input": {}})) };
        let error = try_submit(&world, &context, wrong).expect_err("no such key");
        assert_eq!(error.code, Code::InvalidInput);
    }
    assert_eq!(world.requests(Call::Any).len(), 0);
}

#[test]
fn identity_is_source_version_input_and_surface_and_not_the_order_of_members() {
    let world = world("[]");
    let context = world.open();
    let text =
        |body: &str| Submission { body: body.as_bytes().to_vec(), ..request("run", &Value::Null) };
    let first = try_submit(&world, &context, text(r#"{"input":{"a":1,"b":2},"limit":5}"#));
    let first = first.expect("it is taken on").identity.id;
    let same = try_submit(&world, &context, text(r#"{"limit":5,"input":{"b":2,"a":1}}"#));
    assert_eq!(same.expect("the same").identity.id, first);
    for other in
        [r#"{"input":{"a":1,"b":2},"limit":6}"#, r#"{"input":{"a":1,"b":2,"c":3},"limit":5}"#]
    {
        let error = try_submit(&world, &context, text(other)).expect_err("another request");
        assert_eq!(error.code, Code::IntentConflict);
    }
    let mut other = text(r#"{"input":{"a":1,"b":2},"limit":5}"#);
    other.params = vec![("surface".into(), "stream".into())];
    let error = try_submit(&world, &context, other).expect_err("another surface");
    assert_eq!(error.code, Code::IntentConflict);
}

#[test]
fn a_delivery_with_fewer_records_than_it_counts_is_incomplete_with_its_bytes_kept() {
    let short = r#"{"records":[{"n":0}],"delivery":{"runId":"run_9","recordCount":2}}"#;
    let body = serde_json::to_string(short).expect("a text");
    let world =
        world(&format!(r#"[{{"call":"submit","fault":"status","status":200,"body":{body}}}]"#));
    let (context, ended) = live(&world, "run", &json!({}));
    assert_eq!(standing(&ended), "incomplete");
    assert_eq!(world.kept_bytes(&context, &ended.identity.id), short.as_bytes());
}

#[test]
fn the_result_of_a_credential_without_access_parks_and_fails_nothing() {
    let world = world(
        r#"[{"call":"submit","fault":"truncate"},
            {"call":"result","fault":"status","status":403,"times":2}]"#,
    );
    let (context, parked) = live(&world, "stream", &json!({"result_bytes": 9000}));
    assert_eq!(park(&parked), Some(ParkReason::NeedsCredential));
    world.resume(&context, &parked).expect("it may go on");
    let ended = world.settle(&context, "daily").expect("it ends");
    succeeds_once(&world, &ended);
}

#[test]
fn progress_in_a_stream_is_told_and_no_secret_or_record_is() {
    let world = world("[]");
    let (_, ended) = live(&world, "stream", &json!({"result_bytes": 3000}));
    succeeds_once(&world, &ended);
    assert_eq!(ended.reported.progress.as_deref(), Some("50"));
    let all = world.0.log.all();
    let between = all.iter().filter(|logged| {
        matches!(logged, Logged::Committed { operation, .. }
            if operation.life.job().is_some() && operation.life.stage == Stage::Submit)
    });
    assert_eq!(between.count(), 1, "one write for the id, and none for each event");
}

#[test]
fn a_delivery_of_another_version_than_was_expected_is_incomplete_with_its_bytes_kept() {
    let told = json!({
        "version": "2", "records": [], "summary": {},
        "delivery": {"runId": "run_9", "recordCount": 0},
    });
    let body = told.to_string();
    for (faults, expected) in [
        ("[]".to_owned(), "succeeded"),
        (
            json!([{"call": "submit", "fault": "status", "status": 200, "body": body}]).to_string(),
            "incomplete",
        ),
    ] {
        let world = world(&faults);
        let context = world.open();
        let versioned = Submission {
            body: br#"{"input":{},"expected_version":"1"}"#.to_vec(),
            ..request("run", &Value::Null)
        };
        try_submit(&world, &context, versioned).expect("it is taken on");
        let ended = world.settle(&context, "daily").expect("it ends");
        assert_eq!(standing(&ended), expected, "{:?}", ended.life);
        if expected == "incomplete" {
            assert_eq!(world.kept_bytes(&context, &ended.identity.id), body.as_bytes());
        }
    }
}
