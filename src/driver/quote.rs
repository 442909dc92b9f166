//! Asking a service what work would cost. Nothing is stored, and nothing is handed over.

use super::ports::transport::Outgoing;
use super::ports::{App, AuthorizeRequest, Clock, Ports, Store, Transport};
use super::reads::storage;
use super::secrets::Secrets;
use super::submit::{check_body, misfit};
use super::{Driver, exchange};
use crate::engine::request::{call_headers, facts};
use crate::model::answer::Answer;
use crate::model::error::{Code, Error};
use crate::model::ids::ServiceName;
use crate::model::lane::Lane;
use crate::model::profile::{Call, FactSource, Meaning, Purpose};
use crate::rules::classify::{Finding, Said, classify};
use crate::rules::composition::{params, url};
use crate::rules::guidance::timer_ms;

/// Work whose price is asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Inquiry {
    /// Of which service.
    pub service: ServiceName,
    /// Media type of the body.
    pub content_type: String,
    /// Parameters of the service.
    pub params: Vec<(String, String)>,
    /// The body that would be submitted.
    pub body: Vec<u8>,
}

impl<P: Ports> Driver<P> {
    /// Asks a service what work would cost: one request, and a second one only with a fresh
    /// credential. What is said holds the amount `quoted`.
    ///
    /// # Errors
    /// `NO_ACCOUNT`, `UNKNOWN_SERVICE`, `INVALID_INPUT`; `NOT_ALLOWED` where the service gives no
    /// quotes; `NO_QUOTE` where this one could not be had; `STORAGE_UNAVAILABLE`.
    pub async fn quote(&self, inquiry: Inquiry) -> Result<Said, Error> {
        self.account()?;
        self.wake();
        let service = self.service(&inquiry.service)?;
        let profile = &service.profile;
        let call = profile.calls.quote.as_ref().ok_or_else(|| {
            let next_step = "leave quote() out for it; limits.cost still bounds reruns";
            Error::new(Code::NotAllowed, "this service gives no quotes", next_step)
        })?;
        check_body(&inquiry.body)?;
        let params = params(profile, &inquiry.params, &service.params).map_err(misfit)?;
        let url = url(call, &service.base_url, &params).map_err(misfit)?;
        let facts = facts(profile, Purpose::Quote, None);
        for refresh in [false, true] {
            let told = self.lane_of_another(&inquiry.service).await?;
            let now = self.0.ports.runtime().now();
            let may = self.0.engine.borrow_mut().may_ask(now, &inquiry.service, told.as_ref());
            // What that has put out goes now: a longer lease, the next look.
            self.wake();
            if !may {
                return Err(none(
                    "the service takes no request now: there is no network, it has asked to wait, or \
                     its rate is used up",
                ));
            }
            let Some(answer) = self.ask(&inquiry, call, &url, &facts, refresh).await else {
                break;
            };
            let now = self.0.ports.runtime().now();
            let verdict = classify(profile, Purpose::Quote, &answer, now);
            if verdict.finding == Finding::Done {
                return Ok(verdict.said);
            }
            if refresh || verdict.finding != Finding::Other(Meaning::NeedsCredential) {
                return Err(refused(&verdict.said));
            }
        }
        Err(none("the service gave no quote: it could not be asked, or did not answer"))
    }

    /// The lane as the context that drives it has left it in the store, where that may be another.
    async fn lane_of_another(&self, service: &ServiceName) -> Result<Option<Lane>, Error> {
        let lane = self.0.engine.borrow().lane_of_another(service);
        match lane {
            Some(lane) => self.0.ports.store().lane(&lane).await.map_err(storage),
            None => Ok(None),
        }
    }

    /// One question; `None` without a credential, and without an answer.
    async fn ask(
        &self,
        inquiry: &Inquiry,
        call: &Call,
        url: &str,
        facts: &[FactSource],
        refresh: bool,
    ) -> Option<Answer> {
        let (service, purpose) = (inquiry.service.clone(), Purpose::Quote);
        let request = AuthorizeRequest { service, purpose, refresh };
        let authorization = self.0.ports.app().authorize(request).await?;
        let mut headers = call_headers(call, None);
        let body = call.has_body().then(|| inquiry.body.clone());
        if body.is_some() {
            headers.push("content-type", inquiry.content_type.as_str());
        }
        let secrets = Secrets::of(&authorization.headers);
        headers.complete(&authorization.headers);
        let outgoing = Outgoing {
            method: call.method.clone(),
            url: url.into(),
            headers,
            body,
            timeout_ms: timer_ms(call.timeout_ms),
            idle: false,
        };
        let head = self.0.ports.transport().send(outgoing).await.ok()?;
        exchange::facts_in::<P>(url, facts, &secrets, head).await.ok()
    }
}

/// The service has answered, and not with a price.
fn refused(said: &Said) -> Error {
    let mut message = String::from("the service gave no quote: HTTP ");
    message.push_str(&said.fault.status.unwrap_or_default().to_string());
    if let Some(code) = &said.fault.code {
        message.push_str(", ");
        message.push_str(code);
    }
    none(&message)
}

fn none(message: &str) -> Error {
    let next_step = "nothing was handed over; correct what the message names, or ask again later";
    Error::new(Code::NoQuote, message, next_step)
}
