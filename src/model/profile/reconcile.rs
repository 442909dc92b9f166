//! How work is found again whose submission was not answered.

/// How a run is found again in the service's listing of runs, newest first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reconcile {
    /// Where a page holds its items (a JSON pointer).
    pub items: String,
    /// Where an item holds its id.
    pub id: String,
    /// Where an item says when it was created.
    pub created_at: String,
    /// By what an item is known for an operation's.
    pub mark: Mark,
    /// Where an item names the job that it repeats; reruns are known by it.
    pub retry_of: Option<String>,
    /// Where a page says what the next one is asked for by; `None`: pages are numbered from 1.
    pub next: Option<String>,
    /// How long after its creation a run may be missing from the listing, in milliseconds.
    pub lag_ms: u64,
    /// How far the service's clock may be from the caller's, in milliseconds.
    pub skew_ms: u64,
    /// Pages of one reading at most.
    pub pages_max: u32,
}

/// By what an item of a listing is known for an operation's.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Mark {
    /// The operation's id, which the service shows again.
    Echo {
        /// Where it is put into the body of the submission.
        sent: String,
        /// Where an item shows it.
        listed: String,
    },
    /// Values that the body of the submission has too: their places in an item and in the body.
    /// The work of others may look the same.
    Same(Vec<(String, String)>),
}
