//! Whose is what: an intent, a key and a job belong to one operation each, before anything is sent.

use crate::world::{Context, Settings, World, failed, service, standing, submission};
use holdfast::driver::Submission;
use holdfast::model::error::{Code, Error};
use holdfast::model::operation::Operation;
use holdfast::rules::step::Command;
use holdfast_services::{AzureLro, Call, Loopback, RunHarvester};

fn submit_with_key(
    world: &World,
    context: &Context,
    intent: &str,
    options: &str,
    key: &str,
) -> Result<Operation, Error> {
    let request = Submission { key: Some(key.into()), ..submission(intent, options) };
    let driver = context.driver.clone();
    world.call(context, async move { driver.submit(request).await }).expect("an answer")
}

fn deriving() -> World {
    World::with(Settings { derives_keys: true, ..Settings::default() }, service())
}

#[test]
fn a_key_under_another_intent_is_refused_before_anything_is_sent() {
    let world = World::new();
    let context = world.open();
    let first = submit_with_key(&world, &context, "one", "", "mine").expect("it is taken on");
    world.settle(&context, "one").expect("it ends");
    let sent = world.requests(Call::Any).len();
    for options in ["", r#","duration_ms":9"#] {
        let error =
            submit_with_key(&world, &context, "two", options, "mine").expect_err("a conflict");
        assert_eq!(error.code, Code::KeyConflict);
        assert_eq!(error.field.as_deref(), Some("key"));
        assert_eq!(error.operation.as_ref(), Some(&first.identity.id));
        assert!(error.next_step.contains("nothing was sent"), "{}", error.next_step);
    }
    world.pass(60_000);
    assert_eq!(world.requests(Call::Any).len(), sent);
    assert!(world.stored("two").is_none());
}

#[test]
fn a_key_is_refused_in_another_context_and_after_a_restart_too() {
    let world = World::new();
    let first = world.open();
    submit_with_key(&world, &first, "one", "", "mine").expect("it is taken on");
    let beside = world.open();
    let error = submit_with_key(&world, &beside, "two", "", "mine").expect_err("a conflict");
    assert_eq!(error.code, Code::KeyConflict);
    world.kill(&first);
    let error = submit_with_key(&world, &beside, "two", "", "mine").expect_err("a conflict");
    assert_eq!(error.code, Code::KeyConflict);
}

#[test]
fn of_two_submissions_at_once_with_one_key_one_is_taken_on() {
    let world = World::new();
    let (left, right) = (world.open(), world.open());
    for (context, intent) in [(&left, "one"), (&right, "two")] {
        let request = Submission { key: Some("mine".into()), ..submission(intent, "") };
        let driver = context.driver.clone();
        world.spawn(context, async move {
            let _ = driver.submit(request).await;
        });
    }
    world.pass(60_000);
    let taken = [world.stored("one"), world.stored("two")];
    assert_eq!(taken.iter().flatten().count(), 1);
    assert_eq!(world.executions(), 1);
}

#[test]
fn a_key_that_was_refused_is_free_for_the_same_intent_under_another() {
    let world = World::new();
    let context = world.open();
    submit_with_key(&world, &context, "one", "", "mine").expect("it is taken on");
    submit_with_key(&world, &context, "two", "", "mine").expect_err("a conflict");
    submit_with_key(&world, &context, "two", "", "other").expect("it is taken on");
    world.settle(&context, "one").expect("it ends");
    world.settle(&context, "two").expect("it ends");
    assert_eq!(world.executions(), 2);
}

#[test]
fn another_account_may_have_the_same_key() {
    let world = World::new();
    let context = world.open();
    submit_with_key(&world, &context, "one", "", "mine").expect("it is taken on");
    world.0.settings.borrow_mut().account = Some("bob".into());
    submit_with_key(&world, &context, "two", "", "mine").expect("it is taken on");
}

#[test]
fn a_wiped_store_comes_to_the_same_derived_key_and_the_same_execution() {
    let world = deriving();
    let context = world.open();
    let first = world.live(&context, "daily", "");
    world.kill(&context);
    world.0.store.restore(holdfast::driver::memory::MemoryStore::new().snapshot());
    let second = world.live(&world.open(), "daily", "");
    assert_eq!(standing(&second), "succeeded");
    assert_ne!(second.identity.id, first.identity.id);
    assert_eq!(second.identity.key, first.identity.key);
    assert_eq!(second.life.job(), first.life.job());
    assert_eq!(world.executions(), 1);
}

#[test]
fn a_derived_key_is_another_for_another_intent_or_request() {
    let world = deriving();
    let context = world.open();
    let one = world.live(&context, "one", "");
    let two = world.live(&context, "two", "");
    assert_ne!(one.identity.key, two.identity.key);
    assert_eq!(world.executions(), 2);
}

#[test]
fn a_rerun_has_a_derived_key_of_its_own() {
    let world = deriving();
    let context = world.open();
    let first = world.live(&context, "daily", r#","fail_times":1"#);
    let reviewed = failed(&first).id.clone();
    let rerun = world.retry(&context, &first, &reviewed, false).expect("a rerun");
    assert_ne!(rerun.identity.key, first.identity.key);
    assert!(rerun.identity.key.as_str().as_bytes()[14] == b'8', "{:?}", rerun.identity.key);
    let ended = world.settle(&context, "daily").expect("it ends");
    assert_eq!(standing(&ended), "succeeded");
    world.command(&context, &ended, Command::Acknowledge).expect("it is over");
    assert_eq!(world.executions(), 2);
}

#[test]
fn a_caller_s_own_key_goes_before_a_derived_one() {
    let world = deriving();
    let context = world.open();
    let first = submit_with_key(&world, &context, "one", "", "mine").expect("it is taken on");
    assert_eq!(first.identity.key.as_str(), "mine");
}

#[test]
fn the_same_id_at_another_origin_is_another_job() {
    let world = World::new();
    let context = world.open();
    let first = world.live(&context, "daily", "");
    world.kill(&context);
    world.0.service.borrow_mut().service = Box::new(RunHarvester::default());
    world.0.settings.borrow_mut().origin = "https://staging.example.com".into();
    let second = world.live(&world.open(), "weekly", "");
    assert_eq!(first.life.job(), second.life.job());
    assert_eq!(standing(&second), "succeeded", "{:?}", second.life);
}

#[test]
fn a_key_goes_with_the_date_of_its_first_sending_where_the_service_wants_it() {
    // The model refuses a key without it, and takes another date for another request.
    let profile = include_str!("../../pkg-template/profiles/azure-lro.json");
    let params = [("path", "v1/reports"), ("apiVersion", "1")];
    let params = params.map(|(name, value)| (name.to_owned(), value.to_owned())).to_vec();
    let settings = Settings { params, ..Settings::default() };
    let world = World::of(settings, Loopback::new(AzureLro::default()), profile);
    world.add_faults(
        r#"[{"call":"submit","fault":"lose_after"},{"call":"submit","fault":"lose_after"}]"#,
    );
    let ended = world.live(&world.open(), "daily", "");
    crate::world::succeeds_once(&world, &ended);
    assert_eq!(world.requests(Call::Submit).len(), 3);
}
