//! A service as this context is configured for it.

use crate::model::ids::ServiceName;
use crate::model::policy::{Limits, Retention};
use crate::model::profile::Profile;

/// A service as this context is configured for it.
#[derive(Clone, Debug)]
pub struct ServiceSetup {
    /// The app's name for it.
    pub name: ServiceName,
    /// Its contract.
    pub profile: Profile,
    /// The profile's exact text, stored beside the operations that are pinned to it.
    pub profile_text: String,
    /// Where it is, without a slash at the end.
    pub base_url: String,
    /// Scheme, host and port of that.
    pub origin: String,
    /// Keys are made from the intent ([`crate::rules::derived_key`]), not at random.
    pub derives_keys: bool,
    /// Parameters of its submissions, where a submission names none.
    pub params: Vec<(String, String)>,
    /// How long what has ended is kept here.
    pub retention: Retention,
    /// The app's bounds.
    pub limits: Limits,
}
