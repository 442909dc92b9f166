//! The ways out of a park. `step` accepts what is offered here, and nothing that is not.

use crate::model::hold::{Hold, ParkReason};
use crate::model::life::Stage;
use crate::model::operation::Operation;

const RESUME: &str = "resume()";
const WITH_LIMITS: &str = "resume({limits})";
const ACCEPT_RISK: &str = "resume({acceptRisk: \"duplicate\"})";
const FOUND: &str = "resolve({found})";
const NOT_EXECUTED: &str = "resolve(\"not-executed\")";
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
        ParkReason::OutcomeUnknown | ParkReason::CancelUnconfirmed | ParkReason::KeyConflict => &[],
    };
    let mut all = on.to_vec();
    if operation.life.stage == Stage::Submit {
        all.extend([FOUND, NOT_EXECUTED]);
        if matches!(reason, ParkReason::OutcomeUnknown | ParkReason::ScopeChanged) {
            all.push(ACCEPT_RISK);
        }
    }
    all.push(ABANDON);
    all
}
