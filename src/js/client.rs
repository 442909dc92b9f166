//! The client that the facade drives. Text in, text out: JSON of the shapes in `index.d.ts`.

use std::pin::Pin;
use std::rc::Rc;

use js_sys::{Array, Promise, Uint8Array};
use wasm_bindgen::prelude::*;

use super::app::JsApp;
use super::errors::{faulty, thrown};
use super::ports::HostPorts;
use super::setup;
use super::sys::Host;
use crate::driver::outbox::Page;
use crate::driver::ports::store::Name;
use crate::driver::{Adoption, Driver, Inquiry, Revision, Submission};
use crate::model::error::{Code, Error};
use crate::model::ids::{IdempotencyKey, Intent, OperationId, ServiceName};
use crate::model::operation::Operation;
use crate::model::time::Timestamp;
use crate::model::value::write_string;
use crate::record::view::{self, view};
use crate::rules::options::{self, ApiCommand};
use crate::rules::reader::Fault;
use crate::web::fetch::FetchTransport;
use crate::web::promise::promise;
use crate::web::runtime::WebRuntime;
use crate::web::store::HostStore;

/// One client of one context. Every method takes `&self`: calls may overlap.
#[wasm_bindgen]
pub struct Client {
    driver: Driver<HostPorts>,
}

#[wasm_bindgen]
impl Client {
    /// Makes a client; touches nothing.
    #[wasm_bindgen(constructor)]
    pub fn new(config: &str, host: Host) -> Result<Self, JsValue> {
        let config = options::config(config).map_err(refused)?;
        let mut services = Vec::new();
        for service in config.services {
            services.push(setup::service(service, config.retention).map_err(thrown)?);
        }
        let runtime = Rc::new(WebRuntime::over(host.arm(), host.locks()));
        let timer = Rc::clone(&runtime);
        let ports = HostPorts {
            store: HostStore::new(host.database()),
            transport: FetchTransport::new(host.fetch()),
            app: JsApp::new(host),
            runtime,
        };
        let driver = Driver::new(ports, services).ok_or_else(|| {
            let why = "this host gives no randomness";
            thrown(Error::new(Code::StorageUnavailable, why, "use a host with crypto"))
        })?;
        let waker = driver.clone();
        timer.on_wake(move || waker.tick());
        Ok(Self { driver })
    }

    /// Hands work over; gives its state once that is durable.
    pub fn submit(&self, service: String, submission: String, body: Uint8Array) -> Promise {
        let driver = self.driver.clone();
        let body = body.to_vec();
        self.asked(Box::pin(async move {
            let read = options::submission(&submission).map_err(refused)?;
            let submission = Submission {
                service: ServiceName(service),
                intent: Intent(read.intent),
                content_type: read.content_type.unwrap_or_else(|| "application/json".into()),
                key: read.key.map(IdempotencyKey),
                params: read.params,
                limits: read.limits,
                body,
            };
            state(driver.submit(submission).await.map(Some))
        }))
    }

    /// Makes an operation for a job that exists already; gives its state once that is durable.
    pub fn adopt(&self, service: String, adoption: String) -> Promise {
        let driver = self.driver.clone();
        self.asked(Box::pin(async move {
            let (intent, job) = options::adoption(&adoption).map_err(refused)?;
            let adoption = Adoption { service: ServiceName(service), intent, job };
            state(driver.adopt(adoption).await.map(Some))
        }))
    }

    /// The newest operation of an intent.
    pub fn find(&self, service: String, intent: String) -> Promise {
        let driver = self.driver.clone();
        promise(Box::pin(async move {
            let account = driver.account().map_err(thrown)?;
            let name = Name { account, service: ServiceName(service), intent: Intent(intent) };
            state(driver.find(&name).await)
        }))
    }

    /// Removes all that is stored of an intent; gives the ids of the operations that are gone.
    pub fn forget(&self, service: String, intent: String) -> Promise {
        let driver = self.driver.clone();
        self.asked(Box::pin(async move {
            let gone = driver.forget(ServiceName(service), Intent(intent)).await;
            let ids = gone.map_err(thrown)?.into_iter().map(|id| JsValue::from(id.0));
            Ok(ids.collect::<Array>().into())
        }))
    }

    /// An operation by its id.
    pub fn load(&self, id: String) -> Promise {
        let driver = self.driver.clone();
        promise(Box::pin(async move { state(driver.load(&OperationId(id)).await) }))
    }

    /// A page of operations.
    pub fn list(&self, filter: String) -> Promise {
        let driver = self.driver.clone();
        promise(Box::pin(async move {
            let filter = options::list_filter(&filter).map_err(refused)?;
            let cursor = filter.cursor.as_deref().map(read_cursor).transpose().map_err(thrown)?;
            let page = driver.list(&filter, cursor).await.map_err(thrown)?;
            Ok(page_text(&page).into())
        }))
    }

    /// Carries a wish into an operation; gives its state afterwards.
    pub fn command(&self, id: String, command: String) -> Promise {
        let driver = self.driver.clone();
        self.asked(Box::pin(async move {
            let id = OperationId(id);
            let done = match options::command(&command).map_err(refused)? {
                ApiCommand::Step(command) => driver.command(&id, command).await,
                ApiCommand::Retry { reviewed, anyway, limits } => {
                    driver.retry(&id, reviewed, anyway, limits).await
                }
            };
            state(done.map(Some))
        }))
    }

    /// Puts corrected work in the place of an operation; gives the new one's state.
    pub fn revise(&self, id: String, revision: String, body: Uint8Array) -> Promise {
        let driver = self.driver.clone();
        let body = body.to_vec();
        self.asked(Box::pin(async move {
            let (content_type, limits) = options::revision(&revision).map_err(refused)?;
            let revision = Revision { content_type, limits, body };
            state(driver.revise(&OperationId(id), revision).await.map(Some))
        }))
    }

    /// Asks a service what work would cost; gives what it says.
    pub fn quote(&self, service: String, inquiry: String, body: Uint8Array) -> Promise {
        let driver = self.driver.clone();
        let body = body.to_vec();
        promise(Box::pin(async move {
            let (content_type, params) = options::inquiry(&inquiry).map_err(refused)?;
            let content_type = content_type.unwrap_or_else(|| "application/json".into());
            let inquiry = Inquiry { service: ServiceName(service), content_type, params, body };
            let said = driver.quote(inquiry).await.map_err(thrown)?;
            Ok(view::quote(&said).into())
        }))
    }

    /// An operation's journal.
    pub fn journal(&self, id: String) -> Promise {
        let driver = self.driver.clone();
        promise(Box::pin(async move {
            let lines = driver.journal(&OperationId(id)).await.map_err(thrown)?;
            let mut out = String::from("[");
            for (index, line) in lines.iter().enumerate() {
                if index > 0 {
                    out.push(',');
                }
                out.push_str(line);
            }
            out.push(']');
            Ok(out.into())
        }))
    }

    /// What may be sent to strangers who shall help with an operation.
    #[wasm_bindgen(js_name = "supportReport")]
    pub fn support_report(&self, id: String) -> Promise {
        let driver = self.driver.clone();
        promise(Box::pin(async move {
            let report = driver.support_report(&OperationId(id)).await.map_err(thrown)?;
            Ok(report.into())
        }))
    }

    /// One piece of a kept result, from 0; nothing past the last.
    pub fn chunk(&self, id: String, index: u32) -> Promise {
        let driver = self.driver.clone();
        promise(Box::pin(async move {
            let piece = driver.chunk(&OperationId(id), index).await.map_err(thrown)?;
            Ok(piece.map_or(JsValue::UNDEFINED, |own| Uint8Array::from(own.as_slice()).into()))
        }))
    }

    /// Looks at what is due now.
    pub fn wake(&self) {
        self.driver.wake();
    }

    /// Looks at the store again: another tab has changed something of this service.
    pub fn hint(&self, service: String) {
        self.driver.hint(ServiceName(service));
    }

    /// Gives every lane back; the next wake begins anew.
    #[wasm_bindgen(js_name = "yield")]
    pub fn give_back(&self) {
        self.driver.give_back();
    }

    /// Gives the lanes back as soon as nothing is under way: somebody looks at another tab. Or that of one service, which
    /// another tab can go on with.
    pub fn offer(&self, service: Option<String>) {
        self.driver.offer(service.map(ServiceName));
    }

    /// Opens and resumes whatever is pending.
    pub fn start(&self) -> Promise {
        let driver = self.driver.clone();
        promise(Box::pin(async move {
            driver.start().await.map_err(thrown)?;
            Ok(JsValue::UNDEFINED)
        }))
    }

    /// Stops for good.
    pub fn close(&self) -> Promise {
        self.driver.close();
        promise(Box::pin(async { Ok(JsValue::UNDEFINED) }))
    }
}

impl Client {
    /// A change is for who is signed in when it is asked for: what runs in a later turn is for nobody else who came
    /// in between.
    fn asked(&self, call: Call) -> Promise {
        let driver = self.driver.clone();
        let whose = driver.account().ok();
        promise(Box::pin(async move {
            if driver.account().ok() != whose {
                let why = "the account changed meanwhile, and nothing was sent";
                let next = "call again for the account that is the current one";
                return Err(thrown(Error::new(Code::NoAccount, why, next)));
            }
            call.await
        }))
    }
}

/// What the app asks for.
type Call = Pin<Box<dyn Future<Output = Result<JsValue, JsValue>>>>;

/// An operation's state, as the facade gets it.
fn state(found: Result<Option<Operation>, Error>) -> Result<JsValue, JsValue> {
    let found = found.map_err(thrown)?;
    Ok(found.map_or(JsValue::UNDEFINED, |own| view(&own).into()))
}

fn refused(faults: Vec<Fault>) -> JsValue {
    thrown(faulty(Code::InvalidInput, &faults))
}

fn page_text(page: &Page) -> String {
    let mut out = String::from("{\"operations\":[");
    for (index, operation) in page.operations.iter().enumerate() {
        if index > 0 {
            out.push(',');
        }
        out.push_str(&view(operation));
    }
    out.push_str("],\"unreadable\":[");
    for (index, error) in page.unreadable.iter().enumerate() {
        if index > 0 {
            out.push(',');
        }
        out.push_str("{\"id\":");
        write_string(error.operation.as_ref().map_or("", OperationId::as_str), &mut out);
        out.push_str(",\"code\":");
        write_string(error.code.name(), &mut out);
        out.push('}');
    }
    out.push(']');
    if let Some((at, id)) = &page.cursor {
        out.push_str(",\"cursor\":\"");
        out.push_str(&at.0.to_string());
        out.push('.');
        out.push_str(id.as_str());
        out.push('"');
    }
    out.push('}');
    out
}

fn read_cursor(text: &str) -> Result<(Timestamp, OperationId), Error> {
    let parts = text.split_once('.').and_then(|(at, id)| Some((at.parse().ok()?, id)));
    let (at, id) = parts.ok_or_else(|| Error::input("cursor", "it is none of list()'s cursors"))?;
    Ok((Timestamp(at), OperationId::from(id)))
}
