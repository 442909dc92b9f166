//! What an exchange needs before it is written or made: a credential, its body, and its turn.

use super::ports::{App, AuthorizeRequest, Ports, Store, Turn};
use super::{Driver, Prepared};
use crate::engine::Input;

impl<P: Ports> Driver<P> {
    /// Gets a credential, the body that goes with it, and its turn.
    pub(super) async fn authorize(self, turn: Turn, request: AuthorizeRequest, with_body: bool) {
        let purpose = request.purpose;
        let id = turn.id.clone();
        let answer = self.0.ports.app().authorize(request).await;
        let at_hand = self.0.prepared.borrow().get(&id).is_some_and(|own| own.body.is_some());
        let body = if with_body && !at_hand {
            self.0.ports.store().body(&id).await.ok().flatten()
        } else {
            None
        };
        let has_body = !with_body || at_hand || body.is_some();
        let answer = answer.filter(|_| has_body);
        let delay_ms = if answer.is_some() { self.0.ports.app().turn(&turn).await } else { 0 };
        if delay_ms > 0 {
            return self.feed(Input::Postponed(id, purpose, delay_ms));
        }
        match answer {
            Some(authorization) => {
                let mut all = self.0.prepared.borrow_mut();
                let prepared = all.get_or_insert_with(id.clone(), Prepared::default);
                prepared.headers = authorization.headers;
                if body.is_some() {
                    prepared.body = body;
                }
                drop(all);
                self.feed(Input::Authorized(id, purpose, authorization.scope));
            }
            None => self.feed(Input::Unauthorized(id, purpose)),
        }
    }
}
