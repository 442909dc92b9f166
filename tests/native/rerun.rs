//! Jobs that failed, and their reruns.

use std::cell::RefCell;
use std::rc::Rc;

use crate::world::{PROFILE, Settings, World, failed, park, standing};
use holdfast::model::ending::FailureClass;
use holdfast::model::error::Code;
use holdfast::model::hold::ParkReason;
use holdfast::model::money::Credits;
use holdfast::model::policy::{Limits, LimitsPatch};
use holdfast::rules::exits::exits;
use holdfast::rules::step::Resolution;
use holdfast_services::{Call, Loopback, RunHarvester};

pub(super) const FAILS: &str = r#","outcome":"failed","failure_class":"transient","fail_times":1"#;

#[test]
fn a_failed_job_ends_failed_with_class_code_and_trace() {
    for (word, class, code) in [
        ("input", FailureClass::Input, "INPUT_NOT_USABLE"),
        ("target", FailureClass::Target, "TARGET_UNREACHABLE"),
        ("transient", FailureClass::Transient, "UPSTREAM_TIMEOUT"),
    ] {
        let world = World::new();
        let options = format!(r#","outcome":"failed","failure_class":"{word}""#);
        let (_, ended) = world.lived(&options);
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
    world.lived(FAILS);
    world.pass(crate::world::DAY_MS);
    assert_eq!(world.executions(), 1);
}

#[test]
fn a_rerun_needs_the_failure_that_was_read() {
    let world = World::new();
    let (context, ended) = world.lived(FAILS);
    let error = world.retry(&context, &ended, "another", false).expect_err("not read");
    assert_eq!(error.code, Code::NotAllowed);
    assert_eq!(world.executions(), 1);
}

#[test]
fn unchanged_input_is_not_run_again_after_its_own_fault_unless_told() {
    for word in ["input", "target"] {
        let world = World::new();
        let options = format!(r#","outcome":"failed","failure_class":"{word}","fail_times":1"#);
        let (context, ended) = world.lived(&options);
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
    let (context, ended) = world.lived(FAILS);
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
    let (context, ended) = world.lived(FAILS);
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
    let (context, ended) = world.lived(FAILS);
    let rerun = world.retry(&context, &ended, &failed(&ended).id, false).expect("a rerun");
    world.settle(&context, "daily").expect("it ends");
    let again = world.submit(&context, "daily", FAILS);
    assert_eq!(again.identity.id, rerun.identity.id);
}

#[test]
fn two_reruns_at_once_give_one() {
    let world = World::new();
    let (context, ended) = world.lived(FAILS);
    let ids = Rc::new(RefCell::new(Vec::new()));
    for _ in 0..2 {
        let (driver, ids) = (context.driver.clone(), Rc::clone(&ids));
        let (id, reviewed) = (ended.identity.id.clone(), failed(&ended).id.clone());
        world.spawn(&context, async move {
            let rerun = driver.retry(&id, reviewed, false, LimitsPatch::default()).await;
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
    let (first, ended) = world.lived(FAILS);
    let second = world.open();
    let done = Rc::new(RefCell::new(0));
    for context in [&first, &second] {
        let (driver, done) = (context.driver.clone(), Rc::clone(&done));
        let (id, reviewed) = (ended.identity.id.clone(), failed(&ended).id.clone());
        world.spawn(context, async move {
            let _ = driver.retry(&id, reviewed, false, LimitsPatch::default()).await;
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
    let (context, ended) = world.lived(FAILS);
    world.retry(&context, &ended, &failed(&ended).id, false).expect("a rerun");
    let finished = world.settle(&context, "daily").expect("it ends");
    assert_eq!(standing(&finished), "succeeded");
    assert_eq!(world.executions(), 2);
    let sent = world.requests(Call::Retry);
    assert_eq!(sent.len(), 2);
    assert_eq!(sent[0].key, sent[1].key);
}

#[test]
fn what_a_rerun_under_the_id_of_the_failed_job_parks_with_offers_no_other_id() {
    let world = World::new();
    let (context, ended) = world.lived(FAILS);
    let own = ended.life.job().expect("an id").clone();
    let body = serde_json::json!({ "id": own.as_str() }).to_string();
    let same = serde_json::json!([{
        "call": "retry", "fault": "status", "status": 202, "body": body,
    }]);
    world.add_faults(&same.to_string());
    world.retry(&context, &ended, &failed(&ended).id, false).expect("a rerun");
    let parked = world.settle(&context, "daily").expect("it rests");
    assert_eq!(park(&parked), Some(ParkReason::OutcomeUnknown), "{:?}", parked.life);
    assert!(!exits(&parked).contains(&"resolve({found})"), "{:?}", exits(&parked));
    let error = world.resolve(&context, &parked, Resolution::Found(own)).expect_err("taken");
    assert_eq!(error.code, Code::KeyConflict);
    // The service is asked once more, and answers with another.
    world.resolve(&context, &parked, Resolution::NotExecuted).expect("offered");
    let finished = world.settle(&context, "daily").expect("it ends");
    assert!(!finished.taken && standing(&finished) == "succeeded", "{:?}", finished.life);
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
    let world = World::answering(
        "poll",
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
    let (context, ended) = world.lived("");
    world.retry(&context, &ended, "any", true).expect_err("it succeeded");
}
