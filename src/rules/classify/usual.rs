//! HTTP's own meaning of a status.

use crate::model::profile::{Meaning, Purpose};

/// What a status means where the profile says nothing (RFC 9110, RFC 6585).
pub(super) fn usual(purpose: Purpose, status: u16) -> Meaning {
    let reading = match purpose {
        Purpose::Poll | Purpose::Result | Purpose::Settle | Purpose::Reconcile => true,
        Purpose::Submit
        | Purpose::Cancel
        | Purpose::Delete
        | Purpose::Quote
        | Purpose::Diagnose => false,
    };
    match status {
        401 | 407 => Meaning::NeedsCredential,
        402 => Meaning::NeedsCredit,
        403 => Meaning::NeedsCredential,
        404 | 410 if purpose == Purpose::Delete => Meaning::NotFound,
        404 if reading || purpose == Purpose::Cancel => Meaning::NotFound,
        409 => match purpose {
            Purpose::Submit | Purpose::Delete => Meaning::InProgress,
            Purpose::Result => Meaning::NotReady,
            Purpose::Poll
            | Purpose::Settle
            | Purpose::Reconcile
            | Purpose::Quote
            | Purpose::Diagnose => Meaning::Transient,
            Purpose::Cancel => Meaning::AlreadyEnded,
        },
        410 if purpose == Purpose::Result => Meaning::Expired,
        422 if purpose == Purpose::Result => Meaning::Failed,
        410 if reading => Meaning::NotFound,
        429 => Meaning::RateLimited,
        // 499: something in between gave the request up, and does not know what became of it.
        408 | 425 | 499 | 500..=599 => Meaning::Transient,
        400..=499 => Meaning::Rejected,
        _ => Meaning::Transient,
    }
}
