//! The calls.
use serde_json::{Value, json};

use super::RunHarvester;
use crate::frame::{Job, Known, Model, Opening, Phase, Steer};
use crate::http::digest;
use crate::{Request, Response, Service};

impl RunHarvester {
    pub(super) fn submit(&mut self, now: u64, request: &Request) -> Response {
        let key = match self.fresh_key(now, request) {
            Ok(key) => key,
            Err(answer) => return answer,
        };
        let Some(steer) = Steer::with_url(&request.parsed()) else {
            let message = "The body must be a JSON object with the text `url`.";
            return self.refuse(422, "VALIDATION_FAILED", message);
        };
        self.accept(now, &key, request, steer, None)
    }

    pub(super) fn retry(&mut self, now: u64, request: &Request, id: &str) -> Response {
        let key = match self.fresh_key(now, request) {
            Ok(key) => key,
            Err(answer) => return answer,
        };
        let Some(parent) = self.desk.jobs.get(id).cloned() else {
            return self.not_found();
        };
        if parent.phase_at(now) != Phase::Failed {
            return self.refuse(409, "NOT_RETRYABLE", "Only a failed job can be retried.");
        }
        let steer = parent.steer.clone();
        self.accept(now, &key, request, steer, Some(&parent))
    }

    /// Executes and charges once.
    fn accept(
        &mut self,
        now: u64,
        key: &str,
        request: &Request,
        steer: Steer,
        parent: Option<&Job>,
    ) -> Response {
        let price = self.desk.settings.price;
        let body = request.parsed();
        let opening = Opening { key, at: "", body, steer, parent, asked: None, price };
        let Some(job) = self.desk.open(now, request, opening) else {
            return self.refuse(402, "INSUFFICIENT_CREDITS", "The credits are used up.");
        };
        let mut body = json!({
            "id": job.id,
            "status": "pending",
            "billing": self.billing(&job),
            "token_state": job.token_state(),
        });
        if let Some(parent) = parent {
            body["retry_of"] = json!(parent.id);
        }
        self.advance(now);
        let answer = Response::json(202, &body);
        self.keys.keep(now, key, identity(request), answer.clone());
        answer
    }

    /// The key of a request that is new, or the answer where the key settles it.
    fn fresh_key(&mut self, now: u64, request: &Request) -> Result<String, Response> {
        let key = request.header("idempotency-key").unwrap_or_default().to_owned();
        if key.is_empty() {
            let code = "IDEMPOTENCY_KEY_REQUIRED";
            return Err(self.refuse(400, code, "This call needs an Idempotency-Key."));
        }
        match self.look(now, &key, &identity(request)) {
            Known::New => Ok(key),
            Known::Same(answer) => Err(answer.with_header("idempotency-replayed", "true")),
            Known::Changed => {
                let code = "IDEMPOTENCY_KEY_REUSED";
                Err(self.refuse(409, code, "This key came with another request before."))
            }
        }
    }

    pub(super) fn poll(&mut self, now: u64, id: &str) -> Response {
        match self.desk.visible(now, id) {
            Some(job) => Response::json(200, &self.status_body(now, &job)),
            None => self.not_found(),
        }
    }

    pub(super) fn result(&mut self, now: u64, id: &str) -> Response {
        let Some(job) = self.desk.visible(now, id) else {
            return self.not_found();
        };
        if job.phase_at(now) != Phase::Completed || now < job.ready_ms() {
            return self.refuse(409, "RESULT_NOT_READY", "The job has no result yet.");
        }
        if now >= job.expires_ms() {
            return self.refuse(410, "RESULT_EXPIRED", "The result has been removed.");
        }
        self.desk.served(id);
        let records = job.records();
        let count = records.len();
        Response::json(200, &json!({"id": id, "records": records, "record_count": count}))
    }

    pub(super) fn cancel(&mut self, now: u64, id: &str) -> Response {
        let Some(job) = self.desk.jobs.get_mut(id) else {
            return self.not_found();
        };
        if job.phase_at(now).is_ended() {
            return self.refuse(409, "ALREADY_TERMINAL", "The job has ended already.");
        }
        job.cancelled_ms = Some(now);
        let job = job.clone();
        self.advance(now);
        Response::json(202, &self.status_body(now, &job))
    }

    pub(super) fn delete(&mut self, now: u64, id: &str) -> Response {
        let Some(job) = self.desk.jobs.get(id) else {
            return self.not_found();
        };
        if !job.phase_at(now).is_ended() {
            return self.refuse(409, "JOB_ACTIVE", "An active job must be cancelled first.");
        }
        self.desk.jobs.remove(id);
        Response::json(202, &json!({"id": id, "deleted": true}))
    }

    fn status_body(&self, now: u64, job: &Job) -> Value {
        let phase = job.phase_at(now);
        let mut body = json!({
            "id": job.id,
            "status": Self::word(phase),
            "progress": job.percent_at(now),
            "billing": self.billing(job),
            "token_state": job.token_state(),
        });
        if let Some(parent) = &job.retry_of {
            body["retry_of"] = json!(parent);
        }
        match phase {
            Phase::Completed => {
                body["result_expires_at"] = json!(self.desk.time(job.expires_ms()));
            }
            Phase::Failed => body["error"] = error_of(job),
            Phase::Pending | Phase::Running | Phase::SolvingCaptcha | Phase::Cancelled => {}
        }
        body
    }

    /// The billing as the service reports it.
    fn billing(&self, job: &Job) -> Value {
        let balance = self.desk.ledger.balance;
        json!({"base": job.base, "adjustment": 0, "refund": job.refund(), "balance": balance})
    }

    fn not_found(&mut self) -> Response {
        self.refuse(404, "NOT_FOUND", "There is no job with this id.")
    }
}

/// The public error of a failed job.
fn error_of(job: &Job) -> Value {
    let (code, class) = job.failure();
    json!({
        "code": code,
        "message": "The job ran and failed, as its request asked.",
        "class": class.word(),
        "trace_id": format!("trc_{}", job.id),
    })
}

fn identity(request: &Request) -> String {
    digest(&[request.route().as_bytes(), &request.body])
}
