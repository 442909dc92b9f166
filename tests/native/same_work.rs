//! One intent, one operation: the same request, and another one.

use std::cell::RefCell;
use std::rc::Rc;

use crate::world::{Context, World, standing, submission, succeeds_once};
use holdfast::model::error::Code;
use holdfast::model::ids::IdempotencyKey;
use holdfast_services::Call;

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

#[test]
fn an_intent_whose_service_has_another_address_now_names_both() {
    let world = World::new();
    let context = world.open();
    world.submit(&context, "daily", "");
    let moved = crate::world::PROFILE.replacen("/api/v1/data/requests", "/api/v2/requests", 1);
    let context = world.open_with(holdfast::model::policy::Limits::default(), &moved);
    let error = world.try_submit(&context, "daily", "").expect_err("another address");
    assert_eq!(error.code, Code::IntentConflict);
    assert!(error.message.contains("/api/v1/data/requests, and not at"), "{}", error.message);
    assert!(error.next_step.contains("baseUrl"), "{}", error.next_step);
}

/// A context under a profile of a service that compares meanings and not bytes.
pub(super) fn canonical(world: &World) -> Context {
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
