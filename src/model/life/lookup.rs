//! The transitions of an operation that is looked up in its service's listing.

use super::{Illegal, Life, Stage};
use crate::model::hold::{Hold, WaitReason};
use crate::model::ids::JobId;
use crate::model::listing::{Listing, Page};
use crate::model::time::Timestamp;

impl Life {
    /// Whether the service took the work on is looked up in its listing, once that is sure to show
    /// it: not before every attempt is over and the listing has caught up.
    pub fn reconcile(&mut self, now: Timestamp, lag_ms: u64) -> Result<(), Illegal> {
        let evidence = &self.0.evidence;
        let open = self.0.stage == Stage::Submit && evidence.current.is_none();
        let Some(unresolved) = evidence.unresolved.as_ref().filter(|_| open) else {
            return Err(Illegal);
        };
        let length_ms = unresolved.shown_in(now, lag_ms);
        self.0.stage = Stage::Reconcile(Listing::default());
        self.wait(now, length_ms, WaitReason::ListingLag)
    }

    /// A page of the listing was read.
    pub fn listed(&mut self, page: &Page) -> Result<(), Illegal> {
        self.listing()?.add(page);
        self.release()
    }

    /// The listing is read again from its first page, for this reading said too little.
    pub fn list_again(&mut self) -> Result<(), Illegal> {
        let listing = self.listing()?;
        listing.short += 1;
        listing.restart();
        Ok(())
    }

    /// A run of the listing belongs to another operation: the listing is read without it.
    pub fn not_ours(&mut self, id: JobId) -> Result<(), Illegal> {
        let listing = self.listing()?;
        listing.foreign.push(id);
        listing.restart();
        self.release()
    }

    /// The listing was read back past the first attempt and shows no run of this operation.
    pub fn not_listed(&mut self) -> Result<(), Illegal> {
        self.listing()?.absent = true;
        Ok(())
    }

    fn listing(&mut self) -> Result<&mut Listing, Illegal> {
        match &mut self.0.stage {
            Stage::Reconcile(listing) => Ok(listing),
            Stage::Submit | Stage::Work | Stage::Result { .. } | Stage::Ended { .. } => {
                Err(Illegal)
            }
        }
    }

    /// No attempt was executed, as a person or the listing says: it may be sent again, under the
    /// same identity.
    pub fn disproved(&mut self) -> Result<(), Illegal> {
        let open = matches!(self.0.stage, Stage::Submit | Stage::Reconcile(_));
        if !open || self.0.evidence.current.is_some() {
            return Err(Illegal);
        }
        self.0.stage = Stage::Submit;
        self.0.evidence.unresolved = None;
        self.0.evidence.disproved = true;
        self.0.hold = Hold::Ready;
        Ok(())
    }
}
