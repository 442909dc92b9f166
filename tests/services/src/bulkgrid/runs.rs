//! The calls about one run.
use serde_json::{Value, json};

use super::Bulkgrid;
use super::listing::page_of;
use crate::frame::{Job, Model, Opening, Phase, Steer};
use crate::{Request, Response, Service};

impl Bulkgrid {
    pub(super) fn create(&mut self, now: u64, request: &Request, kind: &str) -> Response {
        let Some(steer) = Steer::with_url(&request.parsed()) else {
            let message = "The body must be a JSON object with the text `url`.";
            return self.refuse(400, "invalid_request", message);
        };
        self.accept(now, request, kind, request.parsed(), steer, None)
    }

    pub(super) fn retry(&mut self, now: u64, request: &Request, id: &str) -> Response {
        let Some(parent) = self.run(now, id) else {
            return self.not_found();
        };
        if parent.phase_at(now) != Phase::Failed {
            return self.refuse(409, "run_not_failed", "Only a failed run can be retried.");
        }
        let (body, steer) = (parent.body.clone(), parent.steer.clone());
        self.accept(now, request, &parent.at, body, steer, Some(&parent))
    }

    /// Executes and charges, whatever has been executed before.
    fn accept(
        &mut self,
        now: u64,
        request: &Request,
        kind: &str,
        body: Value,
        steer: Steer,
        parent: Option<&Job>,
    ) -> Response {
        let metadata = &body["metadata"];
        let asked = metadata.as_str().map_or_else(|| metadata.to_string(), str::to_owned);
        let asked = (!metadata.is_null()).then_some(asked);
        let price = self.desk.settings.price;
        let opening = Opening { key: "", at: kind, body, steer, parent, asked, price };
        let Some(job) = self.desk.open(now, request, opening) else {
            return self.refuse(402, "insufficient_credits", "The credits are used up.");
        };
        self.advance(now);
        Response::json(202, &self.body_of(now, &job))
    }

    pub(super) fn read(&mut self, now: u64, id: &str) -> Response {
        match self.run(now, id) {
            Some(job) => Response::json(200, &self.body_of(now, &job)),
            None => self.not_found(),
        }
    }

    pub(super) fn results(&mut self, now: u64, request: &Request, id: &str) -> Response {
        let Some(job) = self.run(now, id) else {
            return self.not_found();
        };
        if job.phase_at(now) != Phase::Completed || now < job.ready_ms() {
            return self.refuse(409, "run_not_completed", "The run has no results yet.");
        }
        if now >= job.expires_ms() {
            return self.refuse(410, "results_expired", "The results have been removed.");
        }
        let Some((page, limit)) = page_of(request, 50) else {
            return self.refuse(400, "invalid_request", "`page` and `limit` are counted from 1.");
        };
        self.desk.served(id);
        let records = job.records();
        let total = records.len();
        let results: Vec<_> = records.into_iter().skip((page - 1) * limit).take(limit).collect();
        let body =
            json!({"run_id": id, "page": page, "limit": limit, "total": total, "results": results});
        Response::json(200, &body)
    }

    pub(super) fn cancel(&mut self, now: u64, id: &str) -> Response {
        let stops_ms = now.saturating_add(self.config.stop_after_ms);
        let Some(job) = self.run(now, id) else {
            return self.not_found();
        };
        if job.phase_at(now).is_ended() {
            return self.refuse(409, "run_not_active", "The run has stopped already.");
        }
        if let Some(job) = self.desk.jobs.get_mut(id) {
            job.cancelled_ms.get_or_insert(stops_ms);
        }
        self.advance(now);
        let answer = self.read(now, id);
        Response { status: 202, ..answer }
    }

    pub(super) fn delete(&mut self, now: u64, id: &str) -> Response {
        let Some(job) = self.run(now, id) else {
            return self.not_found();
        };
        if !job.phase_at(now).is_ended() {
            return self.refuse(409, "run_active", "An active run must be cancelled first.");
        }
        self.own.entry(id.to_owned()).or_insert(now);
        Response::json(202, &json!({"id": id, "deleted": true}))
    }

    /// A run as every answer shows it.
    pub(super) fn body_of(&self, now: u64, job: &Job) -> Value {
        let phase = job.phase_at(now);
        let total = job.records().len() as u64;
        let (done, failed) = match phase {
            Phase::Failed => (0, total),
            Phase::Pending
            | Phase::Running
            | Phase::SolvingCaptcha
            | Phase::Completed
            | Phase::Cancelled => (total * job.percent_at(now) / 100, 0),
        };
        let (code, class) = job.failure();
        let error = json!({
            "code": code.to_lowercase(),
            "message": "The run failed, as its request asked.",
            "class": class.word(),
        });
        let mut body = json!({
            "id": job.id,
            "kind": job.at,
            "status": Self::word(phase),
            "url": job.steer.url,
            "metadata": job.body["metadata"],
            "request": job.body,
            "created_at": self.desk.time(job.created_ms),
            "counters": {"total": total, "completed": done, "failed": failed},
            "credits_used": job.base - job.refund(),
            "error": if phase == Phase::Failed { error } else { Value::Null },
        });
        if let Some(parent) = &job.retry_of {
            body["retry_of"] = json!(parent);
        }
        if phase.is_ended() {
            body["finished_at"] = json!(self.desk.time(job.ended_ms()));
        }
        if phase == Phase::Completed {
            body["results_expire_at"] = json!(self.desk.time(job.expires_ms()));
        }
        body
    }
}
