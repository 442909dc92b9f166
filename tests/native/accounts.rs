//! Account-bound: an operation belongs to the account that submitted it.

use std::cell::RefCell;
use std::future::{Future, poll_fn};
use std::pin::pin;
use std::rc::Rc;

use crate::world::{Context, World, standing, submission};
use holdfast::model::life::Stage;
use holdfast::rules::step::Command;
use holdfast_services::Call;

fn switch(world: &World, context: &Context, account: &str) {
    world.0.settings.borrow_mut().account = Some(account.into());
    context.driver.wake();
}

#[test]
fn another_account_sees_and_lists_nothing() {
    let world = World::new();
    let context = world.open();
    let operation = world.live(&context, "daily", "");
    assert_eq!(world.listed(&context).expect("a list"), ["daily"]);
    switch(&world, &context, "ben");
    assert_eq!(world.listed(&context).expect("a list"), Vec::<String>::new());
    let (driver, id) = (context.driver.clone(), operation.identity.id.clone());
    let loaded = world.call(&context, async move { driver.load(&id).await });
    assert_eq!(loaded.expect("an answer").expect("no error"), None);
    let acknowledged = world.command(&context, &operation, Command::Acknowledge);
    acknowledged.expect_err("it is another's");
    let own = world.submit(&context, "daily", "");
    assert_ne!(own.identity.id, operation.identity.id);
}

#[test]
fn another_account_drives_nothing() {
    let world = World::new();
    let context = world.open();
    world.submit(&context, "daily", r#","duration_ms":60000"#);
    world.until("daily", |own| own.life.stage == Stage::Work);
    switch(&world, &context, "ben");
    world.pass(1_000);
    let before = world.requests(Call::Any).len();
    world.pass(600_000);
    assert_eq!(world.requests(Call::Any).len(), before);
    switch(&world, &context, "ann");
    let ended = world.settle(&context, "daily").expect("it ends");
    assert_eq!(standing(&ended), "succeeded");
}

#[test]
fn an_account_that_changes_without_a_word_still_drives_nothing() {
    let world = World::new();
    let context = world.open();
    world.submit(&context, "daily", r#","duration_ms":60000"#);
    world.until("daily", |own| own.life.stage == Stage::Work);
    world.0.settings.borrow_mut().account = Some("ben".into());
    let before = world.requests(Call::Any).len();
    world.pass(600_000);
    let after = world.requests(Call::Any).len();
    assert!(after <= before, "{} requests for the account that left", after - before);
}

#[test]
fn a_submit_while_the_account_changes_belongs_to_the_one_that_submitted() {
    let world = World::new();
    let context = world.open();
    let answer = Rc::new(RefCell::new(None));
    let (driver, request, told) =
        (context.driver.clone(), submission("daily", ""), Rc::clone(&answer));
    let inside = world.clone();
    world.spawn(&context, async move {
        let mut submit = pin!(driver.submit(request));
        let answered = poll_fn(|task| {
            let polled = submit.as_mut().poll(task);
            inside.0.settings.borrow_mut().account = Some("ben".into());
            polled
        });
        told.replace(Some(answered.await));
    });
    world.run(world.0.clock.now() + 60_000, || answer.borrow().is_some());
    let answer = answer.take().expect("the submit is answered");
    if let Ok(own) = answer {
        assert_eq!(own.identity.account.0, "ann");
    }
    assert_eq!(world.listed(&context).expect("ben has a list"), [""; 0]);
    assert!(world.executions() <= 1);
}
