//! Wrong submissions, refused by name before anything is stored or sent.

use super::same_work::canonical;
use crate::world::{World, submission};
use holdfast::model::error::Code;
use holdfast::model::ids::ServiceName;
use holdfast::rules::options::check_key;
use holdfast_services::Call;

const HARVEST: &str = include_str!("../../pkg-template/profiles/runharvester.json");
const REPLAY: &str = include_str!("../../pkg-template/profiles/replay.json");
const CLEANED: &str = include_str!("../../pkg-template/profiles/cleanedweb.json");
const QUOTED: &str = include_str!("../../pkg-template/profiles/idempotency-key.json");
const ASYNC: &str = include_str!("../../pkg-template/profiles/http-async.json");
const AZURE: &str = include_str!("../../pkg-template/profiles/azure-lro.json");
const GOOGLE: &str = include_str!("../../pkg-template/profiles/google-lro.json");

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
        assert!(error.message.contains("1 to 255 characters of A-Z a-z 0-9 -._:~,"), "{key}");
        let next = "give a key that keeps to this, or none: one is made, and kept for the intent";
        assert_eq!(error.next_step, next, "{key}");
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

#[test]
fn each_profile_has_a_grammar_of_its_own_for_keys() {
    const UUID: &str = "72ad1b16-20ad-4ef4-a578-d8b893601d7e";
    let (shortest, longest, longer) = ("a", "x".repeat(200), "x".repeat(201));
    for (text, taken, refused) in [
        (HARVEST, [UUID, "a.b_c:d~e-9", &longer], ["a b", "a/b", ""]),
        (REPLAY, [UUID, "a.b_c:d~e-9", &longer], ["a b", "a\"b", "é"]),
        (CLEANED, [shortest, "a.b_c:d-9", &longest], [&longer, "a~b", "a\nb"]),
        (QUOTED, [UUID, "a.b_c:d~e-9", shortest], ["a b", "a\\b", "a\"b"]),
        (ASYNC, [UUID, "a-b", shortest], ["a.b", "a b", "a_b"]),
        (AZURE, [UUID, &UUID.to_uppercase(), UUID], ["a-b", &UUID.replace('-', ""), &longer]),
        (GOOGLE, [UUID, &UUID.to_uppercase(), UUID], ["a-b", &UUID.replace('-', ""), &longer]),
    ] {
        let profile = holdfast::rules::profile::read(text).expect("a good profile");
        let carrier = profile.key.expect("it has keys");
        for key in taken {
            assert_eq!(check_key(&carrier, key), None, "{}: {key}", profile.name);
        }
        for key in refused {
            assert!(check_key(&carrier, key).is_some(), "{}: {key}", profile.name);
        }
    }
}

#[test]
fn a_refused_key_is_told_the_whole_rule_and_the_standard_behind_it() {
    let keys = |length: &str, signs: &str, standard: &str| {
        let signs = ["A-Z a-z 0-9 ", signs].concat();
        format!(
            "this service's keys have {length} characters of {signs}, as its profile says (sent in {standard})"
        )
    };
    for (text, rule) in [
        (HARVEST, keys("1 to 255", "-._:~", "a field value of RFC 9110")),
        (CLEANED, keys("1 to 200", "-._:", "a field value of RFC 9110")),
        (QUOTED, keys("1 to 255", "-._:~", "a String of RFC 9651")),
        (AZURE, "this service's keys are UUIDs (RFC 9562)".into()),
        (GOOGLE, "this service's keys are UUIDs (RFC 9562)".into()),
    ] {
        let profile = holdfast::rules::profile::read(text).expect("a good profile");
        let carrier = profile.key.expect("it has keys");
        assert_eq!(check_key(&carrier, "a b"), Some(rule), "{}", profile.name);
    }
}
