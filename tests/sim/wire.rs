//! The promises about what leaves, and what arrives.

use std::rc::Rc;

use holdfast::driver::ports::Store;
use holdfast::model::evidence::Attempt;
use holdfast::model::ids::OperationId;
use holdfast::model::life::Stage;
use holdfast::model::operation::Operation;
use holdfast_services::{Call, Outcome, Request, Service as _};
use pollster::block_on;

use super::kinds::Kind;
use super::oracle::Job;
use super::world::{Tab, World};

/// Two requests of one operation are at least this far apart.
const FLOOR_MS: u64 = 250;

impl World {
    /// A request leaves.
    pub fn sent(&self, tab: &Rc<Tab>, request: &Request) {
        let call = self.0.service.borrow().service.stage_of(request);
        self.note(|| format!("tab {} sends {} {}", tab.number, request.method, request.path));
        self.0.oracle.borrow_mut().requests += 1;
        let Some(id) = self.subject(call, request) else {
            return self
                .breach(|| format!("no record describes {} {}", request.method, request.path));
        };
        let Some(operation) = self.operation(&id) else {
            return self.breach(|| "a request for what is not stored".into());
        };
        if operation.identity.account.as_str() != self.0.account.get() {
            self.breach(|| "work of another account is driven".into());
        }
        self.check_pace(tab, &id);
        if submits(call) {
            self.check_request(&operation, request);
            let current = |own: &Operation| own.life.evidence.current.clone();
            self.check_attempt(tab, &operation, false, current);
        } else if call == Call::Cancel {
            let current = |own: &Operation| own.life.cancel.as_ref()?.current.clone();
            self.check_attempt(tab, &operation, true, current);
        } else {
            self.check_read(tab, &operation, call);
        }
    }

    /// The operation that a request is for.
    fn subject(&self, call: Call, request: &Request) -> Option<OperationId> {
        let oracle = self.0.oracle.borrow();
        let key = if submits(call) {
            request.header("idempotency-key")?.to_owned()
        } else {
            oracle.jobs.get(job_in(request)?)?.key.clone()
        };
        oracle.keys.get(&key).cloned()
    }

    /// Every attempt carries the stored key and the stored bytes.
    fn check_request(&self, operation: &Operation, request: &Request) {
        let body = block_on(self.0.disk.safe.body(&operation.identity.id)).ok().flatten();
        let same = request.header("idempotency-key") == Some(operation.identity.key.as_str())
            && operation.request.url.ends_with(&request.path)
            && body.unwrap_or_default() == request.body;
        if !same {
            self.breach(|| "an attempt differs from the stored request".into());
        }
    }

    /// Written ahead, on the disk, in time, by the lane's owner, and once.
    fn check_attempt(
        &self,
        tab: &Rc<Tab>,
        operation: &Operation,
        cancel: bool,
        current: impl Fn(&Operation) -> Option<Attempt>,
    ) {
        let id = &operation.identity.id;
        let Some(attempt) = self.safe(id).as_ref().and_then(&current) else {
            return self.breach(|| "an attempt leaves that is not on the disk".into());
        };
        if operation.life.is_ended() {
            self.breach(|| "an attempt leaves after the ending".into());
        }
        let now = self.wall();
        if now < attempt.written_at.0 || attempt.send_before.0 <= now {
            self.breach(|| "an attempt leaves too late".into());
        }
        if self.owner_of(operation) != *tab.name.borrow() {
            self.breach(|| "an attempt leaves from a context that does not own the lane".into());
        }
        if attempt.number > operation.limits.attempts && !cancel {
            self.breach(|| "more attempts than the limit".into());
        }
        let first = self.0.oracle.borrow_mut().left.insert((id.clone(), cancel, attempt.number));
        if !first {
            self.breach(|| "one attempt leaves twice".into());
        }
    }

    fn owner_of(&self, operation: &Operation) -> Option<holdfast::model::ids::ContextId> {
        let lane = block_on(self.0.disk.live.lane(&operation.lane())).ok().flatten();
        lane.and_then(|lane| lane.owner)
    }

    /// No poll, and no download, after an ending that the owner wrote: only late billing is read.
    fn check_read(&self, tab: &Rc<Tab>, operation: &Operation, call: Call) {
        let owned = self.owner_of(operation) == *tab.name.borrow();
        let over = matches!(operation.life.stage, Stage::Ended { .. });
        let settles = operation.life.settlement.is_some() && call == Call::Poll;
        if owned && over && !settles {
            self.breach(|| format!("{call:?} after the ending"));
        }
    }

    /// 250 ms between two requests of one operation, for as long as the clock is let be.
    fn check_pace(&self, tab: &Rc<Tab>, id: &OperationId) {
        let now = self.now();
        let mut oracle = self.0.oracle.borrow_mut();
        let last = oracle.last.insert(id.clone(), (now, tab.number));
        let steady_since = oracle.clock_set_at;
        drop(oracle);
        let Some((at, from)) = last else { return };
        let drift = self.0.plan.drift_ppm != 0;
        let close = now - at < FLOOR_MS - u64::from(drift) * 10;
        let own = from == tab.number || !self.alive().iter().any(|own| own.number == from);
        if close && own && steady_since < at {
            self.breach(|| format!("two requests within {} ms", now - at));
        }
    }

    /// A whole answer comes back; one that says "gone" is noted.
    pub fn answered(&self, request: &Request, status: u16) {
        let mut oracle = self.0.oracle.borrow_mut();
        let job = job_in(request).and_then(|id| oracle.jobs.get(id));
        if let Some(key) = job.filter(|_| status == 410).map(|job| job.key.clone()) {
            oracle.gone.insert(key);
        }
    }

    /// A request has been at the service.
    pub fn arrived(&self, request: &Request, fault: Option<Kind>, outcome: &Outcome) {
        let call = self.0.service.borrow().service.stage_of(request);
        self.note(|| {
            let fault = fault.map_or("", Kind::name);
            format!("  service: {} {} {fault}: {:?}", request.method, request.path, brief(outcome))
        });
        let key = if submits(call) {
            request.header("idempotency-key").map(str::to_owned)
        } else {
            let oracle = self.0.oracle.borrow();
            job_in(request).and_then(|id| oracle.jobs.get(id)).map(|job| job.key.clone())
        };
        if let (Some(key), Some(kind)) = (key, fault) {
            *self.0.oracle.borrow_mut().lies.entry((key, kind)).or_default() += 1;
        }
        self.count_executions(request);
    }

    /// At most one execution of each (intent, ordinal).
    fn count_executions(&self, request: &Request) {
        let service = self.0.service.borrow();
        let ledger = service.ledger();
        let mut oracle = self.0.oracle.borrow_mut();
        if ledger.executions == u64::try_from(oracle.jobs.len()).unwrap_or(0) {
            return;
        }
        let now = self.now();
        let mut twice = None;
        for (id, entry) in &ledger.jobs {
            if oracle.jobs.contains_key(id) {
                continue;
            }
            let parent = entry.retry_of.as_ref().and_then(|parent| oracle.jobs.get(parent));
            let (work, ordinal) = match parent {
                Some(parent) => (parent.work.clone(), parent.ordinal + 1),
                None => (work_in(&request.body), 0),
            };
            let job = Job { work: work.clone(), ordinal, key: entry.key.clone(), at: now };
            oracle.jobs.insert(id.clone(), job);
            let count = oracle.executions.entry((work.clone(), ordinal)).or_default();
            *count += 1;
            let count = *count;
            if count > 1 + oracle.risked.get(&work).copied().unwrap_or(0) {
                twice = Some(work);
            }
        }
        drop(oracle);
        if let Some(work) = twice {
            self.breach(|| format!("{work} is executed twice"));
        }
    }
}

const fn submits(call: Call) -> bool {
    matches!(call, Call::Submit | Call::Retry)
}

fn brief(outcome: &Outcome) -> (Option<u16>, bool) {
    match &outcome.delivery {
        holdfast_services::Delivery::Answer(response) => (Some(response.status), true),
        holdfast_services::Delivery::Truncated(response) => (Some(response.status), false),
        holdfast_services::Delivery::Lost => (None, false),
    }
}

/// The job's id in a path.
fn job_in(request: &Request) -> Option<&str> {
    request.path.strip_prefix("/api/v1/data/requests/")?.split('/').next()
}

/// The work that a body was made for.
fn work_in(body: &[u8]) -> String {
    let body: serde_json::Value = serde_json::from_slice(body).unwrap_or_default();
    body["from"].as_str().unwrap_or_default().to_owned()
}
