//! When a lane changes hands. Every store applies these inside its own transaction.

use crate::model::ids::Epoch;
use crate::model::lane::{Claim, Fence, Lane};
use crate::model::time::Timestamp;
use crate::rules::bounds::IN_FLIGHT_MAX;
use crate::rules::teeth::{Tooth, bites};

/// The lane after a claim that is granted: the lane is new, given back, already the asker's,
/// overdue, or its owner is known to be dead. `None`: it is held, and stays as it is.
///
/// A lease that was given by a clock that has jumped back since begins anew, under its owner: it ends
/// within its length from now.
pub fn claimed(stored: Option<&Lane>, claim: &Claim) -> Option<Lane> {
    let mut sent = stored.map(|lane| lane.sent.clone()).unwrap_or_default();
    let epoch = match stored {
        None => Epoch(1),
        Some(lane) if lane.owner.as_ref() == Some(&claim.context) => lane.epoch,
        Some(lane) => {
            let free = lane.owner.is_none() || lane.owner == claim.dead;
            if !free && claim.now < lane.renewed_at {
                let length_ms = lane.lease_until.since(lane.renewed_at);
                let lease_until = claim.now.after(length_ms);
                return Some(Lane { renewed_at: claim.now, lease_until, ..lane.clone() });
            }
            if !free && claim.now < lane.lease_until && !bites(Tooth::IgnoreLease) {
                return None;
            }
            if lane.owner.is_some() && !sent.is_empty() {
                // What an owner sent last before it died, it could not write down any more. It sent
                // nothing after its lease.
                sent.push((claim.now.min(lane.lease_until), IN_FLIGHT_MAX));
            }
            Epoch(lane.epoch.0 + 1)
        }
    };
    Some(Lane {
        id: claim.lane.clone(),
        owner: Some(claim.context.clone()),
        epoch,
        renewed_at: claim.now,
        lease_until: claim.lease_until,
        gate: stored.and_then(|lane| lane.gate),
        sent,
    })
}

/// The lane after a write by its owner; `None`: the writer no longer owns it, and may not write.
pub fn renewed(stored: Option<&Lane>, fence: &Fence) -> Option<Lane> {
    let lane = stored.filter(|lane| {
        lane.owner.as_ref() == Some(&fence.context) && lane.epoch == fence.epoch
            || bites(Tooth::IgnoreEpoch)
    })?;
    Some(Lane {
        renewed_at: fence.now,
        lease_until: fence.lease_until,
        gate: fence.gate.or(lane.gate),
        sent: if fence.sent.is_empty() { lane.sent.clone() } else { fence.sent.clone() },
        ..lane.clone()
    })
}

/// The lane after a write by a context that does not drive it: a live owner must take the new work
/// up by `answer_by`, else the lane is free.
pub fn poked(stored: &Lane, answer_by: Timestamp) -> Lane {
    Lane { lease_until: stored.lease_until.min(answer_by), ..stored.clone() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::ids::{Account, ContextId, LaneId};
    use crate::model::time::Wait;

    fn lane_id() -> LaneId {
        LaneId::of(&Account::from("ann"), &"reports".into(), "https://api.example.com")
    }

    fn lane(owner: &str, lease_until: u64) -> Lane {
        Lane {
            id: lane_id(),
            owner: Some(ContextId::from(owner)),
            epoch: Epoch(7),
            renewed_at: Timestamp(0),
            lease_until: Timestamp(lease_until),
            gate: None,
            sent: Vec::new(),
        }
    }

    fn claim(context: &str, now: u64, dead: Option<&str>) -> Claim {
        Claim {
            lane: lane_id(),
            context: context.into(),
            now: Timestamp(now),
            lease_until: Timestamp(now + 50),
            dead: dead.map(ContextId::from),
        }
    }

    #[test]
    fn a_live_owner_keeps_its_lane() {
        assert_eq!(claimed(Some(&lane("a", 100)), &claim("b", 99, None)), None);
    }

    #[test]
    fn a_lease_of_this_very_moment_is_not_given_anew() {
        assert_eq!(claimed(Some(&lane("a", 100)), &claim("b", 0, None)), None);
    }

    #[test]
    fn whoever_follows_a_dead_owner_counts_what_that_may_have_sent_before_its_lease_ended() {
        let counted = vec![(Timestamp(5), 1)];
        let held = Lane { sent: counted.clone(), ..lane("a", 100) };
        let sent = |lane: &Lane, claim: &Claim| claimed(Some(lane), claim).map(|lane| lane.sent);
        let until = |at| Some(vec![(Timestamp(5), 1), (Timestamp(at), IN_FLIGHT_MAX)]);
        assert_eq!(sent(&held, &claim("b", 250, None)), until(100));
        assert_eq!(sent(&held, &claim("b", 60, Some("a"))), until(60));
        let given_back = Lane { owner: None, ..held };
        assert_eq!(sent(&given_back, &claim("b", 250, None)), Some(counted));
        assert_eq!(sent(&lane("a", 100), &claim("b", 250, None)), Some(Vec::new()));
    }

    #[test]
    fn a_write_of_its_owner_moves_the_lease_on_and_keeps_what_it_does_not_tell_anew() {
        let gate = Some(Wait::new(Timestamp(30), 50));
        let held = Lane { gate, sent: vec![(Timestamp(5), 1)], ..lane("a", 100) };
        let fence = Fence {
            lane: lane_id(),
            context: "a".into(),
            epoch: Epoch(7),
            now: Timestamp(60),
            lease_until: Timestamp(160),
            gate: None,
            sent: Vec::new(),
        };
        let moved = Lane { renewed_at: Timestamp(60), lease_until: Timestamp(160), ..held.clone() };
        assert_eq!(renewed(Some(&held), &fence), Some(moved.clone()));
        let (gate, sent) = (Some(Wait::new(Timestamp(60), 30)), vec![(Timestamp(61), 2)]);
        let told = Fence { gate, sent: sent.clone(), ..fence };
        assert_eq!(renewed(Some(&held), &told), Some(Lane { gate, sent, ..moved }));
    }

    #[test]
    fn an_overdue_lane_changes_hands_under_a_new_epoch() {
        let taken = claimed(Some(&lane("a", 100)), &claim("b", 100, None));
        assert_eq!(taken.map(|lane| lane.epoch), Some(Epoch(8)));
    }

    #[test]
    fn a_clock_that_jumped_back_does_not_stretch_a_lease() {
        let held = Lane { renewed_at: Timestamp(1_000), ..lane("a", 1_100) };
        let anew = claimed(Some(&held), &claim("b", 10, None)).expect("it begins anew");
        assert_eq!((anew.owner.clone(), anew.epoch), (held.owner, held.epoch));
        assert_eq!(anew.lease_until, Timestamp(110));
        let taken = claimed(Some(&anew), &claim("b", 110, None)).expect("it is overdue");
        assert_eq!(taken.epoch, Epoch(8));
    }

    #[test]
    fn a_dead_owner_is_followed_at_once() {
        assert!(claimed(Some(&lane("a", 100)), &claim("b", 1, Some("a"))).is_some());
        assert_eq!(claimed(Some(&lane("a", 100)), &claim("b", 1, Some("c"))), None);
    }

    #[test]
    fn the_owner_claims_again_under_the_same_epoch() {
        let kept = claimed(Some(&lane("a", 100)), &claim("a", 1, None));
        assert_eq!(kept.map(|lane| lane.epoch), Some(Epoch(7)));
    }

    #[test]
    fn a_former_owner_may_not_write() {
        let fence = Fence {
            lane: lane_id(),
            context: "a".into(),
            epoch: Epoch(6),
            now: Timestamp(450),
            lease_until: Timestamp(500),
            gate: None,
            sent: Vec::new(),
        };
        assert_eq!(renewed(Some(&lane("a", 100)), &fence), None);
        assert_eq!(renewed(Some(&lane("b", 100)), &Fence { epoch: Epoch(7), ..fence }), None);
    }
}
