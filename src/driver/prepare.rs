//! What an exchange needs before it is written or made: a credential, its turn, and its body.

use super::ports::{App, AuthorizeRequest, Ports, Store, Turn};
use super::{Driver, Prepared};
use crate::engine::Input;

/// How long a body that could not be read is left alone, in milliseconds.
const READ_AGAIN_MS: u32 = 2_000;

impl<P: Ports> Driver<P> {
    /// Gets a credential, its turn, and the body that goes with it.
    pub(super) async fn authorize(self, turn: Turn, request: AuthorizeRequest, with_body: bool) {
        let purpose = request.purpose;
        let id = turn.id.clone();
        let Some(authorization) = self.0.ports.app().authorize(request).await else {
            return self.feed(Input::Unauthorized(id, purpose));
        };
        let delay_ms = self.0.ports.app().turn(&turn).await;
        if delay_ms > 0 {
            return self.feed(Input::Postponed(id, purpose, delay_ms));
        }
        let at_hand = self.0.prepared.borrow().get(&id).is_some_and(|own| own.body.is_some());
        let mut body = None;
        if with_body && !at_hand {
            body = match self.0.ports.store().body(&id).await {
                // That is no want of a credential, and passes.
                Err(_) => return self.feed(Input::Postponed(id, purpose, READ_AGAIN_MS)),
                Ok(None) => return self.feed(Input::Unauthorized(id, purpose)),
                Ok(found) => found,
            };
        }
        let mut all = self.0.prepared.borrow_mut();
        let prepared = all.get_or_insert_with(id.clone(), Prepared::default);
        prepared.headers = authorization.headers;
        if body.is_some() {
            prepared.body = body;
        }
        drop(all);
        self.feed(Input::Authorized(id, purpose, authorization.scope));
    }
}
