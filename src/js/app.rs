//! The app port over the facade's host object.

use js_sys::{Array, Promise, Uint8Array};
use wasm_bindgen::{JsCast, JsValue};

use super::sys::{Credential, Host};
use crate::driver::ports::{App, Authorization, AuthorizeRequest, Turn};
use crate::engine::event::Event;
use crate::engine::output::Line;
use crate::model::ending::ResultRef;
use crate::model::http::Headers;
use crate::model::ids::{Account, Scope, ServiceName};
use crate::model::operation::Operation;
use crate::model::profile::Purpose;
use crate::record::{journal, view};
use crate::web::promise::outcome;

/// How soon a turn is asked for again where there was no answer, in milliseconds.
const TURN_AGAIN_MS: u32 = 2000;

/// The app's callbacks, reached through the facade.
pub(super) struct JsApp {
    host: Host,
    consumes: bool,
}

impl JsApp {
    pub(super) fn new(host: Host) -> Self {
        let consumes = host.consumes();
        Self { host, consumes }
    }
}

impl App for JsApp {
    fn account(&self) -> Option<Account> {
        self.host.account().ok().flatten().filter(|name| !name.is_empty()).map(Account)
    }

    async fn authorize(&self, request: AuthorizeRequest) -> Option<Authorization> {
        let purpose = match request.purpose {
            Purpose::Submit => "submit",
            Purpose::Poll | Purpose::Settle => "poll",
            Purpose::Result => "result",
            Purpose::Cancel | Purpose::Delete => "call",
            Purpose::Reconcile => "reconcile",
            // A diagnosis bears no credential, and asks for none.
            Purpose::Quote | Purpose::Diagnose => "quote",
        };
        let promise = self.host.authorize(request.service.as_str(), purpose, request.refresh);
        let given = outcome(&promise.ok()?).await.ok()?;
        if !given.is_object() {
            return None;
        }
        let given: Credential = given.unchecked_into();
        let mut headers = Headers::default();
        for pair in given.headers().iter() {
            let pair: Array = pair.dyn_into().ok()?;
            headers.push(pair.get(0).as_string()?, pair.get(1).as_string()?);
        }
        Some(Authorization { headers, scope: given.scope().map(Scope) })
    }

    async fn turn(&self, turn: &Turn) -> u32 {
        let Some(ask) = self.host.turn() else {
            return 0;
        };
        let alone = turn.alone.as_deref().map_or(JsValue::UNDEFINED, JsValue::from);
        let (id, service) = (turn.id.as_str().into(), turn.service.as_str().into());
        let asked = ask.call3(&JsValue::NULL, &service, &id, &alone);
        let promise = asked.ok().and_then(|own| own.dyn_into::<Promise>().ok());
        let told = match promise {
            Some(promise) => outcome(&promise).await.ok().and_then(|own| own.as_f64()),
            None => None,
        };
        // Whoever cannot be asked may be in the midst of it.
        told.map_or(TURN_AGAIN_MS, |delay_ms| delay_ms as u32)
    }

    fn validates(&self, service: &ServiceName) -> bool {
        self.host.validates(service.as_str()).unwrap_or(false)
    }

    async fn fault_of(
        &self,
        service: &ServiceName,
        kept: &ResultRef,
        body: &[u8],
    ) -> Option<String> {
        let bytes = Uint8Array::from(body);
        let promise = self.host.validate(service.as_str(), &view::result(kept), bytes);
        match outcome(&promise.ok()?).await {
            Ok(fault) => fault.as_string(),
            Err(_) => Some("the result's schema threw".into()),
        }
    }

    fn consumes(&self) -> bool {
        self.consumes
    }

    async fn settled(&self, operation: &Operation) -> bool {
        let account = operation.identity.account.as_str();
        match self.host.settled(&view::view(operation), account) {
            Ok(promise) => outcome(&promise).await.is_ok(),
            Err(_) => false,
        }
    }

    fn notify(&self, event: Box<Event>) {
        let mut entries = String::from("[");
        for (index, entry) in event.entries.into_iter().enumerate() {
            if index > 0 {
                entries.push(',');
            }
            entries.push_str(&journal::encode_line(&Line { number: 0, count: 1, entry }));
        }
        entries.push(']');
        // What the facade throws here concerns nothing that is stored.
        let account = event.operation.identity.account.as_str();
        let _: Result<(), JsValue> =
            self.host.notify(&view::view(&event.operation), &entries, account);
    }
}
