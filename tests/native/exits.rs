//! Every park that a service can lead to has exits: what is offered is accepted, nothing else is.

use std::collections::BTreeSet;

use crate::world::{DAY_MS, PROFILE, Settings, World, park, patch};
use holdfast::model::dice::Dice;
use holdfast::model::hold::ParkReason;
use holdfast::model::operation::Operation;
use holdfast::model::policy::Limits;
use holdfast::model::profile::Profile;
use holdfast::model::time::Timestamp;
use holdfast::rules::exits::exits;
use holdfast::rules::profile;
use holdfast::rules::step::{Command, Input, Resolution, step};
use holdfast_services::{Bulkgrid, Loopback};

const BULKGRID: &str = include_str!("../../pkg-template/profiles/bulkgrid.json");

fn inputs() -> Vec<(&'static str, Input)> {
    let resume =
        |limits, accept_duplicate| Input::Command(Command::Resume { limits, accept_duplicate });
    let more = patch(|own| {
        own.attempts = Some(99);
        own.total_ms = Some(9 * DAY_MS);
    });
    let resolve = |how| Input::Command(Command::Resolve(how));
    vec![
        ("resume()", resume(None, false)),
        ("resume({limits})", resume(Some(more), false)),
        ("resume({acceptRisk: \"duplicate\"})", resume(None, true)),
        ("resolve({found})", resolve(Resolution::Found("req_7".into()))),
        ("resolve(\"not-executed\")", resolve(Resolution::NotExecuted)),
        ("resolve(\"abandon\")", resolve(Resolution::Abandon)),
        ("revise({body})", Input::Revised),
    ]
}

/// Faults that lead to a park, the bounds that they do so under, and the park.
const WAYS: &[(&str, u32, ParkReason)] = &[
    (
        r#"[{"call":"submit","fault":"status","status":401,"times":9}]"#,
        16,
        ParkReason::NeedsCredential,
    ),
    (
        r#"[{"call":"poll","fault":"status","status":403,"times":9}]"#,
        16,
        ParkReason::NeedsCredential,
    ),
    (
        r#"[{"call":"result","fault":"status","status":403,"times":9}]"#,
        16,
        ParkReason::NeedsCredential,
    ),
    (r#"[{"call":"submit","fault":"status","status":402}]"#, 16, ParkReason::NeedsCredit),
    (
        r#"[{"call":"submit","fault":"lose_after"},{"call":"submit","fault":"status","status":402}]"#,
        16,
        ParkReason::NeedsCredit,
    ),
    (
        r#"[{"call":"result","fault":"status","status":403,
            "body":"{\"error\":{\"code\":\"SOURCE_ACCESS_REQUIRED\"}}"}]"#,
        16,
        ParkReason::NeedsAccess,
    ),
    (
        r#"[{"call":"submit","fault":"status","status":503,"retry_after":90000}]"#,
        16,
        ParkReason::DeadlineExceeded,
    ),
    (
        r#"[{"call":"poll","fault":"status","status":503,"retry_after":90000}]"#,
        16,
        ParkReason::DeadlineExceeded,
    ),
    (r#"[{"call":"submit","fault":"lose_before","times":9}]"#, 2, ParkReason::BudgetExhausted),
    (r#"[{"call":"submit","fault":"status","status":302}]"#, 16, ParkReason::OutcomeUnknown),
    (
        r#"[{"call":"submit","fault":"status","status":409,
            "body":"{\"error\":{\"code\":\"IDEMPOTENCY_KEY_REUSED\"}}"}]"#,
        16,
        ParkReason::KeyConflict,
    ),
    (
        r#"[{"call":"poll","fault":"status","status":503,"retry_after":60},
            {"call":"poll","fault":"not_found","times":3}]"#,
        16,
        ParkReason::JobNotFound,
    ),
];

fn scope_changed() -> Operation {
    let world = World::with_faults(r#"[{"call":"submit","fault":"lose_after"}]"#);
    let context = world.open();
    world.submit(&context, "daily", "");
    world.until("daily", |own| own.life.evidence.unresolved.is_some());
    world.0.settings.borrow_mut().scope = Some("org_2/key_9".into());
    world.settle(&context, "daily").expect("it parks")
}

fn cancel_unconfirmed() -> Operation {
    let world = World::with_faults(r#"[{"call":"submit","fault":"lose_after"}]"#);
    let context = world.open();
    world.submit(&context, "daily", "");
    let unknown = world.until("daily", |own| own.life.evidence.unresolved.is_some());
    world.cancel(&context, &unknown).expect("a wish");
    world.settle(&context, "daily").expect("it parks")
}

fn version_moved() -> Operation {
    let faults = r#"[{"call":"submit","fault":"status","status":409,
        "body":"{\"error\":{\"code\":\"DEFINITION_MOVED\"}}"}]"#;
    let rule = r#""meanings": [{ "code": "DEFINITION_MOVED", "means": "versionMoved" },"#;
    let profile = PROFILE.replacen(r#""meanings": ["#, rule, 1);
    let world = World::with_faults(faults);
    let context = world.open_with(Limits::default(), &profile);
    world.live(&context, "daily", "")
}

fn ambiguous() -> Operation {
    let run = |id| [r#"{\"id\":\""#, id, r#"\",\"url\":\"https://example.com\"}"#].concat();
    let page = [r#"{\"runs\":["#, &run("a"), ",", &run("b"), "]}"].concat();
    let faults = [
        r#"[{"call":"submit","fault":"lose_after"},{"call":"list","fault":"status","status":200,"times":9,"body":""#,
        &page,
        r#""}]"#,
    ]
    .concat();
    let echo = r#""echo": "/metadata/holdfast_id",
    "sendEcho": "/metadata/holdfast_id","#;
    let profile = BULKGRID.replacen(echo, r#""same": { "/url": "/url" },"#, 1);
    let service = Loopback::new(Bulkgrid::default());
    let world = World::of(Settings::default(), service, &profile);
    world.add_faults(&faults);
    let operation = world.live(&world.open(), "daily", "");
    assert_eq!(park(&operation), Some(ParkReason::Ambiguous));
    operation
}

/// The profile without some of its calls, and without what needs them.
fn without(calls: &[&str]) -> String {
    let mut profile: serde_json::Value = serde_json::from_str(PROFILE).expect("JSON");
    for call in calls {
        profile["calls"].as_object_mut().expect("calls").remove(*call);
        profile.as_object_mut().expect("a profile").remove("settlement");
    }
    profile.to_string()
}

/// Everything that parks, with the profile that it goes by.
fn parked() -> Vec<(Operation, Profile)> {
    let read = |text: &str| profile::read(text).expect("a good profile");
    let mut all = Vec::new();
    for operation in [scope_changed(), cancel_unconfirmed(), version_moved()] {
        all.push((operation, read(PROFILE)));
    }
    all.push((ambiguous(), read(BULKGRID)));
    for missing in [&[][..], &["poll"], &["poll", "result"]] {
        let profile = without(missing);
        for (faults, attempts, reason) in WAYS {
            if missing.iter().any(|call| faults.contains(&["\"call\":\"", call].concat())) {
                continue;
            }
            let world = World::with_faults(faults);
            let limits = Limits { attempts: *attempts, ..Limits::default() };
            let operation = world.live(&world.open_with(limits, &profile), "daily", "");
            assert_eq!(park(&operation), Some(*reason), "{faults} without {missing:?}");
            all.push((operation, read(&profile)));
        }
    }
    all
}

#[test]
fn every_reason_is_reached_for_real() {
    let reached: BTreeSet<_> =
        parked().iter().filter_map(|(own, _)| park(own)).map(|own| own.name()).collect();
    let all: BTreeSet<_> = ParkReason::ALL.iter().map(|own| own.name()).collect();
    assert_eq!(reached, all);
}

#[test]
fn what_is_offered_is_accepted_and_nothing_else_is() {
    let now = Timestamp(1_790_000_000_000 + DAY_MS);
    for (operation, profile) in parked() {
        let offered = exits(&operation);
        assert!(!offered.is_empty(), "{:?}", park(&operation));
        for (name, input) in inputs() {
            // More bounds than asked for do no harm to an exit that needs none.
            if name == "resume({limits})" && offered.contains(&"resume()") {
                continue;
            }
            // Nor does a risk that there is none of.
            if name.contains("acceptRisk")
                && offered.contains(&"resume()")
                && !offered.contains(&name)
            {
                continue;
            }
            let carried = step(&operation, &profile, now, &mut Dice::seeded(1), input);
            assert_eq!(
                carried.is_ok(),
                offered.contains(&name),
                "{name} at {:?}: {:?}",
                park(&operation),
                carried.err()
            );
        }
    }
}

#[test]
fn every_exit_leads_out_of_the_park() {
    let now = Timestamp(1_790_000_000_000 + DAY_MS);
    for (operation, profile) in parked() {
        for (name, input) in inputs() {
            if exits(&operation).contains(&name) {
                let carried = step(&operation, &profile, now, &mut Dice::seeded(1), input);
                let after = carried.expect("it is offered").operation;
                assert_eq!(park(&after), None, "{name} at {:?}", park(&operation));
            }
        }
    }
}

#[test]
fn no_id_is_asked_for_where_it_leads_nowhere() {
    let mut profile: serde_json::Value =
        serde_json::from_str(&without(&["poll", "result", "retry", "cancel"])).expect("JSON");
    profile.as_object_mut().expect("a profile").remove("key");
    let world = World::with_faults(r#"[{"call":"submit","fault":"lose_after"}]"#);
    let context = world.open_with(Limits::default(), &profile.to_string());
    let parked = world.live(&context, "daily", "");
    assert_eq!(park(&parked), Some(ParkReason::OutcomeUnknown));
    assert!(!exits(&parked).contains(&"resolve({found})"), "nothing is read by it, or replayed");
    world.resolve(&context, &parked, Resolution::Found("req_1".into())).expect_err("no exit");
}

#[test]
fn no_id_is_asked_for_once_its_replay_could_be_a_second_execution() {
    let profile = without(&["poll", "result"]);
    let world = World::with_faults(
        r#"[{"call":"submit","fault":"lose_after"},
            {"call":"submit","fault":"status","status":503,"retry_after":85000}]"#,
    );
    let limits = Limits { total_ms: 10 * DAY_MS, ..Limits::default() };
    let context = world.open_with(limits, &profile);
    world.submit(&context, "daily", "");
    world.pass(2 * DAY_MS);
    let parked = world.stored("daily").expect("it is stored");
    assert_eq!(park(&parked), Some(ParkReason::OutcomeUnknown));
    assert!(!exits(&parked).contains(&"resolve({found})"), "the key is not kept any more");
    world.resolve(&context, &parked, Resolution::Found("req_1".into())).expect_err("no exit");
    let again = world.resolve(&context, &parked, Resolution::NotExecuted).expect("a person knows");
    assert!(!again.keyless, "its key is as good as new");
}
