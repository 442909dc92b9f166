//! Public names: in records, in the journal, in the API. They never change their meaning.

use crate::model::ending::{Ending, FailureClass};
use crate::model::hold::{ParkReason, WaitReason};
use crate::model::profile::Purpose;

macro_rules! name_table {
    ($type:ty { $($variant:ident => $name:literal,)* }) => {
        impl $type {
            /// Every value.
            pub const ALL: &[Self] = &[$(Self::$variant,)*];

            /// Its public name.
            pub const fn name(self) -> &'static str {
                match self { $(Self::$variant => $name,)* }
            }

            /// The value of this name.
            pub fn from_name(name: &str) -> Option<Self> {
                Self::ALL.iter().copied().find(|value| value.name() == name)
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
    Settlement => "settlement",
    Delivery => "delivery",
});

name_table!(ParkReason {
    NeedsCredential => "NeedsCredential",
    NeedsAccess => "NeedsAccess",
    NeedsCredit => "NeedsCredit",
    DeadlineExceeded => "DeadlineExceeded",
    BudgetExhausted => "BudgetExhausted",
    OutcomeUnknown => "OutcomeUnknown",
    ScopeChanged => "ScopeChanged",
    CancelUnconfirmed => "CancelUnconfirmed",
    KeyConflict => "KeyConflict",
    JobNotFound => "JobNotFound",
});

name_table!(Purpose {
    Submit => "submit",
    Poll => "poll",
    Result => "result",
    Cancel => "cancel",
    Settle => "settle",
});

name_table!(FailureClass {
    Input => "input",
    Target => "target",
    Transient => "transient",
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
