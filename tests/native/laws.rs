//! The laws of the design, each with a test that a breach of it fails; the sixth is in `ownership.rs`,
//! and the tenth in `accounts.rs`.

use super::ownership::crowded;
use crate::world::{
    DAY_MS, Logged, PROFILE, Settings, World, ending, park, patch, result, standing, submission,
};
use holdfast::model::ending::Ending;
use holdfast::model::hold::{Hold, ParkReason, WaitReason};
use holdfast::model::life::Stage;
use holdfast::model::money::Amount;
use holdfast::model::operation::Operation;
use holdfast::model::policy::{Limits, LimitsPatch};
use holdfast::model::storage::Durability;
use holdfast::rules::step::{Command, Resolution};
use holdfast_services::Call;

/// A submission that is lost after the service took it on.
const LOST_ANSWER: &str = r#"[{"call":"submit","fault":"lose_after"}]"#;

fn lost_then(status: u16, code: &str, times: u32) -> World {
    let body = format!(r#"{{\"error\":{{\"code\":\"{code}\"}}}}"#);
    World::with_faults(&format!(
        r#"[{{"call":"submit","fault":"lose_after"}},
            {{"call":"submit","fault":"status","status":{status},"times":{times},"body":"{body}"}}]"#
    ))
}

fn limits(change: impl FnOnce(&mut Limits)) -> Limits {
    let mut limits = Limits::default();
    change(&mut limits);
    limits
}

fn with_limits(change: impl FnOnce(&mut LimitsPatch)) -> Command {
    Command::Resume { limits: Some(patch(change)), accept_duplicate: false }
}

// 1. Write-ahead.

#[test]
fn no_request_that_changes_state_leaves_before_a_strict_commit_describes_it() {
    let world = World::with_faults(
        r#"[{"call":"submit","fault":"lose_before","times":2},
            {"call":"cancel","fault":"lose_before","times":1}]"#,
    );
    let context = world.open();
    let operation = world.submit(&context, "daily", r#","duration_ms":60000"#);
    world.until("daily", |own| own.life.stage == Stage::Work);
    world.cancel(&context, &operation).expect("a wish");
    let ended = world.settle(&context, "daily").expect("it ends");
    assert_eq!(ending(&ended), Some(&Ending::Cancelled));

    let mut posts = 0;
    let mut described: Option<Operation> = None;
    for logged in world.0.log.all() {
        match logged {
            Logged::Committed { operation, durability: Durability::Strict } => {
                described = Some(*operation);
            }
            Logged::Sent { method, path, .. } if method == "POST" => {
                posts += 1;
                let life = &described.as_ref().expect("a strict commit before").life;
                let attempt = if path.ends_with("/cancel") {
                    life.cancel.as_ref().and_then(|cancel| cancel.current.as_ref())
                } else {
                    life.evidence.current.as_ref()
                };
                assert!(attempt.is_some(), "{method} {path} is not described");
                described = None;
            }
            Logged::Committed { .. } | Logged::Sent { .. } | Logged::Told(_) => {}
        }
    }
    assert_eq!(posts, 5, "three submissions and two cancellations");
}

#[test]
fn acceptance_is_on_the_disk_before_the_first_poll() {
    let world = World::new();
    let context = world.open();
    world.live(&context, "daily", "");
    let log = world.0.log.all();
    let accepted = log.iter().position(|logged| match logged {
        Logged::Committed { operation, durability } => {
            *durability == Durability::Strict && operation.life.job().is_some()
        }
        Logged::Sent { .. } | Logged::Told(_) => false,
    });
    let polled = log.iter().position(|logged| match logged {
        Logged::Sent { method, .. } => method == "GET",
        Logged::Committed { .. } | Logged::Told(_) => false,
    });
    assert!(accepted.expect("accepted") < polled.expect("polled"));
}

#[test]
fn an_ending_is_on_the_disk_before_it_is_told() {
    let world = World::new();
    let context = world.open();
    world.live(&context, "daily", "");
    let log = world.0.log.all();
    let written = log.iter().position(|logged| match logged {
        Logged::Committed { operation, durability } => {
            *durability == Durability::Strict && operation.life.is_ended()
        }
        Logged::Sent { .. } | Logged::Told(_) => false,
    });
    let told = log.iter().position(|logged| match logged {
        Logged::Told(operation) => operation.life.is_ended(),
        Logged::Committed { .. } | Logged::Sent { .. } => false,
    });
    assert!(written.expect("written") < told.expect("told"));
    assert_eq!(world.0.delivered.borrow().len(), 1);
}

// 2. Same identity.

#[test]
fn every_attempt_carries_the_same_key_and_the_same_bytes() {
    let world = World::with_faults(
        r#"[{"call":"submit","fault":"lose_before"},
            {"call":"submit","fault":"status","status":503},
            {"call":"submit","fault":"rate_limited"},
            {"call":"submit","fault":"status","status":401},
            {"call":"submit","fault":"truncate"},
            {"call":"submit","fault":"lose_after"}]"#,
    );
    let context = world.open();
    let operation = world.live(&context, "daily", r#","b":2,"a":1.50"#);
    assert_eq!(standing(&operation), "succeeded");
    let attempts = world.requests(Call::Submit);
    assert_eq!(attempts.len(), 7);
    let key = operation.identity.key.as_str();
    assert!(attempts.iter().all(|attempt| attempt.key.as_deref() == Some(key)));
    assert!(attempts.iter().all(|attempt| attempt.body_digest == attempts[0].body_digest));
    let sent = submission("daily", r#","b":2,"a":1.50"#).body;
    assert!(world.0.log.all().iter().any(|logged| match logged {
        Logged::Sent { body, .. } => *body == sent,
        Logged::Committed { .. } | Logged::Told(_) => false,
    }));
    assert_eq!(world.executions(), 1);
}

#[test]
fn the_key_and_the_bytes_survive_a_restart() {
    let world = World::with_faults(LOST_ANSWER);
    let first = world.open();
    world.submit(&first, "daily", "");
    world.until("daily", |own| own.life.evidence.unresolved.is_some());
    world.kill(&first);
    let second = world.open();
    let ended = world.settle(&second, "daily").expect("it ends");
    assert_eq!(standing(&ended), "succeeded");
    let attempts = world.requests(Call::Submit);
    assert_eq!(attempts.len(), 2);
    assert_eq!(attempts[0].key, attempts[1].key);
    assert_eq!(attempts[0].body_digest, attempts[1].body_digest);
    assert_eq!(world.executions(), 1);
}

// 3. Unknown is not failed, and evidence is monotone.

#[test]
fn a_lost_answer_is_unknown_and_not_failed() {
    let world = World::with_faults(LOST_ANSWER);
    let context = world.open();
    world.submit(&context, "daily", "");
    let unknown = world.until("daily", |own| own.life.evidence.unresolved.is_some());
    assert_eq!(standing(&unknown), "submitting");
}

#[test]
fn a_402_after_a_lost_answer_parks_and_later_completes_with_one_execution() {
    let world = lost_then(402, "INSUFFICIENT_CREDITS", 1);
    let context = world.open();
    let parked = world.live(&context, "daily", "");
    assert_eq!(park(&parked), Some(ParkReason::NeedsCredit));
    assert!(parked.life.evidence.unresolved.is_some(), "the first attempt is still unknown");
    world.resume(&context, &parked).expect("it may go on");
    let ended = world.settle(&context, "daily").expect("it ends");
    assert_eq!(standing(&ended), "succeeded");
    assert_eq!(world.executions(), 1);
}

#[test]
fn a_422_after_a_lost_answer_does_not_reject() {
    let world = lost_then(422, "VALIDATION_FAILED", 1);
    let context = world.open();
    let ended = world.live(&context, "daily", "");
    assert_eq!(standing(&ended), "succeeded");
    assert_eq!(world.executions(), 1);
}

#[test]
fn many_422s_after_a_lost_answer_park_and_the_found_job_completes() {
    let world = lost_then(422, "VALIDATION_FAILED", 100);
    let context = world.open();
    let parked = world.live(&context, "daily", "");
    assert_eq!(park(&parked), Some(ParkReason::OutcomeUnknown));
    let job = world.0.service.borrow().ledger().jobs.keys().next().cloned().expect("a job");
    world
        .resolve(&context, &parked, Resolution::Found(job.as_str().into()))
        .expect("a person has found it");
    let ended = world.settle(&context, "daily").expect("it ends");
    assert_eq!(standing(&ended), "succeeded");
    assert_eq!(world.executions(), 1);
}

#[test]
fn rejected_needs_every_attempt_to_be_refused() {
    let world = World::with_faults(
        r#"[{"call":"submit","fault":"rate_limited"},{"call":"submit","fault":"status","status":422}]"#,
    );
    let context = world.open();
    let ended = world.live(&context, "daily", "");
    assert_eq!(standing(&ended), "rejected");
    assert_eq!(ended.life.evidence.attempts, ended.life.evidence.refused);
    assert_eq!(world.executions(), 0);
}

// 4. Terminal is terminal.

#[test]
fn nothing_is_sent_after_an_ending() {
    let world = World::new();
    let context = world.open();
    let ended = world.live(&context, "daily", "");
    let before = world.requests(Call::Any).len();
    world.resume(&context, &ended).expect_err("it is over");
    world.cancel(&context, &ended).expect("cancelling what is over changes nothing");
    let again = world.open();
    assert_eq!(world.submit(&again, "daily", "").identity.id, ended.identity.id);
    world.pass(DAY_MS);
    assert_eq!(world.requests(Call::Any).len(), before);
    assert_eq!(world.0.service.borrow().ledger().polls_after_end, 0);
}

#[test]
fn settlement_reads_are_bounded_and_change_money_alone() {
    let world = World::new();
    let context = world.open();
    let operation = world.submit(&context, "daily", r#","duration_ms":60000"#);
    world.until("daily", |own| own.reported.state.as_deref() == Some("running"));
    world.cancel(&context, &operation).expect("a wish");
    let ended = world.until("daily", |own| own.life.is_ended());
    assert_eq!(ending(&ended), Some(&Ending::Cancelled));
    let polls = world.requests(Call::Poll).len();
    // From now on the service never says that the billing is final.
    world.add_faults(
        r#"[{"call":"poll","fault":"status","status":200,"times":1000,
            "body":"{\"status\":\"completed\",\"token_state\":\"reserved\",\"billing\":{\"refund\":2}}"}]"#,
    );
    world.pass(DAY_MS);
    let reads = world.requests(Call::Poll).len() - polls;
    assert!((1..=6).contains(&reads), "{reads} reads");
    let settled = world.stored("daily").expect("stored");
    assert_eq!(ending(&settled), Some(&Ending::Cancelled));
    assert_eq!(settled.ledger.get(Amount::Refund).map(|own| own.to_text()).as_deref(), Some("2"));
    assert_eq!(world.requests(Call::Submit).len(), 1);
    assert_eq!(world.requests(Call::Result).len(), 0);
}

// 5. Bounded.

#[test]
fn attempts_are_bounded_and_the_identity_survives_the_park() {
    let world =
        World::with_faults(r#"[{"call":"submit","fault":"status","status":503,"times":5}]"#);
    let context = world.open_with(limits(|own| own.attempts = 3), PROFILE);
    let parked = world.live(&context, "daily", "");
    assert_eq!(park(&parked), Some(ParkReason::BudgetExhausted));
    assert_eq!(world.requests(Call::Submit).len(), 3);
    world.resume(&context, &parked).expect_err("the bound is still reached");
    world.command(&context, &parked, with_limits(|own| own.attempts = Some(9))).expect("more");
    let ended = world.settle(&context, "daily").expect("it ends");
    assert_eq!(standing(&ended), "succeeded");
    assert_eq!(ended.identity, parked.identity);
    assert_eq!(world.requests(Call::Submit).len(), 6);
}

#[test]
fn the_total_deadline_parks_and_more_time_leads_on() {
    let world = World::new();
    let context = world.open_with(limits(|own| own.total_ms = 60_000), PROFILE);
    let start = world.0.clock.now();
    let parked = world.live(&context, "daily", r#","duration_ms":600000"#);
    assert_eq!(park(&parked), Some(ParkReason::DeadlineExceeded));
    assert!(world.0.clock.now() <= start + 60_000);
    world
        .command(&context, &parked, with_limits(|own| own.total_ms = Some(DAY_MS)))
        .expect("more time");
    let ended = world.settle(&context, "daily").expect("it ends");
    assert_eq!(standing(&ended), "succeeded");
    assert_eq!(world.executions(), 1);
}

#[test]
fn a_first_sending_never_comes_later_than_send_within_ms() {
    let settings = Settings { unauthorized: 1, ..Settings::default() };
    let world = World::with(settings, crate::world::service());
    let context = world.open_with(limits(|own| own.send_within_ms = 100), PROFILE);
    let parked = world.live(&context, "daily", "");
    assert_eq!(park(&parked), Some(ParkReason::DeadlineExceeded));
    assert_eq!(world.requests(Call::Submit).len(), 0);
    world
        .command(&context, &parked, with_limits(|own| own.send_within_ms = Some(DAY_MS)))
        .expect("more time");
    let ended = world.settle(&context, "daily").expect("it ends");
    assert_eq!(standing(&ended), "succeeded");
}

#[test]
fn a_wait_beyond_the_deadline_parks_at_once() {
    let world = World::with_faults(
        r#"[{"call":"submit","fault":"status","status":503,"retry_after":7200}]"#,
    );
    let context = world.open_with(limits(|own| own.total_ms = 3_600_000), PROFILE);
    let start = world.0.clock.now();
    let parked = world.live(&context, "daily", "");
    assert_eq!(park(&parked), Some(ParkReason::DeadlineExceeded));
    assert!(world.0.clock.now() < start + 1_000, "it waits in vain");
}

// 9. Memory is a cache.

#[test]
fn everything_goes_on_from_the_store_alone() {
    let world = World::new();
    let mut intents = Vec::new();
    let first = world.open();
    for number in 0..5 {
        let intent = format!("number {number}");
        world.submit(&first, &intent, &format!(r#","duration_ms":{}"#, 5_000 + number * 7_000));
        intents.push(intent);
    }
    world.pass(9_000);
    world.kill(&first);
    let second = world.open();
    for intent in &intents {
        let ended = world.settle(&second, intent).expect("it ends");
        assert_eq!(standing(&ended), "succeeded", "{intent}");
        assert!(result(&ended).is_some_and(|own| own.bytes > 0));
    }
    assert_eq!(world.executions(), 5);
    assert_eq!(crowded(&world), 0);
}

#[test]
fn a_persisted_wait_survives_a_reload() {
    let world =
        World::with_faults(r#"[{"call":"poll","fault":"status","status":503,"retry_after":120}]"#);
    let first = world.open();
    world.submit(&first, "daily", "");
    let waiting = world.until("daily", |own| {
        matches!(own.life.hold, Hold::Until { reason: WaitReason::ServerGuidance, .. })
    });
    let Hold::Until { wait, .. } = waiting.life.hold else { panic!("it waits") };
    world.kill(&first);
    let second = world.open();
    world.settle(&second, "daily").expect("it ends");
    let polls = world.requests(Call::Poll);
    assert!(polls[1].time_ms >= wait.until().0, "polled early after the reload");
}
