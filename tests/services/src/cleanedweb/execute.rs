//! Executions: what a key identifies, and what comes of it.
use serde_json::{Value, json};

use super::{CleanedWeb, Delivery, Run};
use crate::frame::{Ending, Known, Model, Opening, Phase, Steer};
use crate::http::digest;
use crate::{Request, Response, Service};

impl CleanedWeb {
    pub(super) fn execute(&mut self, now: u64, request: &Request, source: &str) -> Response {
        let key = request.header("idempotency-key").unwrap_or_default();
        if !is_sound(key) {
            let message = "A key of 1-200 letters, digits and . _ : - is required.";
            return self.refuse(422, "idempotency_key_required", message);
        }
        let body = request.parsed();
        let Some(steer) = Steer::of(&body["input"]) else {
            let message = "The body must be a JSON object with the object `input`.";
            return self.refuse(422, "invalid_input", message);
        };
        let active = self.active_version(source);
        if body["expected_version"].as_str().is_some_and(|expected| expected != active) {
            let message = "The definition has moved on from the expected version.";
            return self.refuse(409, "version_conflict", message);
        }
        let version = body["version"].as_str().map_or(active, str::to_owned);
        let surface = request.parts().last().copied().unwrap_or_default();
        let identity = identity(source, &version, &body, surface);
        match self.look(now, key, &identity) {
            Known::New => {
                let unsettled_times = body["input"]["unsettled_times"].as_u64().unwrap_or(0);
                let (delivery, surface) = (Delivery::Pending, surface.to_owned());
                let run = Run { version, surface, unsettled_times, delivery };
                self.start(now, request, (source, key, identity), steer, run)
            }
            Known::Same(id) => self.again(now, &id),
            Known::Changed => {
                let message = "This key came with another request before.";
                self.refuse(409, "delivery_identity_conflict", message)
            }
        }
    }

    /// Executes once.
    fn start(
        &mut self,
        now: u64,
        request: &Request,
        (source, key, identity): (&str, &str, String),
        steer: Steer,
        run: Run,
    ) -> Response {
        let price = self.desk.settings.price;
        let owed = price * (1 + self.undelivered(now));
        if self.desk.ledger.balance < owed {
            return self.refuse(402, "insufficient_credits", "The credits are used up.");
        }
        let completes = steer.ending_of(0) == Ending::Completed;
        let settles = run.unsettled_times == 0;
        let body = request.parsed();
        let opening = Opening { key, at: source, body, steer, parent: None, asked: None, price: 0 };
        let Some(job) = self.desk.open(now, request, opening) else {
            return self.refuse(402, "insufficient_credits", "The credits are used up.");
        };
        self.keys.keep(now, key, identity, job.id.clone());
        self.own.runs.insert(job.id.clone(), run.clone());
        self.advance(now);
        let answer = match (completes, settles) {
            (true, true) => self.delivered(&job, &run, false),
            (true, false) => self.failed(&job, &run, 503, "delivery_unsettled"),
            (false, _) => self.failed(&job, &run, 502, "execution_failed"),
        };
        Response { after_ms: job.duration_ms, ..answer }
    }

    /// Answers a request that came before: nothing is executed again.
    fn again(&mut self, now: u64, id: &str) -> Response {
        let (Some(job), Some(run)) = (self.desk.jobs.get(id).cloned(), self.own.runs.get_mut(id))
        else {
            return self.refuse(404, "run_not_found", "The run of this key is gone.");
        };
        if job.phase_at(now) != Phase::Completed {
            let message = "The work of this key is running or has failed.";
            let answer = self.refuse(409, "result_already_running_or_failed", message);
            return answer.with_retry_after(self.config.conflict_retry_after_s);
        }
        run.settle(id, &mut self.desk);
        let run = run.clone();
        let mut answer = match run.delivery {
            Delivery::Delivered if now >= job.expires_ms() => {
                self.refuse(410, "result_expired", "The result has been removed.")
            }
            Delivery::Delivered => self.delivered(&job, &run, true),
            Delivery::Pending | Delivery::Unsettled => {
                self.failed(&job, &run, 503, "delivery_unsettled")
            }
        };
        answer.early_bytes = 0;
        answer
    }

    /// How many runs will still be charged if all goes well.
    fn undelivered(&self, now: u64) -> u64 {
        let is_open = |id: &String| {
            self.desk.jobs.get(id).is_some_and(|job| job.phase_at(now) != Phase::Failed)
        };
        let runs = self.own.runs.iter();
        runs.filter(|(id, run)| run.delivery != Delivery::Delivered && is_open(id)).count() as u64
    }
}

fn is_sound(key: &str) -> bool {
    let is_allowed = |letter: u8| letter.is_ascii_alphanumeric() || b"._:-".contains(&letter);
    (1..=200).contains(&key.len()) && key.bytes().all(is_allowed)
}

/// What a key stands for. The order of members does not matter: a map writes them sorted.
fn identity(source: &str, version: &str, body: &Value, surface: &str) -> String {
    let mut body = body.clone();
    if let Some(members) = body.as_object_mut() {
        members.remove("expected_version");
        members.insert("version".to_owned(), json!(version));
    }
    digest(&[source.as_bytes(), body.to_string().as_bytes(), surface.as_bytes()])
}
