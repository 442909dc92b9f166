//! What `observe` is told of work that is handed over, however it is.

use crate::world::{Settings, World, service};
use holdfast::model::operation::Operation;

/// The events of one operation, in order.
fn told(world: &World, operation: &Operation) -> Vec<&'static str> {
    let happened = world.0.happened.borrow();
    happened.iter().filter(|(id, _)| *id == operation.identity.id).map(|own| own.1).collect()
}

/// It was told once to be submitted, before all else.
fn is_told_once(world: &World, operation: &Operation) {
    let told = told(world, operation);
    assert_eq!(told[0], "submitted", "{told:?}");
    assert_eq!(told.iter().filter(|own| **own == "submitted").count(), 1, "{told:?}");
}

#[test]
fn work_whose_first_attempt_is_written_with_it_is_told_to_be_submitted() {
    let world = World::new();
    let context = world.open();
    world.live(&context, "before", "");
    let operation = world.live(&context, "daily", "");
    is_told_once(&world, &operation);
    let journal = world.journal(&context, &operation.identity.id);
    assert!(journal[0].contains("submit.written"), "{}", journal[0]);
}

#[test]
fn work_that_is_not_sent_at_once_is_told_to_be_submitted() {
    for settings in [
        Settings { offline: true, ..Settings::default() },
        Settings { unauthorized: 1, ..Settings::default() },
        Settings { authorize_ms: 400, ..Settings::default() },
    ] {
        let world = World::with(settings, service());
        let context = world.open();
        let operation = world.submit(&context, "daily", "");
        world.0.settings.borrow_mut().offline = false;
        world.pass(120_000);
        is_told_once(&world, &operation);
    }
}

#[test]
fn an_adopted_job_is_not_told_to_be_submitted() {
    let world = World::new();
    let context = world.open();
    let job = world.foreign_job("");
    let operation = world.adopt(&context, "daily", &job).expect("adopted");
    world.settle(&context, "daily").expect("it ends");
    let told = told(&world, &operation);
    assert_eq!((told[0], told.contains(&"submitted")), ("adopted", false), "{told:?}");
}
