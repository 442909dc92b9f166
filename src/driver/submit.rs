//! Turning what the app intends into an operation.

use super::ports::store::Name;
use super::ports::{App, Clock, Entropy, Ports, Store};
use super::{Driver, Prepared, uuid_text};
use crate::engine::{CallError, Input, Newborn, ServiceSetup};
use crate::model::error::{Code, Error};
use crate::model::ids::{Account, IdempotencyKey, Intent, OperationId, Revision, ServiceName};
use crate::model::life::Life;
use crate::model::money::Ledger;
use crate::model::operation::{Carried, Counters, Identity, Operation, Reported, Request, Spent};
use crate::model::policy::{Limits, LimitsPatch};
use crate::rules::bounds::BODY_BYTES_MAX;
use crate::rules::canonical::canonical;
use crate::rules::composition::{Misfit, echoes, params, recognizable, url, with_key};
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
    /// Parameters of the service.
    pub params: Vec<(String, String)>,
    /// Other bounds than the service's.
    pub limits: LimitsPatch,
    /// The exact body.
    pub body: Vec<u8>,
}

/// What a new operation is made from.
pub(super) struct Draft {
    pub(super) account: Account,
    pub(super) service: ServiceSetup,
    pub(super) intent: Intent,
    /// Its place in the lineage, and whose work it corrects.
    pub(super) ordinal: u32,
    pub(super) parent: Option<OperationId>,
    /// A key of the caller's own.
    pub(super) key: Option<IdempotencyKey>,
    pub(super) fingerprint: String,
    /// What later calls are addressed by.
    pub(super) carried: Carried,
    /// URL and body as they are without the key, wherever that goes.
    pub(super) request: Request,
    pub(super) limits: Limits,
    pub(super) body: Option<Vec<u8>>,
}

impl<P: Ports> Driver<P> {
    /// Takes one piece of work on. Resolves when it is durable; the same intent gives the same
    /// operation.
    ///
    /// # Errors
    /// `NO_ACCOUNT`, `UNKNOWN_SERVICE`, `INVALID_INPUT`: nothing was stored or sent.
    /// `INTENT_CONFLICT`: the intent stands for another request. `KEY_CONFLICT`: the key belongs to
    /// another operation. `STORAGE_UNAVAILABLE`: nothing was
    /// sent. `SUBMIT_UNCONFIRMED`: whether it is stored is not known; the same call again tells.
    pub async fn submit(&self, submission: Submission) -> Result<Operation, Error> {
        let account = self.account()?;
        let service = self.service(&submission.service)?;
        check(&service, &submission)?;
        let carried = params(&service.profile, &submission.params, &service.params);
        let carried = carried.map_err(misfit)?;
        let url =
            url(&service.profile.calls.submit, &service.base_url, &carried).map_err(misfit)?;
        let own_key = submission.key.as_ref().map_or("", |key| key.as_str());
        let media_type = submission.content_type.as_str();
        let newborn = self.newborn(Draft {
            account,
            fingerprint: fingerprint(&service, &url, media_type, own_key, &submission.body)?,
            intent: submission.intent,
            ordinal: 0,
            parent: None,
            key: submission.key,
            carried,
            limits: submission.limits.apply(service.limits),
            request: Request {
                method: service.profile.calls.submit.method.clone(),
                url,
                content_type: Some(submission.content_type),
                body_bytes: submission.body.len() as u64,
            },
            body: Some(submission.body),
            service,
        })?;
        self.take_on(newborn).await
    }

    /// Stores a new operation, or gives the one that its intent stands for already.
    pub(super) async fn take_on(&self, newborn: Newborn) -> Result<Operation, Error> {
        let identity = &newborn.operation.identity;
        let id = identity.id.clone();
        let wanted = (identity.fingerprint.clone(), newborn.operation.request.clone());
        let name = Name {
            account: identity.account.clone(),
            service: identity.service.clone(),
            intent: identity.intent.clone(),
        };
        if let Some(known) = self.known(&name, &wanted).await? {
            self.wake();
            return Ok(known);
        }
        self.prepare(&id, newborn.body.clone());
        let reply = self.call(|call| Input::Submit(call, Box::new(newborn))).await;
        self.reach("submit.answered");
        if matches!(reply, Err(CallError::IntentConflict))
            && let Some(known) = self.known(&name, &wanted).await?
        {
            return Ok(known);
        }
        super::reads::answered(reply, None)
    }

    /// The newest operation of an intent, for a request that is that of any member of its lineage.
    async fn known(
        &self,
        name: &Name,
        (fingerprint, request): &(String, Request),
    ) -> Result<Option<Operation>, Error> {
        let store = self.0.ports.store();
        let Some(row) = store.find(name).await.map_err(super::reads::storage)? else {
            return Ok(None);
        };
        let newest = super::reads::decoded(&row)?;
        let mut member = newest.clone();
        while member.identity.fingerprint != *fingerprint {
            let parent = match &member.identity.parent {
                Some(parent) => store.load(parent).await.map_err(super::reads::storage)?,
                None => None,
            };
            match parent {
                Some(row) => member = super::reads::decoded(&row)?,
                None => {
                    let (id, first) = (&newest.identity.id, &member.request);
                    return Err(super::reads::intent_conflict(id, first, request));
                }
            }
        }
        Ok(Some(newest))
    }

    /// Keeps a body at hand for the first attempt.
    pub(super) fn prepare(&self, id: &OperationId, body: Option<Vec<u8>>) {
        if body.is_some() {
            let prepared = Prepared { body, ..Prepared::default() };
            self.0.prepared.borrow_mut().insert(id.clone(), prepared);
        }
    }

    /// An operation that is not stored yet.
    pub(super) fn newborn(&self, draft: Draft) -> Result<Newborn, Error> {
        let runtime = self.0.ports.runtime();
        let fresh = || {
            runtime.bytes().map(uuid_text).ok_or_else(|| {
                let why = "this host gives no randomness, and a key cannot be made without it";
                Error::new(Code::StorageUnavailable, why, "use a host with crypto.getRandomValues")
            })
        };
        let service = draft.service;
        let mut identity = Identity {
            id: OperationId(fresh()?),
            account: draft.account,
            service: service.name,
            origin: service.origin,
            intent: draft.intent,
            ordinal: draft.ordinal,
            parent: draft.parent,
            key: IdempotencyKey(fresh()?),
            fingerprint: draft.fingerprint,
            profile: service.profile.name.clone(),
            profile_digest: service.profile.digest.clone(),
            created_at: runtime.now(),
        };
        if let Some(own) = draft.key {
            identity.key = own;
        } else if service.derives_keys {
            identity.key = derived_key(&identity);
        }
        let Draft { mut request, mut body, mut carried, .. } = draft;
        if let Some(bytes) = body {
            carried.extend(echoes(&service.profile, &bytes));
            let key = identity.key.as_str();
            let (url, bytes) =
                with_key(&service.profile, key, request.url, bytes).map_err(misfit)?;
            let bytes =
                recognizable(&service.profile, identity.id.as_str(), bytes).map_err(misfit)?;
            request.url = url;
            request.body_bytes = bytes.len() as u64;
            body = Some(bytes);
        }
        Ok(Newborn {
            operation: Operation {
                identity,
                request,
                carried,
                limits: draft.limits,
                retention: service.retention,
                spent: Spent::default(),
                blind: !service.profile.reads_jobs(),
                keyless: service.profile.key.is_none(),
                taken: false,
                life: Life::new(),
                reported: Reported::default(),
                ledger: Ledger::default(),
                counters: Counters::default(),
                revision: Revision::default(),
                unknown: Vec::new(),
            },
            body,
            profile: (service.profile.digest, service.profile_text),
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
    check_body(&submission.body)?;
    let key = submission.key.as_ref();
    let carrier = service.profile.key.as_ref();
    let fault = key.zip(carrier).and_then(|(key, carrier)| check_key(carrier, key.as_str()));
    match fault {
        Some(rule) => Err(Error {
            next_step: "give a key that keeps to this, or none: one is made, and kept for the intent",
            ..Error::input("key", rule)
        }),
        None => Ok(()),
    }
}

pub(super) fn check_body(body: &[u8]) -> Result<(), Error> {
    if body.len() as u64 > BODY_BYTES_MAX {
        return Err(Error::input("body", "it is longer than 8 MB"));
    }
    Ok(())
}

/// The digest of everything that makes the request this request.
pub(super) fn fingerprint(
    service: &ServiceSetup,
    url: &str,
    content_type: &str,
    own_key: &str,
    body: &[u8],
) -> Result<String, Error> {
    let canonical_body = service.profile.key.as_ref().is_some_and(|key| key.canonical_body);
    let canonical = if canonical_body {
        Some(canonical(body).map_err(|error| {
            Error::input("body", ["it is no JSON: ", &error.to_string()].concat())
        })?)
    } else {
        None
    };
    Ok(hex(&sha256(&[
        service.profile.calls.submit.method.as_bytes(),
        url.as_bytes(),
        content_type.as_bytes(),
        own_key.as_bytes(),
        canonical.as_deref().unwrap_or(body),
    ])))
}

pub(super) fn misfit(misfit: Misfit) -> Error {
    Error::input(misfit.field, misfit.why)
}
