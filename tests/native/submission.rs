//! Handing work over: what each answer, and each missing answer, to a submission leads to.

use crate::world::{Context, World, ending, park, standing, succeeds_once};
use holdfast::model::dice::Dice;
use holdfast::model::hold::{Hold, ParkReason, WaitReason};
use holdfast::model::life::Life;
use holdfast::model::operation::Operation;
use holdfast::model::profile::Purpose;
use holdfast::model::time::Timestamp;
use holdfast::rules::step::{Input, step};
use holdfast_services::Call;

pub(super) fn coded(status: u16, code: &str, times: u32) -> World {
    World::answering(
        "submit",
        status,
        &format!(r#"{{"error":{{"code":"{code}","message":"No."}}}}"#),
        times,
    )
}

pub(super) fn resumes_to_success(world: &World, context: &Context, parked: &Operation) {
    world.resume(context, parked).expect("it may go on");
    let ended = world.settle(context, "daily").expect("it ends");
    assert_eq!(ended.identity, parked.identity);
    succeeds_once(world, &ended);
}

#[test]
fn a_400_rejects_with_the_service_s_code() {
    let world = coded(400, "BAD_INPUT", 1);
    let (_, ended) = world.lived("");
    assert_eq!(standing(&ended), "rejected");
    assert!(format!("{:?}", ending(&ended)).contains("BAD_INPUT"));
    assert_eq!(world.requests(Call::Submit).len(), 1);
}

#[test]
fn a_422_of_the_service_rejects_and_costs_nothing() {
    let world = World::new();
    let context = world.open();
    let ended = world.live(&context, "daily", r#","url":7"#);
    assert_eq!(standing(&ended), "rejected");
    assert_eq!(world.0.service.borrow().ledger().charges, 0);
}

#[test]
fn a_404_of_the_submission_rejects() {
    let (_, ended) = coded(404, "ROUTE_NOT_FOUND", 1).lived("");
    assert_eq!(standing(&ended), "rejected");
}

#[test]
fn a_401_asks_for_a_fresh_credential_once_and_goes_on_under_the_same_key() {
    let world = coded(401, "UNAUTHORIZED", 1);
    let (_, ended) = world.lived("");
    succeeds_once(&world, &ended);
    let asked = world.0.authorizations.borrow();
    let submits: Vec<_> = asked.iter().filter(|(purpose, _)| *purpose == Purpose::Submit).collect();
    assert_eq!(submits, [&(Purpose::Submit, false), &(Purpose::Submit, true)]);
    let keys = world.requests(Call::Submit);
    assert_eq!(keys[0].key, keys[1].key);
}

#[test]
fn a_second_401_parks_and_a_resume_goes_on() {
    let world = coded(401, "UNAUTHORIZED", 2);
    let (context, parked) = world.lived("");
    assert_eq!(park(&parked), Some(ParkReason::NeedsCredential));
    resumes_to_success(&world, &context, &parked);
}

#[test]
fn a_402_parks_at_once_and_a_resume_goes_on() {
    let world = coded(402, "INSUFFICIENT_CREDITS", 1);
    let (context, parked) = world.lived("");
    assert_eq!(park(&parked), Some(ParkReason::NeedsCredit));
    assert_eq!(world.requests(Call::Submit).len(), 1);
    let told = parked.reported.fault.as_ref().expect("what the service said");
    assert_eq!((told.status, told.code.as_deref()), (Some(402), Some("INSUFFICIENT_CREDITS")));
    let shown: serde_json::Value =
        serde_json::from_str(&holdfast::record::view::view(&parked)).expect("JSON");
    assert_eq!(shown["fault"]["code"], "INSUFFICIENT_CREDITS");
    let report = world.support_report(&context, &parked.identity.id);
    assert_eq!(report["lastError"]["httpStatus"], 402);
    resumes_to_success(&world, &context, &parked);
}

#[test]
fn a_403_is_a_matter_of_the_credential() {
    let world = coded(403, "FORBIDDEN", 2);
    let (context, parked) = world.lived("");
    assert_eq!(park(&parked), Some(ParkReason::NeedsCredential));
    resumes_to_success(&world, &context, &parked);
}

#[test]
fn a_403_that_names_source_access_is_a_matter_of_the_source() {
    let world = coded(403, "SOURCE_ACCESS_REQUIRED", 1);
    let (context, parked) = world.lived("");
    assert_eq!(park(&parked), Some(ParkReason::NeedsAccess));
    resumes_to_success(&world, &context, &parked);
}

#[test]
fn a_408_a_425_and_5xx_are_unknown_and_sent_again_under_the_same_key() {
    for status in [408, 425, 500, 502, 503, 504] {
        let world = coded(status, "TRY_LATER", 1);
        let (_, ended) = world.lived("");
        succeeds_once(&world, &ended);
        let sent = world.requests(Call::Submit);
        assert_eq!(sent.len(), 2, "{status}");
        assert_eq!(sent[0].key, sent[1].key, "{status}");
        assert!(ended.life.evidence.unresolved.is_some(), "{status} proves nothing");
    }
}

#[test]
fn a_503_after_the_work_was_taken_on_does_not_execute_twice() {
    let world = World::with_faults(
        r#"[{"call":"submit","fault":"status","status":503,"after_commit":true}]"#,
    );
    let (_, ended) = world.lived("");
    succeeds_once(&world, &ended);
}

#[test]
fn a_502_page_of_a_gateway_is_unknown() {
    let world = World::with_faults(r#"[{"call":"submit","fault":"html","after_commit":true}]"#);
    let (_, ended) = world.lived("");
    succeeds_once(&world, &ended);
}

#[test]
fn a_page_with_status_200_is_no_acceptance() {
    let world = World::with_faults(
        r#"[{"call":"submit","fault":"html","status":200,"after_commit":true}]"#,
    );
    let (_, ended) = world.lived("");
    succeeds_once(&world, &ended);
    assert_eq!(world.requests(Call::Submit).len(), 2);
}

#[test]
fn a_429_waits_as_long_as_the_service_says() {
    let world =
        World::with_faults(r#"[{"call":"submit","fault":"rate_limited","retry_after":60}]"#);
    let (_, ended) = world.lived("");
    succeeds_once(&world, &ended);
    let sent = world.requests(Call::Submit);
    let waited = sent[1].time_ms - sent[0].time_ms;
    assert!((60_000..=67_000).contains(&waited), "{waited} ms");
}

#[test]
fn a_429_whose_retry_after_cannot_be_read_backs_off_and_never_hammers() {
    let world = World::with_faults(
        r#"[{"call":"submit","fault":"rate_limited","retry_after":"Wednesday-ish","times":4}]"#,
    );
    let (_, ended) = world.lived("");
    succeeds_once(&world, &ended);
    let sent = world.requests(Call::Submit);
    assert!(sent.windows(2).all(|two| two[1].time_ms - two[0].time_ms >= 250));
}

#[test]
fn a_key_that_belongs_to_another_request_parks_with_nothing_minted() {
    let world = coded(409, "IDEMPOTENCY_KEY_REUSED", 1);
    let (context, parked) = world.lived("");
    assert_eq!(park(&parked), Some(ParkReason::KeyConflict));
    world.pass(3_600_000);
    assert_eq!(world.requests(Call::Submit).len(), 1);
    world.resume(&context, &parked).expect_err("asking again cannot help");
}

#[test]
fn a_409_in_progress_waits_and_asks_again_under_the_same_key() {
    let world = coded(409, "REQUEST_IN_PROGRESS", 3);
    let context = world.open();
    world.submit(&context, "daily", "");
    world.until("daily", |own| {
        matches!(own.life.hold, Hold::Until { reason: WaitReason::InProgress, .. })
    });
    let ended = world.settle(&context, "daily").expect("it ends");
    succeeds_once(&world, &ended);
}

#[test]
fn a_date_to_wait_for_makes_no_refusal_one_to_try_again() {
    for status in [400, 404, 410, 413, 422] {
        let world = World::with_faults(&format!(
            r#"[{{"call":"submit","fault":"status","status":{status},"retry_after":1}}]"#
        ));
        let (_, ended) = world.lived("");
        assert_eq!(standing(&ended), "rejected", "{status}");
        world.pass(3_600_000);
        assert_eq!(world.requests(Call::Submit).len(), 1, "{status}");
    }
}

#[test]
fn a_409_without_a_code_is_no_failure() {
    let world = World::answering(
        "submit",
        409,
        r#"{"success":false,"error":"Idempotency key already used"}"#,
        2,
    );
    let (_, ended) = world.lived("");
    succeeds_once(&world, &ended);
    let keys = world.requests(Call::Submit);
    assert!(keys.iter().all(|sent| sent.key == keys[0].key));
}

#[test]
fn a_redirect_parks_and_is_not_followed() {
    for status in [301, 302, 303, 307, 308] {
        let world = World::answering("submit", status, "", 1);
        let (_, parked) = world.lived("");
        assert_eq!(park(&parked), Some(ParkReason::OutcomeUnknown), "{status}");
        assert_eq!(world.requests(Call::Any).len(), 1, "{status}");
    }
}

#[test]
fn an_id_that_belongs_to_another_operation_parks_also_when_no_attempt_is_out() {
    let world = World::with_faults(r#"[{"call":"submit","fault":"lose_after"}]"#);
    let context = world.open();
    let fresh = world.submit(&context, "daily", "");
    let unknown = world.until("daily", |own| {
        own.life.evidence.unresolved.is_some() && own.life.evidence.current.is_none()
    });
    let profile = holdfast::rules::profile::read(crate::world::PROFILE).expect("a good profile");
    let taken = |operation: &Operation| {
        let now = Timestamp(world.0.clock.now());
        step(operation, &profile, now, &mut Dice::seeded(1), Input::JobTaken("req_7".into()))
    };
    let parked = taken(&unknown).expect("it is news").operation;
    assert_eq!(park(&parked), Some(ParkReason::OutcomeUnknown));
    assert_eq!(parked.life.evidence.unresolved, unknown.life.evidence.unresolved);
    taken(&Operation { life: Life::new(), ..fresh }).expect_err("nothing of it can have a job");
}

#[test]
fn what_is_lost_before_it_arrives_is_sent_again() {
    let world = World::with_faults(r#"[{"call":"submit","fault":"lose_before"}]"#);
    let (_, ended) = world.lived("");
    succeeds_once(&world, &ended);
}

#[test]
fn a_lost_answer_is_asked_for_again_and_told_as_a_replay_of_the_same_job() {
    let world = World::with_faults(r#"[{"call":"submit","fault":"lose_after"}]"#);
    let (_, ended) = world.lived("");
    succeeds_once(&world, &ended);
    assert_eq!(world.requests(Call::Submit).len(), 2);
}

#[test]
fn an_answer_that_comes_too_late_is_lost() {
    let world = World::with_faults(r#"[{"call":"submit","fault":"slow","ms":300000}]"#);
    let (_, ended) = world.lived("");
    succeeds_once(&world, &ended);
    assert_eq!(world.requests(Call::Submit).len(), 2);
}

#[test]
fn half_a_202_that_names_no_job_is_no_acceptance() {
    let world = World::answering("submit", 202, r#"{"status":"pending","id":"req_0"#, 1);
    let (_, ended) = world.lived("");
    succeeds_once(&world, &ended);
    assert_eq!(world.requests(Call::Submit).len(), 2);
}

#[test]
fn an_id_that_no_record_could_hold_is_none() {
    let world = World::answering("submit", 202, &format!(r#"{{"id":"{}"}}"#, "r".repeat(4_097)), 1);
    let (_, ended) = world.lived("");
    succeeds_once(&world, &ended);
    assert_eq!(world.requests(Call::Submit).len(), 2);
}

#[test]
fn a_202_without_an_id_is_no_acceptance() {
    for body in [r#"{"status":"pending"}"#, r#"{"id":""}"#, r#"{"id":null}"#, "", "{}"] {
        let world = World::answering("submit", 202, body, 1);
        let (_, ended) = world.lived("");
        succeeds_once(&world, &ended);
        assert_eq!(world.requests(Call::Submit).len(), 2, "{body}");
    }
}

#[test]
fn a_long_number_as_an_id_is_not_rounded() {
    let world = World::answering("submit", 202, r#"{"id":9007199254740993,"status":"pending"}"#, 1);
    let context = world.open();
    let operation = world.submit(&context, "daily", "");
    let taken = world.until("daily", |own| own.life.job().is_some());
    assert_eq!(taken.life.job().map(|job| job.as_str()), Some("9007199254740993"));
    assert_eq!(operation.identity.id, taken.identity.id);
}
