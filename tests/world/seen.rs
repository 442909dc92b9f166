//! What is seen of an operation, and of a world.

use std::collections::BTreeSet;

use holdfast::model::ending::{Ending, Failure, ResultRef};
use holdfast::model::hold::{Hold, ParkReason};
use holdfast::model::life::Stage;
use holdfast::model::operation::Operation;
use holdfast::rules::status::status;
use holdfast_services::{Call, Request};

use super::{Context, World};

/// Why it is parked.
pub fn park(operation: &Operation) -> Option<ParkReason> {
    match operation.life.hold {
        Hold::Parked { reason, .. } => Some(reason),
        Hold::Ready | Hold::Until { .. } => None,
    }
}

/// The name of its status.
pub fn standing(operation: &Operation) -> &'static str {
    status(operation).name()
}

/// How it ended.
pub fn ending(operation: &Operation) -> Option<&Ending> {
    match &operation.life.stage {
        Stage::Ended { ending, .. } => Some(ending),
        Stage::Submit | Stage::Reconcile(_) | Stage::Work | Stage::Result { .. } => None,
    }
}

/// The result that it ended with.
pub fn result(operation: &Operation) -> Option<&ResultRef> {
    match ending(operation)? {
        Ending::Succeeded { result, .. } => Some(result),
        Ending::Incomplete { result, .. } => result.as_ref(),
        Ending::Rejected(_)
        | Ending::Failed(_)
        | Ending::Cancelled
        | Ending::Expired(_)
        | Ending::Abandoned => None,
    }
}

/// The failure that it ended with.
pub fn failed(operation: &Operation) -> &Failure {
    match ending(operation) {
        Some(Ending::Failed(failure)) => failure,
        other => panic!("not failed but {other:?}"),
    }
}

/// It has succeeded, and the service has executed and charged once.
pub fn succeeds_once(world: &World, operation: &Operation) {
    assert_eq!(standing(operation), "succeeded", "{:?}", operation.life);
    let mut service = world.0.service.borrow_mut();
    service.service.advance(world.0.clock.now());
    assert_eq!((service.ledger().executions, service.ledger().charges), (1, 1));
    assert_eq!(service.ledger().key_mismatches, 0);
}

/// Whether it is a replay, as the ending says.
pub fn replayed(operation: &Operation) -> bool {
    matches!(ending(operation), Some(Ending::Succeeded { replayed: true, .. }))
}

/// How many keys were ever sent with a submission.
pub fn keys(world: &World) -> usize {
    let all = world.requests(Call::Submit).into_iter().filter_map(|request| request.key);
    all.collect::<BTreeSet<_>>().len()
}

/// What is kept is whole: of the length, the digest and the count of records that belong to it.
pub fn is_whole(world: &World, context: &Context, ended: &Operation) {
    let kept = result(ended).expect("a result");
    let bytes = world.kept_bytes(context, &ended.identity.id);
    assert_eq!(bytes.len() as u64, kept.bytes);
    let digest = Request::default().with_body(bytes.clone()).body_digest();
    assert_eq!(digest, kept.sha256);
    let value: serde_json::Value = serde_json::from_slice(&bytes).expect("whole JSON");
    let records = value["records"].as_array().map(Vec::len);
    assert_eq!(records.map(|own| own as u64), value["record_count"].as_u64());
}
