//! What deliveries look like, as JSON and as events.
use serde_json::{Value, json};

use super::{CleanedWeb, Run};
use crate::Response;
use crate::frame::{Job, refusal};

impl CleanedWeb {
    /// A delivery, in the form of its surface.
    pub(super) fn delivered(&mut self, job: &Job, run: &Run, replayed: bool) -> Response {
        self.desk.served(&job.id);
        let mut body = delivery_of(job, run, replayed);
        let answer = if run.surface == "stream" {
            let records = body["records"].take();
            if let Some(members) = body.as_object_mut() {
                members.remove("records");
            }
            let records = records.as_array().into_iter().flatten();
            let events = records.map(|record| event("record", record));
            stream(job, run, &events.chain([event("summary", &body)]).collect::<String>())
        } else {
            Response::json(200, &body)
        };
        if replayed { answer.with_header("idempotency-replayed", "true") } else { answer }
    }

    /// An execution or a settlement that failed, in the form of its surface.
    pub(super) fn failed(&self, job: &Job, run: &Run, status: u16, code: &str) -> Response {
        let message = "The run did not lead to a delivery, as its request asked.";
        let answer = refusal(status, code, message, &trace_of(job));
        let mut body = answer.parsed();
        body["error"]["run_id"] = json!(job.id);
        if run.surface == "stream" {
            stream(job, run, &event("error", &body))
        } else {
            Response::json(status, &body)
        }
    }
}

/// A delivery as JSON.
pub(super) fn delivery_of(job: &Job, run: &Run, replayed: bool) -> Value {
    let limit = job.body["limit"].as_u64().and_then(|limit| usize::try_from(limit).ok());
    let mut records = job.records();
    records.truncate(limit.unwrap_or(usize::MAX));
    json!({
        "source_id": job.at,
        "version": run.version,
        "summary": {"record_count": records.len(), "status": "complete"},
        "delivery": {
            "runId": job.id,
            "chargeReceiptId": format!("rcpt_{}", job.id),
            "recordCount": records.len(),
            "replayed": replayed,
        },
        "records": records,
        "trace_id": trace_of(job),
    })
}

pub(super) fn trace_of(job: &Job) -> String {
    format!("trc_{}", job.id)
}

/// The events of a run; the first one leaves before the work is done.
fn stream(job: &Job, run: &Run, rest: &str) -> Response {
    let first = json!({"runId": job.id, "sourceId": job.at, "version": run.version});
    let mut body = event("run", &first);
    let early_bytes = body.len();
    body.push_str(&event("progress", &json!({"percent": 50})));
    body.push_str(rest);
    Response {
        status: 200,
        headers: vec![("content-type".to_owned(), "text/event-stream".to_owned())],
        body: body.into_bytes(),
        early_bytes,
        ..Response::default()
    }
}

fn event(name: &str, data: &Value) -> String {
    format!("event: {name}\ndata: {data}\n\n")
}
