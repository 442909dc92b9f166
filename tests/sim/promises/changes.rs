//! Who may change an operation, what of it may change, and what must be on the disk then.

use holdfast::driver::ports::store::Durability;
use holdfast::model::evidence::{Accepted, AcceptedHow};
use holdfast::model::lane::Fence;
use holdfast::model::life::Stage;
use holdfast::model::operation::Operation;
use holdfast::model::policy::OnUnknown;

use crate::world::World;

impl World {
    /// One owner at a time, and the owner alone drives.
    pub(super) fn check_owner(
        &self,
        fence: Option<&Fence>,
        before: Option<&Operation>,
        after: &Operation,
    ) {
        let Some(fence) = fence else {
            let answered = |own: &Operation| own.counters.polls + own.life.attempts();
            if answered(after) > before.map_or(0, answered) {
                self.breach(|| "a context drives a lane that it does not own".into());
            }
            return;
        };
        let (lane, own) = (fence.lane.as_str().to_owned(), fence.context.as_str().to_owned());
        let mut oracle = self.0.oracle.borrow_mut();
        let last = oracle.owners.insert(lane, (fence.epoch.0, own.clone()));
        drop(oracle);
        if let Some((epoch, owner)) = last
            && (fence.epoch.0 < epoch || (fence.epoch.0 == epoch && owner != own))
        {
            self.breach(|| format!("epoch {} writes after epoch {epoch}", fence.epoch.0));
        }
    }

    /// Identity never changes, evidence grows only, and what is over stays as it is.
    pub(super) fn check_change(&self, before: &Operation, after: &Operation) {
        if before.identity != after.identity || before.request != after.request {
            self.breach(|| "an operation's identity or request has changed".into());
        }
        if after.revision != before.revision.next() {
            self.breach(|| "a revision is left out".into());
        }
        let (old, new) = (&before.life, &after.life);
        let (was, is) = (&old.evidence.accepted, &new.evidence.accepted);
        // A person may have named a run that failed, or that of work whose name was freed: the service's word goes before.
        let corrects = |was: &Accepted, is: &Accepted| {
            was.how == AcceptedHow::Found && is.how == AcceptedHow::Answered
        };
        let forgotten = was.as_ref().is_some_and(|was| {
            let other = |is: &Accepted| was.id.is_some() && is.id != was.id && !corrects(was, is);
            is.as_ref().is_none_or(|is| is.at != was.at || other(is))
        }) || old.evidence.unresolved.is_some()
            && new.evidence.unresolved.is_none()
            && !new.evidence.disproved;
        if forgotten {
            self.breach(|| format!("evidence is forgotten: {:?}", old.evidence));
        }
        if let Stage::Ended { .. } = old.stage
            && old.stage != new.stage
        {
            self.breach(|| "an ending has changed".into());
        }
        if old.purged.is_some() && old.purged != new.purged {
            self.breach(|| "a tombstone has changed".into());
        }
    }

    /// A risk that was accepted by name, and a person who errs, explain a second execution.
    pub(super) fn check_said(&self, events: &[String], before: &Operation, after: &Operation) {
        let has = |event: &str| events.iter().any(|own| own == event);
        let whose = self.whose(after);
        if self.0.oracle.borrow().freed.contains(&whose.0) {
            return;
        }
        let ran = self.job_of(&whose).is_some()
            || self.0.oracle.borrow().flying.get(&whose).is_some_and(|count| *count > 0);
        let errs = has("resolved.not_executed") && ran;
        if errs || has("resumed") && after.ledger.duplicated {
            *self.0.oracle.borrow_mut().risked.entry(whose).or_default() += 1;
        } else if has("reconcile.absent") && ran && !self.is_clock_set() {
            self.breach(|| "what ran is said to be absent".into());
        }
        let resubmitted = has("reconcile.resubmit");
        if resubmitted && before.limits.on_unknown == OnUnknown::Park {
            self.breach(|| "it is submitted again, and nobody has said so".into());
        }
    }

    fn is_clock_set(&self) -> bool {
        self.0.oracle.borrow().clock_set_at > 0
    }

    /// What must be on the disk before anything follows from it.
    pub(super) fn check_strictness(
        &self,
        before: Option<&Operation>,
        after: &Operation,
        durability: Durability,
    ) {
        let part = |own: &Operation| {
            let (cancel, deletion) = (own.life.cancel.as_ref(), own.life.deletion.as_ref());
            (
                own.life.attempts(),
                own.life.evidence.accepted.is_some(),
                own.life.is_ended(),
                cancel.is_some(),
                cancel.map(|cancel| cancel.attempts),
                deletion.is_some(),
                own.life.purged.is_some(),
            )
        };
        let deletes = |own: &Operation| own.life.deletion.as_ref()?.current.clone();
        let written = deletes(after).is_some() && before.and_then(deletes) != deletes(after);
        if (written || before.map(part) != Some(part(after))) && durability != Durability::Strict {
            self.breach(|| "a change that must be on the disk is relaxed".into());
        }
    }
}
