//! Claims of lanes, and news of dead owners.

use super::Driver;
use super::ports::{Clock, Locks, Ports, Store};
use crate::engine::Input;
use crate::model::lane::Claim;

impl<P: Ports> Driver<P> {
    /// Claims a lane; once more where its owner is known to be dead.
    pub(super) async fn claim(self, claim: Claim) {
        let lane = claim.lane.clone();
        self.reach("claim.before");
        let mut claimed = self.0.ports.store().claim(&claim).await;
        if let Ok(row) = &claimed
            && let Some(owner) = row.owner.clone().filter(|owner| *owner != self.0.context)
            && self.0.ports.runtime().is_dead(&owner).await
        {
            // The machine may have slept meanwhile: a claim of that long ago would take a lane from the living.
            let late = self.0.ports.runtime().now().since(claim.now);
            let (now, lease_until) = (claim.now.after(late), claim.lease_until.after(late));
            let again = Claim { dead: Some(owner), now, lease_until, ..claim };
            claimed = self.0.ports.store().claim(&again).await;
        }
        self.reach("claim.after");
        self.feed(Input::Claimed(lane, claimed));
    }
}
