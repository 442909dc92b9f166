//! What may be removed, and when.

use holdfast::driver::ports::store::Erase;
use holdfast::model::life::{Delivery, Stage};
use holdfast::model::operation::Operation;

use crate::world::World;

impl World {
    /// Content goes only where that was asked for, or when its time is over.
    pub(super) fn check_removal(
        &self,
        erase: Erase,
        before: &Operation,
        after: &Operation,
        events: &[String],
    ) {
        // Written by now, it may have been decided on before the clock was set.
        let (set_at, slow_ms) = (self.0.oracle.borrow().clock_set_at, 30_000);
        let unsteady = set_at > 0 && self.now() < set_at + slow_ms;
        if erase == Erase::Everything {
            let forgotten = self.0.plan.forgets && events.iter().any(|own| own == "forgotten");
            let tombstone_ms = before.retention.tombstone_ms;
            let purged = before.life.purged.as_ref();
            if !forgotten
                && !unsteady
                && purged.is_none_or(|own| own.at.0 + tombstone_ms > self.wall())
            {
                self.breach(|| "an intent is forgotten before its time".into());
            }
            let mut oracle = self.0.oracle.borrow_mut();
            let work = oracle.births.get(&after.identity.id).map(|own| own.whose.0.clone());
            oracle.erased.insert(after.identity.id.clone());
            oracle.freed.extend(work);
            return;
        }
        let purged = before.life.purged.is_none() && after.life.purged.is_some();
        if purged != (erase == Erase::Content) {
            self.breach(|| "content goes without a tombstone, or the other way round".into());
        }
        if !purged || unsteady || before.life.deletion.is_some() {
            return;
        }
        let taken_at = match &before.life.delivery {
            Some(Delivery::Delivered(at) | Delivery::Acknowledged(at)) => Some(at.0),
            Some(Delivery::Pending(_)) | None => None,
        };
        let ended_at = match &before.life.stage {
            Stage::Ended { at, .. } => Some(at.0),
            Stage::Submit | Stage::Reconcile(_) | Stage::Work | Stage::Result { .. } => None,
        };
        let kept = before.retention;
        let over = |from: Option<u64>, length_ms: Option<u64>| {
            from.zip(length_ms).is_some_and(|(at, length_ms)| at + length_ms <= self.wall())
        };
        if !over(taken_at, kept.result_ms) && !over(ended_at, kept.age_ms) {
            self.breach(|| "content goes before its time".into());
        }
    }
}
