//! The ways out of a park. `step` accepts what is offered here, and nothing that is not.

use crate::model::ending::Ending;
use crate::model::hold::{Hold, ParkReason};
use crate::model::life::Stage;
use crate::model::money::Credits;
use crate::model::operation::Operation;

const RESUME: &str = "resume()";
const WITH_LIMITS: &str = "resume({limits})";
const ACCEPT_RISK: &str = "resume({acceptRisk: \"duplicate\"})";
const FOUND: &str = "resolve({found})";
const NOT_EXECUTED: &str = "resolve(\"not-executed\")";
const REVISE: &str = "revise({body})";
const ABANDON: &str = "resolve(\"abandon\")";

/// The calls that lead on from a park; none for what is not parked.
pub fn exits(operation: &Operation) -> Vec<&'static str> {
    let Hold::Parked { reason, .. } = operation.life.hold else {
        return Vec::new();
    };
    let on: &[&str] = match reason {
        ParkReason::NeedsCredential
        | ParkReason::NeedsCredit
        | ParkReason::NeedsAccess
        | ParkReason::JobNotFound
        | ParkReason::ScopeChanged => &[RESUME],
        ParkReason::DeadlineExceeded | ParkReason::BudgetExhausted => &[WITH_LIMITS],
        ParkReason::OutcomeUnknown
        | ParkReason::Ambiguous
        | ParkReason::CancelUnconfirmed
        | ParkReason::KeyConflict
        | ParkReason::VersionMoved => &[],
    };
    let mut all = on.to_vec();
    if may_be_found(operation) && !operation.taken {
        all.push(FOUND);
    }
    if may_be_disproved(operation) {
        all.push(NOT_EXECUTED);
        let unknown = matches!(
            reason,
            ParkReason::OutcomeUnknown | ParkReason::Ambiguous | ParkReason::ScopeChanged
        );
        if unknown {
            all.push(ACCEPT_RISK);
        }
    }
    let attempts = operation.spent.attempts.saturating_add(operation.life.attempts());
    let spent = attempts >= operation.limits.attempts || operation.is_too_dear(Credits::LEAST);
    if may_be_revised(operation) && !spent {
        all.push(REVISE);
    }
    all.push(ABANDON);
    all
}

/// Whether corrected work may take its place: only where it is proven that nothing of it ran, or where
/// what ran is over and its result is to be completed.
pub const fn may_be_revised(operation: &Operation) -> bool {
    let life = &operation.life;
    match life.stage() {
        Stage::Submit => matches!(life.hold(), Hold::Parked { .. }) && !life.may_be_accepted(),
        Stage::Ended { ending: Ending::Rejected(_) | Ending::Incomplete { .. }, .. } => true,
        Stage::Reconcile(_) | Stage::Ended { .. } | Stage::Work | Stage::Result { .. } => false,
    }
}

/// Whether a person may say under which id the service took the work on: only where it may have,
/// and where that leads on.
pub fn may_be_found(operation: &Operation) -> bool {
    if operation.blind {
        // Its result comes by a replay alone.
        return may_be_disproved(operation) && !operation.keyless;
    }
    may_be_disproved(operation)
        || (operation.life.stage == Stage::Submit
            && matches!(operation.life.hold, Hold::Parked { reason: ParkReason::KeyConflict, .. }))
}

/// Whether a person may say that no attempt was executed: only where one may have been, and where
/// the same key may be sent again.
pub fn may_be_disproved(operation: &Operation) -> bool {
    matches!(operation.life.stage, Stage::Submit | Stage::Reconcile(_))
        && operation.life.evidence.unresolved.is_some()
        && !matches!(operation.life.hold, Hold::Parked { reason: ParkReason::KeyConflict, .. })
}
