//! What holds whatever is sent and whatever goes wrong.
use std::collections::BTreeSet;

use crate::calls::*;
use holdfast_services::{Call, Fault, FaultKind, JobEntry, Request};
use proptest::prelude::*;
use serde_json::json;

fn any_fault() -> impl Strategy<Value = Fault> {
    let kinds = vec![
        FaultKind::LoseBefore,
        FaultKind::LoseAfter,
        FaultKind::Status,
        FaultKind::Truncate,
        FaultKind::NotFound,
        FaultKind::Clock,
    ];
    let kind = prop::sample::select(kinds);
    (kind, 0..4_u64, 0..4_u64, any::<bool>()).prop_map(|(kind, skip, times, after_commit)| Fault {
        skip,
        times,
        after_commit,
        ..Fault::once(Call::Any, kind)
    })
}

fn any_request() -> impl Strategy<Value = Request> {
    let id = || (1..6_u64).prop_map(|n| format!("req_{n:06}"));
    prop_oneof![
        ("[kl]", 0..3_u64).prop_map(|(key, n)| {
            submit(&key, &json!({"url": "u", "duration_ms": n * 500, "fail_times": n}))
        }),
        id().prop_map(|id| poll(&id)),
        id().prop_map(|id| result(&id)),
        id().prop_map(|id| cancel(&id)),
        (id(), "[rs]").prop_map(|(id, key)| retry(&id, &key)),
    ]
}

proptest! {
    #[test]
    fn a_key_executes_once_and_every_credit_is_accounted_for(
        faults in prop::collection::vec(any_fault(), 0..6),
        requests in prop::collection::vec((any_request(), 0..2000_u64), 0..40),
    ) {
        let mut world = world();
        world.faults.add(faults);
        let mut now = 0;
        for (request, pause) in requests {
            now += pause;
            world.exchange(now, &request);
        }
        let ledger = world.ledger();
        let keys: BTreeSet<_> = ledger.jobs.values().map(|job| &job.key).collect();
        prop_assert_eq!(keys.len(), ledger.jobs.len());
        prop_assert_eq!(ledger.executions, ledger.charges);
        let sum = |of: fn(&JobEntry) -> u64| ledger.jobs.values().map(of).sum::<u64>();
        prop_assert_eq!(ledger.executions, sum(|job| job.executions));
        prop_assert_eq!(ledger.charged_credits, sum(|job| job.charged));
        prop_assert_eq!(ledger.refunded_credits, sum(|job| job.refunded));
        prop_assert_eq!(ledger.balance + ledger.charged_credits, 100 + ledger.refunded_credits);
    }

    #[test]
    fn the_same_requests_at_the_same_times_are_answered_alike(
        faults in prop::collection::vec(any_fault(), 0..4),
        requests in prop::collection::vec((any_request(), 0..2000_u64), 0..20),
    ) {
        let mut one = world();
        one.faults.add(faults);
        let mut other = one.clone();
        let mut now = 0;
        for (request, pause) in requests {
            now += pause;
            prop_assert_eq!(one.exchange(now, &request), other.exchange(now, &request));
        }
        prop_assert_eq!(one.ledger().to_json(), other.ledger().to_json());
    }
}
