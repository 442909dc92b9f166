//! What a context shows of its life, and what its app hears when its page goes away.

use std::cell::RefCell;
use std::rc::Rc;

use crate::world::{DAY_MS, World, standing, submission};
use holdfast::model::error::Code;
use holdfast::model::life::Stage;
use holdfast::rules::step::Command;

#[test]
fn a_context_shows_that_it_lives_only_while_something_is_due() {
    let world = World::new();
    let context = world.open();
    assert!(!world.is_shown(&context));
    for intent in ["one", "two"] {
        world.submit(&context, intent, r#","duration_ms":60000"#);
        world.until(intent, |own| own.life.stage == Stage::Work);
        assert!(world.is_shown(&context), "{intent} is under way");
        assert_eq!(standing(&world.settle(&context, intent).expect("it ends")), "succeeded");
        world.pass(DAY_MS / 2);
        assert!(!world.is_shown(&context), "{intent} is over");
    }
    assert_eq!(world.executions(), 2);
}

#[test]
fn work_goes_to_another_context_while_the_owner_of_its_lane_has_nothing_to_do() {
    let world = World::new();
    let (first, second) = (world.open(), world.open());
    world.live(&first, "one", "");
    world.pass(DAY_MS / 2);
    world.submit(&second, "two", r#","duration_ms":60000"#);
    world.submit(&first, "three", r#","duration_ms":60000"#);
    for intent in ["two", "three"] {
        assert_eq!(standing(&world.settle(&second, intent).expect("it ends")), "succeeded");
    }
    assert_eq!(world.executions(), 3);
}

#[test]
fn a_submit_whose_page_goes_away_is_unconfirmed_and_the_same_call_tells() {
    let world = World::new();
    let context = world.open();
    world.live(&context, "warm", "");
    world.0.settings.borrow_mut().commit_ms = 1_000;
    let told = Rc::new(RefCell::new(None));
    let (driver, tell) = (context.driver.clone(), told.clone());
    let request = submission("daily", "");
    world.spawn(&context, async move { *tell.borrow_mut() = Some(driver.submit(request).await) });
    world.pass(500);
    context.driver.give_back();
    world.pass(10_000);
    let error = told.take().expect("an answer").expect_err("the page went away");
    assert_eq!(error.code, Code::SubmitUnconfirmed);
    assert_eq!(standing(&world.live(&context, "daily", "")), "succeeded");
    assert_eq!(world.executions(), 2);
}

#[test]
fn a_wish_that_is_stored_while_its_page_goes_away_is_told_as_stored() {
    let world = World::new();
    let context = world.open();
    let operation = world.submit(&context, "daily", r#","duration_ms":60000"#);
    world.until("daily", |own| own.life.stage == Stage::Work);
    world.0.settings.borrow_mut().commit_ms = 1_000;
    let told = Rc::new(RefCell::new(None));
    let (driver, tell, id) = (context.driver.clone(), told.clone(), operation.identity.id);
    world.spawn(&context, async move {
        *tell.borrow_mut() = Some(driver.command(&id, Command::Cancel).await);
    });
    world.pass(500);
    context.driver.give_back();
    world.pass(10_000);
    let operation = told.take().expect("an answer").expect("it is stored");
    assert!(operation.life.cancel.is_some());
}
