//! The calls.
use serde_json::{Value, json};

use super::{Replay, refusal};
use crate::frame::{Ending, Job, Known, Model, Opening, Phase, Steer, bearer, query};
use crate::http::digest;
use crate::{Request, Response, Service};

impl Replay {
    pub(super) fn operate(&mut self, now: u64, request: &Request, operation: &str) -> Response {
        let body = request.parsed();
        let Some(steer) = Steer::of(&body) else {
            return self.refuse(400, "invalid_request", "The body must be a JSON object.");
        };
        if steer.url.is_empty() {
            return self.refuse(422, "unprocessable_input", "The text `url` is required.");
        }
        let token = bearer(request).unwrap_or_default();
        if self.config.tokens_without_scope.contains(token) {
            return self.refuse(403, "scope_required", "This credential lacks the scope.");
        }
        if steer.ending_of(0) == Ending::AccessRequired {
            return self.refuse(403, "source_access_required", "The source needs access.");
        }
        let key = request.header("idempotency-key").unwrap_or_default();
        if key.is_empty() {
            return self.accept(now, request, operation, steer).1;
        }
        let scoped = format!("{token} {key}");
        let identity = digest(&[operation.as_bytes(), body.to_string().as_bytes()]);
        match self.look(now, &scoped, &identity) {
            Known::New => {
                let (id, answer) = self.accept(now, request, operation, steer);
                if let Some(id) = id {
                    self.keys.keep(now, &scoped, identity, id);
                }
                answer
            }
            Known::Same(id) => self.again(now, &id),
            Known::Changed => {
                let message = "This key came with another request before.";
                self.refuse(409, "idempotency_key_reused", message)
            }
        }
    }

    /// Reserves and executes; the id is none where the work was not accepted.
    fn accept(
        &mut self,
        now: u64,
        request: &Request,
        operation: &str,
        steer: Steer,
    ) -> (Option<String>, Response) {
        let key = request.header("idempotency-key").unwrap_or_default();
        let price = self.price_of(operation);
        let body = request.parsed();
        let opening = Opening { key, at: operation, body, steer, parent: None, asked: None, price };
        let Some(job) = self.desk.open(now, request, opening) else {
            let answer = self.refuse(402, "insufficient_credits", "The credits are used up.");
            return (None, answer);
        };
        self.advance(now);
        let answer = if job.phase_at(job.end_ms()) == Phase::Completed {
            self.desk.served(&job.id);
            Response::json(200, &self.result_of(&job))
        } else {
            let (code, _) = job.failure();
            let message = "The work was accepted and failed, as its request asked.";
            refusal(job.failure_status(), &code.to_lowercase(), message, &job.id)
        };
        (Some(job.id), Response { after_ms: job.duration_ms, ..answer })
    }

    /// Answers a request that came before: nothing is executed again.
    fn again(&mut self, now: u64, id: &str) -> Response {
        let done = self.desk.jobs.get(id).filter(|job| job.phase_at(now) == Phase::Completed);
        let Some(job) = done.cloned() else {
            let message = "This operation was accepted; there is nothing to replay.";
            let answer = self.refuse(409, "replay_conflict", message);
            return answer.with_retry_after(self.config.conflict_retry_after_s);
        };
        if now >= job.expires_ms() {
            return self.refuse(410, "replay_expired", "The captured result has been removed.");
        }
        self.desk.served(id);
        let mut body = self.result_of(&job);
        body["request_id"] = json!(self.desk.trace("rqx_"));
        body["original_request_id"] = json!(id);
        body["replayed"] = json!(true);
        Response::json(200, &body).with_header("idempotency-replayed", "true")
    }

    pub(super) fn quote(&mut self, request: &Request) -> Response {
        let body = request.parsed();
        let named = query(request, "operation");
        let operation = named.or_else(|| body["operation"].as_str()).unwrap_or("scrape");
        if !matches!(operation, "scrape" | "map") {
            return self.refuse(422, "unprocessable_input", "There is no such operation.");
        }
        let (credits, balance) = (self.price_of(operation), self.desk.ledger.balance);
        let body = json!({
            "request_id": self.desk.trace("rqx_"),
            "operation": operation,
            "credits": credits,
            "balance": balance,
            "sufficient": balance >= credits,
        });
        Response::json(200, &body)
    }

    pub(super) fn activity(&mut self, now: u64, id: &str) -> Response {
        let Some(job) = self.desk.visible(now, id) else {
            return self.refuse(404, "activity_not_found", "There is no such request.");
        };
        let phase = job.phase_at(now);
        let (code, class) = job.failure();
        let error = json!({"code": code.to_lowercase(), "class": class.word()});
        let body = json!({
            "request_id": id,
            "operation": job.at,
            "url": job.steer.url,
            "status": Self::word(phase),
            "created_at": self.desk.time(job.created_ms),
            "credits": self.credits_of(&job, phase.is_ended()),
            "error": if phase == Phase::Failed { error } else { Value::Null },
        });
        Response::json(200, &body)
    }

    fn price_of(&self, operation: &str) -> u64 {
        if operation == "map" { self.config.map_price } else { self.desk.settings.price }
    }

    fn result_of(&self, job: &Job) -> Value {
        let records = job.records();
        let data = if job.at == "map" {
            let links = (0..records.len()).map(|n| format!("{}/{n}", job.steer.url));
            json!({"links": links.collect::<Vec<_>>()})
        } else {
            let texts = records.iter().filter_map(|record| record["text"].as_str());
            json!({"markdown": texts.collect::<Vec<_>>().join("\n")})
        };
        json!({
            "request_id": job.id,
            "success": true,
            "operation": job.at,
            "url": job.steer.url,
            "data": data,
            "replayed": false,
            "captured_at": self.desk.time(job.end_ms()),
            "credits": self.credits_of(job, true),
        })
    }

    fn credits_of(&self, job: &Job, has_ended: bool) -> Value {
        let charged = if has_ended { job.base - job.refund() } else { 0 };
        json!({
            "reserved": job.base,
            "charged": charged,
            "released": job.refund(),
            "balance": self.desk.ledger.balance,
        })
    }
}
