//! A credential may take its time: what has changed meanwhile counts, and nothing is lost by it.

use crate::world::{Context, DAY_MS, World, park, standing, succeeds_once};
use holdfast::model::hold::ParkReason;
use holdfast_services::Call;

/// A world whose first submission got no answer, just before it is repeated: its credential is
/// being asked for, and takes this long.
fn repeating(fault: &str, authorize_ms: u64) -> (World, Context) {
    let world = World::with_faults(&format!(r#"[{{"call":"submit","fault":"{fault}"}}]"#));
    let context = world.open();
    world.submit(&context, "daily", r#","duration_ms":1000"#);
    world.until("daily", |own| own.life.evidence.unresolved.is_some());
    world.0.settings.borrow_mut().authorize_ms = authorize_ms;
    let due = world.stored("daily").expect("stored").due().expect("a wait").0;
    world.pass(due.saturating_sub(world.0.clock.now()) + 100);
    world.0.settings.borrow_mut().authorize_ms = 0;
    (world, context)
}

#[test]
fn a_credential_that_comes_after_the_key_has_lapsed_sends_nothing() {
    let (world, _context) = repeating("lose_after", 40 * DAY_MS);
    world.pass(41 * DAY_MS);
    let parked = world.stored("daily").expect("stored");
    assert!(matches!(
        park(&parked),
        Some(ParkReason::OutcomeUnknown | ParkReason::DeadlineExceeded)
    ));
    assert_eq!(world.requests(Call::Submit).len(), 1);
    assert_eq!(world.executions(), 1);
}

#[test]
fn a_credential_that_comes_after_a_cancel_sends_nothing() {
    let (world, context) = repeating("lose_before", 500);
    let operation = world.stored("daily").expect("stored");
    let answered = world.cancel(&context, &operation).expect("a wish");
    assert_eq!(park(&answered), Some(ParkReason::CancelUnconfirmed));
    world.pass(60_000);
    assert_eq!(world.executions(), 0);
    assert_eq!(standing(&world.stored("daily").expect("stored")), "parked");
}

#[test]
fn a_credential_that_comes_while_the_record_is_written_goes_with_the_first_attempt() {
    let world = World::new();
    let context = world.open();
    world.live(&context, "first", "");
    {
        let mut settings = world.0.settings.borrow_mut();
        (settings.authorize_ms, settings.commit_ms) = (60, 20);
    }
    world.submit(&context, "second", "");
    let ended = world.settle(&context, "second").expect("it ends");
    assert_eq!(standing(&ended), "succeeded");
    assert_eq!(ended.life.evidence.attempts, 1);
    assert_eq!(ended.life.evidence.unresolved, None);
    assert_eq!(world.executions(), 2);
}

#[test]
fn a_refusal_that_comes_after_its_operation_was_read_anew_is_no_news() {
    let (world, context) = repeating("lose_before", 6_000);
    context.driver.give_back();
    {
        let mut settings = world.0.settings.borrow_mut();
        (settings.authorize_ms, settings.latency_ms) = (0, 5_000);
    }
    world.until("daily", |own| own.life.evidence.attempts == 2);
    world.0.settings.borrow_mut().unauthorized = 1;
    let ended = world.settle(&context, "daily").expect("it ends");
    assert_eq!((standing(&ended), ended.life.evidence.attempts), ("succeeded", 2));
}

/// The ways in which an operation leaves memory while its credential is asked for.
const LEAVINGS: [fn(&World, &Context); 3] = [
    |_, context| context.driver.give_back(),
    |_, context| context.driver.close(),
    |world, context| {
        world.0.settings.borrow_mut().account = None;
        context.driver.wake();
    },
];

#[test]
fn a_credential_that_nobody_wants_any_more_is_forgotten() {
    for leave in LEAVINGS {
        let (world, context) = repeating("lose_before", 500);
        let asked = world.0.authorizations.borrow().len();
        leave(&world, &context);
        world.pass(1_000);
        assert_eq!(world.0.authorizations.borrow().len(), asked + 1, "it has come");
        assert!(!context.driver.is_prepared());
    }
}

#[test]
fn a_credential_that_waits_for_its_write_is_forgotten_when_the_context_closes() {
    let (world, context) = repeating("lose_before", 500);
    world.0.settings.borrow_mut().commit_ms = 1_000;
    let until = world.0.clock.now() + 1_000;
    world.run(until, || context.driver.is_prepared());
    assert!(context.driver.is_prepared(), "its attempt is being written");
    context.driver.close();
    assert!(!context.driver.is_prepared());
}

#[test]
fn an_exchange_that_waits_for_others_elsewhere_is_made_in_its_turn_and_counts_as_no_refusal() {
    let world = World::new();
    world.0.settings.borrow_mut().postponed = 20;
    let context = world.open();
    let begun = world.0.clock.now();
    world.submit(&context, "daily", "");
    let ended = world.settle(&context, "daily").expect("it ends");
    assert_eq!((standing(&ended), ended.life.evidence.attempts), ("succeeded", 1));
    assert_eq!(ended.counters.authorizations, 0);
    assert!(world.0.clock.now() >= begun + 20 * 2_000);
    assert_eq!(world.executions(), 1);
}

/// What `holdfast/proxy` answers where its `authorize` throws.
const PROXY_FAILED: &str = r#"{"error":{"code":"AUTHORIZE_FAILED","message":"The proxy has no credential for this. Nothing was sent."}}"#;

#[test]
fn a_proxy_without_a_credential_has_taken_nothing_on_and_is_asked_again() {
    let world = World::answering("submit", 401, PROXY_FAILED, 1);
    let context = world.open();
    world.submit(&context, "daily", "");
    let refused = world.until("daily", |own| own.life.evidence.refused > 0);
    assert!(refused.life.evidence.unresolved.is_none(), "{:?}", refused.life.evidence);
    let ended = world.settle(&context, "daily").expect("it ends");
    succeeds_once(&world, &ended);
}

#[test]
fn a_proxy_that_has_no_credential_for_long_leaves_nothing_unknown() {
    let world = World::answering("submit", 401, PROXY_FAILED, 2);
    let context = world.open();
    let parked = world.live(&context, "daily", "");
    assert_eq!(park(&parked), Some(ParkReason::NeedsCredential));
    assert!(!parked.life.may_be_accepted());
    super::submission::resumes_to_success(&world, &context, &parked);
}

#[test]
fn without_a_key_too_a_refused_credential_leaves_nothing_unknown() {
    let body = serde_json::to_string(PROXY_FAILED).expect("a text");
    let world = super::reconcile::world(&format!(
        r#"[{{"call":"submit","fault":"status","status":401,"times":1,"body":{body}}}]"#
    ));
    let operation = world.live(&world.open(), "daily", "");
    assert_eq!(standing(&operation), "succeeded");
    assert_eq!((world.executions(), super::reconcile::read(&world)), (1, 0));
}
