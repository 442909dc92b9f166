//! Late billing: bounded reads after the ending, which change money and nothing else.

use super::pen::Pen;
use crate::model::hold::{Hold, WaitReason};
use crate::model::life::{Illegal, Settlement};
use crate::model::profile::Purpose;
use crate::model::time::Wait;
use crate::rules::backoff;
use crate::rules::classify::Verdict;

pub(super) fn answered(pen: &mut Pen<'_>, verdict: &Verdict) -> Result<(), Illegal> {
    pen.note_answer("settlement.answered", Purpose::Settle, &verdict.said);
    let word = pen.op.ledger.token_state.as_ref();
    let settled = pen
        .profile
        .settlement
        .as_ref()
        .is_none_or(|policy| word.is_some_and(|word| policy.final_states.contains(word)));
    if settled {
        pen.note("settlement.final");
        return pen.op.life.settle(None);
    }
    failed(pen)
}

pub(super) fn failed(pen: &mut Pen<'_>) -> Result<(), Illegal> {
    let reads = pen.op.life.settlement.as_ref().map_or(0, |open| open.reads) + 1;
    let policy = pen.profile.settlement.as_ref().filter(|policy| reads < policy.reads_max);
    let Some(policy) = policy else {
        pen.note("settlement.given_up");
        return pen.op.life.settle(None);
    };
    let length_ms = backoff::poll_delay(&policy.pace, reads, pen.dice);
    let hold = Hold::Until { wait: Wait::new(pen.now, length_ms), reason: WaitReason::Settlement };
    pen.op.life.settle(Some(Settlement { hold, reads }))
}
