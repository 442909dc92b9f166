//! The calm after a state: no faults any more, everything goes on at once. The work must come home.

use holdfast::model::ending::Ending;
use holdfast::model::hold::{Hold, ParkReason};
use holdfast::model::life::Stage;
use holdfast::model::operation::Operation;

use super::actions::Action;
use super::service::Kind;
use super::state::State;

/// More steps than any calm takes.
const STEPS_MAX: u32 = 5_000;

/// Steps for which it must stay at rest.
const REST: u32 = 12;

/// Follows a state until nothing is left to be done; the law that is broken, if one is.
pub fn settle(from: &State) -> Result<u32, String> {
    let mut state = from.clone();
    let mut rested = 0;
    for step in 0..STEPS_MAX {
        if let Some(breach) = state.breach {
            return Err(breach);
        }
        rested = if state.stored.as_deref().is_some_and(rests) { rested + 1 } else { 0 };
        let next = next(&state).filter(|_| rested < REST);
        let Some(action) = next else {
            return judge(&state).map(|()| step);
        };
        state.let_happen(action);
    }
    Err(format!("it does not settle: {:?}", state.stored.map(|own| own.life.clone())))
}

fn next(state: &State) -> Option<Action> {
    if state.slots.iter().all(Option::is_none) {
        return Some(Action::Open(0));
    }
    let all = state.actions();
    let goes_on = |action: &&Action| {
        matches!(
            action,
            Action::Submit(_)
                | Action::Hint(_)
                | Action::GoOn(..)
                | Action::Arrive(_)
                | Action::Answer(_)
                | Action::Tick(_)
                | Action::TimeOut(_)
        )
    };
    all.iter()
        .find(goes_on)
        .copied()
        .or_else(|| state.points().first().copied().map(Action::Advance))
}

/// It is over and delivered, or waits for a person.
fn rests(own: &Operation) -> bool {
    let over = own.life.is_ended() && own.delivery_due().is_none() && own.life.settlement.is_none();
    over || matches!(own.life.hold, Hold::Parked { .. })
}

/// Whether it may have come to that.
fn judge(state: &State) -> Result<(), String> {
    let Some(own) = state.stored.as_deref() else {
        return Err("acknowledged work is lost".into());
    };
    let executed = state.service.executions() > 0;
    let refused = state.seen.refused;
    if let Hold::Parked { reason, .. } = own.life.hold {
        let lapsed = state.service.kind.lapses();
        // Found out by the listing, else by nobody.
        let blind = match state.service.kind {
            Kind::Keyed { .. } => false,
            Kind::Listed => !executed,
            Kind::Unlisted => own.life.evidence.unresolved.is_some(),
        };
        let unconfirmed = state.seen.wished && reason == ParkReason::CancelUnconfirmed;
        let may = unconfirmed || refused > 0 || lapsed || blind;
        return if may { Ok(()) } else { Err(format!("an avoidable park: {reason:?}")) };
    }
    match &own.life.stage {
        Stage::Ended { ending: Ending::Succeeded { .. }, .. } if executed => Ok(()),
        Stage::Ended { ending: Ending::Rejected(_), .. } if !executed && refused > 0 => Ok(()),
        Stage::Ended { ending: Ending::Cancelled, .. } if state.seen.wished => Ok(()),
        other @ (Stage::Submit
        | Stage::Reconcile(_)
        | Stage::Work
        | Stage::Result { .. }
        | Stage::Ended { .. }) => Err(format!("it comes to {other:?}, executed: {executed}")),
    }
}
