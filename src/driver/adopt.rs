//! Taking on a job that exists at the service already.

use super::Driver;
use super::ports::Ports;
use super::submit::Draft;
use crate::engine::request::with_id;
use crate::model::error::Error;
use crate::model::ids::{IdempotencyKey, Intent, JobId, ServiceName};
use crate::model::life::Life;
use crate::model::operation::{Operation, Request};
use crate::rules::digest::{hex, sha256};

/// A job that shall become an operation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Adoption {
    /// At which service.
    pub service: ServiceName,
    /// The caller's name for the work.
    pub intent: Intent,
    /// The service's id for the job.
    pub job: JobId,
}

impl<P: Ports> Driver<P> {
    /// Makes an operation for a job that exists already: it is followed from there on, and nothing
    /// is submitted. The same adoption gives the same operation.
    ///
    /// # Errors
    /// As [`Driver::submit`]. `INTENT_CONFLICT`: the intent stands for other work. `KEY_CONFLICT`:
    /// the job belongs to another operation.
    pub async fn adopt(&self, adoption: Adoption) -> Result<Operation, Error> {
        let account = self.account()?;
        let service = self.service(&adoption.service)?;
        let call = service.profile.calls.poll.clone();
        let url = [service.base_url.as_str(), &with_id(&call.path, &adoption.job)].concat();
        let parts = ["adopted", &url, adoption.job.as_str()].map(str::as_bytes);
        let mut newborn = self.newborn(Draft {
            account,
            intent: adoption.intent,
            // Nothing was or will be sent under a key of ours.
            key: Some(IdempotencyKey(String::new())),
            fingerprint: hex(&sha256(&parts)),
            request: Request { method: call.method, url, content_type: None, body_bytes: 0 },
            limits: service.limits,
            body: None,
            service,
        })?;
        let now = newborn.operation.identity.created_at;
        newborn.operation.life = Life::adopted(adoption.job, now);
        self.take_on(newborn).await
    }
}
