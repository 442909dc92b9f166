//! Following a job: polls, guidance and limits of rate.

use crate::world::{Context, PROFILE, Settings, World, park, standing};
use holdfast::model::dice::Dice;
use holdfast::model::hold::{Hold, ParkReason, WaitReason};
use holdfast::model::operation::Operation;
use holdfast::model::policy::Limits;
use holdfast::model::profile::Purpose;
use holdfast::model::time::Timestamp;
use holdfast::rules::classify::{Finding, Said, Verdict};
use holdfast::rules::step::{Input, step};
use holdfast_services::{Call, Config, Loopback, RunHarvester};

pub(super) fn succeeds(faults: &str) -> World {
    let world = World::with_faults(faults);
    let (_, ended) = world.lived("");
    assert_eq!(standing(&ended), "succeeded");
    assert_eq!(world.executions(), 1);
    world
}

/// Submits and comes to where the job is in this state.
pub(super) fn until_state(world: &World, context: &Context, state: &str) -> Operation {
    world.submit(context, "daily", r#","duration_ms":60000,"captcha":true"#);
    world.until("daily", |own| own.reported.state.as_deref() == Some(state))
}

#[test]
fn all_three_active_states_are_polled_on_and_shown() {
    let world = World::new();
    let context = world.open();
    for state in ["pending", "running", "solving_captcha"] {
        let operation = until_state(&world, &context, state);
        assert_eq!(standing(&operation), "active");
    }
    let ended = world.settle(&context, "daily").expect("it ends");
    assert_eq!(standing(&ended), "succeeded");
}

#[test]
fn an_unknown_word_means_still_running_and_is_shown_raw() {
    let world = World::answering("poll", 200, r#"{"status":"Warming_Up"}"#, 1);
    let context = world.open();
    world.submit(&context, "daily", "");
    let operation = world.until("daily", |own| own.reported.state.as_deref() == Some("Warming_Up"));
    assert_eq!(standing(&operation), "active");
    let ended = world.settle(&context, "daily").expect("it ends");
    assert_eq!(standing(&ended), "succeeded");
}

#[test]
fn words_are_known_whatever_their_case() {
    let world =
        World::answering("poll", 200, r#"{"status":"CANCELLED","token_state":"released"}"#, 1);
    let (_, ended) = world.lived("");
    assert_eq!(standing(&ended), "cancelled");
}

#[test]
fn a_404_just_after_creation_is_no_news() {
    let world = World::new();
    let (_, ended) = world.lived(r#","not_found_ms":4000"#);
    assert_eq!(standing(&ended), "succeeded");
}

#[test]
fn a_404_later_parks_with_the_job_s_id_and_a_resume_goes_on() {
    let world = World::with_faults(r#"[{"call":"poll","fault":"not_found","skip":6,"times":3}]"#);
    let (context, parked) = world.lived(r#","duration_ms":600000"#);
    assert_eq!(park(&parked), Some(ParkReason::JobNotFound));
    assert!(parked.life.job().is_some());
    world.resume(&context, &parked).expect("it may go on");
    let ended = world.settle(&context, "daily").expect("it ends");
    assert_eq!(standing(&ended), "succeeded");
}

#[test]
fn a_poll_that_cannot_be_read_is_no_news() {
    succeeds(r#"[{"call":"poll","fault":"html"}]"#);
    succeeds(r#"[{"call":"poll","fault":"html","status":200}]"#);
    succeeds(r#"[{"call":"poll","fault":"truncate"}]"#);
    succeeds(r#"[{"call":"poll","fault":"status","status":200,"body":""}]"#);
    succeeds(r#"[{"call":"poll","fault":"status","status":200,"body":"[]"}]"#);
    succeeds(r#"[{"call":"poll","fault":"lose_before"},{"call":"poll","fault":"lose_after"}]"#);
}

#[test]
fn a_poll_that_fails_in_passing_is_no_news() {
    for status in [408, 425, 409, 500, 502, 503, 504] {
        succeeds(&format!(r#"[{{"call":"poll","fault":"status","status":{status}}}]"#));
    }
}

#[test]
fn a_poll_whose_credential_is_refused_parks_and_does_not_fail_the_job() {
    let world = World::with_faults(r#"[{"call":"poll","fault":"status","status":403,"times":2}]"#);
    let (context, parked) = world.lived("");
    assert_eq!(park(&parked), Some(ParkReason::NeedsCredential));
    assert!(parked.life.job().is_some());
    world.resume(&context, &parked).expect("it may go on");
    let ended = world.settle(&context, "daily").expect("it ends");
    assert_eq!(standing(&ended), "succeeded");
}

#[test]
fn a_service_that_asks_for_a_second_again_and_again_is_asked_less_and_less_often() {
    for fault in ["rate_limited", "status"] {
        let world = World::with_faults(&format!(
            r#"[{{"call":"submit","fault":"{fault}","retry_after":1,"times":12}}]"#
        ));
        let (_, ended) = world.lived("");
        assert_eq!(standing(&ended), "succeeded");
        let sent = world.requests(Call::Submit);
        let took = sent[12].time_ms - sent[0].time_ms;
        assert!(took > 60_000, "{took} ms, which is about a second each time");
    }
}

#[test]
fn a_429_does_not_bring_the_next_poll_forward() {
    let world = World::with_faults(r#"[{"call":"poll","fault":"rate_limited","skip":15}]"#);
    world.lived(r#","duration_ms":600000"#);
    let polls = world.requests(Call::Poll);
    let wait = polls[16].time_ms - polls[15].time_ms;
    assert!(wait >= 15_000, "{wait} ms, where polls were half a minute apart");
}

#[test]
fn polls_begin_slowly_after_trouble() {
    let first_wait = |world: &World| {
        world.lived(r#","duration_ms":60000"#);
        let accepted = world.requests(Call::Submit).last().expect("a submission").time_ms;
        world.requests(Call::Poll)[0].time_ms - accepted
    };
    let calm = first_wait(&World::new());
    let world = World::with_faults(r#"[{"call":"submit","fault":"lose_before","times":9}]"#);
    let troubled = first_wait(&world);
    assert!(calm < 2_100 && troubled > 10_000, "{calm} ms, {troubled} ms");
}

#[test]
fn a_429_closes_the_lane_for_other_operations_too() {
    let world = World::with_faults(r#"[{"call":"poll","fault":"rate_limited","retry_after":60}]"#);
    let context = world.open();
    world.submit(&context, "one", "");
    world.until("one", |own| {
        matches!(own.life.hold, Hold::Until { reason: WaitReason::RateLimit, .. })
    });
    let limited_at = world.0.clock.now();
    let before = world.requests(Call::Any).len();
    world.submit(&context, "two", "");
    world.settle(&context, "two").expect("it ends");
    let next = world.requests(Call::Any)[before].time_ms;
    assert!(next >= limited_at + 59_900, "{} ms after the 429", next - limited_at);
}

#[test]
fn the_lane_stays_closed_for_the_next_context() {
    let world = World::with_faults(r#"[{"call":"poll","fault":"rate_limited","retry_after":60}]"#);
    let first = world.open();
    world.submit(&first, "one", "");
    world.until("one", |own| {
        matches!(own.life.hold, Hold::Until { reason: WaitReason::RateLimit, .. })
    });
    let limited_at = world.0.clock.now();
    let before = world.requests(Call::Any).len();
    world.kill(&first);
    let second = world.open();
    world.submit(&second, "two", "");
    world.settle(&second, "two").expect("it ends");
    let next = world.requests(Call::Any)[before].time_ms;
    assert!(next >= limited_at + 59_900, "{} ms after the 429", next - limited_at);
}

#[test]
fn guidance_on_a_good_answer_is_kept_to() {
    let world = World::with_faults(
        r#"[{"call":"poll","fault":"status","status":200,"retry_after":45,
            "body":"{\"status\":\"running\"}"}]"#,
    );
    let (_, ended) = world.lived("");
    assert_eq!(standing(&ended), "succeeded");
    let polls = world.requests(Call::Poll);
    let waited = polls[1].time_ms - polls[0].time_ms;
    assert!((45_000..=50_000).contains(&waited), "{waited} ms");
}

#[test]
fn guidance_with_the_acceptance_is_kept_to_and_no_wait_at_all_is_none() {
    let world = World::new();
    let context = world.open();
    world.submit(&context, "daily", "");
    let sent = world.until("daily", |own| own.life.evidence.current.is_some());
    let profile = holdfast::rules::profile::read(PROFILE).expect("a good profile");
    for (asked_ms, least_ms, why) in
        [(0, 500, WaitReason::Poll), (9_000, 9_000, WaitReason::ServerGuidance)]
    {
        let said = Said { server_wait_ms: Some(asked_ms), ..Said::default() };
        let verdict = Box::new(Verdict {
            finding: Finding::Accepted("req_7".into()),
            said,
            last_piece: None,
        });
        let now = Timestamp(world.0.clock.now());
        let answered = Input::Answered(Purpose::Submit, verdict);
        let after = step(&sent, &profile, now, &mut Dice::seeded(1), answered).expect("it is news");
        let Hold::Until { wait, reason } = after.operation.life.hold() else {
            panic!("it does not wait")
        };
        assert!(wait.length_ms >= least_ms, "{}", wait.length_ms);
        assert_eq!(*reason, why);
    }
}

#[test]
fn a_service_that_asks_for_no_wait_is_not_polled_any_faster() {
    for retry_after in ["0", "\"0.0\"", r#"{"date_in_ms":-600000}"#] {
        for status in [200, 429, 503] {
            let world = World::with_faults(&format!(
                r#"[{{"call":"poll","fault":"status","status":{status},"times":100000,
                    "retry_after":{retry_after},"body":"{{\"status\":\"running\"}}"}}]"#
            ));
            let context = world.open();
            world.submit(&context, "daily", "");
            world.pass(3_600_000);
            let polls = world.requests(Call::Poll).len();
            assert!((60..500).contains(&polls), "{polls} polls in an hour of {status}");
        }
    }
}

#[test]
fn a_wait_longer_than_any_timer_is_kept_to() {
    const DAYS: u64 = 60;
    let world = World::with_faults(
        r#"[{"call":"poll","fault":"status","status":503,"retry_after":2200000}]"#,
    );
    let limits = Limits { total_ms: DAYS * crate::world::DAY_MS, ..Limits::default() };
    let context = world.open_with(limits, PROFILE);
    world.submit(&context, "daily", "");
    world.pass(DAYS * crate::world::DAY_MS);
    let polls = world.requests(Call::Poll);
    let waited = polls[1].time_ms - polls[0].time_ms;
    assert!((2_200_000_000..=2_430_000_000).contains(&waited), "{waited} ms");
    let operation = world.stored("daily").expect("it is stored");
    assert_ne!(park(&operation), Some(ParkReason::DeadlineExceeded));
}

#[test]
fn polls_stop_at_the_application_s_deadline() {
    let world = World::answering("poll", 200, r#"{"status":"running"}"#, 1_000_000);
    let (_, parked) = world.lived("");
    assert_eq!(park(&parked), Some(ParkReason::DeadlineExceeded));
    let polls = world.requests(Call::Poll).len();
    world.pass(crate::world::DAY_MS);
    assert_eq!(world.requests(Call::Poll).len(), polls);
}

#[test]
fn jobs_beyond_the_working_set_are_polled_too() {
    let rich = Config { balance: 1_000, ..Config::default() };
    let world = World::with(Settings::default(), Loopback::new(RunHarvester::new(rich)));
    let context = world.open();
    let intents: Vec<String> = (0..150).map(|index| format!("long {index}")).collect();
    for intent in &intents {
        world.submit(&context, intent, r#","duration_ms":3600000"#);
    }
    world.kill(&context);
    let _reopened = world.open();
    let polls = |intent: &String| world.stored(intent).map_or(0, |own| own.counters.polls);
    let before: u32 = intents.iter().map(polls).sum();
    world.pass(120_000);
    let after = intents.iter().map(polls);
    assert!(after.clone().sum::<u32>() > before);
    assert_eq!(after.filter(|polls| *polls < 2).count(), 0, "some wait for others to end");
}
