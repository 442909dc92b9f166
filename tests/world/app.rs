//! What an app does, in one line each.

use holdfast::driver::outbox::Page;
use holdfast::driver::ports::Store;
use holdfast::driver::ports::store::Name;
use holdfast::driver::{Adoption, Revision, Submission};
use holdfast::model::error::Error;
use holdfast::model::ids::{JobId, OperationId};
use holdfast::model::operation::Operation;
use holdfast::model::policy::{Limits, LimitsPatch};
use holdfast::record;
use holdfast::rules::options::ListFilter;
use holdfast::rules::step::{Command, Resolution};
use holdfast_services::{Call, Delivery, LoggedRequest, Request};

use super::{Context, SECRET, World, submission};

impl World {
    /// Submits, and gives what the app is told.
    pub fn try_submit(
        &self,
        context: &Context,
        intent: &str,
        options: &str,
    ) -> Result<Operation, Error> {
        let (driver, request) = (context.driver.clone(), submission(intent, options));
        self.call(context, async move { driver.submit(request).await }).expect("an answer")
    }

    /// Submits what must be taken on.
    pub fn submit(&self, context: &Context, intent: &str, options: &str) -> Operation {
        self.try_submit(context, intent, options).expect("it is taken on")
    }

    /// Submits, and follows to the end or to a park.
    pub fn live(&self, context: &Context, intent: &str, options: &str) -> Operation {
        self.submit(context, intent, options);
        self.settle(context, intent).expect("it comes to rest")
    }

    /// Submits and follows to the end, in context after context, as an app does that asks again for
    /// the same intent after every restart; gives the one that has seen it.
    pub fn live_through(
        &self,
        limits: Limits,
        request: &Submission,
        crash_at: Option<u64>,
    ) -> Option<Context> {
        self.0.settings.borrow_mut().crash_at = crash_at;
        for _ in 0..3 {
            let context = self.open_with(limits, &self.0.profile);
            let (driver, own) = (context.driver.clone(), request.clone());
            let submitted = self.call(&context, async move { driver.submit(own).await });
            let followed = submitted.and_then(|told| {
                told.expect("the same request is never a conflict");
                self.settle(&context, request.intent.as_str())
            });
            self.0.settings.borrow_mut().crash_at = None;
            if followed.is_some() {
                return Some(context);
            }
        }
        None
    }

    /// Opens a context, and lives one operation in it to its end or a park.
    pub fn lived(&self, options: &str) -> (Context, Operation) {
        let context = self.open();
        let operation = self.live(&context, "daily", options);
        (context, operation)
    }

    /// A world whose service gives this answer to the first `times` exchanges of a kind.
    pub fn answering(call: &str, status: u16, body: &str, times: u32) -> Self {
        let body = serde_json::to_string(body).expect("a text");
        Self::with_faults(&format!(
            r#"[{{"call":"{call}","fault":"status","status":{status},"times":{times},"body":{body}}}]"#
        ))
    }

    /// Adopts; `None` when the context ends before the answer.
    pub fn try_adopt(
        &self,
        context: &Context,
        intent: &str,
        job: &JobId,
    ) -> Option<Result<Operation, Error>> {
        let (driver, adoption) = (context.driver.clone(), adoption(intent, job));
        self.call(context, async move { driver.adopt(adoption).await })
    }

    /// Adopts, and gives what the app is told.
    pub fn adopt(&self, context: &Context, intent: &str, job: &JobId) -> Result<Operation, Error> {
        self.try_adopt(context, intent, job).expect("an answer")
    }

    /// A job that somebody else has submitted.
    pub fn foreign_job(&self, options: &str) -> JobId {
        let request = Request {
            method: "POST".into(),
            path: "/api/v1/data/requests".into(),
            headers: vec![
                ("authorization".into(), format!("Bearer {SECRET}")),
                ("idempotency-key".into(), "foreign".into()),
            ],
            body: submission("", options).body,
        };
        let now = self.0.clock.now();
        match self.0.service.borrow_mut().exchange(now, &request).delivery {
            Delivery::Answer(answer) => {
                JobId(answer.parsed()["id"].as_str().expect("an id").to_owned())
            }
            Delivery::Truncated(_) | Delivery::Lost => panic!("no answer"),
        }
    }

    pub fn command(
        &self,
        context: &Context,
        operation: &Operation,
        command: Command,
    ) -> Result<Operation, Error> {
        let (driver, id) = (context.driver.clone(), operation.identity.id.clone());
        self.call(context, async move { driver.command(&id, command).await }).expect("an answer")
    }

    pub fn resume(&self, context: &Context, operation: &Operation) -> Result<Operation, Error> {
        let command = Command::Resume { limits: None, accept_duplicate: false };
        self.command(context, operation, command)
    }

    pub fn resolve(
        &self,
        context: &Context,
        operation: &Operation,
        resolution: Resolution,
    ) -> Result<Operation, Error> {
        self.command(context, operation, Command::Resolve(resolution))
    }

    /// Revises; `None` when the context ends before the answer.
    pub fn try_revise(
        &self,
        context: &Context,
        operation: &Operation,
        body: &str,
        limits: LimitsPatch,
    ) -> Option<Result<Operation, Error>> {
        let (driver, id) = (context.driver.clone(), operation.identity.id.clone());
        let revision = Revision { content_type: None, limits, body: body.as_bytes().to_vec() };
        self.call(context, async move { driver.revise(&id, revision).await })
    }

    pub fn revise(
        &self,
        context: &Context,
        operation: &Operation,
        body: &str,
    ) -> Result<Operation, Error> {
        let limits = LimitsPatch::default();
        self.try_revise(context, operation, body, limits).expect("an answer")
    }

    /// An operation, straight from the store.
    pub fn loaded(&self, id: &OperationId) -> Operation {
        let row = pollster::block_on(self.0.store.load(id)).expect("memory").expect("a row");
        record::decode(&row.document).expect("a record that can be read")
    }

    pub fn delete(&self, context: &Context, operation: &Operation) -> Result<Operation, Error> {
        self.command(context, operation, Command::Delete)
    }

    /// Forgets; `None` when the context ends before the answer.
    pub fn try_forget(
        &self,
        context: &Context,
        intent: &str,
    ) -> Option<Result<Vec<OperationId>, Error>> {
        let (driver, intent) = (context.driver.clone(), intent.into());
        self.call(context, async move { driver.forget("reports".into(), intent).await })
    }

    pub fn forget(&self, context: &Context, intent: &str) -> Result<Vec<OperationId>, Error> {
        self.try_forget(context, intent).expect("an answer")
    }

    /// Whether a body or a piece of a result is stored of an operation.
    pub fn has_content(&self, id: &OperationId) -> bool {
        let snapshot = format!("{:?}", self.0.store.snapshot());
        let body = pollster::block_on(self.0.store.body(id)).expect("memory");
        body.is_some() || snapshot.contains(&format!("ChunkId {{ operation: {id:?}"))
    }

    pub fn cancel(&self, context: &Context, operation: &Operation) -> Result<Operation, Error> {
        self.command(context, operation, Command::Cancel)
    }

    pub fn retry(
        &self,
        context: &Context,
        operation: &Operation,
        reviewed: &str,
        anyway: bool,
    ) -> Result<Operation, Error> {
        self.retry_within(context, operation, reviewed, anyway, LimitsPatch::default())
    }

    pub fn retry_within(
        &self,
        context: &Context,
        operation: &Operation,
        reviewed: &str,
        anyway: bool,
        limits: LimitsPatch,
    ) -> Result<Operation, Error> {
        let (driver, id) = (context.driver.clone(), operation.identity.id.clone());
        let reviewed = reviewed.to_owned();
        self.call(context, async move { driver.retry(&id, reviewed, anyway, limits).await })
            .expect("an answer")
    }

    pub fn find(&self, context: &Context, intent: &str) -> Result<Option<Operation>, Error> {
        let name = Name { account: "ann".into(), service: "reports".into(), intent: intent.into() };
        let driver = context.driver.clone();
        self.call(context, async move { driver.find(&name).await }).expect("an answer")
    }

    /// The intents of everything that the current account is shown.
    pub fn listed(&self, context: &Context) -> Result<Vec<String>, Error> {
        let operations = self.page(context)?.operations;
        Ok(operations.into_iter().map(|own| own.identity.intent.0).collect())
    }

    /// The first page of the operations of who is signed in.
    pub fn page(&self, context: &Context) -> Result<Page, Error> {
        let filter = ListFilter {
            service: None,
            statuses: Vec::new(),
            acknowledged: None,
            limit: 100,
            cursor: None,
        };
        let driver = context.driver.clone();
        let page = self.call(context, async move { driver.list(&filter, None).await });
        page.expect("an answer")
    }

    pub fn support_report(&self, context: &Context, id: &OperationId) -> serde_json::Value {
        let (driver, id) = (context.driver.clone(), id.clone());
        let report = self.call(context, async move { driver.support_report(&id).await });
        serde_json::from_str(&report.expect("an answer").expect("a report")).expect("JSON")
    }

    pub fn journal(&self, context: &Context, id: &OperationId) -> Vec<String> {
        let (driver, id) = (context.driver.clone(), id.clone());
        let lines = self.call(context, async move { driver.journal(&id).await });
        lines.expect("an answer").expect("a journal")
    }

    /// The bytes of a kept result.
    pub fn kept_bytes(&self, context: &Context, id: &OperationId) -> Vec<u8> {
        let mut bytes = Vec::new();
        for index in 0.. {
            let (driver, id) = (context.driver.clone(), id.clone());
            let piece = self.call(context, async move { driver.chunk(&id, index).await });
            match piece.expect("an answer").expect("a kept piece") {
                Some(piece) => bytes.extend(piece),
                None => break,
            }
        }
        bytes
    }

    /// The requests of one kind that came to the service, oldest first.
    pub fn requests(&self, call: Call) -> Vec<LoggedRequest> {
        let service = self.0.service.borrow();
        let all = service.ledger().requests.iter();
        all.filter(|request| call.covers(request.call)).cloned().collect()
    }

    pub fn executions(&self) -> u64 {
        self.0.service.borrow().ledger().executions
    }

    /// Runs until the stored operation is like this; panics after a virtual day.
    pub fn until(&self, intent: &str, wanted: impl Fn(&Operation) -> bool) -> Operation {
        let until = self.0.clock.now() + super::DAY_MS;
        self.run(until, || self.stored(intent).is_some_and(|own| wanted(&own)));
        let operation = self.stored(intent).expect("it is stored");
        assert!(wanted(&operation), "it never comes to that: {:?}", operation.life);
        operation
    }
}

/// The adoption of a job under an intent.
pub fn adoption(intent: &str, job: &JobId) -> Adoption {
    Adoption { service: "reports".into(), intent: intent.into(), job: job.clone() }
}

/// Other bounds.
pub fn patch(change: impl FnOnce(&mut LimitsPatch)) -> LimitsPatch {
    let mut patch = LimitsPatch::default();
    change(&mut patch);
    patch
}
