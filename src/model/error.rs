//! Errors as product: each has a stable code, says what happened, and what to do next.

use super::ids::OperationId;

/// An error that reaches the app.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error {
    /// What kind.
    pub code: Code,
    /// What happened.
    pub message: String,
    /// What to do next.
    pub next_step: &'static str,
    /// The option that is wrong.
    pub field: Option<String>,
    /// The operation that it is about.
    pub operation: Option<OperationId>,
}

/// Stable codes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Code {
    /// An option is wrong; nothing was stored or sent.
    InvalidInput,
    /// A profile is wrong; nothing was stored or sent.
    InvalidProfile,
    /// No service of that name is configured.
    UnknownService,
    /// Nobody is signed in.
    NoAccount,
    /// The intent stands for another request.
    IntentConflict,
    /// The key, or the job, belongs to another operation.
    KeyConflict,
    /// Storage did not take it; nothing was sent.
    StorageUnavailable,
    /// Whether storage took it is not known.
    SubmitUnconfirmed,
    /// A later version wrote the record.
    NewerRecord,
    /// The state does not allow it.
    NotAllowed,
    /// The service gave no quote.
    NoQuote,
}

impl Code {
    /// The code as the API gives it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::InvalidInput => "INVALID_INPUT",
            Self::InvalidProfile => "INVALID_PROFILE",
            Self::UnknownService => "UNKNOWN_SERVICE",
            Self::NoAccount => "NO_ACCOUNT",
            Self::IntentConflict => "INTENT_CONFLICT",
            Self::KeyConflict => "KEY_CONFLICT",
            Self::StorageUnavailable => "STORAGE_UNAVAILABLE",
            Self::SubmitUnconfirmed => "SUBMIT_UNCONFIRMED",
            Self::NewerRecord => "NEWER_RECORD",
            Self::NotAllowed => "NOT_ALLOWED",
            Self::NoQuote => "NO_QUOTE",
        }
    }
}

impl Error {
    /// An error of this kind.
    pub fn new(code: Code, message: impl Into<String>, next_step: &'static str) -> Self {
        Self { code, message: message.into(), next_step, field: None, operation: None }
    }

    /// An option that is wrong.
    pub fn input(field: impl Into<String>, message: impl Into<String>) -> Self {
        let next_step = "correct this option and call again; nothing was stored or sent";
        Self { field: Some(field.into()), ..Self::new(Code::InvalidInput, message, next_step) }
    }
}
