//! What holds of every model: faults, credentials and money.
use crate::calls::answer;
use holdfast_services::{
    AnyService, Call, Delivery, Fault, FaultKind, Loopback, Request, Settings, all_services,
};

type World = Loopback<AnyService>;

/// Every model with a submission to it.
fn worlds() -> Vec<(String, World, Request)> {
    let all = all_services(&Settings::with_ids(""));
    all.into_iter()
        .map(|(base, service)| {
            let submission = submission(&base);
            (base, Loopback::new(service), submission)
        })
        .collect()
}

/// A submission of work that ends at once.
fn submission(base: &str) -> Request {
    let post = |path| {
        Request::new("POST", path)
            .with_header("authorization", "Bearer demo-token")
            .with_body(r#"{"url":"u","duration_ms":0}"#)
    };
    match base {
        "" => post("/api/v1/data/requests").with_header("idempotency-key", "k"),
        "/bulkgrid" => post("/api/v1/extract").with_header("x-api-key", "demo-token"),
        "/cleanedweb" => post("/v1/sources/s1/run")
            .with_header("idempotency-key", "k")
            .with_body(r#"{"input":{"url":"u","duration_ms":0}}"#),
        "/replay" => post("/v1/scrape").with_header("idempotency-key", "k"),
        "/idempotency-key" => post("/v1/reports").with_header("idempotency-key", "\"k\""),
        "/http-async" | "/azure" | "/google" => post("/v1/reports"),
        _ => panic!("{base} has no submission here"),
    }
}

fn struck(kind: FaultKind, check: impl Fn(&str, &mut World, Delivery)) {
    for (base, mut world, submission) in worlds() {
        world.faults.add([Fault::once(Call::Submit, kind)]);
        let outcome = world.exchange(0, &submission);
        check(&base, &mut world, outcome.delivery);
    }
}

#[test]
fn a_submission_is_executed_and_charged_once() {
    for (base, mut world, submission) in worlds() {
        let got = answer(&mut world, 0, &submission);
        assert!((200..300).contains(&got.status), "{base} {got:?}");
        assert_eq!((world.ledger().executions, world.ledger().balance), (1, 95), "{base}");
        assert_eq!(world.ledger().submits, 1, "{base}");
    }
}

#[test]
fn a_submission_lost_on_its_way_does_nothing() {
    struck(FaultKind::LoseBefore, |base, world, delivery| {
        assert_eq!((delivery, world.ledger().executions), (Delivery::Lost, 0), "{base}");
    });
}

#[test]
fn a_submission_whose_answer_is_lost_is_executed_and_charged() {
    struck(FaultKind::LoseAfter, |base, world, delivery| {
        assert_eq!((delivery, world.ledger().executions), (Delivery::Lost, 1), "{base}");
        assert_eq!(world.ledger().balance, 95, "{base}");
    });
}

#[test]
fn a_submission_whose_answer_is_cut_is_executed() {
    struck(FaultKind::Truncate, |base, world, delivery| {
        assert!(matches!(delivery, Delivery::Truncated(_)), "{base}");
        assert_eq!(world.ledger().executions, 1, "{base}");
    });
}

#[test]
fn a_refusal_by_a_fault_executes_nothing() {
    for (kind, status) in
        [(FaultKind::Status, 503), (FaultKind::RateLimited, 429), (FaultKind::Html, 502)]
    {
        struck(kind, |base, world, delivery| {
            let Delivery::Answer(got) = delivery else { panic!("{base} gave no answer") };
            assert_eq!((got.status, world.ledger().executions), (status, 0), "{base}");
        });
    }
}

#[test]
fn a_fault_may_strike_after_the_work_was_accepted() {
    for (base, mut world, submission) in worlds() {
        let fault = Fault::once(Call::Submit, FaultKind::Status);
        world.faults.add([Fault { after_commit: true, ..fault }]);
        assert_eq!(answer(&mut world, 0, &submission).status, 503, "{base}");
        assert_eq!(world.ledger().executions, 1, "{base}");
    }
}

#[test]
fn a_wrong_credential_is_refused_and_counted() {
    for (base, mut world, mut submission) in worlds() {
        submission.headers.retain(|(name, _)| name != "authorization" && name != "x-api-key");
        assert_eq!(answer(&mut world, 0, &submission).status, 401, "{base}");
        assert_eq!((world.ledger().unauthorized, world.ledger().executions), (1, 0), "{base}");
    }
}

#[test]
fn an_unknown_path_is_no_call() {
    for (base, mut world, _) in worlds() {
        let request = Request::new("GET", "/none")
            .with_header("authorization", "Bearer demo-token")
            .with_header("x-api-key", "demo-token");
        assert_eq!(answer(&mut world, 0, &request).status, 404, "{base}");
        assert_eq!(world.ledger().requests[0].call, Call::Other, "{base}");
    }
}
