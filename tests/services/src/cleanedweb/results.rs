//! Recorded runs, their results, and definitions.
use serde_json::{Value, json};

use super::render::{delivery_of, trace_of};
use super::{CleanedWeb, Delivery, Run};
use crate::frame::{Job, Model, Phase, bearer};
use crate::{Request, Response};

impl CleanedWeb {
    fn run(&self, now: u64, source: &str, id: &str) -> Option<(Job, Run)> {
        let job = self.desk.visible(now, id).filter(|job| job.at == source)?;
        Some((job, self.own.runs.get(id)?.clone()))
    }

    pub(super) fn read_run(&mut self, now: u64, source: &str, id: &str) -> Response {
        let Some((job, run)) = self.run(now, source, id) else {
            return self.refuse(404, "run_not_found", "There is no run with this id.");
        };
        let (status, error) = match (job.phase_at(now), run.delivery) {
            (Phase::Failed, _) => {
                let (code, class) = job.failure();
                ("failed", json!({"code": code.to_lowercase(), "class": class.word()}))
            }
            (_, Delivery::Delivered) => ("delivered", Value::Null),
            (_, Delivery::Unsettled) => ("unsettled", Value::Null),
            (_, Delivery::Pending) => ("running", Value::Null),
        };
        let body = json!({
            "run_id": id,
            "source_id": source,
            "version": run.version,
            "surface": run.surface,
            "status": status,
            "created_at": self.desk.time(job.created_ms),
            "error": error,
            "trace_id": trace_of(&job),
        });
        Response::json(200, &body)
    }

    pub(super) fn read_result(
        &mut self,
        now: u64,
        request: &Request,
        source: &str,
        id: &str,
    ) -> Response {
        if self.config.tokens_without_results.contains(bearer(request).unwrap_or_default()) {
            let message = "This credential has no access to results.";
            return self.refuse(403, "results_access_required", message);
        }
        let Some((job, run)) = self.run(now, source, id) else {
            return self.refuse(404, "run_not_found", "There is no run with this id.");
        };
        match (job.phase_at(now), run.delivery) {
            (Phase::Failed, _) => self.refuse(409, "run_failed", "The run has failed."),
            (_, Delivery::Pending) => self.refuse(409, "result_not_ready", "The run is running."),
            (_, Delivery::Unsettled) => {
                self.refuse(409, "delivery_unsettled", "The output is not settled.")
            }
            (_, Delivery::Delivered) if now >= job.expires_ms() => {
                self.refuse(410, "result_expired", "The result has been removed.")
            }
            (_, Delivery::Delivered) => {
                self.desk.served(id);
                Response::json(200, &delivery_of(&job, &run, true))
            }
        }
    }

    /// Tells the active version of a source's definition, or moves it on.
    pub(super) fn definition(&mut self, request: &Request, source: &str) -> Response {
        if request.method == "PUT" {
            let body = request.parsed();
            let Some(version) = body["version"].as_str() else {
                return self.refuse(422, "invalid_input", "`version` must be text.");
            };
            self.own.versions.insert(source.to_owned(), version.to_owned());
        }
        let version = self.active_version(source);
        Response::json(200, &json!({"source_id": source, "version": version}))
    }
}
