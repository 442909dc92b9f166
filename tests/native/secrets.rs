//! The credential is at rest nowhere and is told to nobody, however a run goes.

use crate::world::{CommitFault, SECRET, World};

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

#[test]
fn the_credential_was_there_to_be_found() {
    let world = World::new();
    let context = world.open();
    world.live(&context, "daily", "");
    assert!(!world.0.authorizations.borrow().is_empty());
    assert_eq!(world.0.service.borrow().ledger().unauthorized, 0);
}
