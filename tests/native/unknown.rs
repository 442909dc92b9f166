//! Submissions of which nobody knows whether the service took them: what sends them again, and what not.

use super::submission::{coded, resumes_to_success};
use crate::world::{Context, World, park, submission, succeeds_once};
use holdfast::model::hold::ParkReason;
use holdfast::model::operation::Operation;
use holdfast::rules::step::{Command, Resolution};
use holdfast_services::Call;

/// A submission of which nothing is known, and which cannot be sent again for a long time.
fn unknown_for(seconds: u64) -> (World, Context, Operation) {
    let world = World::with_faults(&format!(
        r#"[{{"call":"submit","fault":"lose_after"}},
            {{"call":"submit","fault":"status","status":503,"retry_after":{seconds}}}]"#
    ));
    let context = world.open_with(
        holdfast::model::policy::Limits {
            total_ms: 10 * crate::world::DAY_MS,
            ..holdfast::model::policy::Limits::default()
        },
        crate::world::PROFILE,
    );
    world.submit(&context, "daily", "");
    let unknown = world.until("daily", |own| own.life.evidence.attempts == 2);
    (world, context, unknown)
}

#[test]
fn past_the_service_s_memory_of_keys_an_unknown_outcome_is_not_sent_again() {
    let (world, context, _) = unknown_for(90_000);
    let parked = world.settle(&context, "daily").expect("it parks");
    assert_eq!(park(&parked), Some(ParkReason::OutcomeUnknown));
    assert_eq!(world.requests(Call::Submit).len(), 2);
}

#[test]
fn an_attempt_that_stood_still_until_it_could_leave_no_more_leaves_nothing_unknown() {
    let world = World::new();
    let context = world.open();
    *world.0.freeze_when.borrow_mut() = Some(Box::new(|own| own.life.evidence.current.is_some()));
    let (driver, request) = (context.driver.clone(), submission("daily", ""));
    world.spawn(&context, async move {
        driver.submit(request).await.expect("it is taken on");
    });
    world.pass(10_000);
    assert!(context.being.frozen.get());
    world.thaw(&context);
    let not_sent = world.until("daily", |own| own.life.evidence.current.is_none());
    assert_eq!(not_sent.life.evidence.unresolved, None);
    let ended = world.settle(&context, "daily").expect("it ends");
    succeeds_once(&world, &ended);
    assert_eq!(world.requests(Call::Submit).len(), 1);
    let journal = world.journal(&context, &ended.identity.id).join("\n");
    assert!(journal.contains("submit.not_sent"), "who reads it sees why there are two: {journal}");
}

#[test]
fn another_scope_parks_an_unknown_outcome_and_the_old_scope_leads_on() {
    let (world, context, _) = unknown_for(60);
    world.0.settings.borrow_mut().scope = Some("org_1/key_2".into());
    let parked = world.settle(&context, "daily").expect("it parks");
    assert_eq!(park(&parked), Some(ParkReason::ScopeChanged));
    assert_eq!(world.requests(Call::Submit).len(), 2);
    world.0.settings.borrow_mut().scope = Some("org_1/key_1".into());
    resumes_to_success(&world, &context, &parked);
}

#[test]
fn another_scope_is_fine_while_nothing_can_have_been_accepted() {
    let world = coded(402, "INSUFFICIENT_CREDITS", 1);
    let (context, parked) = world.lived("");
    world.0.settings.borrow_mut().scope = Some("org_1/key_2".into());
    resumes_to_success(&world, &context, &parked);
}

#[test]
fn a_person_who_knows_that_nothing_ran_lets_it_be_sent_again_under_the_same_key() {
    let world = World::answering("submit", 302, "", 1);
    let (context, parked) = world.lived("");
    world.resolve(&context, &parked, Resolution::NotExecuted).expect("said so");
    let ended = world.settle(&context, "daily").expect("it ends");
    succeeds_once(&world, &ended);
    let sent = world.requests(Call::Submit);
    assert_eq!(sent[0].key, sent[1].key);
}

#[test]
fn an_accepted_risk_sends_again_and_nothing_else_does() {
    let world = World::answering("submit", 302, "", 1);
    let (context, parked) = world.lived("");
    world.resume(&context, &parked).expect_err("not without a word about the risk");
    let risky = Command::Resume { limits: None, accept_duplicate: true };
    world.command(&context, &parked, risky).expect("the risk is accepted");
    let ended = world.settle(&context, "daily").expect("it ends");
    succeeds_once(&world, &ended);
}

#[test]
fn a_credential_that_cannot_be_had_parks_after_some_tries_with_nothing_sent() {
    let world = World::new();
    world.0.settings.borrow_mut().unauthorized = 4;
    let (context, parked) = world.lived("");
    assert_eq!(park(&parked), Some(ParkReason::NeedsCredential));
    assert_eq!(world.requests(Call::Any).len(), 0);
    resumes_to_success(&world, &context, &parked);
}

#[test]
fn a_failure_that_the_service_keeps_under_the_key_is_not_asked_for_again() {
    let keeping =
        crate::world::PROFILE.replacen(r#""header""#, r#""keepsErrors": true, "header""#, 1);
    for (profile, status, asked) in
        [(crate::world::PROFILE, 500, 2), (&keeping, 500, 1), (&keeping, 502, 2)]
    {
        let world = World::with_faults(&format!(
            r#"[{{"call":"submit","fault":"status","status":{status}}}]"#
        ));
        let context = world.open_with(holdfast::model::policy::Limits::default(), profile);
        let operation = world.live(&context, "daily", "");
        let parked = (asked == 1).then_some(ParkReason::OutcomeUnknown);
        assert_eq!(park(&operation), parked, "{status}");
        assert_eq!(world.requests(Call::Submit).len(), asked, "{status}");
    }
}
