//! Cancelling, and what comes too late for it.

use super::polling::until_state;
use crate::world::{World, ending, park, standing};
use holdfast::model::ending::Ending;
use holdfast::model::hold::ParkReason;
use holdfast::model::life::Stage;
use holdfast::rules::step::Resolution;
use holdfast_services::Call;

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
fn a_cancel_of_a_job_that_its_service_does_not_find_yet_is_asked_for_again() {
    let world = World::with_faults(r#"[{"call":"cancel","fault":"not_found"}]"#);
    let context = world.open();
    world.submit(&context, "daily", r#","duration_ms":600000"#);
    let operation = world.until("daily", |own| own.life.stage == Stage::Work);
    world.cancel(&context, &operation).expect("a wish");
    let ended = world.settle(&context, "daily").expect("it ends");
    assert_eq!(ending(&ended), Some(&Ending::Cancelled));
    assert_eq!(world.requests(Call::Cancel).len(), 2);
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
