//! Prices, asked for before work is handed over.

use super::cost::{RUNHARVESTER, bounded, count, credits, raised, replaying, world};
use crate::world::{Context, World, ending, park, standing, submission};
use holdfast::driver::Inquiry;
use holdfast::model::ending::Ending;
use holdfast::model::error::{Code, Error};
use holdfast::model::hold::ParkReason;
use holdfast::model::money::Amount;
use holdfast::model::profile::Purpose;
use holdfast::rules::classify::Said;
use holdfast::rules::exits::exits;
use holdfast_services::{Call, RunHarvester};
use serde_json::{Value, json};

pub(super) fn quote(world: &World, context: &Context, operation: &str) -> Result<Said, Error> {
    let inquiry = Inquiry {
        service: "reports".into(),
        content_type: "application/json".into(),
        params: vec![("operation".into(), operation.into())],
        body: submission("", "").body,
    };
    let driver = context.driver.clone();
    world.call(context, async move { driver.quote(inquiry).await }).expect("an answer")
}

/// Quotes that are answered so, for the next `times`.
fn quoting(status: u16, body: &Value, times: u32) -> String {
    let body = body.to_string();
    json!([{"call": "quote", "fault": "status", "status": status, "body": body, "times": times}])
        .to_string()
}

#[test]
fn a_quote_says_the_price_and_nothing_is_stored_or_handed_over() {
    let world = replaying("[]");
    let context = world.open();
    for (operation, price) in [("scrape", "5"), ("map", "1")] {
        let said = quote(&world, &context, operation).expect("a quote");
        assert_eq!(said.ledger.get(Amount::Quoted), Some(credits(price)));
        assert_eq!(said.ledger.get(Amount::Balance), Some(credits("100")));
        assert!(said.request_id.is_some());
    }
    assert_eq!((count(&world, Call::Quote), count(&world, Call::Submit)), (2, 0));
    assert_eq!((world.executions(), world.listed(&context).expect("a list").len()), (0, 0));
    let asked: Vec<_> = world.0.authorizations.borrow().iter().map(|own| own.0).collect();
    assert_eq!(asked, [Purpose::Quote, Purpose::Quote]);
}

#[test]
fn a_quote_that_is_refused_is_a_typed_error_with_status_and_code() {
    let refusal = json!({"error": {"code": "unprocessable_input", "message": "secret words"}});
    let world = replaying(&quoting(422, &refusal, 1));
    let error = quote(&world, &world.open(), "scrape").expect_err("no quote");
    assert_eq!(error.code, Code::NoQuote);
    assert!(error.message.ends_with("HTTP 422, unprocessable_input"), "{}", error.message);
    assert_eq!(count(&world, Call::Quote), 1);
}

#[test]
fn a_quote_without_a_price_is_no_quote() {
    for body in [json!({}), json!({"credits": "many"}), json!({"credits": -5}), json!("<html>")] {
        let world = replaying(&quoting(200, &body, 1));
        let error = quote(&world, &world.open(), "scrape").expect_err("no quote");
        assert_eq!(error.code, Code::NoQuote, "{body}");
    }
}

#[test]
fn a_quote_that_is_not_answered_is_no_quote() {
    let world = replaying(r#"[{"call":"quote","fault":"lose_after"}]"#);
    let error = quote(&world, &world.open(), "scrape").expect_err("no quote");
    assert_eq!(error.code, Code::NoQuote);
    assert_eq!(count(&world, Call::Quote), 1);
}

#[test]
fn a_refused_credential_is_asked_for_anew_once_for_a_quote() {
    for (times, wanted) in [(1, true), (2, false)] {
        let world = replaying(&quoting(401, &json!({"error": {"code": "unauthorized"}}), times));
        assert_eq!(quote(&world, &world.open(), "scrape").is_ok(), wanted);
        assert_eq!(count(&world, Call::Quote), 2);
        let asked: Vec<_> = world.0.authorizations.borrow().iter().map(|own| own.1).collect();
        assert_eq!(asked, [false, true]);
    }
}

#[test]
fn what_a_quote_is_asked_with_is_checked_first() {
    let world = replaying("[]");
    let context = world.open();
    let error = quote(&world, &context, "crawl").expect_err("no such operation");
    assert_eq!(error.field.as_deref(), Some("params.operation"));
    world.0.settings.borrow_mut().account = None;
    assert_eq!(quote(&world, &context, "map").expect_err("nobody").code, Code::NoAccount);
    assert_eq!(count(&world, Call::Quote), 0);
}

#[test]
fn a_service_that_gives_no_quotes_is_not_asked() {
    let world = world(RunHarvester::default(), RUNHARVESTER, "[]");
    let inquiry = Inquiry {
        service: "reports".into(),
        content_type: "application/json".into(),
        params: Vec::new(),
        body: Vec::new(),
    };
    let context = world.open();
    let driver = context.driver.clone();
    let asked = world.call(&context, async move { driver.quote(inquiry).await });
    assert_eq!(asked.expect("an answer").expect_err("none").code, Code::NotAllowed);
}

#[test]
fn work_within_its_limit_is_handed_over_after_one_quote() {
    let world = replaying("[]");
    let ended = world.live(&bounded(&world, "5"), "daily", "");
    assert_eq!(standing(&ended), "succeeded");
    assert_eq!(ended.ledger.get(Amount::Quoted), Some(credits("5")));
    assert_eq!((count(&world, Call::Quote), count(&world, Call::Submit)), (1, 1));
}

#[test]
fn without_a_limit_no_quote_is_asked_for() {
    let world = replaying("[]");
    assert_eq!(standing(&world.live(&world.open(), "daily", "")), "succeeded");
    assert_eq!(count(&world, Call::Quote), 0);
}

#[test]
fn work_whose_quote_is_above_its_limit_parks_before_it_is_sent() {
    let world = replaying("[]");
    let context = bounded(&world, "4.99");
    let parked = world.live(&context, "daily", "");
    assert_eq!(park(&parked), Some(ParkReason::BudgetExhausted));
    assert_eq!(exits(&parked), ["resume({limits})", "revise({body})", "resolve(\"abandon\")"]);
    assert_eq!((count(&world, Call::Submit), world.executions()), (0, 0));
    world.command(&context, &parked, raised("5")).expect("an exit");
    let ended = world.settle(&context, "daily").expect("it ends");
    assert_eq!(standing(&ended), "succeeded");
}

#[test]
fn a_price_is_asked_for_anew_after_a_park() {
    let world = replaying(&quoting(200, &json!({"credits": 900}), 1));
    let context = bounded(&world, "50");
    let parked = world.live(&context, "daily", "");
    assert_eq!(park(&parked), Some(ParkReason::BudgetExhausted));
    world.command(&context, &parked, raised("50")).expect("an exit");
    let ended = world.settle(&context, "daily").expect("it ends");
    assert_eq!((standing(&ended), count(&world, Call::Quote)), ("succeeded", 2));
}

#[test]
fn a_price_that_cannot_be_had_is_asked_for_again_and_then_nothing_is_sent() {
    let lost = |times: u32| json!([{"call": "quote", "fault": "lose_after", "times": times}]);
    let patient = replaying(&lost(3).to_string());
    assert_eq!(standing(&patient.live(&bounded(&patient, "5"), "daily", "")), "succeeded");
    assert_eq!(count(&patient, Call::Quote), 4);
    let spent = replaying(&lost(99).to_string());
    let parked = spent.live(&bounded(&spent, "5"), "daily", "");
    assert_eq!(park(&parked), Some(ParkReason::BudgetExhausted));
    assert_eq!((count(&spent, Call::Quote), count(&spent, Call::Submit)), (9, 0));
}

#[test]
fn work_whose_price_is_refused_for_its_input_is_rejected_unsent() {
    let refusal = json!({"error": {"code": "unprocessable_input"}});
    let world = replaying(&quoting(422, &refusal, 9));
    let ended = world.live(&bounded(&world, "5"), "daily", "");
    let Some(Ending::Rejected(fault)) = ending(&ended) else { panic!("{:?}", ended.life) };
    assert_eq!(fault.code.as_deref(), Some("unprocessable_input"));
    assert_eq!((count(&world, Call::Quote), count(&world, Call::Submit)), (1, 0));
}

#[test]
fn a_refused_credential_parks_for_a_quote_as_for_anything() {
    let world = replaying(&quoting(401, &json!({"error": {"code": "unauthorized"}}), 2));
    let context = bounded(&world, "5");
    let parked = world.live(&context, "daily", "");
    assert_eq!(park(&parked), Some(ParkReason::NeedsCredential));
    world.resume(&context, &parked).expect("an exit");
    assert_eq!(standing(&world.settle(&context, "daily").expect("it ends")), "succeeded");
}

#[test]
fn a_number_in_a_refusal_is_no_price() {
    let world = replaying(&quoting(503, &json!({"quote": {"credits": 0}, "credits": 0}), 1));
    let ended = world.live(&bounded(&world, "5"), "daily", "");
    assert_eq!((standing(&ended), count(&world, Call::Quote)), ("succeeded", 2));
    assert_eq!(ended.ledger.get(Amount::Quoted), Some(credits("5")));
}

#[test]
fn work_that_is_cancelled_while_its_price_is_asked_for_is_never_sent() {
    let world = replaying(r#"[{"call":"quote","fault":"lose_after","times":2}]"#);
    let context = bounded(&world, "5");
    let operation = world.submit(&context, "daily", "");
    world.cancel(&context, &operation).expect("it ends");
    let ended = world.settle(&context, "daily").expect("it ends");
    world.pass(60_000);
    assert_eq!((standing(&ended), count(&world, Call::Submit)), ("cancelled", 0));
}

#[test]
fn an_answer_that_was_lost_is_fetched_whatever_it_has_cost() {
    let world = replaying(r#"[{"call":"submit","fault":"lose_after"}]"#);
    let ended = world.live(&bounded(&world, "5"), "daily", "");
    assert_eq!(standing(&ended), "succeeded");
    assert_eq!((count(&world, Call::Quote), count(&world, Call::Submit)), (1, 2));
    assert_eq!(world.executions(), 1);
}

#[test]
fn a_crash_at_any_await_of_a_quoted_submission_costs_no_more_than_once() {
    let points = {
        let world = replaying("[]");
        world.live(&bounded(&world, "5"), "daily", "");
        world.0.points.get()
    };
    assert!(points > 20);
    for point in 1..=points {
        let world = replaying("[]");
        world.0.settings.borrow_mut().crash_at = Some(point);
        let context = bounded(&world, "5");
        let (driver, request) = (context.driver.clone(), submission("daily", ""));
        world.call(&context, async move { driver.submit(request).await });
        world.settle(&context, "daily");
        let next = bounded(&world, "5");
        let ended = world.live(&next, "daily", "");
        assert_eq!(standing(&ended), "succeeded", "a crash at {point}");
        assert_eq!(world.executions(), 1, "a crash at {point}");
    }
}
