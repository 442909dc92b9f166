//! All ports of a host, in one place.

use std::rc::Rc;

use super::app::JsApp;
use crate::driver::ports::Ports;
use crate::web::fetch::FetchTransport;
use crate::web::runtime::WebRuntime;
use crate::web::store::HostStore;

pub(super) struct HostPorts {
    pub(super) store: HostStore,
    pub(super) transport: FetchTransport,
    pub(super) app: JsApp,
    pub(super) runtime: Rc<WebRuntime>,
}

impl Ports for HostPorts {
    type App = JsApp;
    type Runtime = WebRuntime;
    type Store = HostStore;
    type Transport = FetchTransport;

    fn store(&self) -> &HostStore {
        &self.store
    }

    fn transport(&self) -> &FetchTransport {
        &self.transport
    }

    fn app(&self) -> &JsApp {
        &self.app
    }

    fn runtime(&self) -> &WebRuntime {
        &self.runtime
    }
}
