//! The five calls.
use serde_json::{Value, json};

use super::RunHarvester;
use super::job::{Job, Status};
use super::wants::Wants;
use crate::ledger::JobEntry;
use crate::time::{rfc3339, skewed};
use crate::{Request, Response, Service};

impl RunHarvester {
    pub(super) fn submit(&mut self, now: u64, request: &Request) -> Response {
        let key = match self.fresh_key(now, request) {
            Ok(key) => key,
            Err(answer) => return answer,
        };
        let Ok(wants) = serde_json::from_slice::<Wants>(&request.body) else {
            let message = "The body must be a JSON object with the text `url`.";
            return self.refuse(422, "VALIDATION_FAILED", message);
        };
        self.accept(now, key, request, wants, None)
    }

    pub(super) fn retry(&mut self, now: u64, request: &Request, id: &str) -> Response {
        let key = match self.fresh_key(now, request) {
            Ok(key) => key,
            Err(answer) => return answer,
        };
        let Some(parent) = self.jobs.get(id).cloned() else {
            return self.not_found();
        };
        if parent.status_at(now) != Status::Failed {
            return self.refuse(409, "NOT_RETRYABLE", "Only a failed job can be retried.");
        }
        let wants = parent.wants.clone();
        self.accept(now, key, request, wants, Some(&parent))
    }

    /// Executes and charges once.
    fn accept(
        &mut self,
        now: u64,
        key: String,
        request: &Request,
        wants: Wants,
        parent: Option<&Job>,
    ) -> Response {
        let base = self.config.base;
        let Some(balance) = self.ledger.balance.checked_sub(base) else {
            return self.refuse(402, "INSUFFICIENT_CREDITS", "The credits are used up.");
        };
        self.last_id += 1;
        let job = Job {
            id: format!("{}{:06}", self.config.id_prefix, self.last_id),
            key: key.clone(),
            wants,
            created_ms: now,
            ordinal: parent.map_or(0, |parent| parent.ordinal + 1),
            retry_of: parent.map(|parent| parent.id.clone()),
            cancelled_ms: None,
            base,
            settled: None,
            end_told: false,
        };
        self.ledger.executions += 1;
        self.ledger.charges += 1;
        self.ledger.charged_credits += base;
        self.ledger.balance = balance;
        self.ledger.see_first(&key, now);
        self.ledger.jobs.insert(job.id.clone(), entry_of(&job, request));
        let mut body = json!({
            "id": job.id,
            "status": "pending",
            "billing": job.billing(balance),
            "token_state": job.token_state(),
        });
        if let Some(parent) = &job.retry_of {
            body["retry_of"] = json!(parent);
        }
        let answer = Response::json(202, &body);
        self.keep_key(now, key, request, &answer);
        self.jobs.insert(job.id.clone(), job);
        self.advance(now);
        answer
    }

    pub(super) fn poll(&mut self, now: u64, id: &str) -> Response {
        let Some(job) = self.visible(now, id) else {
            return self.not_found();
        };
        Response::json(200, &self.status_body(now, &job))
    }

    pub(super) fn result(&mut self, now: u64, id: &str) -> Response {
        let Some(job) = self.visible(now, id) else {
            return self.not_found();
        };
        let ready_ms = job.end_ms().saturating_add(job.wants.not_ready_ms);
        if job.status_at(now) != Status::Completed || now < ready_ms {
            return self.refuse(409, "RESULT_NOT_READY", "There is no result at this time.");
        }
        if now >= job.expires_ms() {
            return self.refuse(410, "RESULT_EXPIRED", "The result has been removed.");
        }
        self.ledger.results += 1;
        if let Some(entry) = self.ledger.jobs.get_mut(id) {
            entry.results += 1;
        }
        let records = records_of(&job);
        let count = records.len();
        Response::json(200, &json!({"id": id, "records": records, "record_count": count}))
    }

    pub(super) fn cancel(&mut self, now: u64, id: &str) -> Response {
        let Some(job) = self.jobs.get_mut(id) else {
            return self.not_found();
        };
        if job.status_at(now).is_ended() {
            return self.refuse(409, "ALREADY_TERMINAL", "The job has ended already.");
        }
        job.cancelled_ms = Some(now);
        let job = job.clone();
        self.advance(now);
        Response::json(202, &self.status_body(now, &job))
    }

    fn status_body(&self, now: u64, job: &Job) -> Value {
        let status = job.status_at(now);
        let elapsed = now.saturating_sub(job.created_ms);
        let done = elapsed.saturating_mul(100).checked_div(job.wants.duration_ms);
        let mut body = json!({
            "id": job.id,
            "status": status.word(),
            "progress": done.unwrap_or(100).min(100),
            "billing": job.billing(self.ledger.balance),
            "token_state": job.token_state(),
        });
        if let Some(parent) = &job.retry_of {
            body["retry_of"] = json!(parent);
        }
        match status {
            Status::Completed => {
                let expires_ms = skewed(job.expires_ms(), self.clock_error_ms);
                body["result_expires_at"] = json!(rfc3339(expires_ms));
            }
            Status::Failed => body["error"] = job.error(),
            Status::Pending | Status::Running | Status::SolvingCaptcha | Status::Cancelled => {}
        }
        body
    }

    /// The job, once reads find it.
    fn visible(&self, now: u64, id: &str) -> Option<Job> {
        let seen_from = |job: &Job| job.created_ms.saturating_add(job.wants.not_found_ms);
        self.jobs.get(id).filter(|job| now >= seen_from(job)).cloned()
    }

    fn not_found(&mut self) -> Response {
        self.refuse(404, "NOT_FOUND", "There is no job with this id.")
    }
}

fn entry_of(job: &Job, request: &Request) -> JobEntry {
    JobEntry {
        id: job.id.clone(),
        key: job.key.clone(),
        body_digest: request.body_digest(),
        status: Status::Pending.word().to_owned(),
        executions: 1,
        charged: job.base,
        refunded: 0,
        results: 0,
        retry_of: job.retry_of.clone(),
    }
}

/// Records that together are about as long as was asked for, at least one.
fn records_of(job: &Job) -> Vec<Value> {
    const RECORD_BYTES: u64 = 1000;
    let count = job.wants.result_bytes.div_ceil(RECORD_BYTES).max(1);
    let text_bytes = job.wants.result_bytes.min(RECORD_BYTES).saturating_sub(60);
    let text = "x".repeat(usize::try_from(text_bytes).unwrap_or_default());
    (0..count).map(|n| json!({"n": n, "url": job.wants.url, "text": text})).collect()
}
