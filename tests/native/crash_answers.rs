//! A context may end at every point of a life whose result comes with the answer to its submission,
//! in one body or as a stream: nothing is lost, and nothing is executed or charged twice.

use crate::world::{Settings, World, standing, submission};
use holdfast::driver::Submission;
use holdfast::model::policy::Limits;
use holdfast_services::{AnyService, CleanedWeb, Fault, Loopback, Replay, Service};

const REPLAY: &str = include_str!("../../pkg-template/profiles/replay.json");
const CLEANEDWEB: &str = include_str!("../../pkg-template/profiles/cleanedweb.json");

/// More points than any story has.
const POINTS_MAX: u64 = 2_000;

/// One life: the service, what is asked of it, and what goes wrong besides the crash.
struct Story {
    name: &'static str,
    streams: bool,
    faults: &'static str,
}

const STORIES: &[Story] = &[
    Story { name: "an answer that is the result", streams: false, faults: "[]" },
    Story {
        name: "an answer that is cut short",
        streams: false,
        faults: r#"[{"call":"submit","fault":"truncate"}]"#,
    },
    Story { name: "a stream", streams: true, faults: "[]" },
    Story {
        name: "a stream that breaks",
        streams: true,
        faults: r#"[{"call":"submit","fault":"truncate"}]"#,
    },
];

fn world_of(story: &Story, locks: bool) -> World {
    let service: AnyService =
        if story.streams { Box::new(CleanedWeb::default()) } else { Box::new(Replay::default()) };
    let mut service = Loopback::new(service);
    service.faults.add(serde_json::from_str::<Vec<Fault>>(story.faults).expect("good faults"));
    let of_source = [("sourceId".to_owned(), "src_1".to_owned())];
    let params = if story.streams { of_source.to_vec() } else { Vec::new() };
    let profile = if story.streams { CLEANEDWEB } else { REPLAY };
    World::of(Settings { locks, params, ..Settings::default() }, service, profile)
}

fn request(story: &Story) -> Submission {
    if story.streams {
        let body = r#"{"input":{"duration_ms":3000,"result_bytes":300000}}"#;
        let params = vec![("surface".to_owned(), "stream".to_owned())];
        return Submission { params, body: body.into(), ..submission("daily", "") };
    }
    submission("daily", r#","duration_ms":3000,"result_bytes":300000"#)
}

/// A whole life, whatever ends in it; gives how many points there were.
fn live(world: &World, story: &Story, crash_at: Option<u64>) -> u64 {
    let lived = world.live_through(Limits::default(), &request(story), crash_at);
    assert!(lived.is_some(), "{}: it does not end", story.name);
    world.0.points.get()
}

fn check(world: &World, story: &Story, how: &str) {
    let operation = world.stored("daily").expect("it is stored");
    assert_eq!(standing(&operation), "succeeded", "{} ({how}): {:?}", story.name, operation.life);
    let mut service = world.0.service.borrow_mut();
    service.service.advance(world.0.clock.now());
    let ledger = service.ledger();
    assert_eq!((ledger.executions, ledger.charges), (1, 1), "{} ({how})", story.name);
    assert_eq!(ledger.key_mismatches, 0, "{} ({how}): key or body changed", story.name);
    assert_eq!(ledger.too_fast, 0, "{} ({how}): requests too close", story.name);
    assert!(!world.0.delivered.borrow().is_empty(), "{} ({how}): not delivered", story.name);
}

#[test]
fn a_crash_at_any_point_of_an_answer_or_a_stream_loses_nothing_and_repeats_nothing() {
    for locks in [true, false] {
        for story in STORIES {
            let undisturbed = world_of(story, locks);
            let points = live(&undisturbed, story, None);
            check(&undisturbed, story, "undisturbed");
            assert!((10..POINTS_MAX).contains(&points), "{}: {points} points", story.name);
            for crash in 1..=points {
                let world = world_of(story, locks);
                live(&world, story, Some(crash));
                check(&world, story, &format!("locks {locks}, crash at {crash} of {points}"));
            }
        }
    }
}
