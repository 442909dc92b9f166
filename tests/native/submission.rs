//! Handing work over: what each answer, and each missing answer, to a submission leads to.

use std::cell::RefCell;
use std::rc::Rc;

use crate::world::{Context, Settings, World, ending, park, standing, submission};
use holdfast::model::dice::Dice;
use holdfast::model::error::Code;
use holdfast::model::hold::{Hold, ParkReason, WaitReason};
use holdfast::model::ids::{IdempotencyKey, ServiceName};
use holdfast::model::life::Life;
use holdfast::model::operation::Operation;
use holdfast::model::profile::Purpose;
use holdfast::model::time::Timestamp;
use holdfast::rules::step::{Command, Input, Resolution, step};
use holdfast_services::Call;

/// A world whose service answers the first `times` submissions with this, and does nothing.
fn answering(status: u16, body: &str, times: u32) -> World {
    let body = serde_json::to_string(body).expect("a text");
    World::with_faults(&format!(
        r#"[{{"call":"submit","fault":"status","status":{status},"times":{times},"body":{body}}}]"#
    ))
}

fn coded(status: u16, code: &str, times: u32) -> World {
    answering(status, &format!(r#"{{"error":{{"code":"{code}","message":"No."}}}}"#), times)
}

/// A fresh intent under that world.
fn live(world: &World) -> (Context, Operation) {
    let context = world.open();
    let operation = world.live(&context, "daily", "");
    (context, operation)
}

fn succeeds_once(world: &World, operation: &Operation) {
    assert_eq!(standing(operation), "succeeded", "{:?}", operation.life);
    assert_eq!(world.executions(), 1);
    assert_eq!(world.0.service.borrow().ledger().key_mismatches, 0);
}

fn resumes_to_success(world: &World, context: &Context, parked: &Operation) {
    world.resume(context, parked).expect("it may go on");
    let ended = world.settle(context, "daily").expect("it ends");
    assert_eq!(ended.identity, parked.identity);
    succeeds_once(world, &ended);
}

#[test]
fn a_400_rejects_with_the_service_s_code() {
    let world = coded(400, "BAD_INPUT", 1);
    let (_, ended) = live(&world);
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
    let (_, ended) = live(&coded(404, "ROUTE_NOT_FOUND", 1));
    assert_eq!(standing(&ended), "rejected");
}

#[test]
fn a_401_asks_for_a_fresh_credential_once_and_goes_on_under_the_same_key() {
    let world = coded(401, "UNAUTHORIZED", 1);
    let (_, ended) = live(&world);
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
    let (context, parked) = live(&world);
    assert_eq!(park(&parked), Some(ParkReason::NeedsCredential));
    resumes_to_success(&world, &context, &parked);
}

#[test]
fn a_402_parks_at_once_and_a_resume_goes_on() {
    let world = coded(402, "INSUFFICIENT_CREDITS", 1);
    let (context, parked) = live(&world);
    assert_eq!(park(&parked), Some(ParkReason::NeedsCredit));
    assert_eq!(world.requests(Call::Submit).len(), 1);
    resumes_to_success(&world, &context, &parked);
}

#[test]
fn a_403_is_a_matter_of_the_credential() {
    let world = coded(403, "FORBIDDEN", 2);
    let (context, parked) = live(&world);
    assert_eq!(park(&parked), Some(ParkReason::NeedsCredential));
    resumes_to_success(&world, &context, &parked);
}

#[test]
fn a_403_that_names_source_access_is_a_matter_of_the_source() {
    let world = coded(403, "SOURCE_ACCESS_REQUIRED", 1);
    let (context, parked) = live(&world);
    assert_eq!(park(&parked), Some(ParkReason::NeedsAccess));
    resumes_to_success(&world, &context, &parked);
}

#[test]
fn a_408_a_425_and_5xx_are_unknown_and_sent_again_under_the_same_key() {
    for status in [408, 425, 500, 502, 503, 504] {
        let world = coded(status, "TRY_LATER", 1);
        let (_, ended) = live(&world);
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
    let (_, ended) = live(&world);
    succeeds_once(&world, &ended);
}

#[test]
fn a_502_page_of_a_gateway_is_unknown() {
    let world = World::with_faults(r#"[{"call":"submit","fault":"html","after_commit":true}]"#);
    let (_, ended) = live(&world);
    succeeds_once(&world, &ended);
}

#[test]
fn a_page_with_status_200_is_no_acceptance() {
    let world = World::with_faults(
        r#"[{"call":"submit","fault":"html","status":200,"after_commit":true}]"#,
    );
    let (_, ended) = live(&world);
    succeeds_once(&world, &ended);
    assert_eq!(world.requests(Call::Submit).len(), 2);
}

#[test]
fn a_429_waits_as_long_as_the_service_says() {
    let world =
        World::with_faults(r#"[{"call":"submit","fault":"rate_limited","retry_after":60}]"#);
    let (_, ended) = live(&world);
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
    let (_, ended) = live(&world);
    succeeds_once(&world, &ended);
    let sent = world.requests(Call::Submit);
    assert!(sent.windows(2).all(|two| two[1].time_ms - two[0].time_ms >= 250));
}

#[test]
fn a_key_that_belongs_to_another_request_parks_with_nothing_minted() {
    let world = coded(409, "IDEMPOTENCY_KEY_REUSED", 1);
    let (context, parked) = live(&world);
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
        let (_, ended) = live(&world);
        assert_eq!(standing(&ended), "rejected", "{status}");
        world.pass(3_600_000);
        assert_eq!(world.requests(Call::Submit).len(), 1, "{status}");
    }
}

#[test]
fn a_409_without_a_code_is_no_failure() {
    let world = answering(409, r#"{"success":false,"error":"Idempotency key already used"}"#, 2);
    let (_, ended) = live(&world);
    succeeds_once(&world, &ended);
    let keys = world.requests(Call::Submit);
    assert!(keys.iter().all(|sent| sent.key == keys[0].key));
}

#[test]
fn a_redirect_parks_and_is_not_followed() {
    for status in [301, 302, 303, 307, 308] {
        let world = answering(status, "", 1);
        let (_, parked) = live(&world);
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

/// A world without a network, for an hour.
fn offline_for_an_hour() -> (World, Context) {
    let world =
        World::with(Settings { offline: true, ..Settings::default() }, crate::world::service());
    let context = world.open();
    world.submit(&context, "daily", "");
    world.pass(3_600_000);
    (world, context)
}

#[test]
fn nothing_is_begun_without_a_network_and_it_goes_on_when_there_is_one() {
    let (world, context) = offline_for_an_hour();
    let waiting = world.stored("daily").expect("it is stored");
    assert_eq!(standing(&waiting), "queued");
    assert_eq!(waiting.life.evidence.attempts, 0, "an attempt would be of unknown outcome");
    world.0.settings.borrow_mut().offline = false;
    context.driver.wake();
    let ended = world.settle(&context, "daily").expect("it ends");
    succeeds_once(&world, &ended);
    assert_eq!(world.requests(Call::Submit).len(), 1);
}

#[test]
fn a_network_that_comes_back_without_a_word_is_found() {
    let (world, context) = offline_for_an_hour();
    world.0.settings.borrow_mut().offline = false;
    let ended = world.settle(&context, "daily").expect("it ends");
    succeeds_once(&world, &ended);
}

#[test]
fn the_deadline_holds_without_a_network_too() {
    let (world, context) = offline_for_an_hour();
    world.pass(crate::world::DAY_MS);
    let parked = world.stored("daily").expect("it is stored");
    assert_eq!(park(&parked), Some(ParkReason::DeadlineExceeded));
    drop(context);
}

#[test]
fn what_is_lost_before_it_arrives_is_sent_again() {
    let world = World::with_faults(r#"[{"call":"submit","fault":"lose_before"}]"#);
    let (_, ended) = live(&world);
    succeeds_once(&world, &ended);
}

#[test]
fn a_lost_answer_is_asked_for_again_and_told_as_a_replay_of_the_same_job() {
    let world = World::with_faults(r#"[{"call":"submit","fault":"lose_after"}]"#);
    let (_, ended) = live(&world);
    succeeds_once(&world, &ended);
    assert_eq!(world.requests(Call::Submit).len(), 2);
}

#[test]
fn an_answer_that_comes_too_late_is_lost() {
    let world = World::with_faults(r#"[{"call":"submit","fault":"slow","ms":300000}]"#);
    let (_, ended) = live(&world);
    succeeds_once(&world, &ended);
    assert_eq!(world.requests(Call::Submit).len(), 2);
}

#[test]
fn half_a_202_that_names_no_job_is_no_acceptance() {
    let world = answering(202, r#"{"status":"pending","id":"req_0"#, 1);
    let (_, ended) = live(&world);
    succeeds_once(&world, &ended);
    assert_eq!(world.requests(Call::Submit).len(), 2);
}

#[test]
fn an_id_that_no_record_could_hold_is_none() {
    let world = answering(202, &format!(r#"{{"id":"{}"}}"#, "r".repeat(4_097)), 1);
    let (_, ended) = live(&world);
    succeeds_once(&world, &ended);
    assert_eq!(world.requests(Call::Submit).len(), 2);
}

#[test]
fn a_202_without_an_id_is_no_acceptance() {
    for body in [r#"{"status":"pending"}"#, r#"{"id":""}"#, r#"{"id":null}"#, "", "{}"] {
        let world = answering(202, body, 1);
        let (_, ended) = live(&world);
        succeeds_once(&world, &ended);
        assert_eq!(world.requests(Call::Submit).len(), 2, "{body}");
    }
}

#[test]
fn a_long_number_as_an_id_is_not_rounded() {
    let world = answering(202, r#"{"id":9007199254740993,"status":"pending"}"#, 1);
    let context = world.open();
    let operation = world.submit(&context, "daily", "");
    let taken = world.until("daily", |own| own.life.job().is_some());
    assert_eq!(taken.life.job().map(|job| job.as_str()), Some("9007199254740993"));
    assert_eq!(operation.identity.id, taken.identity.id);
}

#[test]
fn the_same_submit_gives_the_same_operation() {
    let world = World::new();
    let context = world.open();
    let first = world.submit(&context, "daily", "");
    let second = world.submit(&context, "daily", "");
    assert_eq!(first.identity, second.identity);
    world.settle(&context, "daily").expect("it ends");
    let third = world.submit(&context, "daily", "");
    assert_eq!(standing(&third), "succeeded");
    assert_eq!(world.executions(), 1);
}

#[test]
fn submits_at_the_same_time_give_one_operation() {
    let world = World::new();
    let contexts = [world.open(), world.open()];
    let ids = Rc::new(RefCell::new(Vec::new()));
    for context in contexts.iter().chain(&contexts) {
        let (driver, ids) = (context.driver.clone(), Rc::clone(&ids));
        world.spawn(context, async move {
            let operation = driver.submit(submission("daily", "")).await.expect("taken on");
            ids.borrow_mut().push(operation.identity.id);
        });
    }
    world.run(world.0.clock.now() + 60_000, || ids.borrow().len() == 4);
    assert_eq!(ids.borrow().len(), 4);
    assert!(ids.borrow().iter().all(|id| *id == ids.borrow()[0]));
    let ended = world.settle(&contexts[0], "daily").expect("it ends");
    succeeds_once(&world, &ended);
}

#[test]
fn another_order_of_members_is_another_request_where_the_service_compares_bytes() {
    let world = World::new();
    let context = world.open();
    world.submit(&context, "daily", r#","a":1,"b":2"#);
    let error = world.try_submit(&context, "daily", r#","b":2,"a":1"#).expect_err("other bytes");
    assert_eq!(error.code, Code::IntentConflict);
}

/// A context under a profile of a service that compares meanings and not bytes.
fn canonical(world: &World) -> Context {
    let text = crate::world::PROFILE.replacen(
        r#""lengthMin""#,
        r#""canonicalBody": true, "lengthMin""#,
        1,
    );
    world.open_with(holdfast::model::policy::Limits::default(), &text)
}

#[test]
fn another_order_of_members_is_the_same_request_where_the_service_compares_meanings() {
    let world = World::new();
    let context = canonical(&world);
    let first = world.submit(&context, "daily", r#","a":1,"b":2"#);
    let second = world.submit(&context, "daily", r#","b":2,"a":1"#);
    assert_eq!(first.identity.id, second.identity.id);
}

#[test]
fn another_number_text_is_another_request_even_where_meanings_are_compared() {
    let world = World::new();
    let context = canonical(&world);
    world.submit(&context, "daily", r#","a":1"#);
    world.try_submit(&context, "daily", r#","a":1.0"#).expect_err("never looser");
}

#[test]
fn another_body_under_the_same_intent_is_a_conflict_and_nothing_is_sent() {
    let world = World::new();
    let context = world.open();
    world.live(&context, "daily", "");
    let before = world.requests(Call::Any).len();
    let error = world.try_submit(&context, "daily", r#","limit":5"#).expect_err("a conflict");
    assert_eq!(error.code, Code::IntentConflict);
    assert_eq!(error.field.as_deref(), Some("intent"));
    world.pass(60_000);
    assert_eq!(world.requests(Call::Any).len(), before);
}

#[test]
fn another_body_at_the_same_time_is_a_conflict_for_the_later_one() {
    let world = World::new();
    let context = world.open();
    let told = Rc::new(RefCell::new(Vec::new()));
    for options in ["", r#","limit":5"#] {
        let (driver, told) = (context.driver.clone(), Rc::clone(&told));
        world.spawn(&context, async move {
            let answer = driver.submit(submission("daily", options)).await;
            told.borrow_mut().push(answer.map_err(|error| error.code).map(|own| own.identity.id));
        });
    }
    world.run(world.0.clock.now() + 60_000, || told.borrow().len() == 2);
    let conflicts = told.borrow().iter().filter(|own| **own == Err(Code::IntentConflict)).count();
    assert_eq!(conflicts, 1, "{:?}", told.borrow());
    world.settle(&context, "daily").expect("it ends");
    assert_eq!(world.executions(), 1);
}

#[test]
fn a_caller_s_own_key_is_kept_verbatim() {
    let world = World::new();
    let context = world.open();
    let key = "Order-17:Retry_of.yesterday~2";
    let (driver, mut request) = (context.driver.clone(), submission("daily", ""));
    request.key = Some(IdempotencyKey::from(key));
    let answer = world.call(&context, async move { driver.submit(request).await });
    answer.expect("an answer").expect("taken on");
    world.settle(&context, "daily").expect("it ends");
    assert_eq!(world.requests(Call::Submit)[0].key.as_deref(), Some(key));
}

fn refused(
    change: impl FnOnce(&mut holdfast::driver::Submission),
) -> holdfast::model::error::Error {
    let world = World::new();
    let context = world.open();
    let (driver, mut request) = (context.driver.clone(), submission("daily", ""));
    change(&mut request);
    let answer = world.call(&context, async move { driver.submit(request).await });
    let error = answer.expect("an answer").expect_err("refused");
    world.pass(60_000);
    assert_eq!(world.requests(Call::Any).len(), 0, "something was sent");
    assert!(world.stored("daily").is_none(), "something was stored");
    error
}

#[test]
fn a_key_that_the_service_does_not_take_is_refused_by_name() {
    let long = "x".repeat(256);
    for key in ["", "with space", "ümlaut", "line\nbreak", long.as_str()] {
        let error = refused(|request| request.key = Some(key.into()));
        assert_eq!(error.code, Code::InvalidInput, "{key}");
        assert_eq!(error.field.as_deref(), Some("key"), "{key}");
    }
}

#[test]
fn a_service_that_is_not_configured_is_refused_by_name() {
    let error = refused(|request| request.service = ServiceName::from("other"));
    assert_eq!(error.code, Code::UnknownService);
    assert_eq!(error.field.as_deref(), Some("service"));
}

#[test]
fn a_body_over_8_mb_is_refused_by_name() {
    let error = refused(|request| request.body = vec![b' '; 8 * 1024 * 1024 + 1]);
    assert_eq!(error.code, Code::InvalidInput);
    assert_eq!(error.field.as_deref(), Some("body"));
}

#[test]
fn a_body_that_is_no_json_is_refused_by_name_where_meanings_are_compared() {
    let world = World::new();
    let context = canonical(&world);
    let (driver, mut request) = (context.driver.clone(), submission("daily", ""));
    request.body = b"{\"url\":".to_vec();
    let answer = world.call(&context, async move { driver.submit(request).await });
    let error = answer.expect("an answer").expect_err("refused");
    assert_eq!(error.code, Code::InvalidInput);
    assert_eq!(error.field.as_deref(), Some("body"));
    assert!(world.stored("daily").is_none());
}

#[test]
fn nobody_signed_in_is_refused() {
    let world = World::new();
    let context = world.open();
    world.0.settings.borrow_mut().account = None;
    let error = world.try_submit(&context, "daily", "").expect_err("nobody");
    assert_eq!(error.code, Code::NoAccount);
    world.pass(60_000);
    assert_eq!(world.requests(Call::Any).len(), 0);
}

/// A submission of which nothing is known, and which cannot be sent again for a long time.
fn unknown_for(seconds: u64) -> (World, Context, Operation) {
    let world = World::with_faults(&format!(
        r#"[{{"call":"submit","fault":"lose_after"}},
            {{"call":"submit","fault":"status","status":503,"retry_after":{seconds}}}]"#
    ));
    let context = world.open_with(
        holdfast::model::policy::Limits {
            total_ms: 10 * crate::world::DAY_MS,
            ..holdfast::model::policy::Limits::default()
        },
        crate::world::PROFILE,
    );
    world.submit(&context, "daily", "");
    let unknown = world.until("daily", |own| own.life.evidence.attempts == 2);
    (world, context, unknown)
}

#[test]
fn past_the_service_s_memory_of_keys_an_unknown_outcome_is_not_sent_again() {
    let (world, context, _) = unknown_for(90_000);
    let parked = world.settle(&context, "daily").expect("it parks");
    assert_eq!(park(&parked), Some(ParkReason::OutcomeUnknown));
    assert_eq!(world.requests(Call::Submit).len(), 2);
}

#[test]
fn another_scope_parks_an_unknown_outcome_and_the_old_scope_leads_on() {
    let (world, context, _) = unknown_for(60);
    world.0.settings.borrow_mut().scope = Some("org_1/key_2".into());
    let parked = world.settle(&context, "daily").expect("it parks");
    assert_eq!(park(&parked), Some(ParkReason::ScopeChanged));
    assert_eq!(world.requests(Call::Submit).len(), 2);
    world.0.settings.borrow_mut().scope = Some("org_1/key_1".into());
    resumes_to_success(&world, &context, &parked);
}

#[test]
fn another_scope_is_fine_while_nothing_can_have_been_accepted() {
    let world = coded(402, "INSUFFICIENT_CREDITS", 1);
    let (context, parked) = live(&world);
    world.0.settings.borrow_mut().scope = Some("org_1/key_2".into());
    resumes_to_success(&world, &context, &parked);
}

#[test]
fn a_person_who_knows_that_nothing_ran_lets_it_be_sent_again_under_the_same_key() {
    let world = answering(302, "", 1);
    let (context, parked) = live(&world);
    world.resolve(&context, &parked, Resolution::NotExecuted).expect("said so");
    let ended = world.settle(&context, "daily").expect("it ends");
    succeeds_once(&world, &ended);
    let sent = world.requests(Call::Submit);
    assert_eq!(sent[0].key, sent[1].key);
}

#[test]
fn an_accepted_risk_sends_again_and_nothing_else_does() {
    let world = answering(302, "", 1);
    let (context, parked) = live(&world);
    world.resume(&context, &parked).expect_err("not without a word about the risk");
    let risky = Command::Resume { limits: None, accept_duplicate: true };
    world.command(&context, &parked, risky).expect("the risk is accepted");
    let ended = world.settle(&context, "daily").expect("it ends");
    succeeds_once(&world, &ended);
}

#[test]
fn a_credential_that_cannot_be_had_parks_after_some_tries_with_nothing_sent() {
    let world = World::new();
    world.0.settings.borrow_mut().unauthorized = 4;
    let (context, parked) = live(&world);
    assert_eq!(park(&parked), Some(ParkReason::NeedsCredential));
    assert_eq!(world.requests(Call::Any).len(), 0);
    resumes_to_success(&world, &context, &parked);
}
