//! What is read of the store: it does not grow with what is stored, nor with how much is under way at once.

use crate::world::{Settings, World, standing};
use holdfast_services::{Config, Loopback, RunHarvester};

const OPERATIONS: usize = 48;

fn intent(own: usize) -> String {
    format!("work {own}")
}

/// A world with credits for all of it.
fn rich() -> World {
    let config = Config { balance: 1_000_000, ..Config::default() };
    World::with(Settings::default(), Loopback::new(RunHarvester::new(config)))
}

/// How many rows were read as due, for each of so many operations that are handed over at once.
fn rows_for_each_of(count: usize) -> usize {
    let world = rich();
    let context = world.open();
    for own in 0..count {
        // Each is due at points in time of its own.
        let options = format!(",\"duration_ms\":{}", 3_000 + 137 * own);
        world.submit(&context, &intent(own), &options);
    }
    world.pass(600_000);
    for own in 0..count {
        assert_eq!(standing(&world.stored(&intent(own)).expect("stored")), "succeeded", "{own}");
    }
    world.0.commits.rows_due.get() / count
}

#[test]
fn work_in_memory_is_not_read_anew_whenever_some_of_it_is_due() {
    let rows = rows_for_each_of(OPERATIONS);
    assert!(rows < 2, "{rows} rows for each of {OPERATIONS}");
}

#[test]
fn the_last_of_many_operations_reads_no_more_than_the_first() {
    let world = rich();
    let context = world.open();
    let rows: Vec<usize> = (0..300)
        .map(|own| {
            let before = world.0.commits.rows_due.get();
            world.live(&context, &intent(own), "");
            world.0.commits.rows_due.get() - before
        })
        .collect();
    let of = |part: &[usize]| part.iter().sum::<usize>();
    assert!(of(&rows[280..]) <= of(&rows[..20]), "{rows:?}");
}
