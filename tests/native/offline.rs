//! Without a network nothing is begun.

use crate::world::{Context, Settings, World, park, standing, succeeds_once};
use holdfast::model::hold::ParkReason;
use holdfast_services::Call;

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
fn waiting_for_a_network_leaves_the_store_alone() {
    let (world, _context) = offline_for_an_hour();
    world.0.settings.borrow_mut().commit_ms = 1;
    world.pass(60_000);
    let before = world.0.points.get();
    world.pass(60_000);
    let asked = world.0.points.get() - before;
    assert!(
        asked < 40,
        "{asked} things asked of ports in a minute in which there is nothing to do"
    );
}

#[test]
fn the_deadline_holds_without_a_network_too() {
    let (world, context) = offline_for_an_hour();
    world.pass(crate::world::DAY_MS);
    let parked = world.stored("daily").expect("it is stored");
    assert_eq!(park(&parked), Some(ParkReason::DeadlineExceeded));
    drop(context);
}
