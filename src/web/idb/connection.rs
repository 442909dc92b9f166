//! The connection: opened on first use, once, and again when it has died.

use std::cell::RefCell;

use js_sys::{Array, Object, Promise};
use wasm_bindgen::prelude::*;
use web_sys::{Event, IdbDatabase, IdbFactory, IdbOpenDbRequest, IdbTransaction};

use super::schema;
use crate::driver::ports::store::Durability;
use crate::web::promise::{object, outcome, promise, property, settled};
use crate::web::spawn::spawn;
use crate::web::sys;

/// How long opening may take, in milliseconds.
const OPEN_MS: u32 = 5_000;

/// What a transaction touches, and how.
pub(super) struct Scope<'a> {
    /// Object stores.
    pub(super) stores: &'a [&'a str],
    /// What complete promises; `None` for a transaction that only reads.
    pub(super) durability: Option<Durability>,
}

/// A database that is opened on first use.
pub(super) struct Connection {
    name: String,
    /// The open database, or the opening of it: whoever comes second waits for the same one.
    current: RefCell<Option<Promise>>,
}

impl Connection {
    pub(super) fn new(name: &str) -> Self {
        Self { name: name.into(), current: RefCell::new(None) }
    }

    /// The open database. Fails with a `DOMException`, or with text.
    pub(super) async fn database(&self) -> Result<IdbDatabase, JsValue> {
        let promise = self.opening();
        let opened = outcome(&promise).await;
        if opened.is_err() {
            self.current.borrow_mut().take_if(|current| Object::is(current, &promise));
        }
        Ok(opened?.unchecked_into())
    }

    fn opening(&self) -> Promise {
        let mut current = self.current.borrow_mut();
        current
            .get_or_insert_with(|| {
                let name = self.name.clone();
                promise(Box::pin(async move { Ok(open(&name).await?.into()) }))
            })
            .clone()
    }

    /// Closes the database, once it is open and its transactions are over, and forgets it.
    pub(super) fn forget(&self) {
        let current = self.current.borrow_mut().take();
        if let Some(promise) = current {
            spawn(Box::pin(async move {
                if let Ok(database) = outcome(&promise).await {
                    database.unchecked_into::<IdbDatabase>().close();
                }
            }));
        }
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        self.forget();
    }
}

/// Begins a transaction. It must get its first requests in the same turn.
pub(super) fn begin(database: &IdbDatabase, scope: &Scope<'_>) -> Result<IdbTransaction, JsValue> {
    let stores = Array::new();
    for name in scope.stores {
        stores.push(&JsValue::from_str(name));
    }
    let (mode, durability) = match scope.durability {
        None => ("readonly", "default"),
        Some(Durability::Relaxed) => ("readwrite", "relaxed"),
        Some(Durability::Strict) => ("readwrite", "strict"),
    };
    let options = object(&[("durability", durability.into())]);
    database.unchecked_ref::<sys::Database>().transaction(&stores, mode, &options)
}

async fn open(name: &str) -> Result<IdbDatabase, JsValue> {
    let factory = property(&sys::global(), "indexedDB");
    if !factory.is_object() {
        return Err("indexedDB is missing".into());
    }
    let factory: IdbFactory = factory.unchecked_into();
    let mut database = finished(factory.open(name)?).await?;
    if !schema::is_complete(&database) {
        database.close();
        let request = factory.open_with_u32(name, schema::VERSION)?;
        request.set_onupgradeneeded(Some(&upgrade(request.clone())));
        database = finished(request).await?;
    }
    // Nobody's upgrade or deletion waits for this connection: the next call sees that it is closed
    // and opens another.
    database.set_onversionchange(Some(&closer(|event| event.target())));
    if schema::is_complete(&database) {
        return Ok(database);
    }
    database.close();
    Err("the database has another schema".into())
}

/// Waits for a request to open. One that comes to its end too late is closed then.
async fn finished(request: IdbOpenDbRequest) -> Result<IdbDatabase, JsValue> {
    let outcome = settled(OPEN_MS, &mut |resolve, reject| {
        request.set_onsuccess(Some(resolve));
        request.set_onerror(Some(reject));
        request.set_onblocked(Some(reject));
    })
    .await;
    match outcome {
        Ok(_) => Ok(request.result()?.unchecked_into()),
        Err(event) => {
            request.set_onsuccess(Some(&closer(|event| {
                property(event.target()?.as_ref(), "result").dyn_into().ok()
            })));
            // A request that is still pending has no error to read, and throws.
            let error = request.error().ok().flatten().map(JsValue::from);
            let stuck = || if event.is_undefined() { "timeout" } else { "blocked" }.into();
            Err(error.unwrap_or_else(stuck))
        }
    }
}

/// A listener that closes the database which the event leads to. It captures nothing that would
/// keep a database alive.
fn closer(database: impl Fn(&Event) -> Option<web_sys::EventTarget> + 'static) -> js_sys::Function {
    let close = move |event: Event| {
        if let Some(database) = database(&event) {
            database.unchecked_into::<IdbDatabase>().close();
        }
    };
    Closure::<dyn Fn(Event)>::new(close).into_js_value().unchecked_into()
}

/// A listener that makes the schema. An exception in it aborts the upgrade.
fn upgrade(request: IdbOpenDbRequest) -> js_sys::Function {
    let create = move || -> Result<(), JsValue> {
        schema::create(&request.result()?.unchecked_into::<IdbDatabase>())
    };
    Closure::once_into_js(create).unchecked_into()
}
