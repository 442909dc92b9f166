//! All ports of a browser, in one place.

use std::rc::Rc;

use super::app::JsApp;
use crate::driver::ports::Ports;
use crate::web::fetch::FetchTransport;
use crate::web::idb::IndexedDbStore;
use crate::web::runtime::WebRuntime;

pub(super) struct WebPorts {
    pub(super) store: IndexedDbStore,
    pub(super) transport: FetchTransport,
    pub(super) app: JsApp,
    pub(super) runtime: Rc<WebRuntime>,
}

impl Ports for WebPorts {
    type App = JsApp;
    type Runtime = WebRuntime;
    type Store = IndexedDbStore;
    type Transport = FetchTransport;

    fn store(&self) -> &IndexedDbStore {
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
