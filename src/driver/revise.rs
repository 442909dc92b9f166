//! Correcting work of which nothing ran, and completing what is incomplete.

use super::Driver;
use super::ports::Ports;
use super::reads;
use super::submit::{Draft, check_body, fingerprint, misfit};
use crate::engine::{CallError, Input};
use crate::model::ending::Ending;
use crate::model::error::Error;
use crate::model::ids::OperationId;
use crate::model::life::Stage;
use crate::model::operation::{Operation, Request};
use crate::model::policy::LimitsPatch;
use crate::rules::composition::{params, url};

/// Corrected work.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Revision {
    /// Media type of the body; `None`: as before.
    pub content_type: Option<String>,
    /// Other bounds than before.
    pub limits: LimitsPatch,
    /// The exact body.
    pub body: Vec<u8>,
}

impl<P: Ports> Driver<P> {
    /// Puts corrected work in the place of work of which it is proven that nothing ran, or completes
    /// what ended incomplete: a new operation of the same intent with a key of its own. The old one is
    /// abandoned in the same transaction, or stays as it ended.
    ///
    /// # Errors
    /// `NOT_ALLOWED` where something may have run, or no attempts are left. `INVALID_INPUT`: it is
    /// the same request. Else as [`Driver::submit`].
    pub async fn revise(&self, id: &OperationId, revision: Revision) -> Result<Operation, Error> {
        let account = self.account()?;
        check_body(&revision.body)?;
        let Some(parent) = self.load(id).await? else {
            return reads::answered(Err(CallError::NotFound), Some(id));
        };
        let service = self.service(&parent.identity.service)?;
        let content_type = revision.content_type.or(parent.request.content_type);
        let content_type = content_type.unwrap_or_else(|| "application/json".into());
        let mut carried = parent.carried;
        carried.retain(|(own, _)| service.profile.params.iter().any(|param| param.name == *own));
        let carried = params(&service.profile, &carried, &service.params).map_err(misfit)?;
        let url =
            url(&service.profile.calls.submit, &service.base_url, &carried).map_err(misfit)?;
        let fingerprint = fingerprint(&service, &url, &content_type, "", &revision.body)?;
        let incomplete =
            matches!(parent.life.stage, Stage::Ended { ending: Ending::Incomplete { .. }, .. });
        if fingerprint == parent.identity.fingerprint && !incomplete {
            return Err(Error::input("body", "it is the request that was made already"));
        }
        let newborn = self.newborn(Draft {
            account,
            intent: parent.identity.intent,
            ordinal: parent.identity.ordinal + 1,
            parent: Some(parent.identity.id),
            key: None,
            fingerprint,
            carried,
            request: Request {
                method: service.profile.calls.submit.method.clone(),
                url,
                content_type: Some(content_type),
                body_bytes: revision.body.len() as u64,
            },
            limits: revision.limits.apply(parent.limits),
            body: Some(revision.body),
            service,
        })?;
        self.prepare(&newborn.operation.identity.id, newborn.body.clone());
        let reply = self.call(|call| Input::Revise(call, id.clone(), Box::new(newborn))).await;
        reads::answered(reply, Some(id))
    }
}
