//! Following a job: polls, limits of rate, failures and reruns, cancellation and late billing.

use std::cell::RefCell;
use std::rc::Rc;

use crate::world::{Context, PROFILE, Settings, World, ending, failed, park, standing};
use holdfast::model::dice::Dice;
use holdfast::model::ending::{Ending, FailureClass};
use holdfast::model::error::Code;
use holdfast::model::hold::{Hold, ParkReason, WaitReason};
use holdfast::model::life::Stage;
use holdfast::model::money::{Amount, Credits};
use holdfast::model::operation::Operation;
use holdfast::model::policy::Limits;
use holdfast::model::profile::Purpose;
use holdfast::model::time::Timestamp;
use holdfast::rules::classify::{Finding, Said, Verdict};
use holdfast::rules::step::{Input, Resolution, step};
use holdfast_services::{Call, Config, Loopback, RunHarvester};

/// A world whose service answers the first `times` polls with this.
fn polled(status: u16, body: &str, times: u32) -> World {
    let body = serde_json::to_string(body).expect("a text");
    World::with_faults(&format!(
        r#"[{{"call":"poll","fault":"status","status":{status},"times":{times},"body":{body}}}]"#
    ))
}

fn live(world: &World, options: &str) -> (Context, Operation) {
    let context = world.open();
    let operation = world.live(&context, "daily", options);
    (context, operation)
}

fn succeeds(faults: &str) -> World {
    let world = World::with_faults(faults);
    let (_, ended) = live(&world, "");
    assert_eq!(standing(&ended), "succeeded");
    assert_eq!(world.executions(), 1);
    world
}

/// Submits and comes to where the job is in this state.
fn until_state(world: &World, context: &Context, state: &str) -> Operation {
    world.submit(context, "daily", r#","duration_ms":60000,"captcha":true"#);
    world.until("daily", |own| own.reported.state.as_deref() == Some(state))
}

// Polling.

#[test]
fn all_three_active_states_are_polled_on_and_shown() {
    let world = World::new();
    let context = world.open();
    for state in ["pending", "running", "solving_captcha"] {
        let operation = until_state(&world, &context, state);
        assert_eq!(standing(&operation), "active");
    }
    let ended = world.settle(&context, "daily").expect("it ends");
    assert_eq!(standing(&ended), "succeeded");
}

#[test]
fn an_unknown_word_means_still_running_and_is_shown_raw() {
    let world = polled(200, r#"{"status":"Warming_Up"}"#, 1);
    let context = world.open();
    world.submit(&context, "daily", "");
    let operation = world.until("daily", |own| own.reported.state.as_deref() == Some("Warming_Up"));
    assert_eq!(standing(&operation), "active");
    let ended = world.settle(&context, "daily").expect("it ends");
    assert_eq!(standing(&ended), "succeeded");
}

#[test]
fn words_are_known_whatever_their_case() {
    let world = polled(200, r#"{"status":"CANCELLED","token_state":"released"}"#, 1);
    let (_, ended) = live(&world, "");
    assert_eq!(standing(&ended), "cancelled");
}

#[test]
fn a_404_just_after_creation_is_no_news() {
    let world = World::new();
    let (_, ended) = live(&world, r#","not_found_ms":4000"#);
    assert_eq!(standing(&ended), "succeeded");
}

#[test]
fn a_404_later_parks_with_the_job_s_id_and_a_resume_goes_on() {
    let world = World::with_faults(r#"[{"call":"poll","fault":"not_found","skip":6,"times":3}]"#);
    let (context, parked) = live(&world, r#","duration_ms":600000"#);
    assert_eq!(park(&parked), Some(ParkReason::JobNotFound));
    assert!(parked.life.job().is_some());
    world.resume(&context, &parked).expect("it may go on");
    let ended = world.settle(&context, "daily").expect("it ends");
    assert_eq!(standing(&ended), "succeeded");
}

#[test]
fn a_poll_that_cannot_be_read_is_no_news() {
    succeeds(r#"[{"call":"poll","fault":"html"}]"#);
    succeeds(r#"[{"call":"poll","fault":"html","status":200}]"#);
    succeeds(r#"[{"call":"poll","fault":"truncate"}]"#);
    succeeds(r#"[{"call":"poll","fault":"status","status":200,"body":""}]"#);
    succeeds(r#"[{"call":"poll","fault":"status","status":200,"body":"[]"}]"#);
    succeeds(r#"[{"call":"poll","fault":"lose_before"},{"call":"poll","fault":"lose_after"}]"#);
}

#[test]
fn a_poll_that_fails_in_passing_is_no_news() {
    for status in [408, 425, 409, 500, 502, 503, 504] {
        succeeds(&format!(r#"[{{"call":"poll","fault":"status","status":{status}}}]"#));
    }
}

#[test]
fn a_poll_whose_credential_is_refused_parks_and_does_not_fail_the_job() {
    let world = World::with_faults(r#"[{"call":"poll","fault":"status","status":403,"times":2}]"#);
    let (context, parked) = live(&world, "");
    assert_eq!(park(&parked), Some(ParkReason::NeedsCredential));
    assert!(parked.life.job().is_some());
    world.resume(&context, &parked).expect("it may go on");
    let ended = world.settle(&context, "daily").expect("it ends");
    assert_eq!(standing(&ended), "succeeded");
}

#[test]
fn a_429_closes_the_lane_for_other_operations_too() {
    let world = World::with_faults(r#"[{"call":"poll","fault":"rate_limited","retry_after":60}]"#);
    let context = world.open();
    world.submit(&context, "one", "");
    world.until("one", |own| {
        matches!(own.life.hold, Hold::Until { reason: WaitReason::RateLimit, .. })
    });
    let limited_at = world.0.clock.now();
    let before = world.requests(Call::Any).len();
    world.submit(&context, "two", "");
    world.settle(&context, "two").expect("it ends");
    let next = world.requests(Call::Any)[before].time_ms;
    assert!(next >= limited_at + 59_900, "{} ms after the 429", next - limited_at);
}

#[test]
fn the_lane_stays_closed_for_the_next_context() {
    let world = World::with_faults(r#"[{"call":"poll","fault":"rate_limited","retry_after":60}]"#);
    let first = world.open();
    world.submit(&first, "one", "");
    world.until("one", |own| {
        matches!(own.life.hold, Hold::Until { reason: WaitReason::RateLimit, .. })
    });
    let limited_at = world.0.clock.now();
    let before = world.requests(Call::Any).len();
    world.kill(&first);
    let second = world.open();
    world.submit(&second, "two", "");
    world.settle(&second, "two").expect("it ends");
    let next = world.requests(Call::Any)[before].time_ms;
    assert!(next >= limited_at + 59_900, "{} ms after the 429", next - limited_at);
}

#[test]
fn guidance_on_a_good_answer_is_kept_to() {
    let world = World::with_faults(
        r#"[{"call":"poll","fault":"status","status":200,"retry_after":45,
            "body":"{\"status\":\"running\"}"}]"#,
    );
    let (_, ended) = live(&world, "");
    assert_eq!(standing(&ended), "succeeded");
    let polls = world.requests(Call::Poll);
    let waited = polls[1].time_ms - polls[0].time_ms;
    assert!((45_000..=50_000).contains(&waited), "{waited} ms");
}

#[test]
fn guidance_with_the_acceptance_is_kept_to_and_no_wait_at_all_is_none() {
    let world = World::new();
    let context = world.open();
    world.submit(&context, "daily", "");
    let sent = world.until("daily", |own| own.life.evidence.current.is_some());
    let profile = holdfast::rules::profile::read(PROFILE).expect("a good profile");
    for (asked_ms, least_ms, why) in
        [(0, 500, WaitReason::Poll), (9_000, 9_000, WaitReason::ServerGuidance)]
    {
        let said = Said { server_wait_ms: Some(asked_ms), ..Said::default() };
        let verdict = Box::new(Verdict { finding: Finding::Accepted("req_7".into()), said });
        let now = Timestamp(world.0.clock.now());
        let answered = Input::Answered(Purpose::Submit, verdict);
        let after = step(&sent, &profile, now, &mut Dice::seeded(1), answered).expect("it is news");
        let Hold::Until { wait, reason } = after.operation.life.hold() else {
            panic!("it does not wait")
        };
        assert!(wait.length_ms >= least_ms, "{}", wait.length_ms);
        assert_eq!(*reason, why);
    }
}

#[test]
fn a_service_that_asks_for_no_wait_is_not_polled_any_faster() {
    for retry_after in ["0", "\"0.0\"", r#"{"date_in_ms":-600000}"#] {
        for status in [200, 429, 503] {
            let world = World::with_faults(&format!(
                r#"[{{"call":"poll","fault":"status","status":{status},"times":100000,
                    "retry_after":{retry_after},"body":"{{\"status\":\"running\"}}"}}]"#
            ));
            let context = world.open();
            world.submit(&context, "daily", "");
            world.pass(3_600_000);
            let polls = world.requests(Call::Poll).len();
            assert!((60..500).contains(&polls), "{polls} polls in an hour of {status}");
        }
    }
}

#[test]
fn a_wait_longer_than_any_timer_is_kept_to() {
    const DAYS: u64 = 60;
    let world = World::with_faults(
        r#"[{"call":"poll","fault":"status","status":503,"retry_after":2200000}]"#,
    );
    let limits = Limits { total_ms: DAYS * crate::world::DAY_MS, ..Limits::default() };
    let context = world.open_with(limits, PROFILE);
    world.submit(&context, "daily", "");
    world.pass(DAYS * crate::world::DAY_MS);
    let polls = world.requests(Call::Poll);
    let waited = polls[1].time_ms - polls[0].time_ms;
    assert!((2_200_000_000..=2_430_000_000).contains(&waited), "{waited} ms");
    let operation = world.stored("daily").expect("it is stored");
    assert_ne!(park(&operation), Some(ParkReason::DeadlineExceeded));
}

#[test]
fn polls_stop_at_the_application_s_deadline() {
    let world = polled(200, r#"{"status":"running"}"#, 1_000_000);
    let (_, parked) = live(&world, "");
    assert_eq!(park(&parked), Some(ParkReason::DeadlineExceeded));
    let polls = world.requests(Call::Poll).len();
    world.pass(crate::world::DAY_MS);
    assert_eq!(world.requests(Call::Poll).len(), polls);
}

// Failure and rerun.

const FAILS: &str = r#","outcome":"failed","failure_class":"transient","fail_times":1"#;

#[test]
fn a_failed_job_ends_failed_with_class_code_and_trace() {
    for (word, class, code) in [
        ("input", FailureClass::Input, "INPUT_NOT_USABLE"),
        ("target", FailureClass::Target, "TARGET_UNREACHABLE"),
        ("transient", FailureClass::Transient, "UPSTREAM_TIMEOUT"),
    ] {
        let world = World::new();
        let options = format!(r#","outcome":"failed","failure_class":"{word}""#);
        let (_, ended) = live(&world, &options);
        let failure = failed(&ended);
        assert_eq!(failure.class, class);
        assert_eq!(failure.fault.code.as_deref(), Some(code));
        assert!(failure.fault.trace_id.as_deref().is_some_and(|own| own.starts_with("trc_")));
        assert!(!failure.id.is_empty());
    }
}

#[test]
fn a_failed_job_is_not_run_again_by_itself() {
    let world = World::new();
    live(&world, FAILS);
    world.pass(crate::world::DAY_MS);
    assert_eq!(world.executions(), 1);
}

#[test]
fn a_rerun_needs_the_failure_that_was_read() {
    let world = World::new();
    let (context, ended) = live(&world, FAILS);
    let error = world.retry(&context, &ended, "another", false).expect_err("not read");
    assert_eq!(error.code, Code::NotAllowed);
    assert_eq!(world.executions(), 1);
}

#[test]
fn unchanged_input_is_not_run_again_after_its_own_fault_unless_told() {
    for word in ["input", "target"] {
        let world = World::new();
        let options = format!(r#","outcome":"failed","failure_class":"{word}","fail_times":1"#);
        let (context, ended) = live(&world, &options);
        let reviewed = failed(&ended).id.clone();
        world.retry(&context, &ended, &reviewed, false).expect_err("it would fail again");
        world.retry(&context, &ended, &reviewed, true).expect("told so");
        let rerun = world.settle(&context, "daily").expect("it ends");
        assert_eq!(standing(&rerun), "succeeded");
    }
}

#[test]
fn a_rerun_is_new_linked_work_with_a_key_of_its_own() {
    let world = World::new();
    let (context, ended) = live(&world, FAILS);
    let rerun = world.retry(&context, &ended, &failed(&ended).id, false).expect("a rerun");
    assert_eq!(rerun.identity.ordinal, 1);
    assert_eq!(rerun.identity.parent.as_ref(), Some(&ended.identity.id));
    assert_ne!(rerun.identity.key, ended.identity.key);
    assert_ne!(rerun.identity.id, ended.identity.id);
    let found = world.find(&context, "daily").expect("no error").expect("found");
    assert_eq!(found.identity.id, rerun.identity.id);
    let finished = world.settle(&context, "daily").expect("it ends");
    assert_eq!(standing(&finished), "succeeded");
    assert_ne!(finished.life.job(), ended.life.job());
    assert_eq!(world.executions(), 2);
    assert_eq!(world.requests(Call::Retry).len(), 1);
}

#[test]
fn a_rerun_carries_its_key_in_the_query_where_the_profile_puts_it_there() {
    let mut profile: serde_json::Value = serde_json::from_str(PROFILE).expect("JSON");
    profile["key"] = serde_json::json!({ "query": "key" });
    // What this service itself goes by.
    for (call, own) in [("submit", "one"), ("retry", "two")] {
        profile["calls"][call]["headers"] = serde_json::json!({ "Idempotency-Key": own });
    }
    let world = World::of(
        Settings::default(),
        Loopback::new(RunHarvester::default()),
        &profile.to_string(),
    );
    let (context, ended) = live(&world, FAILS);
    world.add_faults(r#"[{"call":"retry","fault":"lose_after"}]"#);
    let rerun = world.retry(&context, &ended, &failed(&ended).id, false).expect("a rerun");
    world.settle(&context, "daily").expect("it ends");
    let paths: Vec<_> = world.requests(Call::Retry).into_iter().map(|own| own.path).collect();
    assert_eq!(paths.len(), 2);
    let key = ["?key=", rerun.identity.key.as_str()].concat();
    assert!(paths.iter().all(|own| own.ends_with(&key)), "{paths:?}");
}

#[test]
fn the_same_submit_after_a_rerun_gives_the_rerun() {
    let world = World::new();
    let (context, ended) = live(&world, FAILS);
    let rerun = world.retry(&context, &ended, &failed(&ended).id, false).expect("a rerun");
    world.settle(&context, "daily").expect("it ends");
    let again = world.submit(&context, "daily", FAILS);
    assert_eq!(again.identity.id, rerun.identity.id);
}

#[test]
fn two_reruns_at_once_give_one() {
    let world = World::new();
    let (context, ended) = live(&world, FAILS);
    let ids = Rc::new(RefCell::new(Vec::new()));
    for _ in 0..2 {
        let (driver, ids) = (context.driver.clone(), Rc::clone(&ids));
        let (id, reviewed) = (ended.identity.id.clone(), failed(&ended).id.clone());
        world.spawn(&context, async move {
            let rerun = driver.retry(&id, reviewed, false).await;
            ids.borrow_mut().push(rerun.map(|own| own.identity.id).map_err(|error| error.code));
        });
    }
    world.run(world.0.clock.now() + 60_000, || ids.borrow().len() == 2);
    let ids = ids.borrow();
    assert!(ids[0].is_ok() && ids[0] == ids[1], "{ids:?}");
    world.settle(&context, "daily").expect("it ends");
    assert_eq!(world.executions(), 2);
}

#[test]
fn two_reruns_in_two_contexts_give_one() {
    let world = World::new();
    let (first, ended) = live(&world, FAILS);
    let second = world.open();
    let done = Rc::new(RefCell::new(0));
    for context in [&first, &second] {
        let (driver, done) = (context.driver.clone(), Rc::clone(&done));
        let (id, reviewed) = (ended.identity.id.clone(), failed(&ended).id.clone());
        world.spawn(context, async move {
            let _ = driver.retry(&id, reviewed, false).await;
            *done.borrow_mut() += 1;
        });
    }
    world.run(world.0.clock.now() + 60_000, || *done.borrow() == 2);
    world.settle(&first, "daily").expect("it ends");
    world.pass(600_000);
    assert_eq!(world.executions(), 2);
}

#[test]
fn a_lost_answer_to_a_rerun_is_asked_for_under_its_own_key() {
    let world = World::with_faults(r#"[{"call":"retry","fault":"lose_after"}]"#);
    let (context, ended) = live(&world, FAILS);
    world.retry(&context, &ended, &failed(&ended).id, false).expect("a rerun");
    let finished = world.settle(&context, "daily").expect("it ends");
    assert_eq!(standing(&finished), "succeeded");
    assert_eq!(world.executions(), 2);
    let sent = world.requests(Call::Retry);
    assert_eq!(sent.len(), 2);
    assert_eq!(sent[0].key, sent[1].key);
}

#[test]
fn attempts_are_bounded_over_the_lineage() {
    let world = World::new();
    let context = world.open_with(Limits { attempts: 2, ..Limits::default() }, PROFILE);
    let options = r#","outcome":"failed","failure_class":"transient""#;
    let first = world.live(&context, "daily", options);
    world.retry(&context, &first, &failed(&first).id, false).expect("one attempt is left");
    let second = world.settle(&context, "daily").expect("it ends");
    let error =
        world.retry(&context, &second, &failed(&second).id, false).expect_err("none is left");
    assert!(error.message.contains("limits.attempts"), "{}", error.message);
    assert_eq!(world.executions(), 2);
}

#[test]
fn cost_is_bounded_over_the_lineage() {
    let world = polled(
        200,
        r#"{"status":"failed","token_state":"charged","billing":{"base":5},
            "error":{"code":"UPSTREAM_TIMEOUT","class":"transient"}}"#,
        100,
    );
    let cost = Credits::parse("10");
    let context = world.open_with(Limits { cost, ..Limits::default() }, PROFILE);
    let first = world.live(&context, "daily", "");
    world.retry(&context, &first, &failed(&first).id, false).expect("half is spent");
    // The service is not asked whether its job may be retried.
    world.add_faults(
        r#"[{"call":"retry","fault":"status","status":202,"body":"{\"id\":\"req_9\"}"}]"#,
    );
    let second = world.settle(&context, "daily").expect("it ends");
    if standing(&second) == "failed" {
        let error =
            world.retry(&context, &second, &failed(&second).id, false).expect_err("all is spent");
        assert!(error.message.contains("limits.cost"), "{}", error.message);
    } else {
        panic!("{:?}", second.life);
    }
}

#[test]
fn what_did_not_fail_is_not_run_again() {
    let world = World::new();
    let (context, ended) = live(&world, "");
    world.retry(&context, &ended, "any", true).expect_err("it succeeded");
}

// Cancellation.

#[test]
fn a_cancel_before_sending_ends_at_once_with_no_request_at_all() {
    let world = World::new();
    world.0.settings.borrow_mut().unauthorized = 1;
    let context = world.open();
    let operation = world.submit(&context, "daily", "");
    world.cancel(&context, &operation).expect("a wish");
    let ended = world.settle(&context, "daily").expect("it ends");
    assert_eq!(ending(&ended), Some(&Ending::Cancelled));
    world.pass(600_000);
    assert_eq!(world.requests(Call::Any).len(), 0);
}

#[test]
fn a_cancel_in_flight_waits_for_the_answer_and_cancels_the_job() {
    let world = World::new();
    world.0.settings.borrow_mut().latency_ms = 500;
    let context = world.open();
    let operation = world.submit(&context, "daily", r#","duration_ms":600000"#);
    world.run(world.0.clock.now() + 60_000, || world.executions() == 1);
    world.cancel(&context, &operation).expect("a wish");
    let ended = world.settle(&context, "daily").expect("it ends");
    assert_eq!(ending(&ended), Some(&Ending::Cancelled));
    assert_eq!(world.requests(Call::Submit).len(), 1);
    assert_eq!(world.requests(Call::Cancel).len(), 1);
}

#[test]
fn an_active_job_is_cancelled_by_one_request() {
    let world = World::new();
    let context = world.open();
    let operation = until_state(&world, &context, "running");
    world.cancel(&context, &operation).expect("a wish");
    world.cancel(&context, &operation).expect("the same wish");
    let ended = world.settle(&context, "daily").expect("it ends");
    assert_eq!(ending(&ended), Some(&Ending::Cancelled));
    assert_eq!(world.requests(Call::Cancel).len(), 1);
}

#[test]
fn after_a_lost_answer_to_a_cancel_the_job_is_read_before_it_is_asked_again() {
    for fault in ["lose_before", "lose_after"] {
        let world = World::with_faults(&format!(r#"[{{"call":"cancel","fault":"{fault}"}}]"#));
        let context = world.open();
        let operation = until_state(&world, &context, "running");
        world.cancel(&context, &operation).expect("a wish");
        let ended = world.settle(&context, "daily").expect("it ends");
        assert_eq!(ending(&ended), Some(&Ending::Cancelled));
        let calls: Vec<_> = world.requests(Call::Any).into_iter().map(|own| own.call).collect();
        let first = calls.iter().position(|call| *call == Call::Cancel).expect("a cancel");
        assert_eq!(calls[first + 1], Call::Poll, "{fault}");
        let cancels = calls.iter().filter(|call| **call == Call::Cancel).count();
        assert_eq!(cancels, if fault == "lose_before" { 2 } else { 1 }, "{fault}");
    }
}

#[test]
fn a_page_of_a_gateway_does_not_say_that_the_job_is_cancelled() {
    let world = World::with_faults(r#"[{"call":"cancel","fault":"html","status":200}]"#);
    let context = world.open();
    let operation = until_state(&world, &context, "running");
    world.cancel(&context, &operation).expect("a wish");
    let ended = world.settle(&context, "daily").expect("it ends");
    assert_eq!(ending(&ended), Some(&Ending::Cancelled));
    assert_eq!(world.requests(Call::Cancel).len(), 2);
}

#[test]
fn a_cancel_that_is_refused_again_and_again_is_given_up_and_the_job_goes_on() {
    for status in [401, 429, 503] {
        let world = World::with_faults(&format!(
            r#"[{{"call":"cancel","fault":"status","status":{status},"times":1000}}]"#
        ));
        let context = world.open();
        let started = world.submit(&context, "daily", r#","duration_ms":7200000"#);
        world.until("daily", |own| own.life.stage == Stage::Work);
        world.cancel(&context, &started).expect("a wish");
        let ended = world.settle(&context, "daily").expect("it ends or parks");
        assert!(matches!(standing(&ended), "succeeded" | "parked"), "{status}");
        assert!(world.requests(Call::Cancel).len() <= 5, "{status}: it is sent without end");
    }
}

#[test]
fn completion_that_beats_a_cancel_is_a_success() {
    let world = World::new();
    let context = world.open();
    let operation = world.submit(&context, "daily", r#","duration_ms":10000"#);
    world.until("daily", |own| own.reported.state.as_deref() == Some("running"));
    world.0.settings.borrow_mut().latency_ms = 12_000;
    world.cancel(&context, &operation).expect("a wish");
    let ended = world.settle(&context, "daily").expect("it ends");
    assert_eq!(standing(&ended), "succeeded");
    assert_eq!(world.requests(Call::Cancel).len(), 1);
}

#[test]
fn a_cancel_of_what_may_have_been_accepted_is_never_a_second_submission() {
    let world = World::with_faults(r#"[{"call":"submit","fault":"lose_after"}]"#);
    let context = world.open();
    world.submit(&context, "daily", r#","duration_ms":600000"#);
    let unknown = world.until("daily", |own| own.life.evidence.unresolved.is_some());
    world.cancel(&context, &unknown).expect("a wish");
    let parked = world.settle(&context, "daily").expect("it parks");
    assert_eq!(park(&parked), Some(ParkReason::CancelUnconfirmed));
    assert_eq!(world.requests(Call::Submit).len(), 1);
    world.resume(&context, &parked).expect_err("only resolve leads on");
    let job = world.0.service.borrow().ledger().jobs.keys().next().cloned().expect("a job");
    world.resolve(&context, &parked, Resolution::Found(job.as_str().into())).expect("found");
    let ended = world.settle(&context, "daily").expect("it ends");
    assert_eq!(ending(&ended), Some(&Ending::Cancelled));
    assert_eq!(world.requests(Call::Submit).len(), 1);
}

#[test]
fn a_cancel_whose_submission_never_ran_ends_when_a_person_says_so() {
    let world = World::with_faults(r#"[{"call":"submit","fault":"lose_before"}]"#);
    let context = world.open();
    world.submit(&context, "daily", "");
    let unknown = world.until("daily", |own| own.life.evidence.unresolved.is_some());
    world.cancel(&context, &unknown).expect("a wish");
    let parked = world.settle(&context, "daily").expect("it parks");
    world.resolve(&context, &parked, Resolution::NotExecuted).expect("said so");
    let ended = world.settle(&context, "daily").expect("it ends");
    assert_eq!(ending(&ended), Some(&Ending::Cancelled));
    assert_eq!(world.executions(), 0);
}

#[test]
fn a_cancel_survives_a_restart() {
    let world = World::with_faults(r#"[{"call":"cancel","fault":"lose_before"}]"#);
    let first = world.open();
    let operation = until_state(&world, &first, "running");
    world.cancel(&first, &operation).expect("a wish");
    world.kill(&first);
    let second = world.open();
    let ended = world.settle(&second, "daily").expect("it ends");
    assert_eq!(ending(&ended), Some(&Ending::Cancelled));
}

#[test]
fn a_cancel_while_the_result_is_fetched_keeps_the_result() {
    let world =
        World::with_faults(r#"[{"call":"result","fault":"status","status":503,"retry_after":10}]"#);
    let context = world.open();
    world.submit(&context, "daily", "");
    let fetching = world.until("daily", |own| {
        matches!(own.life.stage, Stage::Result { .. }) && own.counters.failures > 0
    });
    world.cancel(&context, &fetching).expect("a wish");
    let ended = world.settle(&context, "daily").expect("it ends");
    assert_eq!(standing(&ended), "succeeded");
    assert_eq!(world.requests(Call::Cancel).len(), 0);
}

// Billing.

#[test]
fn a_late_settlement_is_picked_up() {
    let world = World::new();
    let context = world.open();
    let operation = until_state(&world, &context, "running");
    world.cancel(&context, &operation).expect("a wish");
    let ended = world.settle(&context, "daily").expect("it ends");
    assert_eq!(ended.ledger.token_state.as_deref(), Some("charged"));
    assert_eq!(ended.ledger.get(Amount::Refund).map(Credits::to_text).as_deref(), Some("2"));
    assert_eq!(ended.ledger.cost().to_text(), "3");
    assert!(ended.life.settlement.is_none());
}

#[test]
fn billing_and_token_state_are_kept_as_reported() {
    let world = World::new();
    let (_, ended) = live(&world, "");
    assert_eq!(ended.ledger.get(Amount::Base).map(Credits::to_text).as_deref(), Some("5"));
    assert_eq!(ended.ledger.get(Amount::Balance).map(Credits::to_text).as_deref(), Some("95"));
    assert_eq!(ended.ledger.token_state.as_deref(), Some("charged"));
}

#[test]
fn a_failed_job_s_refund_is_kept_as_reported() {
    let world = World::new();
    let (_, ended) = live(&world, FAILS);
    assert_eq!(ended.ledger.get(Amount::Refund).map(Credits::to_text).as_deref(), Some("5"));
    assert_eq!(ended.ledger.cost().to_text(), "0");
}

#[test]
fn jobs_beyond_the_working_set_are_polled_too() {
    let rich = Config { balance: 1_000, ..Config::default() };
    let world = World::with(Settings::default(), Loopback::new(RunHarvester::new(rich)));
    let context = world.open();
    let intents: Vec<String> = (0..150).map(|index| format!("long {index}")).collect();
    for intent in &intents {
        world.submit(&context, intent, r#","duration_ms":3600000"#);
    }
    world.kill(&context);
    let _reopened = world.open();
    let polls = |intent: &String| world.stored(intent).map_or(0, |own| own.counters.polls);
    let before: u32 = intents.iter().map(polls).sum();
    world.pass(120_000);
    let after = intents.iter().map(polls);
    assert!(after.clone().sum::<u32>() > before);
    assert_eq!(after.filter(|polls| *polls < 2).count(), 0, "some wait for others to end");
}
