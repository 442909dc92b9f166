//! The promises about what leaves, and what arrives.

use std::rc::Rc;

use holdfast::driver::ports::Store;
use holdfast::model::evidence::Attempt;
use holdfast::model::ids::OperationId;
use holdfast::model::life::Stage;
use holdfast::model::operation::Operation;
use holdfast::model::policy::OnUnknown;
use holdfast_services::{Call, Outcome, Request, Service as _};
use pollster::block_on;

use super::house::House;
use super::kinds::Kind;
use super::oracle::{Job, Member, Oracle};
use super::parks::PRICE;
use super::world::{Tab, World};

/// Two requests of one operation are at least this far apart.
const FLOOR_MS: u64 = 250;

impl World {
    /// A request leaves.
    pub fn sent(&self, tab: &Rc<Tab>, request: &Request) {
        let call = self.0.service.borrow().service.stage_of(request);
        self.note(|| format!("tab {} sends {} {}", tab.number, request.method, request.path));
        self.0.oracle.borrow_mut().requests += 1;
        if call == Call::List {
            return self.check_listing(tab);
        }
        if call == Call::Quote {
            return;
        }
        let Some(whose) = self.subject(call, request) else {
            return self
                .breach(|| format!("no record describes {} {}", request.method, request.path));
        };
        if submits(call) {
            *self.0.oracle.borrow_mut().flying.entry(whose.clone()).or_default() += 1;
        }
        let (id, free) = {
            let oracle = self.0.oracle.borrow();
            (oracle.members.get(&whose).cloned(), oracle.freed.contains(&whose.0))
        };
        let operation = id.and_then(|id| self.operation(&id));
        if free {
            return;
        }
        let Some(operation) = operation else {
            return self.breach(|| "a request for what is not stored".into());
        };
        if operation.identity.account.as_str() != self.0.account.get() {
            self.breach(|| "work of another account is driven".into());
        }
        // One that has lost its lane and does not know it yet only reads.
        if self.owner_of(&operation) == *tab.name.borrow() {
            self.check_pace(tab, &operation.identity.id);
        }
        if submits(call) {
            self.check_request(&operation, request);
        }
        match call {
            Call::Submit | Call::Retry => {
                let current = |own: &Operation| own.life.evidence.current.clone();
                self.check_attempt(tab, &operation, call, current);
            }
            Call::Cancel => {
                let current = |own: &Operation| own.life.cancel.as_ref()?.current.clone();
                self.check_attempt(tab, &operation, call, current);
            }
            Call::Delete => {
                let current = |own: &Operation| own.life.deletion.as_ref()?.current.clone();
                self.check_attempt(tab, &operation, call, current);
            }
            Call::Poll | Call::Result | Call::List | Call::Quote | Call::Other | Call::Any => {
                self.check_read(tab, &operation, call);
            }
        }
    }

    /// Whom a request is for.
    fn subject(&self, call: Call, request: &Request) -> Option<Member> {
        if matches!(call, Call::Submit | Call::Quote) {
            return Some(whose_body(&request.body));
        }
        let job = self.0.plan.house.job_in(request)?;
        let oracle = self.0.oracle.borrow();
        let (work, ordinal) = oracle.jobs.get(job)?.whose.clone();
        Some((work, ordinal + u64::from(call == Call::Retry)))
    }

    /// A listing is read only while something is looked up in it.
    fn check_listing(&self, tab: &Rc<Tab>) {
        let all = self.operations(self.0.account.get());
        let owned = all.first().is_some_and(|own| self.owner_of(own) == *tab.name.borrow());
        if owned && !all.iter().any(|own| matches!(own.life.stage, Stage::Reconcile(_))) {
            self.breach(|| "a listing is read for nothing".into());
        }
    }

    /// Every attempt carries the stored key and the stored bytes.
    fn check_request(&self, operation: &Operation, request: &Request) {
        let body = block_on(self.0.disk.safe.body(&operation.identity.id)).ok().flatten();
        let key = request.header("idempotency-key");
        let same = (!self.0.plan.house.has_keys() || key == Some(operation.identity.key.as_str()))
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
        call: Call,
        current: impl Fn(&Operation) -> Option<Attempt>,
    ) {
        let id = &operation.identity.id;
        let Some(attempt) = self.safe(id).as_deref().and_then(&current) else {
            return self.breach(|| "an attempt leaves that is not on the disk".into());
        };
        if operation.life.is_ended() != (call == Call::Delete) {
            self.breach(|| format!("{call:?} leaves after the ending, or a deletion before it"));
        }
        let now = self.wall();
        if now < attempt.written_at.0 || attempt.send_before.0 <= now {
            self.breach(|| "an attempt leaves too late".into());
        }
        if self.owner_of(operation) != *tab.name.borrow() {
            self.breach(|| "an attempt leaves from a context that does not own the lane".into());
        }
        if submits(call) {
            self.check_limits(operation, attempt.number);
        }
        let this = (id.clone(), call, attempt.number, attempt.written_at.0);
        let first = self.0.oracle.borrow_mut().left.insert(this);
        if !first {
            self.breach(|| "one attempt leaves twice".into());
        }
    }

    /// What came before it in its lineage counts, whatever it says of that itself; what may have been
    /// accepted is charged, if at all, whether it is sent again or not.
    fn check_limits(&self, operation: &Operation, number: u32) {
        let (work, ordinal) = self.whose(operation);
        let before = (work.clone(), 0)..(work, ordinal);
        let members = self.0.oracle.borrow().members.clone();
        let earlier: Vec<_> = members.range(before).map(|(_, id)| id).collect();
        let earlier = earlier.into_iter().filter_map(|id| self.operation(id));
        let spent: u32 = earlier.map(|own| own.life.attempts()).sum();
        if spent.max(operation.spent.attempts) + number > operation.limits.attempts {
            self.breach(|| "more attempts than the limit".into());
        }
        let dear = operation.limits.cost.is_some_and(|most| most < PRICE);
        if dear && self.0.plan.house == House::Priced && number == 1 {
            self.breach(|| "it is sent, and costs more than the limit".into());
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
        let life = &operation.life;
        let settles = (life.settlement.is_some() || life.deletion.is_some()) && call == Call::Poll;
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
        let call = self.0.service.borrow().service.stage_of(request);
        if status == 410
            && let Some(whose) = self.subject(call, request)
        {
            self.0.oracle.borrow_mut().gone.insert(whose);
        }
    }

    /// A request will not arrive any more, or has.
    pub fn landed(&self, request: &Request) {
        let call = self.0.service.borrow().service.stage_of(request);
        if submits(call)
            && let Some(whose) = self.subject(call, request)
        {
            let mut oracle = self.0.oracle.borrow_mut();
            let flying = oracle.flying.entry(whose).or_default();
            *flying = flying.saturating_sub(1);
        }
    }

    /// A request has been at the service.
    pub fn arrived(&self, request: &Request, fault: Option<Kind>, outcome: &Outcome) {
        let call = self.0.service.borrow().service.stage_of(request);
        self.note(|| {
            let fault = fault.map_or("", Kind::name);
            format!("  service: {} {} {fault}: {:?}", request.method, request.path, brief(outcome))
        });
        if let Some(kind) = fault {
            let looked_up = || {
                let all = self.operations(self.0.account.get()).into_iter();
                let all = all.filter(|own| matches!(own.life.stage, Stage::Reconcile(_)));
                all.map(|own| self.whose(&own)).collect()
            };
            let all: Vec<_> = if call == Call::List {
                looked_up()
            } else {
                self.subject(call, request).into_iter().collect()
            };
            let mut oracle = self.0.oracle.borrow_mut();
            for whose in all {
                *oracle.lies.entry((whose, kind)).or_default() += 1;
            }
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
        let (at, mut twice) = (self.now(), None);
        for (id, entry) in &ledger.jobs {
            if oracle.jobs.contains_key(id) {
                continue;
            }
            let parent = entry.retry_of.as_ref().and_then(|parent| oracle.jobs.get(parent));
            let whose = match parent {
                Some(parent) => (parent.whose.0.clone(), parent.whose.1 + 1),
                None => whose_body(&request.body),
            };
            oracle.jobs.insert(id.clone(), Job { whose: whose.clone(), at });
            let count = oracle.executions.entry(whose.clone()).or_default();
            *count += 1;
            let (count, risked) = (*count, oracle.risked.get(&whose).copied().unwrap_or(0));
            if count > 1 + risked + self.allowance(&oracle, &whose) {
                twice = Some(whose);
            }
        }
        drop(oracle);
        drop(service);
        if let Some((work, ordinal)) = twice {
            self.breach(|| format!("{work} {ordinal} is executed twice"));
        }
    }

    /// Executions beyond the first that the app permits without a word: of what it has let be
    /// forgotten, and, where clocks cannot be trusted, of what it lets be submitted again.
    fn allowance(&self, oracle: &Oracle, whose: &Member) -> u64 {
        let forgotten = oracle.freed.contains(&whose.0);
        let resubmits = self.0.plan.limits.on_unknown == OnUnknown::Resubmit;
        let has_keys = self.0.plan.house.has_keys();
        let astray = !has_keys && resubmits && oracle.clock_set_at > 0;
        let outlived = has_keys && self.outlives_its_key(oracle, whose);
        u64::from(forgotten) * 9 + u64::from(astray || outlived)
    }

    /// Whether the service has forgotten the key by now, and the clock has been set back by so much that
    /// it says otherwise. A jump while nothing is written of the work cannot be told from time that has
    /// not passed (SECURITY.md).
    fn outlives_its_key(&self, oracle: &Oracle, whose: &Member) -> bool {
        let set_back: u64 = oracle.clock_set_back.iter().sum();
        let first = oracle.jobs.values().filter(|job| job.whose == *whose).map(|job| job.at).min();
        let age = self.now().saturating_sub(first.unwrap_or(u64::MAX));
        (self.0.plan.key_ms..self.0.plan.key_ms.saturating_add(set_back)).contains(&age)
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

/// Whose work a body was made for.
pub fn whose_body(body: &[u8]) -> Member {
    let body: serde_json::Value = serde_json::from_slice(body).unwrap_or_default();
    let own = if body["input"].is_object() { &body["input"] } else { &body };
    (own["from"].as_str().unwrap_or_default().to_owned(), own["ordinal"].as_u64().unwrap_or(0))
}
