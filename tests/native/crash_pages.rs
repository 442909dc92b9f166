//! A context may end at every point of a life whose result has many pages: no page is lost or kept
//! twice, and the work is executed once.

use crate::table::items_of;
use crate::world::{Context, Settings, World, result, standing, submission};
use holdfast::driver::Submission;
use holdfast::model::life::Stage;
use holdfast::model::policy::{Limits, OnUnknown};
use holdfast_services::{Bulkgrid, Call, Loopback, Service};

const BULKGRID: &str = include_str!("../../pkg-template/profiles/bulkgrid.json");

/// More points than the story has.
const POINTS_MAX: u64 = 2_000;

fn world_of(locks: bool) -> World {
    let settings = Settings { locks, ..Settings::default() };
    World::of(settings, Loopback::new(Bulkgrid::default()), BULKGRID)
}

fn request() -> Submission {
    let params = vec![("endpoint".to_owned(), "crawl".to_owned())];
    Submission { params, ..submission("daily", r#","result_bytes":250000"#) }
}

/// A whole life, whatever ends in it; gives the context that has seen the end.
fn live(world: &World, crash_at: Option<u64>) -> Context {
    let limits = Limits { on_unknown: OnUnknown::Resubmit, ..Limits::default() };
    world.live_through(limits, &request(), crash_at).expect("it ends")
}

/// A life whose pages have to wait for others elsewhere, twice; with how many points there were
/// before them.
fn live_with_pages_that_wait(locks: bool, crash: Option<u64>) -> (World, Context, u64) {
    let world = world_of(locks);
    let first = world.open();
    let driver = first.driver.clone();
    let submitted = world.call(&first, async move { driver.submit(request()).await });
    submitted.expect("it is taken on").expect("it is new");
    world.until("daily", |own| matches!(own.life.stage, Stage::Result { .. }));
    world.kill(&first);
    assert_eq!(world.requests(Call::Result).len(), 0, "its pages are still to be read");
    world.0.settings.borrow_mut().postponed = 2;
    let before = world.0.points.get();
    let context = live(&world, crash.map(|crash| before + crash));
    assert_eq!(world.0.settings.borrow().postponed, 0);
    (world, context, before)
}

fn check(world: &World, context: &Context, how: &str) {
    let operation = world.stored("daily").expect("it is stored");
    assert_eq!(standing(&operation), "succeeded", "{how}: {:?}", operation.life);
    let kept = result(&operation).expect("a result");
    let bytes = world.kept_bytes(context, &operation.identity.id);
    assert_eq!(bytes.len() as u64, kept.bytes, "{how}");
    let items = items_of(&bytes, "/results");
    let distinct: std::collections::BTreeSet<_> = items.iter().map(ToString::to_string).collect();
    assert_eq!((items.len(), distinct.len()), (250, 250), "{how}");
    let reads = world.requests(Call::Result).len();
    assert!((3..=4).contains(&reads), "{how}: {reads} pages were read");
    let mut service = world.0.service.borrow_mut();
    service.service.advance(world.0.clock.now());
    let ledger = service.ledger();
    assert_eq!((ledger.executions, ledger.too_fast), (1, 0), "{how}");
}

#[test]
fn a_crash_at_any_point_goes_on_with_the_page_that_is_next() {
    for locks in [true, false] {
        let undisturbed = world_of(locks);
        let context = live(&undisturbed, None);
        let points = undisturbed.0.points.get();
        check(&undisturbed, &context, "undisturbed");
        assert!((10..POINTS_MAX).contains(&points), "{points} points");
        for crash in 1..=points {
            let world = world_of(locks);
            let context = live(&world, Some(crash));
            check(&world, &context, &format!("locks {locks}, crash at {crash} of {points}"));
        }
    }
}

#[test]
fn a_crash_at_any_point_of_pages_that_wait_for_others_goes_on_with_the_page_that_is_next() {
    for locks in [true, false] {
        let (undisturbed, context, before) = live_with_pages_that_wait(locks, None);
        let points = undisturbed.0.points.get() - before;
        check(&undisturbed, &context, "undisturbed");
        assert!((10..POINTS_MAX).contains(&points), "{points} points");
        for crash in 1..=points {
            let (world, context, _) = live_with_pages_that_wait(locks, Some(crash));
            check(&world, &context, &format!("locks {locks}, crash at {crash} of {points}"));
        }
    }
}
