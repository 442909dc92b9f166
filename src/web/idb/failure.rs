//! Why a transaction is not complete, and what that means for the caller.

use wasm_bindgen::prelude::*;

use crate::driver::ports::store::StoreError;
use crate::web::promise::reason;

/// Why a transaction is not complete.
pub(super) enum Failure {
    /// The database cannot be opened.
    Open(JsValue),
    /// The handle gives no transaction any more.
    Begin(JsValue),
    /// It was aborted; whether it had got as far as its step, in which it writes.
    Aborted(JsValue, bool),
    /// Neither complete nor aborted in time.
    Silent,
}

impl Failure {
    /// Whether a fresh handle may do what this one did not: nothing can have been written.
    pub(super) fn is_of_dead_handle(&self, writes: bool) -> bool {
        match self {
            Self::Begin(_) => true,
            Self::Aborted(error, has_stepped) => {
                let name = reason(error);
                !(writes && *has_stepped) && (name == "UnknownError" || name == "InvalidStateError")
            }
            Self::Open(_) | Self::Silent => false,
        }
    }

    /// What the caller is told.
    pub(super) fn told(self, writes: bool) -> StoreError {
        match self {
            Self::Open(error) | Self::Begin(error) => StoreError::Unavailable(reason(&error)),
            Self::Silent if writes => StoreError::Unknown("timeout".into()),
            Self::Silent => StoreError::Unavailable("timeout".into()),
            Self::Aborted(error, has_stepped) => {
                let name = reason(&error);
                match name.as_str() {
                    "QuotaExceededError" => StoreError::Full(name),
                    // The two by which a transaction ends whose connection is lost: perhaps while
                    // its commit was on the way.
                    "UnknownError" | "AbortError" if writes && has_stepped => {
                        StoreError::Unknown(name)
                    }
                    "UnknownError" => StoreError::Unavailable(name),
                    _ => StoreError::Aborted(name),
                }
            }
        }
    }
}
