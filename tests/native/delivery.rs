//! Handing an ending to the app: at least once, until it resolves.

use crate::world::{DAY_MS, Logged, Settings, World, park};
use holdfast::model::hold::ParkReason;
use holdfast::model::life::Delivery;
use holdfast::model::storage::Durability;
use holdfast::rules::step::Command;
use holdfast_services::{Config, Loopback, RunHarvester};

#[test]
fn a_delivery_is_made_again_until_it_resolves() {
    let world = World::new();
    world.0.settings.borrow_mut().failing_deliveries = 5;
    let (_, ended) = world.lived("");
    assert!(matches!(ended.life.delivery, Some(Delivery::Delivered(_))));
    assert_eq!(*world.0.delivered.borrow(), [ended.identity.id.as_str()]);
    assert_eq!(ended.counters.deliveries, 5);
}

#[test]
fn a_delivery_that_failed_is_made_by_the_next_context() {
    let world = World::new();
    world.0.settings.borrow_mut().failing_deliveries = 1;
    let first = world.open();
    world.submit(&first, "daily", "");
    world.until("daily", |own| own.counters.deliveries == 1);
    world.kill(&first);
    let second = world.open();
    world.settle(&second, "daily").expect("it ends");
    assert_eq!(world.0.delivered.borrow().len(), 1);
}

#[test]
fn without_a_consumer_the_ending_waits_for_one() {
    let world = World::new();
    world.0.settings.borrow_mut().consumes = false;
    let first = world.open();
    world.submit(&first, "daily", "");
    world.until("daily", |own| own.life.is_ended());
    world.pass(600_000);
    assert_eq!(world.0.delivered.borrow().len(), 0);
    world.kill(&first);
    world.0.settings.borrow_mut().consumes = true;
    let second = world.open();
    world.settle(&second, "daily").expect("it is delivered");
    assert_eq!(world.0.delivered.borrow().len(), 1);
}

#[test]
fn nothing_is_delivered_before_its_ending_is_durable() {
    let world = World::new();
    let context = world.open();
    world.submit(&context, "daily", "");
    world.run(world.0.clock.now() + DAY_MS, || !world.0.delivered.borrow().is_empty());
    let durable = world.0.log.all().into_iter().any(|logged| match logged {
        Logged::Committed { operation, durability: Durability::Strict } => {
            operation.life.is_ended()
        }
        Logged::Committed { durability: Durability::Relaxed, .. }
        | Logged::Sent { .. }
        | Logged::Told(_) => false,
    });
    assert!(durable);
}

#[test]
fn nothing_is_delivered_at_a_park() {
    let world = World::with_faults(r#"[{"call":"submit","fault":"status","status":402}]"#);
    let (_, parked) = world.lived("");
    assert_eq!(park(&parked), Some(ParkReason::NeedsCredit));
    world.pass(3_600_000);
    assert!(world.0.delivered.borrow().is_empty());
}

#[test]
fn an_acknowledged_ending_is_not_delivered_any_more() {
    let world = World::new();
    world.0.settings.borrow_mut().failing_deliveries = 1_000;
    let context = world.open();
    world.submit(&context, "daily", "");
    let ended = world.until("daily", |own| own.counters.deliveries == 2);
    let acknowledged = world.command(&context, &ended, Command::Acknowledge).expect("it is over");
    assert!(matches!(acknowledged.life.delivery, Some(Delivery::Acknowledged(_))));
    world.pass(DAY_MS);
    assert_eq!(world.stored("daily").expect("stored").counters.deliveries, 2);
    assert!(world.0.delivered.borrow().is_empty());
}

#[test]
fn what_is_not_over_cannot_be_acknowledged() {
    let world = World::new();
    let context = world.open();
    let operation = world.submit(&context, "daily", "");
    world.command(&context, &operation, Command::Acknowledge).expect_err("not over");
}

/// More work than a context has places for: 64.
const MANY: usize = 150;

/// A world where the account has enough for all of it.
fn rich(settings: Settings) -> World {
    let rich = Config { balance: 10_000, ..Config::default() };
    World::with(settings, Loopback::new(RunHarvester::new(rich)))
}

#[test]
fn deliveries_that_never_end_keep_no_work_waiting() {
    let world = rich(Settings { hanging_deliveries: u32::MAX, ..Settings::default() });
    let context = world.open();
    let intents: Vec<String> = (0..MANY).map(|index| index.to_string()).collect();
    for intent in &intents {
        world.submit(&context, intent, r#","duration_ms":600000"#);
    }
    world.pass(DAY_MS);
    let ended = |intent: &&String| world.stored(intent).is_some_and(|own| own.life.is_ended());
    assert_eq!(intents.iter().filter(ended).count(), MANY);
}

#[test]
fn deliveries_that_fail_are_made_again_where_there_is_more_work_than_places() {
    let world = rich(Settings { failing_deliveries: 400, ..Settings::default() });
    let context = world.open();
    for index in 0..MANY {
        world.submit(&context, &index.to_string(), r#","duration_ms":600000"#);
    }
    world.pass(DAY_MS);
    assert_eq!(world.0.delivered.borrow().len(), MANY);
}
