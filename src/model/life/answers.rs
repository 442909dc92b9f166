//! Transitions of work whose result comes with the answer to its submission, by a replay of that, or
//! page by page.

use super::{Illegal, Life, Stage};
use crate::model::evidence::{Accepted, AcceptedHow, Unresolved};
use crate::model::hold::Hold;
use crate::model::ids::JobId;
use crate::model::pages::Paged;
use crate::model::time::Timestamp;

impl Life {
    /// The answer to the attempt that was written ahead is still coming: it may go on until then.
    pub fn goes_on(&mut self, abort_at: Timestamp) -> Result<(), Illegal> {
        let attempt = self.0.evidence.current.as_mut().ok_or(Illegal)?;
        attempt.abort_at = attempt.abort_at.max(abort_at);
        Ok(())
    }

    /// The work is taken on, under this id where it is named; the answer that brings its result, or
    /// says more of it, is still to come.
    pub fn seen(
        &mut self,
        id: Option<JobId>,
        how: AcceptedHow,
        at: Timestamp,
    ) -> Result<(), Illegal> {
        if self.0.stage != Stage::Submit {
            return Err(Illegal);
        }
        let known = self.0.evidence.accepted.take();
        let id = id.or_else(|| known.as_ref().and_then(|own| own.id.clone()));
        let at = known.map_or(at, |own| own.at);
        self.0.evidence.accepted = Some(Accepted { id, how, at });
        Ok(())
    }

    /// The work is done without a job to follow: its result has come with the answer to the
    /// submission, or is read by the id.
    pub fn fulfilled(
        &mut self,
        id: Option<JobId>,
        how: AcceptedHow,
        at: Timestamp,
        expires_at: Option<Timestamp>,
    ) -> Result<(), Illegal> {
        self.seen(id, how, at)?;
        self.0.evidence.current = None;
        self.0.stage = Stage::Result { expires_at, partial: false, pages: None };
        self.0.hold = Hold::Ready;
        Ok(())
    }

    /// The next page of the result has come: the one after it is due.
    pub fn paged(&mut self, so_far: Box<Paged>) -> Result<(), Illegal> {
        let Stage::Result { pages, .. } = &mut self.0.stage else {
            return Err(Illegal);
        };
        if so_far.pages != pages.as_ref().map_or(1, |own| own.pages + 1) {
            return Err(Illegal);
        }
        *pages = Some(so_far);
        self.release()
    }

    /// The result broke off: what has come of it is kept, and the rest is to be had.
    pub fn broke_off(&mut self, so_far: Box<Paged>) -> Result<(), Illegal> {
        let Stage::Result { pages, .. } = &mut self.0.stage else {
            return Err(Illegal);
        };
        *pages = Some(so_far);
        Ok(())
    }

    /// What has come of the result leads no further: it is read from its beginning.
    pub fn anew(&mut self) -> Result<(), Illegal> {
        let Stage::Result { pages, .. } = &mut self.0.stage else {
            return Err(Illegal);
        };
        *pages = None;
        Ok(())
    }

    /// The result comes only by the same request, sent again: by its replay. The first attempt was
    /// not before `since`.
    pub fn again(&mut self, now: Timestamp, since: Timestamp) -> Result<(), Illegal> {
        if !matches!(self.0.stage, Stage::Result { .. }) {
            return Err(Illegal);
        }
        let known = &mut self.0.evidence.unresolved;
        known.get_or_insert(Unresolved { first_at: since, abort_at: now });
        self.0.stage = Stage::Submit;
        Ok(())
    }
}
