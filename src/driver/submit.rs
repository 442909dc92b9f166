//! Turning what the app intends into an operation.

use super::ports::store::Name;
use super::ports::{App, Clock, Entropy, Ports, Store};
use super::{Driver, Prepared, uuid_text};
use crate::engine::{Input, Newborn, ServiceSetup};
use crate::model::error::{Code, Error};
use crate::model::ids::{Account, IdempotencyKey, Intent, OperationId, Revision, ServiceName};
use crate::model::life::Life;
use crate::model::money::Ledger;
use crate::model::operation::{Counters, Identity, Operation, Reported, Request, Spent};
use crate::model::policy::LimitsPatch;
use crate::rules::bounds::BODY_BYTES_MAX;
use crate::rules::canonical::canonical;
use crate::rules::derived_key::derived_key;
use crate::rules::digest::{hex, sha256};
use crate::rules::options::check_key;

/// What the app intends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Submission {
    /// For which service.
    pub service: ServiceName,
    /// The caller's name for it.
    pub intent: Intent,
    /// Media type of the body.
    pub content_type: String,
    /// A key of the caller's own.
    pub key: Option<IdempotencyKey>,
    /// Other bounds than the service's.
    pub limits: LimitsPatch,
    /// The exact body.
    pub body: Vec<u8>,
}

impl<P: Ports> Driver<P> {
    /// Takes one piece of work on. Resolves when it is durable; the same intent gives the same
    /// operation.
    ///
    /// # Errors
    /// `NO_ACCOUNT`, `UNKNOWN_SERVICE`, `INVALID_INPUT`: nothing was stored or sent.
    /// `INTENT_CONFLICT`: the intent stands for another request. `STORAGE_UNAVAILABLE`: nothing was
    /// sent. `SUBMIT_UNCONFIRMED`: whether it is stored is not known; the same call again tells.
    pub async fn submit(&self, submission: Submission) -> Result<Operation, Error> {
        let account = self.account()?;
        let service = self.service(&submission.service)?;
        check(&service, &submission)?;
        let fingerprint = fingerprint(&service, &submission)?;
        let name = Name {
            account: account.clone(),
            service: submission.service.clone(),
            intent: submission.intent.clone(),
        };
        let known = self.0.ports.store().find(&name).await;
        if let Some(row) = known.map_err(super::reads::storage)? {
            let operation = super::reads::decoded(&row)?;
            return if operation.identity.fingerprint == fingerprint {
                self.wake();
                Ok(operation)
            } else {
                Err(super::reads::intent_conflict(&operation.identity.id))
            };
        }
        let operation = self.newborn(account, &service, &submission, fingerprint)?;
        let id = operation.identity.id.clone();
        let prepared = Prepared { body: Some(submission.body.clone()), ..Prepared::default() };
        self.0.prepared.borrow_mut().insert(id.clone(), prepared);
        let newborn = Newborn {
            operation,
            body: submission.body,
            profile: (service.profile.digest.clone(), service.profile_text.clone()),
        };
        let reply = self.call(|call| Input::Submit(call, Box::new(newborn))).await;
        if reply.is_err() {
            self.0.prepared.borrow_mut().remove(&id);
        }
        self.reach("submit.answered");
        super::reads::answered(reply, None)
    }

    fn newborn(
        &self,
        account: Account,
        service: &ServiceSetup,
        submission: &Submission,
        fingerprint: String,
    ) -> Result<Operation, Error> {
        let runtime = self.0.ports.runtime();
        let fresh = || {
            runtime.bytes().map(uuid_text).ok_or_else(|| {
                let why = "this host gives no randomness, and a key cannot be made without it";
                Error::new(Code::StorageUnavailable, why, "use a host with crypto.getRandomValues")
            })
        };
        let mut identity = Identity {
            id: OperationId(fresh()?),
            account,
            service: submission.service.clone(),
            origin: service.origin.clone(),
            intent: submission.intent.clone(),
            ordinal: 0,
            parent: None,
            key: IdempotencyKey(fresh()?),
            fingerprint,
            profile: service.profile.name.clone(),
            profile_digest: service.profile.digest.clone(),
            created_at: runtime.now(),
        };
        if let Some(own) = &submission.key {
            identity.key = own.clone();
        } else if service.derives_keys {
            identity.key = derived_key(&identity);
        }
        Ok(Operation {
            identity,
            request: Request {
                method: service.profile.calls.submit.method.clone(),
                url: url(service),
                content_type: Some(submission.content_type.clone()),
                body_bytes: submission.body.len() as u64,
            },
            limits: submission.limits.apply(service.limits),
            spent: Spent::default(),
            life: Life::new(),
            reported: Reported::default(),
            ledger: Ledger::default(),
            counters: Counters::default(),
            revision: Revision::default(),
            unknown: Vec::new(),
        })
    }

    /// The current account.
    ///
    /// # Errors
    /// `NO_ACCOUNT` while nobody is signed in.
    pub fn account(&self) -> Result<Account, Error> {
        self.0.ports.app().account().ok_or_else(|| {
            Error::new(Code::NoAccount, "nobody is signed in", "sign in, then call again")
        })
    }

    pub(super) fn service(&self, name: &ServiceName) -> Result<ServiceSetup, Error> {
        self.0.engine.borrow().service(name).cloned().ok_or_else(|| {
            let message = ["no service is configured as \"", name.as_str(), "\""].concat();
            Error {
                field: Some("service".into()),
                ..Error::new(Code::UnknownService, message, "name one of createHoldfast's services")
            }
        })
    }
}

fn check(service: &ServiceSetup, submission: &Submission) -> Result<(), Error> {
    if submission.body.len() as u64 > BODY_BYTES_MAX {
        return Err(Error::input("body", "it is longer than 8 MB"));
    }
    let key = submission.key.as_ref();
    match key.and_then(|key| check_key(&service.profile.key, key.as_str())) {
        Some(why) => Err(Error::input("key", why)),
        None => Ok(()),
    }
}

/// The digest of everything that makes the request this request.
fn fingerprint(service: &ServiceSetup, submission: &Submission) -> Result<String, Error> {
    let body = if service.profile.key.canonical_body {
        canonical(&submission.body).map_err(|error| {
            Error::input("body", ["it is no JSON: ", &error.to_string()].concat())
        })?
    } else {
        submission.body.clone()
    };
    let own_key = submission.key.as_ref().map_or("", |key| key.as_str());
    Ok(hex(&sha256(&[
        service.profile.calls.submit.method.as_bytes(),
        url(service).as_bytes(),
        submission.content_type.as_bytes(),
        own_key.as_bytes(),
        &body,
    ])))
}

fn url(service: &ServiceSetup) -> String {
    [service.base_url.as_str(), &service.profile.calls.submit.path].concat()
}
