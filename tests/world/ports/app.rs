//! The app that one context runs in.

use std::future::pending;
use std::rc::Rc;

use holdfast::driver::ports::{App, Authorization, AuthorizeRequest, Turn};
use holdfast::engine::event::Event;
use holdfast::model::ending::ResultRef;
use holdfast::model::ids::{Account, Scope, ServiceName};
use holdfast::model::operation::Operation;
use holdfast::record::view::view;

use super::SimPorts;
use crate::world::settings::strikes;
use crate::world::{Being, SECRET};

impl SimPorts {
    /// Others hear of a change, each in a turn of its own.
    fn tell_others(&self) {
        if !self.world.0.settings.borrow().hints {
            return;
        }
        for (being, hint, _) in self.world.0.peers.borrow().iter() {
            if being.alive.get() && !Rc::ptr_eq(being, &self.being) {
                let hint = Rc::clone(hint);
                self.world.0.tasks.spawn(Rc::clone(being), async move { hint() });
            }
        }
    }

    /// Others hear that there is no credential here; where one of them can go on, it asks for the work.
    fn tell_lack(&self) {
        if !self.being.authorized(false) || !self.world.0.settings.borrow().hints {
            return;
        }
        let peers = self.world.0.peers.borrow();
        let is_other = |own: &Rc<Being>| !Rc::ptr_eq(own, &self.being);
        let answered = peers.iter().any(|(own, ..)| is_other(own) && own.goes_on());
        if let Some((_, _, offer)) = peers.iter().find(|(own, ..)| answered && !is_other(own)) {
            let offer = Rc::clone(offer);
            self.world.0.tasks.spawn(Rc::clone(&self.being), async move { offer() });
        }
    }
}

impl App for SimPorts {
    fn account(&self) -> Option<Account> {
        self.world.0.settings.borrow().account.clone().map(Account)
    }

    async fn authorize(&self, request: AuthorizeRequest) -> Option<Authorization> {
        self.point().await;
        let authorize_ms = self.world.0.settings.borrow().authorize_ms;
        self.world.0.clock.sleep(authorize_ms).await;
        self.world.0.authorizations.borrow_mut().push((request.purpose, request.refresh));
        let mut settings = self.world.0.settings.borrow_mut();
        if self.being.signed_out.get() || strikes(&mut settings.unauthorized) {
            drop(settings);
            self.tell_lack();
            return None;
        }
        self.being.authorized(true);
        // The last two are such as helpers of apps add to every request, which has its own already.
        let headers = [
            ("authorization", format!("Bearer {SECRET}")),
            ("x-api-key", SECRET.into()),
            ("Content-Type", "text/plain".into()),
            ("Idempotency-Key", "of-a-helper".into()),
        ];
        let headers = headers.into_iter().collect();
        Some(Authorization { headers, scope: settings.scope.clone().map(Scope) })
    }

    async fn turn(&self, _turn: &Turn) -> u32 {
        self.point().await;
        if strikes(&mut self.world.0.settings.borrow_mut().postponed) { 2_000 } else { 0 }
    }

    fn validates(&self, _service: &ServiceName) -> bool {
        self.world.0.settings.borrow().schema_fault.is_some()
    }

    async fn fault_of(
        &self,
        _service: &ServiceName,
        _kept: &ResultRef,
        _body: &[u8],
    ) -> Option<String> {
        self.world.0.settings.borrow().schema_fault.clone()
    }

    fn consumes(&self) -> bool {
        self.world.0.settings.borrow().consumes
    }

    async fn settled(&self, operation: &Operation) -> bool {
        self.point().await;
        if strikes(&mut self.world.0.settings.borrow_mut().hanging_deliveries) {
            return pending().await;
        }
        if strikes(&mut self.world.0.settings.borrow_mut().failing_deliveries) {
            return false;
        }
        self.world.0.delivered.borrow_mut().push(operation.identity.id.as_str().to_owned());
        self.point().await;
        true
    }

    fn notify(&self, event: Box<Event>) {
        if self.being.alive.get() {
            self.world.0.log.told(&event.operation);
            self.world.0.events.borrow_mut().push(view(&event.operation));
            let id = &event.operation.identity.id;
            let happened = event.entries.iter().map(|entry| (id.clone(), entry.event));
            self.world.0.happened.borrow_mut().extend(happened);
            self.tell_others();
        }
    }
}
