//! A job that exists already becomes an operation, once.

use crate::world::{World, failed, park, result, standing};
use holdfast::model::error::Code;
use holdfast::model::hold::ParkReason;
use holdfast::rules::step::Resolution;
use holdfast_services::Call;

#[test]
fn an_adopted_job_is_followed_to_its_result_and_nothing_is_submitted() {
    let world = World::new();
    let job = world.foreign_job(r#","duration_ms":5000"#);
    let before = world.requests(Call::Submit).len();
    let context = world.open();
    let adopted = world.adopt(&context, "daily", &job).expect("it is taken on");
    assert_eq!(standing(&adopted), "active");
    assert_eq!(adopted.life.job(), Some(&job));
    let ended = world.settle(&context, "daily").expect("it ends");
    assert_eq!(standing(&ended), "succeeded");
    assert!(result(&ended).is_some());
    assert_eq!(world.requests(Call::Submit).len(), before);
    assert_eq!(world.executions(), 1);
    assert_eq!(world.0.delivered.borrow().len(), 1);
}

#[test]
fn the_same_adoption_gives_the_same_operation_in_any_state() {
    let world = World::new();
    let job = world.foreign_job("");
    let context = world.open();
    let first = world.adopt(&context, "daily", &job).expect("it is taken on");
    let again = world.adopt(&context, "daily", &job).expect("it is known");
    assert_eq!(again.identity.id, first.identity.id);
    world.settle(&context, "daily").expect("it ends");
    world.kill(&context);
    let later = world.adopt(&world.open(), "daily", &job).expect("it is known");
    assert_eq!(later.identity.id, first.identity.id);
    assert_eq!(standing(&later), "succeeded");
}

#[test]
fn a_job_is_adopted_once() {
    let world = World::new();
    let job = world.foreign_job("");
    let context = world.open();
    let first = world.adopt(&context, "one", &job).expect("it is taken on");
    let error = world.adopt(&context, "two", &job).expect_err("a conflict");
    assert_eq!(error.code, Code::KeyConflict);
    assert_eq!(error.field.as_deref(), Some("jobId"));
    assert_eq!(error.operation, Some(first.identity.id));
    assert!(world.stored("two").is_none());
}

#[test]
fn the_job_of_a_submission_is_not_adopted() {
    let world = World::new();
    let context = world.open();
    let submitted = world.live(&context, "one", "");
    let job = submitted.life.job().expect("a job").clone();
    let error = world.adopt(&context, "two", &job).expect_err("a conflict");
    assert_eq!(error.code, Code::KeyConflict);
    assert_eq!(error.operation, Some(submitted.identity.id));
}

#[test]
fn an_intent_that_stands_for_other_work_adopts_nothing() {
    let world = World::new();
    let job = world.foreign_job("");
    let context = world.open();
    world.live(&context, "daily", "");
    let error = world.adopt(&context, "daily", &job).expect_err("a conflict");
    assert_eq!(error.code, Code::IntentConflict);
    assert_eq!(error.field.as_deref(), Some("intent"));
    world.adopt(&context, "other", &job).expect("the job is free still");
    let error = world.try_submit(&context, "other", "").expect_err("a conflict");
    assert_eq!(error.code, Code::IntentConflict);
}

#[test]
fn of_two_contexts_one_adopts() {
    let world = World::new();
    let job = world.foreign_job("");
    let contexts = [world.open(), world.open()];
    for (context, intent) in contexts.iter().zip(["one", "two"]) {
        let (driver, adoption) = (context.driver.clone(), crate::world::adoption(intent, &job));
        world.spawn(context, async move {
            let _ = driver.adopt(adoption).await;
        });
    }
    world.pass(60_000);
    let taken = [world.stored("one"), world.stored("two")];
    assert_eq!(taken.iter().flatten().count(), 1);
}

#[test]
fn a_job_that_is_not_there_parks() {
    let world = World::new();
    let context = world.open();
    world.adopt(&context, "daily", &"req_nowhere".into()).expect("it is taken on");
    let parked = world.settle(&context, "daily").expect("it comes to rest");
    assert_eq!(park(&parked), Some(ParkReason::JobNotFound));
}

#[test]
fn an_adopted_job_that_failed_is_run_again_under_a_key_of_its_own() {
    let world = World::new();
    let job = world.foreign_job(r#","fail_times":1"#);
    let context = world.open();
    world.adopt(&context, "daily", &job).expect("it is taken on");
    let ended = world.settle(&context, "daily").expect("it ends");
    let reviewed = failed(&ended).id.clone();
    let rerun = world.retry(&context, &ended, &reviewed, false).expect("a rerun");
    assert_eq!(rerun.identity.key.as_str().len(), 36);
    let ended = world.settle(&context, "daily").expect("it ends");
    assert_eq!(standing(&ended), "succeeded");
}

#[test]
fn a_crash_at_any_point_of_an_adoption_loses_nothing() {
    let story = |crash: Option<u64>| {
        let world = World::new();
        let job = world.foreign_job("");
        world.0.settings.borrow_mut().crash_at = crash;
        for _ in 0..3 {
            let context = world.open();
            if world.try_adopt(&context, "daily", &job).is_some_and(|adopted| adopted.is_ok())
                && world.settle(&context, "daily").is_some()
            {
                break;
            }
        }
        let ended = world.stored("daily").expect("it is stored");
        assert_eq!(standing(&ended), "succeeded", "crash at {crash:?}");
        assert_eq!(world.executions(), 1);
        world.0.points.get()
    };
    for crash in 1..=story(None) {
        story(Some(crash));
    }
}

#[test]
fn a_person_who_names_another_operation_s_job_is_told_whose_it_is() {
    let world = World::new();
    let context = world.open();
    let first = world.live(&context, "one", "");
    world.add_faults(r#"[{"call":"submit","fault":"status","status":302}]"#);
    let parked = world.live(&context, "two", "");
    let job = first.life.job().expect("a job").clone();
    let error = world.resolve(&context, &parked, Resolution::Found(job)).expect_err("a conflict");
    assert_eq!(error.code, Code::KeyConflict);
    assert_eq!(error.operation, Some(first.identity.id));
}
