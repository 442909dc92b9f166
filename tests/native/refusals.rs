//! Wrong submissions, refused by name before anything is stored or sent.

use super::same_work::canonical;
use crate::world::{World, submission};
use holdfast::model::error::Code;
use holdfast::model::ids::ServiceName;
use holdfast_services::Call;

fn refused(
    change: impl FnOnce(&mut holdfast::driver::Submission),
) -> holdfast::model::error::Error {
    let world = World::new();
    let context = world.open();
    let (driver, mut request) = (context.driver.clone(), submission("daily", ""));
    change(&mut request);
    let answer = world.call(&context, async move { driver.submit(request).await });
    let error = answer.expect("an answer").expect_err("refused");
    world.pass(60_000);
    assert_eq!(world.requests(Call::Any).len(), 0, "something was sent");
    assert!(world.stored("daily").is_none(), "something was stored");
    error
}

#[test]
fn a_key_that_the_service_does_not_take_is_refused_by_name() {
    let long = "x".repeat(256);
    for key in ["", "with space", "ümlaut", "line\nbreak", long.as_str()] {
        let error = refused(|request| request.key = Some(key.into()));
        assert_eq!(error.code, Code::InvalidInput, "{key}");
        assert_eq!(error.field.as_deref(), Some("key"), "{key}");
    }
}

#[test]
fn a_service_that_is_not_configured_is_refused_by_name() {
    let error = refused(|request| request.service = ServiceName::from("other"));
    assert_eq!(error.code, Code::UnknownService);
    assert_eq!(error.field.as_deref(), Some("service"));
}

#[test]
fn a_body_over_8_mb_is_refused_by_name() {
    let error = refused(|request| request.body = vec![b' '; 8 * 1024 * 1024 + 1]);
    assert_eq!(error.code, Code::InvalidInput);
    assert_eq!(error.field.as_deref(), Some("body"));
}

#[test]
fn a_body_that_is_no_json_is_refused_by_name_where_meanings_are_compared() {
    let world = World::new();
    let context = canonical(&world);
    let (driver, mut request) = (context.driver.clone(), submission("daily", ""));
    request.body = b"{\"url\":".to_vec();
    let answer = world.call(&context, async move { driver.submit(request).await });
    let error = answer.expect("an answer").expect_err("refused");
    assert_eq!(error.code, Code::InvalidInput);
    assert_eq!(error.field.as_deref(), Some("body"));
    assert!(world.stored("daily").is_none());
}

#[test]
fn nobody_signed_in_is_refused() {
    let world = World::new();
    let context = world.open();
    world.0.settings.borrow_mut().account = None;
    let error = world.try_submit(&context, "daily", "").expect_err("nobody");
    assert_eq!(error.code, Code::NoAccount);
    world.pass(60_000);
    assert_eq!(world.requests(Call::Any).len(), 0);
}
