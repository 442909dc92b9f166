//! The client that the facade drives. Text in, text out: JSON of the shapes in `index.d.ts`.

use std::rc::Rc;

use js_sys::Uint8Array;
use wasm_bindgen::prelude::*;

use super::app::JsApp;
use super::errors::{faulty, thrown};
use super::ports::WebPorts;
use super::setup;
use super::sys::Host;
use crate::driver::ports::store::Name;
use crate::driver::{Driver, Submission};
use crate::model::error::{Code, Error};
use crate::model::ids::{IdempotencyKey, Intent, OperationId, ServiceName};
use crate::model::time::Timestamp;
use crate::record::view::view;
use crate::rules::options::{self, ApiCommand};
use crate::web::fetch::FetchTransport;
use crate::web::idb::IndexedDbStore;
use crate::web::runtime::WebRuntime;

/// One client of one page. Every method takes `&self`: calls may overlap.
#[wasm_bindgen]
pub struct Client {
    driver: Driver<WebPorts>,
}

#[wasm_bindgen]
impl Client {
    /// Makes a client; touches nothing.
    #[wasm_bindgen(constructor)]
    pub fn new(config: &str, host: Host) -> Result<Self, JsValue> {
        let config = options::config(config)
            .map_err(|faults| thrown(&faulty(Code::InvalidInput, &faults)))?;
        let services = config.services.into_iter().map(setup::service);
        let services = services.collect::<Result<Vec<_>, _>>().map_err(|error| thrown(&error))?;
        let runtime = Rc::new(WebRuntime::new());
        let timer = Rc::clone(&runtime);
        let ports = WebPorts {
            store: IndexedDbStore::new(&config.database),
            transport: FetchTransport::new(host.fetch()),
            app: JsApp::new(host),
            runtime,
        };
        let driver = Driver::new(ports, services).ok_or_else(|| {
            let why = "this host gives no randomness";
            thrown(&Error::new(Code::StorageUnavailable, why, "use a host with crypto"))
        })?;
        let waker = driver.clone();
        timer.on_wake(move || waker.wake());
        Ok(Self { driver })
    }

    /// Hands work over; gives its state once that is durable.
    pub async fn submit(
        &self,
        service: String,
        submission: String,
        body: Uint8Array,
    ) -> Result<String, JsValue> {
        let body = body.to_vec();
        let read = options::submission(&submission)
            .map_err(|faults| thrown(&faulty(Code::InvalidInput, &faults)))?;
        let submission = Submission {
            service: ServiceName(service),
            intent: Intent(read.intent),
            content_type: read.content_type.unwrap_or_else(|| "application/json".into()),
            key: read.key.map(IdempotencyKey),
            limits: read.limits,
            body,
        };
        self.driver.submit(submission).await.map(|own| view(&own)).map_err(|e| thrown(&e))
    }

    /// The newest operation of an intent.
    pub async fn find(&self, service: String, intent: String) -> Result<Option<String>, JsValue> {
        let found = async {
            let account = self.driver.account()?;
            self.driver
                .find(&Name { account, service: ServiceName(service), intent: Intent(intent) })
                .await
        };
        found.await.map(|own| own.as_ref().map(view)).map_err(|error| thrown(&error))
    }

    /// An operation by its id.
    pub async fn load(&self, id: String) -> Result<Option<String>, JsValue> {
        let loaded = self.driver.load(&OperationId(id)).await;
        loaded.map(|own| own.as_ref().map(view)).map_err(|error| thrown(&error))
    }

    /// A page of operations.
    pub async fn list(&self, filter: String) -> Result<String, JsValue> {
        let filter = options::list_filter(&filter)
            .map_err(|faults| thrown(&faulty(Code::InvalidInput, &faults)))?;
        let cursor = filter.cursor.as_deref().map(read_cursor).transpose();
        let cursor = cursor.map_err(|error| thrown(&error))?;
        let page = self.driver.list(&filter, cursor).await.map_err(|error| thrown(&error))?;
        let mut out = String::from("{\"operations\":[");
        for (index, operation) in page.operations.iter().enumerate() {
            if index > 0 {
                out.push(',');
            }
            out.push_str(&view(operation));
        }
        out.push(']');
        if let Some((at, id)) = page.cursor {
            out.push_str(",\"cursor\":\"");
            out.push_str(&at.0.to_string());
            out.push('.');
            out.push_str(id.as_str());
            out.push('"');
        }
        out.push('}');
        Ok(out)
    }

    /// Carries a wish into an operation; gives its state afterwards.
    pub async fn command(&self, id: String, command: String) -> Result<String, JsValue> {
        let command = options::command(&command)
            .map_err(|faults| thrown(&faulty(Code::InvalidInput, &faults)))?;
        let id = OperationId(id);
        let done = match command {
            ApiCommand::Step(command) => self.driver.command(&id, command).await,
            ApiCommand::Retry { reviewed, anyway } => {
                self.driver.retry(&id, reviewed, anyway).await
            }
        };
        done.map(|own| view(&own)).map_err(|error| thrown(&error))
    }

    /// An operation's journal.
    pub async fn journal(&self, id: String) -> Result<String, JsValue> {
        let lines = self.driver.journal(&OperationId(id)).await;
        let lines = lines.map_err(|error| thrown(&error))?;
        Ok(["[", &lines.join(","), "]"].concat())
    }

    /// One piece of a kept result, from 0; nothing past the last.
    pub async fn chunk(&self, id: String, index: u32) -> Result<Option<Uint8Array>, JsValue> {
        let piece = self.driver.chunk(&OperationId(id), index).await;
        piece
            .map(|own| own.map(|bytes| Uint8Array::from(bytes.as_slice())))
            .map_err(|error| thrown(&error))
    }

    /// Looks at what is due now.
    pub fn wake(&self) {
        self.driver.wake();
    }

    /// Gives every lane back; the next wake begins anew.
    #[wasm_bindgen(js_name = "yield")]
    pub fn give_back(&self) {
        self.driver.give_back();
    }

    /// Opens and resumes whatever is pending.
    pub async fn start(&self) -> Result<(), JsValue> {
        self.driver.start().await.map_err(|error| thrown(&error))
    }

    /// Stops for good.
    pub async fn close(&self) {
        self.driver.close();
    }
}

fn read_cursor(text: &str) -> Result<(Timestamp, OperationId), Error> {
    let parts = text.split_once('.').and_then(|(at, id)| Some((at.parse().ok()?, id)));
    let (at, id) = parts.ok_or_else(|| Error::input("cursor", "it is none of list()'s cursors"))?;
    Ok((Timestamp(at), OperationId::from(id)))
}
