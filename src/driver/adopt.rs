//! Taking on a job that exists at the service already.

use super::Driver;
use super::ports::Ports;
use super::submit::{Draft, misfit};
use crate::model::error::Error;
use crate::model::ids::{IdempotencyKey, Intent, JobId, ServiceName};
use crate::model::life::Life;
use crate::model::operation::{Operation, Request};
use crate::model::profile::Purpose;
use crate::rules::composition::params;
use crate::rules::digest::{hex, sha256};
use crate::rules::reference::{origin, resolve};
use crate::rules::template::fill;

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
        let reads = service.profile.calls.poll.is_some();
        let call = service.profile.call(if reads { Purpose::Poll } else { Purpose::Result });
        let call =
            call.cloned().ok_or_else(|| unreadable("this service has no call that reads a job"))?;
        let mut carried = params(&service.profile, &[], &service.params).map_err(misfit)?;
        let job = adoption.job.as_str();
        let url = if let Some(path) = &call.path {
            let named = |name: &str| {
                let found = carried.iter().find(|(own, _)| own == name);
                if name == "id" { Some(job) } else { found.map(|(_, value)| value.as_str()) }
            };
            fill(path, named).map(|path| [service.base_url.as_str(), &path].concat())
        } else {
            // Where only a link leads to the job, the link is its name.
            let link = resolve(&service.base_url, job);
            link.filter(|url| origin(url).as_ref() == Some(&service.origin))
        };
        let url = url.ok_or_else(|| unreadable("it leads to no job of this service"))?;
        if let Some(name) = &call.link {
            carried.push((name.clone(), url.clone()));
        }
        let parts = ["adopted", &url, adoption.job.as_str()].map(str::as_bytes);
        let mut newborn = self.newborn(Draft {
            account,
            intent: adoption.intent,
            ordinal: 0,
            parent: None,
            // Nothing was or will be sent under a key of ours.
            key: Some(IdempotencyKey(String::new())),
            fingerprint: hex(&sha256(&parts)),
            carried,
            request: Request { method: call.method, url, content_type: None, body_bytes: 0 },
            limits: service.limits,
            body: None,
            service,
        })?;
        let now = newborn.operation.identity.created_at;
        newborn.operation.life = Life::adopted(adoption.job, now, reads);
        self.take_on(newborn).await
    }
}

fn unreadable(why: &str) -> Error {
    Error::input("jobId", why)
}
