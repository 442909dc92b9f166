//! The reports that the models of standards make: a resource as each of them shows it.
use serde_json::{Value, json};

use super::{Desk, Job};
use crate::Response;

impl Desk {
    /// What a finished job has made.
    pub(crate) fn report(&self, job: &Job) -> Value {
        let records = job.records();
        json!({
            "id": job.id,
            "url": job.steer.url,
            "created_at": self.time(job.created_ms),
            "record_count": records.len(),
            "records": records,
        })
    }

    /// Serves what a finished job has made.
    pub(crate) fn serve_report(&mut self, status: u16, job: &Job) -> Response {
        self.served(&job.id);
        Response::json(status, &self.report(job))
    }
}
