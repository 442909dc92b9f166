//! A context may end at every point of an operation's whole life: nothing that was acknowledged is
//! lost, and nothing is executed twice. The same worlds run natively and in a browser's WebAssembly.
#![allow(clippy::expect_used, clippy::panic, reason = "helpers of tests")]

mod world;

use holdfast::model::ending::Ending;
use holdfast::model::life::Stage;
use holdfast::rules::status::{Status, status};
use holdfast_services::Fault;
use holdfast_services::Loopback;
use holdfast_services::RunHarvester;
use world::{Context, Settings, World, submission};

#[cfg(target_arch = "wasm32")]
wasm_bindgen_test::wasm_bindgen_test_configure!(run_in_browser);

/// One life of an operation: what the job does, and what goes wrong besides the crash.
struct Story {
    name: &'static str,
    options: &'static str,
    faults: &'static str,
    ends_as: &'static str,
    executions: u64,
}

const STORIES: &[Story] = &[
    Story {
        name: "a plain success",
        options: r#","duration_ms":3000"#,
        faults: "[]",
        ends_as: "succeeded",
        executions: 1,
    },
    Story {
        name: "a lost answer to the submission",
        options: r#","duration_ms":3000"#,
        faults: r#"[{"call":"submit","fault":"lose_after","times":1}]"#,
        ends_as: "succeeded",
        executions: 1,
    },
    Story {
        name: "a submission that never arrives, a 503 after the commit, and a rate limit",
        options: r#","duration_ms":3000"#,
        faults: r#"[
            {"call":"submit","fault":"lose_before","times":1},
            {"call":"submit","fault":"status","status":503,"after_commit":true,"times":1},
            {"call":"submit","fault":"status","status":429,"retry_after":"2","times":1}
        ]"#,
        ends_as: "succeeded",
        executions: 1,
    },
    Story {
        name: "a result that is cut short and not ready",
        options: r#","duration_ms":2000,"not_ready_ms":1500,"result_bytes":600000"#,
        faults: r#"[{"call":"result","fault":"truncate","times":1,"skip":1}]"#,
        ends_as: "succeeded",
        executions: 1,
    },
    Story {
        name: "a job that fails",
        options: r#","duration_ms":2000,"outcome":"failed","failure_class":"transient""#,
        faults: "[]",
        ends_as: "failed",
        executions: 1,
    },
    Story {
        name: "an input that is refused",
        options: r#","url":7"#,
        faults: "[]",
        ends_as: "rejected",
        executions: 0,
    },
];

/// More points than any story has.
const POINTS_MAX: u64 = 2_000;

fn world_of(story: &Story, settings: Settings) -> World {
    let mut service = Loopback::new(RunHarvester::default());
    let faults: Vec<Fault> = serde_json::from_str(story.faults).expect("good faults");
    service.faults.add(faults);
    World::with(settings, service)
}

/// Submits and follows to the end, in context after context, as an app does that asks again for
/// the same intent after every restart. Gives how many points there were.
fn live(world: &World, story: &Story, crashes: &[u64]) -> u64 {
    let mut crashes = crashes.iter().copied();
    world.0.settings.borrow_mut().crash_at = crashes.next();
    let mut acknowledged: Option<String> = None;
    for _ in 0..10 {
        let context = world.open();
        if follow(world, &context, story, &mut acknowledged).is_some() {
            return world.0.points.get();
        }
        let after = world.0.points.get();
        world.0.settings.borrow_mut().crash_at = crashes.next().map(|gap| after + gap);
    }
    panic!("{}: it does not end", story.name);
}

fn follow(
    world: &World,
    context: &Context,
    story: &Story,
    acknowledged: &mut Option<String>,
) -> Option<()> {
    let driver = context.driver.clone();
    let request = submission("daily", story.options);
    let submitted = world.call(context, async move { driver.submit(request).await })?;
    let id = submitted.expect("the same request is never a conflict").identity.id;
    let known = acknowledged.get_or_insert_with(|| id.as_str().to_owned());
    assert_eq!(known, id.as_str(), "{}: an acknowledged operation is lost", story.name);
    world.settle(context, "daily").map(|_| ())
}

fn check(world: &World, story: &Story, how: &str) {
    let operation = world.stored("daily").expect("it is stored");
    let service = world.0.service.borrow();
    let ledger = service.ledger();
    assert_eq!(ledger.executions, story.executions, "{} ({how}): executions", story.name);
    assert_eq!(ledger.charges, story.executions, "{} ({how}): charges", story.name);
    assert_eq!(ledger.key_mismatches, 0, "{} ({how}): key or body changed", story.name);
    assert_eq!(ledger.too_fast, 0, "{} ({how}): requests too close", story.name);
    // After a lost answer a refusal proves nothing: then, and only then, a person is asked.
    if story.ends_as == "rejected" && operation.life.evidence.unresolved.is_some() {
        assert_eq!(status(&operation), Status::Parked, "{} ({how})", story.name);
        return;
    }
    let Stage::Ended { ending, .. } = &operation.life.stage else {
        panic!("{} ({how}): not ended but {:?}", story.name, operation.life);
    };
    assert_eq!(ending.name(), story.ends_as, "{} ({how})", story.name);
    assert!(!world.0.delivered.borrow().is_empty(), "{} ({how}): not delivered", story.name);
    if let Ending::Succeeded { result, .. } = ending {
        assert!(result.bytes > 0, "{} ({how}): an empty result", story.name);
    }
}

async fn every_single_crash(settings: Settings) {
    let Settings { locks, postponed, .. } = settings;
    for story in STORIES {
        let undisturbed = world_of(story, settings.clone());
        let points = live(&undisturbed, story, &[]);
        check(&undisturbed, story, "undisturbed");
        assert!((10..POINTS_MAX).contains(&points), "{}: {points} points", story.name);
        for crash in 1..=points {
            if crash.is_multiple_of(16) {
                breathe().await;
            }
            let world = world_of(story, settings.clone());
            live(&world, story, &[crash]);
            let how = format!("locks {locks}, postponed {postponed}");
            check(&world, story, &format!("{how}, crash at point {crash} of {points}"));
        }
    }
}

/// A page that gives no sign of life for half a minute is taken for dead by who drives its browser.
#[cfg(target_arch = "wasm32")]
async fn breathe() {
    use js_sys::{Function, Promise, Reflect, global};
    let mut later = |resolve: Function, _| {
        let timer = Reflect::get(&global(), &"setTimeout".into()).expect("a browser");
        Function::from(timer).call1(&global(), &resolve).expect("a timer");
    };
    wasm_bindgen_futures::JsFuture::from(Promise::new(&mut later)).await.expect("time passes");
}

#[cfg(not(target_arch = "wasm32"))]
fn breathe() -> core::future::Ready<()> {
    core::future::ready(())
}

macro_rules! crashes {
    ($($name:ident: $settings:expr;)*) => {$(
        #[cfg(not(target_arch = "wasm32"))]
        #[test]
        fn $name() {
            pollster::block_on(every_single_crash($settings));
        }

        #[cfg(target_arch = "wasm32")]
        #[wasm_bindgen_test::wasm_bindgen_test]
        async fn $name() {
            every_single_crash($settings).await;
        }
    )*};
}

crashes! {
    a_crash_at_any_point_loses_nothing_and_repeats_nothing: Settings::default();
    a_crash_at_any_point_is_survived_without_web_locks:
        Settings { locks: false, ..Settings::default() };
    a_crash_at_any_point_is_survived_where_the_first_write_is_made_before_its_turn_to_be_sent:
        Settings { postponed: 2, ..Settings::default() };
}

#[cfg(not(target_arch = "wasm32"))]
#[test]
fn any_two_crashes_lose_nothing_and_repeat_nothing() {
    let story = &STORIES[1];
    let points = live(&world_of(story, Settings::default()), story, &[]);
    for first in 1..=points {
        for gap in 1..=points {
            let world = world_of(story, Settings::default());
            live(&world, story, &[first, gap]);
            check(&world, story, &format!("crashes at point {first} and {gap} after"));
        }
    }
}

/// Worlds of a service without idempotency, whose listing tells what became of a lost submission.
#[cfg(not(target_arch = "wasm32"))]
mod without_keys {
    use super::*;
    use holdfast::model::policy::{Limits, OnUnknown};
    use holdfast_services::Bulkgrid;

    const PROFILE: &str = include_str!("../pkg-template/profiles/bulkgrid.json");

    /// Follows to an end or a park, in life after life; gives the points reached.
    fn live(faults: &str, crashes: &[u64], on_unknown: OnUnknown) -> (World, u64) {
        let world = World::of(Settings::default(), Loopback::new(Bulkgrid::default()), PROFILE);
        world.add_faults(faults);
        let mut crashes = crashes.iter().copied();
        world.0.settings.borrow_mut().crash_at = crashes.next();
        for _ in 0..10 {
            let limits = Limits { on_unknown, ..Limits::default() };
            let context = world.open_with(limits, PROFILE);
            let driver = context.driver.clone();
            let request = submission("daily", "");
            let submitted = world.call(&context, async move { driver.submit(request).await });
            if submitted.is_some() && world.settle(&context, "daily").is_some() {
                let points = world.0.points.get();
                return (world, points);
            }
            let after = world.0.points.get();
            world.0.settings.borrow_mut().crash_at = crashes.next().map(|gap| after + gap);
        }
        panic!("it does not end");
    }

    /// At most one execution; and a result, or a park of work that can be neither found nor resent.
    fn check(world: &World, how: &str) {
        let operation = world.stored("daily").expect("it is stored");
        let executions = world.executions();
        assert!(executions <= 1, "{how}: {executions} executions");
        let rests = if executions == 1 { Status::Succeeded } else { Status::Parked };
        assert_eq!(status(&operation), rests, "{how}: {:?}", operation.life);
    }

    #[test]
    fn a_crash_anywhere_never_executes_twice_without_keys() {
        let lost = r#"[{"call":"submit","fault":"lose_after","times":1}]"#;
        let unsent = r#"[{"call":"submit","fault":"lose_before","times":1}]"#;
        for faults in ["[]", lost, unsent] {
            for on_unknown in [OnUnknown::Park, OnUnknown::Resubmit] {
                let (world, points) = live(faults, &[], on_unknown);
                check(&world, "undisturbed");
                for crash in 1..=points {
                    let (world, _) = live(faults, &[crash], on_unknown);
                    check(&world, &format!("{faults} {on_unknown:?}, crash at {crash}"));
                }
            }
        }
    }

    #[test]
    fn any_two_crashes_never_execute_twice_without_keys() {
        let lost = r#"[{"call":"submit","fault":"lose_after","times":1}]"#;
        let (_, points) = live(lost, &[], OnUnknown::Resubmit);
        for first in 1..=points {
            for gap in 1..=points {
                let (world, _) = live(lost, &[first, gap], OnUnknown::Resubmit);
                check(&world, &format!("crashes at {first} and {gap} after"));
            }
        }
    }
}
