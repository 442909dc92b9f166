//! What is known of a run from outside.

use std::collections::{BTreeMap, BTreeSet};

use holdfast::driver::ports::store::Row;
use holdfast::model::ids::OperationId;
use holdfast_services::Call;

use super::kinds::Kind;
use super::transitions::Transition;

/// Whose: the work, and the place in its lineage.
pub type Member = (String, u64);

/// What is known of a run.
#[derive(Default)]
pub struct Oracle {
    /// The first broken promise.
    pub breach: Option<String>,
    /// Operations that an app was told are taken on, with their keys.
    pub acknowledged: BTreeMap<OperationId, String>,
    /// The operation of each member of a lineage; and every operation that was ever stored.
    pub members: BTreeMap<Member, OperationId>,
    pub births: BTreeMap<OperationId, Birth>,
    /// Operations of which not even a tombstone is left, and the work whose intent is free by that.
    pub erased: BTreeSet<OperationId>,
    pub freed: BTreeSet<String>,
    /// Jobs that somebody else made, by the work that takes them on.
    pub foreign: BTreeMap<String, String>,
    /// Submissions that are on their way to the service.
    pub flying: BTreeMap<Member, u64>,
    /// Every job that was executed.
    pub jobs: BTreeMap<String, Job>,
    /// Executions of each (work, ordinal).
    pub executions: BTreeMap<Member, u64>,
    /// Faults that were put in the place of answers.
    pub lies: BTreeMap<(Member, Kind), u64>,
    /// Jobs whose result the service has said to be gone.
    pub gone: BTreeSet<Member>,
    /// State-changing attempts that left: operation, what for, number, when it was written.
    pub left: BTreeSet<(OperationId, Call, u32, u64)>,
    /// The last request of each operation: when, from which context, after how many clock changes.
    pub last: BTreeMap<OperationId, (u64, u64)>,
    /// The last accepted ownership of each lane.
    pub owners: BTreeMap<String, (u64, String)>,
    /// Endings that `onSettled` took.
    pub delivered: BTreeSet<OperationId>,
    /// Operations that the app wished to cancel, or gave up.
    pub cancelled: BTreeSet<OperationId>,
    /// How often a person accepted a possible second execution, or said wrongly that there was none.
    pub risked: BTreeMap<Member, u64>,
    /// How often a person has looked after an operation.
    pub helped: BTreeMap<OperationId, u32>,
    pub abandoned: BTreeSet<OperationId>,
    /// Parks that no wish led to, by reason.
    pub parked: BTreeMap<OperationId, Vec<String>>,
    /// When the clock was last set, by the time that really passes; when it was set back.
    pub clock_set_at: u64,
    pub clock_set_back: Vec<u64>,
    /// When the credential's scope last was another.
    pub scope_changes: u64,
    pub transitions: BTreeMap<Transition, u64>,
    /// The operation that the last submit gave; whether, at the end, all work was submitted again.
    pub told_last: Option<OperationId>,
    pub submitted_again: bool,
    /// Records that must not be driven.
    pub planted: Vec<Row>,
    pub commits: u64,
    pub requests: u64,
}

/// A job at the service.
#[derive(Clone, Debug)]
pub struct Job {
    pub whose: Member,
    pub at: u64,
}

/// An operation, when it is first stored.
#[derive(Clone, Debug)]
pub struct Birth {
    pub whose: Member,
    /// How many failed jobs it comes after, since something was last submitted.
    pub reruns: u64,
    /// Whether its body has been corrected.
    pub corrected: bool,
}
