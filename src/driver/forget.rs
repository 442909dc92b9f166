//! Forgetting an intent.

use super::Driver;
use super::ports::store::Name;
use super::ports::{Ports, Store};
use super::reads;
use crate::model::error::{Code, Error};
use crate::model::ids::{Intent, OperationId, ServiceName};
use crate::rules::step::Command;

impl<P: Ports> Driver<P> {
    /// Removes all that is stored of an intent, tombstones too: submitted again, it is new work, and
    /// charged a second time. Gives the operations that are gone; none, when there was none.
    ///
    /// # Errors
    /// `NOT_ALLOWED` while it is not over, `NO_ACCOUNT`, `NEWER_RECORD`, `STORAGE_UNAVAILABLE`.
    pub async fn forget(
        &self,
        service: ServiceName,
        intent: Intent,
    ) -> Result<Vec<OperationId>, Error> {
        let name = Name { account: self.account()?, service, intent };
        let mut lineage = Vec::new();
        let mut member = self.find(&name).await?;
        while let Some(operation) = member {
            if !operation.life.is_ended() {
                let why = "it is not over yet: forgotten now, it could run and be charged twice";
                let error = Error::new(Code::NotAllowed, why, "cancel() or delete() it first");
                return Err(Error { operation: Some(operation.identity.id), ..error });
            }
            member = match &operation.identity.parent {
                Some(parent) => self.load(parent).await?,
                None => None,
            };
            lineage.push(operation.identity.id);
        }
        // The newest goes last: as long as anything is left, the intent leads to it.
        for id in lineage.iter().rev() {
            let gone = self.command(id, Command::Forget).await;
            if let Err(error) = gone
                && self.0.ports.store().load(id).await.map_err(reads::storage)?.is_some()
            {
                return Err(error);
            }
        }
        Ok(lineage)
    }
}
