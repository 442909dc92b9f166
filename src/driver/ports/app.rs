//! The port to the app: its account, its credentials, its consumers.

use crate::engine::event::Event;
use crate::model::ending::ResultRef;
use crate::model::http::Headers;
use crate::model::ids::{Account, OperationId, Scope, ServiceName};
use crate::model::operation::Operation;
use crate::model::profile::Purpose;

/// The app's callbacks. Calling one never runs the app's code inside a borrow of ours, and what it
/// does, throws or forgets to do breaks nothing here.
#[expect(async_fn_in_trait, reason = "single-threaded hosts only; no Send bound is wanted")]
pub trait App {
    /// Whose work may be shown and driven right now.
    fn account(&self) -> Option<Account>;

    /// The credential for one exchange; `None` when it cannot be had now.
    async fn authorize(&self, request: AuthorizeRequest) -> Option<Authorization>;

    /// How long an exchange has to wait for those that others make of the same service, in
    /// milliseconds; 0 where it may be made at once. May take its time. Default: there are no others.
    async fn turn(&self, _turn: &Turn) -> u32 {
        0
    }

    /// Whether results of that service are checked by a schema.
    fn validates(&self, service: &ServiceName) -> bool;

    /// What is wrong with a kept result, by the service's schema; `None` when nothing is.
    async fn fault_of(
        &self,
        service: &ServiceName,
        kept: &ResultRef,
        body: &[u8],
    ) -> Option<String>;

    /// Whether this context consumes endings of that service (`onSettled`).
    fn consumes(&self) -> bool;

    /// Hands an ending over; true once the app's promise resolves.
    async fn settled(&self, operation: &Operation) -> bool;

    /// Tells of a change; the app's code runs later, not inside this call.
    fn notify(&self, event: Box<Event>);
}

/// What a credential is asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AuthorizeRequest {
    /// For which service.
    pub service: ServiceName,
    /// For which exchange.
    pub purpose: Purpose,
    /// The last credential was refused: get a new one.
    pub refresh: bool,
}

/// What an exchange waits its turn for, among stores that know nothing of each other.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Turn {
    /// Of which operation.
    pub id: OperationId,
    /// Of which service.
    pub service: ServiceName,
    /// The digest of a request that no key tells from the same request of another operation: the two
    /// are handed over one after the other.
    pub alone: Option<String>,
}

/// A credential. Never stored, never shown; has no `Debug`.
pub struct Authorization {
    /// Header fields to add.
    pub headers: Headers,
    /// Who it speaks for, without the secret.
    pub scope: Option<Scope>,
}
