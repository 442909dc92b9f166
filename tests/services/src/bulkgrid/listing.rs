//! The listing of recent runs, which lags behind.
use serde_json::{Value, json};

use super::Bulkgrid;
use crate::frame::{Job, Model, query};
use crate::{Request, Response};

const LIMIT_MAX: usize = 100;

impl Bulkgrid {
    pub(super) fn list(&mut self, now: u64, request: &Request) -> Response {
        let Some((page, limit)) = page_of(request, 20) else {
            return self.refuse(400, "invalid_request", "`page` and `limit` are counted from 1.");
        };
        let shown = |job: &&Job| now >= self.listed_from_ms(job) && !self.is_gone(now, &job.id);
        let mut jobs: Vec<&Job> = self.desk.jobs.values().filter(shown).collect();
        // Ids of one service are of one length until a million: the later one is the newer one.
        jobs.sort_by(|one, other| (other.created_ms, &other.id).cmp(&(one.created_ms, &one.id)));
        let total = jobs.len();
        let jobs = jobs.into_iter().skip((page - 1) * limit).take(limit);
        let runs: Vec<Value> = jobs.map(|job| self.body_of(now, job)).collect();
        let body = json!({"runs": runs, "page": page, "limit": limit, "total": total});
        Response::json(200, &body)
    }

    fn listed_from_ms(&self, job: &Job) -> u64 {
        let lag_ms = job.body["listing_lag_ms"].as_u64().unwrap_or(self.config.listing_lag_ms);
        job.created_ms.saturating_add(lag_ms)
    }
}

/// The page that is asked for and its length; none where they cannot be read.
pub(super) fn page_of(request: &Request, usual_limit: usize) -> Option<(usize, usize)> {
    let read = |name, usual| query(request, name).map_or(Some(usual), |text| text.parse().ok());
    let (page, limit): (usize, usize) = (read("page", 1)?, read("limit", usual_limit)?);
    let is_sound = (1..=1_000_000).contains(&page) && limit > 0;
    is_sound.then_some((page, limit.min(LIMIT_MAX)))
}
