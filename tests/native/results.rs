//! Results: when they are asked for, and what each answer in the place of one leads to.

use crate::world::{DAY_MS, PROFILE, Settings, World, ending, park, patch, service, standing};
use holdfast::model::ending::Ending;
use holdfast::model::hold::ParkReason;
use holdfast::model::life::Stage;
use holdfast::rules::step::Command;
use holdfast_services::Call;

#[test]
fn a_result_that_is_not_ready_sends_it_back_to_polling() {
    let world = World::new();
    let (_, ended) = world.lived(r#","not_ready_ms":20000"#);
    assert_eq!(standing(&ended), "succeeded");
    let calls: Vec<_> = world.requests(Call::Any).into_iter().map(|own| own.call).collect();
    let first = calls.iter().position(|call| *call == Call::Result).expect("a download");
    assert_eq!(calls[first + 1], Call::Poll, "a poll follows a result that is not ready");
}

#[test]
fn a_result_that_is_not_found_once_has_not_expired_by_a_clock_that_is_ahead() {
    let world = World::with_faults(r#"[{"call":"result","fault":"not_found"}]"#);
    world.0.settings.borrow_mut().skew_ms = 600_000;
    let (_, ended) = world.lived(r#","retention_ms":360000"#);
    assert_eq!(standing(&ended), "succeeded");
}

#[test]
fn not_ready_is_bounded() {
    let world = World::new();
    let (_, parked) = world.lived(r#","not_ready_ms":80000000"#);
    assert_eq!(park(&parked), Some(ParkReason::BudgetExhausted));
    assert!(world.requests(Call::Result).len() <= 21);
}

#[test]
fn a_service_that_is_always_too_busy_for_the_result_is_for_a_person() {
    let world = World::with_faults(
        r#"[{"call":"result","fault":"rate_limited","retry_after":1,"times":9999}]"#,
    );
    let (_, parked) = world.lived("");
    assert_eq!(park(&parked), Some(ParkReason::BudgetExhausted));
    assert!(world.requests(Call::Result).len() <= 41);
}

#[test]
fn where_only_the_result_can_be_asked_for_a_job_that_is_seen_running_is_no_setback() {
    let mut profile: serde_json::Value = serde_json::from_str(PROFILE).expect("JSON");
    profile["calls"].as_object_mut().expect("calls").remove("poll");
    profile.as_object_mut().expect("a profile").remove("settlement");
    let running = r#"{"call":"result","fault":"status","status":409,
        "body":"{\"error\":{\"code\":\"RESULT_NOT_READY\"}}"}"#;
    for setback in [
        r#"{"call":"result","fault":"not_found","times":3}"#,
        r#"{"call":"result","fault":"status","status":401}"#,
    ] {
        let faults = ["[", setback, ",", running, ",", setback, "]"].concat();
        let world = World::of(Settings::default(), service(), &profile.to_string());
        world.add_faults(&faults);
        let (_, ended) = world.lived("");
        assert_eq!(standing(&ended), "succeeded", "{setback}: {:?}", park(&ended));
    }
}

#[test]
fn an_expired_result_is_final_after_exactly_one_download() {
    let world = World::new();
    let (_, ended) = world.lived(r#","retention_ms":0"#);
    assert_eq!(standing(&ended), "expired");
    world.pass(DAY_MS);
    assert_eq!(world.requests(Call::Result).len(), 1);
}

#[test]
fn a_410_without_a_code_means_expired() {
    let (_, ended) = World::answering("result", 410, "", 1).lived("");
    assert_eq!(standing(&ended), "expired");
}

#[test]
fn an_expiry_in_a_200_is_no_data() {
    let world = World::answering("result", 200, r#"{"error":{"code":"RESULT_EXPIRED"}}"#, 1);
    let (_, ended) = world.lived("");
    assert_eq!(standing(&ended), "expired");
}

#[test]
fn not_ready_in_a_200_is_no_data() {
    let world = World::answering("result", 200, r#"{"error":{"code":"RESULT_NOT_READY"}}"#, 1);
    let (_, ended) = world.lived("");
    assert_eq!(standing(&ended), "succeeded");
    assert_eq!(world.requests(Call::Result).len(), 2);
}

#[test]
fn a_page_instead_of_a_result_ends_incomplete_with_its_bytes_kept() {
    let page = "<!doctype html><title>Sorry</title>";
    let world = World::answering("result", 200, page, 100);
    let (context, ended) = world.lived("");
    assert_eq!(standing(&ended), "incomplete");
    assert_eq!(world.kept_bytes(&context, &ended.identity.id), page.as_bytes());
}

#[test]
fn a_single_page_instead_of_a_result_is_only_a_hiccup() {
    let world = World::answering("result", 200, "<!doctype html><title>Sorry</title>", 1);
    let (_, ended) = world.lived("");
    assert_eq!(standing(&ended), "succeeded");
}

#[test]
fn another_count_of_records_than_declared_is_incomplete() {
    let body = r#"{"records":[{"n":0}],"record_count":2}"#;
    let world = World::answering("result", 200, body, 1);
    let (context, ended) = world.lived("");
    assert_eq!(standing(&ended), "incomplete");
    assert_eq!(world.kept_bytes(&context, &ended.identity.id), body.as_bytes());
}

#[test]
fn another_count_of_records_than_the_job_has_declared_is_incomplete() {
    let done = r#"{"id":"req_000001","status":"completed","record_count":2}"#;
    let world = World::answering("poll", 200, done, 9);
    let result = serde_json::to_string(r#"{"records":[{"n":0}]}"#).expect("a text");
    world.add_faults(&format!(
        r#"[{{"call":"result","fault":"status","status":200,"body":{result}}}]"#
    ));
    let (_, ended) = world.lived("");
    assert_eq!(standing(&ended), "incomplete");
}

#[test]
fn another_digest_than_is_declared_is_incomplete() {
    let mut profile: serde_json::Value = serde_json::from_str(PROFILE).expect("JSON");
    profile["facts"]["digest"] = serde_json::json!(["/sha256"]);
    let world = World::of(Settings::default(), service(), &profile.to_string());
    let result = serde_json::to_string(r#"{"records":[],"sha256":"00"}"#).expect("a text");
    world.add_faults(&format!(
        r#"[{{"call":"result","fault":"status","status":200,"body":{result}}}]"#
    ));
    let (_, ended) = world.lived("");
    let Some(Ending::Incomplete { fault, .. }) = ending(&ended) else { panic!("{:?}", ended.life) };
    assert!(fault.message.as_deref().is_some_and(|own| own.contains("digest")), "{fault:?}");
}

#[test]
fn a_digest_that_was_declared_before_the_result_counts_too() {
    let mut profile: serde_json::Value = serde_json::from_str(PROFILE).expect("JSON");
    profile["facts"]["digest"] = serde_json::json!(["/sha256"]);
    // Of `{"records":[]}`, and of something else.
    let own = "sha-256=:G4tMC29q0dMlZZUnILwATusfGI9iBF5NVSWuKvjHhDI=:";
    for (declared, standing_of) in [(own, "succeeded"), (&own.replace('G', "R"), "incomplete")] {
        let world = World::of(Settings::default(), service(), &profile.to_string());
        world.add_faults(
            &serde_json::json!([
                { "call": "poll", "fault": "status", "status": 200,
                    "body": format!(r#"{{"status":"completed","sha256":"{declared}"}}"#) },
                { "call": "result", "fault": "status", "status": 200, "body": r#"{"records":[]}"# },
            ])
            .to_string(),
        );
        let (_, ended) = world.lived("");
        assert_eq!(standing(&ended), standing_of, "{declared}");
    }
}

#[test]
fn a_result_that_fails_the_schema_is_incomplete_with_its_bytes_kept() {
    let world = World::new();
    world.0.settings.borrow_mut().schema_fault = Some("records[0].price: expected number".into());
    let (context, ended) = world.lived("");
    assert_eq!(standing(&ended), "incomplete");
    assert!(format!("{:?}", ending(&ended)).contains("expected number"));
    assert!(!world.kept_bytes(&context, &ended.identity.id).is_empty());
}

#[test]
fn a_403_on_the_result_parks_and_a_resume_fetches_it() {
    let world =
        World::with_faults(r#"[{"call":"result","fault":"status","status":403,"times":2}]"#);
    let (context, parked) = world.lived("");
    assert_eq!(park(&parked), Some(ParkReason::NeedsCredential));
    world.resume(&context, &parked).expect("it may go on");
    let ended = world.settle(&context, "daily").expect("it ends");
    assert_eq!(standing(&ended), "succeeded");
    assert_eq!(world.executions(), 1);
}

#[test]
fn a_403_that_names_source_access_parks_the_result_for_access() {
    let world =
        World::answering("result", 403, r#"{"error":{"code":"SOURCE_ACCESS_REQUIRED"}}"#, 1);
    let (context, parked) = world.lived("");
    assert_eq!(park(&parked), Some(ParkReason::NeedsAccess));
    world.resume(&context, &parked).expect("it may go on");
    let ended = world.settle(&context, "daily").expect("it ends");
    assert_eq!(standing(&ended), "succeeded");
}

#[test]
fn a_result_that_should_have_expired_is_asked_for_without_haste() {
    let world = World::new();
    let context = world.open();
    world.submit(&context, "daily", r#","duration_ms":1000,"retention_ms":2000"#);
    world.add_faults(r#"[{"call":"result","fault":"status","status":503,"times":1000}]"#);
    world.until("daily", |own| matches!(own.life.stage, Stage::Result { .. }));
    world.pass(60_000);
    let asked = world.requests(Call::Result).len();
    assert!((5..25).contains(&asked), "{asked} times in a minute");
    assert_ne!(standing(&world.stored("daily").expect("stored")), "parked");
}

#[test]
fn the_earliest_expiry_goes_first() {
    let world = World::new();
    let first = world.open();
    let expiries = [900_000, 100_000, 500_000];
    for (number, retention_ms) in expiries.iter().enumerate() {
        let options = format!(r#","duration_ms":1000,"retention_ms":{retention_ms}"#);
        world.submit(&first, &format!("number {number}"), &options);
    }
    // All of them come to wait for their downloads.
    world.add_faults(
        r#"[{"call":"result","fault":"status","status":503,"retry_after":30,"times":3}]"#,
    );
    for number in 0..3 {
        world.until(&format!("number {number}"), |own| {
            matches!(own.life.stage, Stage::Result { .. }) && own.counters.failures > 0
        });
    }
    world.kill(&first);
    world.pass(60_000);
    let before = world.requests(Call::Result).len();
    let second = world.open();
    for number in 0..3 {
        world.settle(&second, &format!("number {number}")).expect("it ends");
    }
    let order: Vec<_> =
        world.requests(Call::Result)[before..].iter().map(|own| own.path.clone()).collect();
    let job = |number: usize| {
        let operation = world.stored(&format!("number {number}")).expect("stored");
        format!("/{}/", operation.life.job().expect("a job").as_str())
    };
    for (place, number) in [1, 2, 0].into_iter().enumerate() {
        assert!(order[place].contains(&job(number)), "{order:?}");
    }
}

#[test]
fn a_service_that_asks_to_wait_for_the_result_for_a_year_is_for_a_person() {
    let world = World::with_faults(
        r#"[{"call":"result","fault":"status","status":503,"retry_after":31536000}]"#,
    );
    let context = world.open();
    let parked = world.live(&context, "daily", "");
    assert_eq!(park(&parked), Some(ParkReason::DeadlineExceeded));
    let limits = Some(patch(|own| own.total_ms = Some(2 * DAY_MS)));
    let resume = Command::Resume { limits, accept_duplicate: false };
    world.command(&context, &parked, resume).expect("an exit");
    let ended = world.settle(&context, "daily").expect("it ends");
    assert_eq!(standing(&ended), "succeeded");
}

#[test]
fn a_replayed_submission_is_no_replayed_result() {
    let world = World::with_faults(r#"[{"call":"submit","fault":"lose_after"}]"#);
    let (_, ended) = world.lived("");
    assert!(matches!(ending(&ended), Some(Ending::Succeeded { replayed: false, .. })));
}
