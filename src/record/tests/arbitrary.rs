//! Operations of all kinds, their lives led by transitions.

use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;

use crate::model::ending::{Ending, Failure, FailureClass, Fault, ResultRef};
use crate::model::evidence::AcceptedHow;
use crate::model::hold::{Hold, ParkReason, WaitReason};
use crate::model::ids::{
    Account, IdempotencyKey, Intent, JobId, OperationId, Revision, Scope, ServiceName,
};
use crate::model::life::{Delivery, Illegal, Life, Settlement};
use crate::model::listing::Page;
use crate::model::money::{Amount, Credits, Ledger, ReceiptKind};
use crate::model::operation::{Counters, Identity, Operation, Reported, Request, Spent};
use crate::model::policy::{Limits, OnUnknown, Retention};
use crate::model::profile::{Stream, StreamForm};
use crate::model::time::{Timestamp, Wait};
use crate::model::value::Value;

/// A transition, and what it needs: which, when, for how long, and a word.
type Move = (u8, u64, u64, Option<String>);

fn pick<T: Copy>(all: &[T], by: u64) -> T {
    all[by as usize % all.len()]
}

fn fault(by: u64, word: &Option<String>) -> Fault {
    Fault {
        status: by.is_multiple_of(2).then_some((by % 1_000) as u16),
        code: word.clone(),
        message: by.is_multiple_of(3).then(|| "no".into()),
        trace_id: by.is_multiple_of(5).then(|| "t".into()),
    }
}

fn result(by: u64, word: &Option<String>) -> ResultRef {
    ResultRef {
        download: by,
        chunks: by as u32,
        bytes: by,
        sha256: "ab".into(),
        media_type: word.clone(),
        at: word.clone(),
        stream: by.is_multiple_of(3).then(|| {
            Box::new(Stream {
                form: StreamForm::Sse,
                result: Some("summary".into()),
                end: word.clone(),
                end_data: word.clone(),
                gather: vec![("record".into(), "records".into())],
            })
        }),
        items: word.clone(),
        earlier: vec![(1, by), (3, by + 1)],
        captured_at: Timestamp(by),
    }
}

fn ending(by: u64, word: &Option<String>) -> Ending {
    match by % 7 {
        0 => Ending::Succeeded { result: result(by, word), replayed: by.is_multiple_of(2) },
        1 => Ending::Rejected(fault(by, word)),
        2 => Ending::Failed(Failure {
            id: "f".into(),
            class: pick(FailureClass::ALL, by),
            fault: fault(by, word),
        }),
        3 => Ending::Cancelled,
        4 => Ending::Expired(fault(by, word)),
        5 => Ending::Incomplete {
            fault: fault(by, word),
            result: by.is_multiple_of(2).then(|| result(by, word)),
        },
        _ => Ending::Abandoned,
    }
}

fn make(life: &mut Life, (which, at, by, word): &Move) -> Result<(), Illegal> {
    let (now, by) = (Timestamp(*at), *by);
    let until = |reason| Hold::Until { wait: Wait::new(now, by), reason };
    match which % 29 {
        0 | 1 => life.write_ahead(now, by, by, word.clone().map(Scope)),
        2 => life.not_sent(),
        3 => life.lost(),
        4 => life.refused(),
        5 => {
            let how = pick(&[AcceptedHow::Answered, AcceptedHow::Found, AcceptedHow::Listed], by);
            life.accepted(word.clone().map(JobId), how, now)
        }
        6 => life.disproved(),
        7 => life.completed(by.is_multiple_of(2).then_some(now), by.is_multiple_of(3)),
        8 => life.not_ready(),
        9 => life.wait(now, by, pick(WaitReason::ALL, by)),
        10 => life.park(now, pick(ParkReason::ALL, by)),
        11 => life.end(now, ending(by, word)),
        12 => life.want_cancel(now),
        13 => life.write_cancel_ahead(now, by, by),
        14 => life.cancel_answered(by.is_multiple_of(2)),
        15 => {
            life.job_read();
            Ok(())
        }
        16 => life.settle((by % 3 > 0).then(|| Settlement {
            hold: pick(&[Hold::Ready, until(WaitReason::Settlement)].each_ref(), by).clone(),
            reads: by as u32,
        })),
        17 => life.want_delete(now),
        18 => life.write_delete_ahead(now, by, by),
        19 => life.delete_answered(by.is_multiple_of(2)),
        20 if by.is_multiple_of(2) => life.delete_accepted(),
        20 => life.outlived_deletion(),
        21 => life.hold_deletion(
            pick(
                &[
                    &Hold::Ready,
                    &until(WaitReason::Backoff),
                    &Hold::Parked { reason: pick(ParkReason::ALL, by), at: now },
                ],
                by,
            )
            .clone(),
        ),
        22 => life.purge(now, by.is_multiple_of(2)),
        23 => life.reconcile(now, by),
        24 => life.listed(&page(by, word)),
        25 => life.list_again(),
        26 => life.not_ours(JobId(word.clone().unwrap_or_default())),
        27 => life.not_listed(),
        _ => life.deliver(match by % 4 {
            0 => Delivery::Pending(Hold::Ready),
            1 => Delivery::Pending(until(WaitReason::Delivery)),
            2 => Delivery::Delivered(now),
            _ => Delivery::Acknowledged(now),
        }),
    }
}

fn page(by: u64, word: &Option<String>) -> Page {
    Page {
        found: word.iter().cloned().map(JobId).collect(),
        doubtful: by.is_multiple_of(2),
        reaches_back: by.is_multiple_of(3),
        next: word.clone(),
    }
}

pub(super) fn any_life() -> impl Strategy<Value = Life> {
    vec((any::<u8>(), any::<u64>(), any::<u64>(), option::of(".{0,9}")), 0..30).prop_map(|moves| {
        let mut life = Life::new();
        for own in &moves {
            // What is not allowed from here changes nothing.
            let _ = make(&mut life, own);
        }
        life
    })
}

fn any_value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::Bool),
        any::<u64>().prop_map(|number| Value::Number(number.to_string())),
        Just(Value::Number("1.50e+3".into())),
        ".{0,9}".prop_map(Value::String),
    ];
    leaf.prop_recursive(3, 12, 4, |inner| {
        prop_oneof![
            vec(inner.clone(), 0..4).prop_map(Value::List),
            prop::collection::btree_map(".{0,5}", inner, 0..4)
                .prop_map(|members| Value::Map(members.into_iter().collect())),
        ]
    })
}

fn any_unknown() -> impl Strategy<Value = Vec<(String, Value)>> {
    let members = prop::collection::btree_map("x[a-z~/\"]{0,6}", any_value(), 0..4);
    members.prop_map(|members| members.into_iter().collect())
}

fn any_credits() -> impl Strategy<Value = Vec<Option<Credits>>> {
    vec(option::of((-i64::MAX..=i64::MAX).prop_map(Credits)), 6)
}

fn limits(counts: &[u32], numbers: &[u64], cost: Option<Credits>) -> Limits {
    Limits {
        send_within_ms: numbers[2],
        total_ms: numbers[3],
        attempts: counts[1],
        cost,
        on_unknown: pick(&[OnUnknown::Park, OnUnknown::Resubmit], numbers[2]),
    }
}

fn retention(counts: &[u32], numbers: &[u64]) -> Retention {
    Retention {
        result_ms: counts[10].is_multiple_of(2).then_some(numbers[1]),
        age_ms: counts[11].is_multiple_of(2).then_some(numbers[2]),
        tombstone_ms: numbers[5],
    }
}

fn counters(counts: &[u32]) -> Counters {
    Counters {
        polls: counts[3],
        failures: counts[4],
        authorizations: counts[5],
        not_ready: counts[6],
        refusals: counts[7],
        misses: counts[8] / 2,
        redirects: counts[0] / 3,
        restarts: counts[1] / 3,
        deliveries: counts[8],
        journal: counts[9],
    }
}

fn ledger(credits: &[Option<Credits>], word: Option<String>, duplicated: bool) -> Ledger {
    let mut ledger = Ledger { token_state: word, duplicated, ..Ledger::default() };
    for (amount, credits) in Amount::ALL.iter().zip(credits.iter().cycle()) {
        ledger.set(*amount, *credits);
    }
    ledger
}

fn receipt_kind(count: u32) -> Option<ReceiptKind> {
    ReceiptKind::ALL.get(count as usize % 4).copied()
}

pub(in crate::record) fn any_operation() -> impl Strategy<Value = Operation> {
    (
        vec(".{0,12}", 12),
        vec(option::of(".{0,9}"), 8),
        vec(any::<u64>(), 6),
        vec(any::<u32>(), 12),
        any_credits(),
        any_life(),
        any_unknown(),
    )
        .prop_map(|(texts, words, numbers, counts, credits, life, unknown)| {
            let text = |index: usize| texts[index].clone();
            Operation {
                identity: Identity {
                    id: OperationId(text(0)),
                    account: Account(text(1)),
                    service: ServiceName(text(2)),
                    origin: text(3),
                    intent: Intent(text(4)),
                    ordinal: counts[0],
                    parent: words[0].clone().map(OperationId),
                    key: IdempotencyKey(text(5)),
                    fingerprint: text(6),
                    profile: text(7),
                    profile_digest: text(8),
                    created_at: Timestamp(numbers[0]),
                },
                request: Request {
                    method: text(9),
                    url: text(10),
                    content_type: words[1].clone(),
                    body_bytes: numbers[1],
                },
                carried: vec![(text(11), text(0))],
                limits: limits(&counts, &numbers, credits[0]),
                retention: retention(&counts, &numbers),
                spent: Spent { attempts: counts[2], cost: credits[1].unwrap_or_default() },
                blind: counts[3].is_multiple_of(2),
                keyless: counts[4].is_multiple_of(2),
                taken: counts[5].is_multiple_of(2),
                life,
                reported: Reported {
                    state: words[2].clone(),
                    progress: words[3].clone(),
                    request_id: words[4].clone(),
                    trace_id: words[5].clone(),
                    charge_receipt_id: words[3].clone(),
                    charge_receipt_kind: receipt_kind(counts[11]),
                    record_count: words[2].clone(),
                    digest: words[4].clone(),
                    fault: words[3].clone().map(|message| Fault {
                        status: Some(402),
                        message: Some(message),
                        ..Fault::default()
                    }),
                },
                ledger: ledger(&credits, words[6].clone(), counts[10] % 2 == 0),
                counters: counters(&counts),
                revision: Revision(numbers[4]),
                unknown,
            }
        })
}

/// An operation as they usually are: accepted and polled.
pub(super) fn usual() -> Operation {
    let mut life = Life::new();
    let now = Timestamp(1_790_000_000_000);
    life.write_ahead(now, 2_000, 32_000, Some("org_1/key_7".into())).unwrap();
    let job = JobId::from("req_01JF8Z4S9T6Q2W8E5R7Y");
    life.accepted(Some(job), AcceptedHow::Answered, now.after(400)).unwrap();
    life.wait(now.after(400), 1_600, WaitReason::Poll).unwrap();
    Operation {
        identity: Identity {
            id: "0199f4a2-5d1e-7c3a-9b4d-2f6e8a1c0d3b".into(),
            account: "user_8812".into(),
            service: "reports".into(),
            origin: "https://api.example.com".into(),
            intent: "daily:2026-11-29".into(),
            ordinal: 0,
            parent: None,
            key: "7b0d3c55-5a0e-4f1c-8f6e-1d2c3b4a5968".into(),
            fingerprint: "5".repeat(64),
            profile: "reports".into(),
            profile_digest: "a".repeat(64),
            created_at: now,
        },
        request: Request {
            method: "POST".into(),
            url: "https://api.example.com/api/v1/data/requests".into(),
            content_type: Some("application/json".into()),
            body_bytes: 2_048,
        },
        carried: Vec::new(),
        limits: Limits::default(),
        retention: Retention::default(),
        spent: Spent::default(),
        blind: false,
        keyless: false,
        taken: false,
        life,
        reported: Reported { state: Some("running".into()), ..Reported::default() },
        ledger: {
            let mut ledger = Ledger::default();
            ledger.set(Amount::Base, Credits::parse("2.5"));
            ledger
        },
        counters: Counters { polls: 3, journal: 9, ..Counters::default() },
        revision: Revision(7),
        unknown: Vec::new(),
    }
}
