//! The credential is at rest nowhere and is told to nobody, however a run goes.

use super::cost::replaying;
use super::quote::quote;
use crate::world::{CommitFault, SECRET, World};
use serde_json::json;

/// Runs an operation through these faults, and gives everything that is left behind or was told.
fn traces(faults: &str, options: &str, storage: &[CommitFault]) -> Vec<String> {
    let world = World::with_faults(faults);
    let context = world.open();
    world.0.commits.fail(storage);
    let mut told = Vec::new();
    match world.try_submit(&context, "daily", options) {
        Ok(operation) => {
            let rested = world.settle(&context, "daily").expect("it comes to rest");
            told.push(format!("{rested:?}"));
            told.extend(world.journal(&context, &operation.identity.id));
            for refused in
                [world.resume(&context, &rested), world.retry(&context, &rested, "no", false)]
            {
                told.push(format!("{refused:?}"));
            }
        }
        Err(error) => told.push(format!("{error:?}")),
    }
    if let Some(stored) = world.stored("daily") {
        told.push(world.support_report(&context, &stored.identity.id).to_string());
    }
    told.push(format!("{:?}", world.0.store.snapshot()));
    told.push(format!("{:?}", world.0.log.all()));
    told.extend(world.0.events.borrow().iter().cloned());
    told
}

#[test]
fn no_run_leaves_the_credential_behind() {
    let runs = [
        ("[]", ""),
        ("[]", r#","outcome":"failed""#),
        ("[]", r#","url":7"#),
        (r#"[{"call":"submit","fault":"lose_after"}]"#, ""),
        (r#"[{"call":"submit","fault":"status","status":401,"times":9}]"#, ""),
        (r#"[{"call":"submit","fault":"status","status":402}]"#, ""),
        (r#"[{"call":"submit","fault":"status","status":302}]"#, ""),
        (r#"[{"call":"poll","fault":"html"},{"call":"poll","fault":"rate_limited"}]"#, ""),
        (r#"[{"call":"result","fault":"status","status":403,"times":9}]"#, ""),
        (r#"[{"call":"result","fault":"html","status":200,"times":99}]"#, ""),
    ];
    let storage: [&[CommitFault]; 3] = [
        &[],
        &[CommitFault::Pass, CommitFault::Pass, CommitFault::Full],
        &[CommitFault::UnknownDone, CommitFault::Refused],
    ];
    for (faults, options) in runs {
        for storage in storage {
            for trace in traces(faults, options, storage) {
                assert!(!trace.contains(SECRET), "{faults} {options} {storage:?}: {trace}");
            }
        }
    }
}

/// An answer that says the credential back wherever something is taken from it.
fn echoing(call: &str, status: u16) -> String {
    let within = format!("req_{SECRET}");
    let body = json!({
        "id": within, "status": SECRET, "progress": SECRET, "request_id": within,
        "error": {
            "code": SECRET, "message": format!("the key {SECRET} may not do this"),
            "trace_id": SECRET, "class": SECRET,
        },
        "token_state": SECRET, "result_expires_at": SECRET, "record_count": SECRET,
        "credits": SECRET, "original_request_id": SECRET,
    });
    json!([{ "call": call, "fault": "status", "status": status, "times": 3,
        "body": body.to_string() }])
    .to_string()
}

#[test]
fn a_service_that_says_the_credential_back_is_not_repeated() {
    for (call, statuses) in [
        ("submit", [200, 202, 400, 401, 403, 409, 422, 503]),
        ("poll", [200, 202, 400, 401, 403, 404, 410, 503]),
        ("result", [202, 400, 401, 403, 404, 409, 410, 503]),
    ] {
        for status in statuses {
            for trace in traces(&echoing(call, status), "", &[]) {
                assert!(!trace.contains(SECRET), "{call} {status}: {trace}");
            }
        }
    }
}

#[test]
fn a_credential_in_other_writing_is_not_repeated_either() {
    for written in [SECRET.to_uppercase(), SECRET.replace('_', "%5F").replace('-', "%2d")] {
        let faults = echoing("submit", 422).replace(SECRET, &written);
        for trace in traces(&faults, "", &[]) {
            assert!(!trace.contains(&written), "{trace}");
        }
    }
}

#[test]
fn a_message_without_the_credential_is_still_told() {
    let told = traces(&echoing("submit", 422), "", &[]).join("\n");
    assert!(told.contains("the key [withheld] may not do this"), "{told}");
}

#[test]
fn a_refused_quote_does_not_repeat_the_credential() {
    let world = replaying(&echoing("quote", 422));
    let error = quote(&world, &world.open(), "map").expect_err("refused");
    assert!(!format!("{error:?}").contains(SECRET), "{error:?}");
}

#[test]
fn the_credential_was_there_to_be_found() {
    let world = World::new();
    let context = world.open();
    world.live(&context, "daily", "");
    assert!(!world.0.authorizations.borrow().is_empty());
    assert_eq!(world.0.service.borrow().ledger().unauthorized, 0);
}
