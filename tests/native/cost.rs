//! What work may cost: prices are asked for, and limits are kept before anything is sent.

use crate::world::{Context, Settings, World, failed, park, patch, standing, submission};
use holdfast::driver::Inquiry;
use holdfast::model::error::{Code, Error};
use holdfast::model::hold::ParkReason;
use holdfast::model::money::{Amount, Credits};
use holdfast::model::operation::Operation;
use holdfast::model::policy::Limits;
use holdfast::model::profile::Purpose;
use holdfast::rules::classify::Said;
use holdfast::rules::exits::exits;
use holdfast::rules::profile;
use holdfast::rules::step::Command;
use holdfast_services::{Call, Config, Fault, Loopback, Replay, RunHarvester, Service};
use serde_json::{Value, json};

const RUNHARVESTER: &str = include_str!("../../pkg-template/profiles/runharvester.json");
const REPLAY: &str = include_str!("../../pkg-template/profiles/replay.json");

fn credits(text: &str) -> Credits {
    Credits::parse(text).expect("an amount")
}

fn world(service: impl Service + Send + 'static, profile: &str, faults: &str) -> World {
    let mut service = Loopback::new(service);
    service.faults.add(serde_json::from_str::<Vec<Fault>>(faults).expect("good faults"));
    World::of(Settings::default(), service, profile)
}

/// Scrapes cost 5 credits here.
fn replaying(faults: &str) -> World {
    world(Replay::default(), REPLAY, faults)
}

fn bounded(world: &World, cost: &str) -> Context {
    let limits = Limits { cost: Some(credits(cost)), ..Limits::default() };
    world.open_with(limits, &world.0.profile.clone())
}

fn count(world: &World, call: Call) -> usize {
    world.requests(call).len()
}

fn raised(cost: &str) -> Command {
    let limits = patch(|own| own.cost = Some(credits(cost)));
    Command::Resume { limits: Some(limits), accept_duplicate: false }
}

fn quote(world: &World, context: &Context, operation: &str) -> Result<Said, Error> {
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
fn a_price_that_is_refused_is_not_asked_for_again() {
    let refusal = json!({"error": {"code": "unprocessable_input"}});
    let world = replaying(&quoting(422, &refusal, 9));
    let parked = world.live(&bounded(&world, "5"), "daily", "");
    assert_eq!(park(&parked), Some(ParkReason::BudgetExhausted));
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

/// A job that failed and whose charge the service keeps, and the wish to run it again.
fn rerun(cost: &str, told: &Value) -> (World, Context, Operation) {
    let body = json!({
        "id": "req_000001", "status": "failed", "token_state": "charged", "billing": told,
        "error": {"code": "UPSTREAM_TIMEOUT", "class": "transient"},
    });
    let fault =
        json!([{"call": "poll", "fault": "status", "status": 200, "body": body.to_string()}]);
    let world = world(RunHarvester::default(), RUNHARVESTER, &fault.to_string());
    let context = bounded(&world, cost);
    let first = world.live(&context, "daily", r#","fail_times":1,"duration_ms":10"#);
    (world, context, first)
}

#[test]
fn a_rerun_is_refused_once_its_lineage_has_cost_all_that_it_may() {
    let (world, context, first) = rerun("5", &json!({"base": 5}));
    let refused = world.retry(&context, &first, &failed(&first).id, false);
    assert_eq!(refused.expect_err("nothing is left").code, Code::NotAllowed);
    assert_eq!(count(&world, Call::Retry), 0);
}

#[test]
fn a_rerun_goes_on_while_something_is_left() {
    let (world, context, first) = rerun("5", &json!({"base": 4.5}));
    world.retry(&context, &first, &failed(&first).id, false).expect("half a credit is left");
    assert_eq!(standing(&world.settle(&context, "daily").expect("it ends")), "succeeded");
}

#[test]
fn no_number_that_a_service_tells_makes_a_limit_wider() {
    let huge = json!({"base": 1e300});
    for told in [json!({"base": 5, "refund": 99}), json!({"base": 5, "refund": -99}), huge] {
        let (world, context, first) = rerun("5", &told);
        let left = told["refund"] == 99;
        let retried = world.retry(&context, &first, &failed(&first).id, false);
        assert_eq!(retried.is_ok(), left, "{told}");
        if let Ok(second) = retried {
            assert_eq!(second.spent.cost, Credits(0), "what is given back pays for nothing else");
        }
    }
}

/// Each read of a status or a result costs 1 here, as the profile says.
fn reading(faults: &str) -> World {
    let mut profile: Value = serde_json::from_str(RUNHARVESTER).expect("JSON");
    profile["calls"]["poll"]["cost"] = json!(1);
    profile["calls"]["result"]["cost"] = json!(1);
    let config = Config { read_price: 1, ..Config::default() };
    world(RunHarvester::new(config), &profile.to_string(), faults)
}

/// What the service has charged in all, less what it has given back.
fn charged(world: &World) -> Credits {
    let service = world.0.service.borrow();
    let whole = service.ledger().charged_credits - service.ledger().refunded_credits;
    Credits(i64::try_from(whole).expect("few") * 1_000_000)
}

#[test]
fn reads_that_cost_are_in_the_ledger_as_in_the_services() {
    for faults in [
        "[]",
        r#"[{"call":"poll","fault":"lose_after","times":2}]"#,
        r#"[{"call":"result","fault":"truncate"}]"#,
        r#"[{"call":"poll","fault":"rate_limited"}]"#,
        r#"[{"call":"poll","fault":"status","status":503,"times":2}]"#,
    ] {
        let world = reading(faults);
        let ended = world.live(&world.open(), "daily", "");
        assert_eq!(standing(&ended), "succeeded");
        assert_eq!(ended.ledger.cost(), charged(&world), "{faults}: {:?}", ended.ledger);
        assert!(ended.ledger.get(Amount::Reads) >= Some(credits("2")));
    }
}

#[test]
fn late_billing_is_read_at_its_price() {
    let world = reading("[]");
    let context = world.open();
    let operation = world.submit(&context, "daily", "");
    world.cancel(&context, &operation).expect("it is wanted");
    let settled = world.settle(&context, "daily").expect("billing is read out");
    assert_eq!(standing(&settled), "cancelled");
    assert_eq!(settled.ledger.cost(), charged(&world), "{:?}", settled.ledger);
}

#[test]
fn reads_stop_at_the_limit_and_go_on_with_a_higher_one() {
    let world = reading("[]");
    let context = bounded(&world, "7");
    let parked = world.live(&context, "daily", r#","duration_ms":60000"#);
    assert_eq!(park(&parked), Some(ParkReason::BudgetExhausted));
    assert_eq!(parked.ledger.cost(), credits("7"));
    assert_eq!(count(&world, Call::Poll), 2);
    assert!(exits(&parked).contains(&"resume({limits})"));
    world.command(&context, &parked, raised("500")).expect("an exit");
    let ended = world.settle(&context, "daily").expect("it ends");
    assert_eq!((standing(&ended), ended.ledger.cost()), ("succeeded", charged(&world)));
}

#[test]
fn late_billing_is_given_up_where_reading_it_would_go_beyond_the_limit() {
    let world = reading("[]");
    let context = bounded(&world, "6");
    let operation = world.submit(&context, "daily", "");
    world.cancel(&context, &operation).expect("it is wanted");
    let settled = world.settle(&context, "daily").expect("it comes to rest");
    assert_eq!(standing(&settled), "cancelled");
    assert_eq!((&settled.life.settlement, settled.ledger.cost()), (&None, credits("6")));
}

#[test]
fn what_an_answer_says_that_its_read_has_cost_goes_before_the_profile() {
    let body = json!({"id": "req_000001", "status": "running", "billing": {"read": 0.25}});
    let fault =
        json!([{"call": "poll", "fault": "status", "status": 200, "body": body.to_string()}]);
    let mut profile: Value = serde_json::from_str(RUNHARVESTER).expect("JSON");
    profile["facts"]["readCost"] = json!(["/billing/read"]);
    profile["calls"]["result"]["cost"] = json!(2);
    let world = world(RunHarvester::default(), &profile.to_string(), &fault.to_string());
    let ended = world.live(&world.open(), "daily", "");
    assert_eq!(standing(&ended), "succeeded");
    assert_eq!(ended.ledger.get(Amount::Reads), Some(credits("2.25")));
}

#[test]
fn without_a_price_reads_are_free_and_not_bounded() {
    let world = world(RunHarvester::default(), RUNHARVESTER, "[]");
    let ended = world.live(&bounded(&world, "5"), "daily", "");
    assert_eq!((standing(&ended), ended.ledger.get(Amount::Reads)), ("succeeded", None));
}

#[test]
fn a_profile_whose_prices_or_rates_mean_nothing_is_refused() {
    for (place, value, fault) in [
        ("/calls/poll/cost", json!(0), "/calls/poll/cost"),
        ("/calls/poll/cost", json!(-1), "/calls/poll/cost"),
        ("/calls/result/cost", json!("1"), "/calls/result/cost"),
        ("/calls/submit/cost", json!(1), "/calls/submit/cost"),
        ("/calls/cancel/cost", json!(1), "/calls/cancel/cost"),
        ("/calls/quote", json!({"method": "POST", "path": "/price"}), "/facts/quoted"),
        ("/calls/quote", json!({"method": "POST", "path": "/price/{id}"}), "/calls/quote/path"),
        ("/rate", json!({"requests": 0, "perMs": 1000}), "/rate/requests"),
        ("/rate", json!({"requests": 5}), "/rate/perMs"),
        ("/chargeReceipt", json!("bill"), "/chargeReceipt"),
    ] {
        let mut profile: Value = serde_json::from_str(RUNHARVESTER).expect("JSON");
        let (outer, name) = place.rsplit_once('/').expect("a place");
        let object = profile.pointer_mut(outer).and_then(Value::as_object_mut);
        object.expect("an object").insert(name.into(), value);
        let faults = profile::read(&profile.to_string()).expect_err("a fault");
        assert!(faults.iter().any(|own| own.pointer == fault), "{place}: {faults:?}");
    }
}
