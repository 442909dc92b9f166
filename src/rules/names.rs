//! Public names: in records, in the journal, in the API. They never change their meaning.

use crate::model::ending::{Ending, FailureClass};
use crate::model::hold::{ParkReason, WaitReason};
use crate::model::money::{Amount, ReceiptKind};
use crate::model::profile::{JobState, Meaning, Purpose, StreamForm};

macro_rules! name_table {
    ($type:ty { $($variant:ident => $name:literal,)* }) => {
        impl $type {
            /// Every value.
            pub const ALL: &[Self] = &[$(Self::$variant,)*];

            /// Its public name.
            pub const fn name(self) -> &'static str {
                match self { $(Self::$variant => $name,)* }
            }

        }
    };
}

name_table!(WaitReason {
    Backoff => "backoff",
    Poll => "poll",
    ServerGuidance => "serverGuidance",
    RateLimit => "rateLimit",
    NotFoundGrace => "notFoundGrace",
    ResultNotReady => "resultNotReady",
    Authorization => "authorization",
    InProgress => "inProgress",
    ListingLag => "listingLag",
    Settlement => "settlement",
    Delivery => "delivery",
    Diagnosis => "diagnosis",
});

name_table!(ParkReason {
    NeedsCredential => "NeedsCredential",
    NeedsAccess => "NeedsAccess",
    NeedsCredit => "NeedsCredit",
    DeadlineExceeded => "DeadlineExceeded",
    BudgetExhausted => "BudgetExhausted",
    OutcomeUnknown => "OutcomeUnknown",
    Ambiguous => "Ambiguous",
    ScopeChanged => "ScopeChanged",
    CancelUnconfirmed => "CancelUnconfirmed",
    KeyConflict => "KeyConflict",
    VersionMoved => "VersionMoved",
    JobNotFound => "JobNotFound",
});

name_table!(Purpose {
    Submit => "submit",
    Poll => "poll",
    Result => "result",
    Cancel => "cancel",
    Settle => "settle",
    Delete => "delete",
    Reconcile => "reconcile",
    Quote => "quote",
    Diagnose => "diagnose",
});

name_table!(Amount {
    Quoted => "quoted",
    Reserved => "reserved",
    Base => "base",
    Adjustment => "adjustment",
    Charged => "charged",
    Released => "released",
    Refund => "refund",
    Balance => "balance",
    Reads => "reads",
});

name_table!(ReceiptKind {
    ExecutionCharge => "executionCharge",
    Purchase => "purchase",
    Invoice => "invoice",
});

name_table!(FailureClass {
    Input => "input",
    Target => "target",
    Transient => "transient",
    Unknown => "unknown",
});

name_table!(JobState {
    Active => "active",
    Completed => "completed",
    Partial => "partial",
    Failed => "failed",
    Cancelled => "cancelled",
    Expired => "expired",
});

name_table!(StreamForm {
    Sse => "sse",
    Ndjson => "ndjson",
});

name_table!(Meaning {
    RateLimited => "rateLimited",
    Transient => "transient",
    Rejected => "rejected",
    NeedsCredential => "needsCredential",
    NeedsAccess => "needsAccess",
    NeedsCredit => "needsCredit",
    Failed => "failed",
    SourceBlocked => "sourceBlocked",
    InProgress => "inProgress",
    RunningOrFailed => "runningOrFailed",
    Consumed => "consumed",
    KeyConflict => "keyConflict",
    VersionMoved => "versionMoved",
    NotFound => "notFound",
    Undelivered => "undelivered",
    NotReady => "notReady",
    Expired => "expired",
    AlreadyEnded => "alreadyEnded",
    Unknown => "unknown",
});

impl Ending {
    /// Its public name.
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Succeeded { .. } => "succeeded",
            Self::Rejected(_) => "rejected",
            Self::Failed(_) => "failed",
            Self::Cancelled => "cancelled",
            Self::Expired(_) => "expired",
            Self::Incomplete { .. } => "incomplete",
            Self::Abandoned => "abandoned",
        }
    }
}
