//! Which object stores and indexes there are, and how they come into being.

use js_sys::Array;
use wasm_bindgen::prelude::*;
use web_sys::{IdbDatabase, IdbObjectStoreParameters};

/// The schema's version. Versions go in hundreds, and a database is opened without one: after a
/// rollback, older code still opens what newer code has made.
pub(super) const VERSION: u32 = 100;

/// Rows of operations, by id.
pub(super) const OPERATIONS: &str = "operations";
/// Request bodies, by operation.
pub(super) const BODIES: &str = "bodies";
/// Pieces of results, by operation, download and number.
pub(super) const CHUNKS: &str = "chunks";
/// Journal entries, by operation and slot.
pub(super) const JOURNAL: &str = "journal";
/// Ids of operations, by account, service and intent.
pub(super) const NAMES: &str = "names";
/// Ids of operations, by what belongs to one alone: the service's id under a profile, or a key under
/// account and service.
pub(super) const SERVICE_IDS: &str = "service_ids";
/// Lanes, by their key.
pub(super) const LANES: &str = "lanes";
/// Texts of profiles, by digest.
pub(super) const PROFILES: &str = "profiles";

const STORES: [&str; 8] =
    [OPERATIONS, BODIES, CHUNKS, JOURNAL, NAMES, SERVICE_IDS, LANES, PROFILES];

/// Indexes of [`OPERATIONS`]: by lane and [`super::codec::DUE`].
pub(super) const BY_DUE: &str = "by_due";
/// By lane and [`super::codec::DELIVERY_DUE`].
pub(super) const BY_DELIVERY_DUE: &str = "by_delivery_due";
/// By account, time of creation, and id.
pub(super) const BY_CREATION: &str = "by_creation";

const INDEXES: [(&str, &[&str]); 3] = [
    (BY_DUE, &["lane", "due"]),
    (BY_DELIVERY_DUE, &["lane", "deliveryDue"]),
    (BY_CREATION, &["account", "createdAt", "id"]),
];

/// Whether a database has all object stores.
pub(super) fn is_complete(database: &IdbDatabase) -> bool {
    let names = database.object_store_names();
    STORES.iter().all(|name| names.contains(name))
}

/// Makes the object stores that are missing. To be called while an upgrade is under way.
pub(super) fn create(database: &IdbDatabase) -> Result<(), JsValue> {
    let names = database.object_store_names();
    for name in STORES {
        if names.contains(name) {
            continue;
        }
        if name != OPERATIONS {
            database.create_object_store(name)?;
            continue;
        }
        let parameters = IdbObjectStoreParameters::new();
        parameters.set_key_path(&"id".into());
        let store = database.create_object_store_with_optional_parameters(name, &parameters)?;
        for (index, path) in INDEXES {
            let parts = Array::new();
            for part in path {
                parts.push(&JsValue::from_str(part));
            }
            store.create_index_with_str_sequence(index, &parts)?;
        }
    }
    Ok(())
}
