//! Names of things, each a type of its own, so that one cannot stand where another is meant.

macro_rules! names {
    ($($(#[$doc:meta])* $name:ident,)*) => {$(
        $(#[$doc])*
        #[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(pub String);

        impl $name {
            /// The name as text.
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl From<&str> for $name {
            fn from(text: &str) -> Self {
                Self(text.into())
            }
        }
    )*};
}

names! {
    /// Whose work it is, as the app names its users; the work of one is never shown to another.
    Account,
    /// One live client: a tab, a worker, an isolate. New at every start.
    ContextId,
    /// What makes a retry the same submission to the service (`Idempotency-Key`).
    IdempotencyKey,
    /// The caller's name for one intended piece of work, unique within account and service.
    Intent,
    /// The service's own name for accepted work.
    JobId,
    /// One operation's durable record.
    OperationId,
    /// The identity behind a credential (organization and key, never the secret), as `authorize` tells it.
    Scope,
    /// A service as the app configures it.
    ServiceName,
    /// One write of one record; makes repeating an unknown commit safe.
    WriteId,
}

/// The operations of one account and service towards one origin, driven by one context at a time.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LaneId(String);

impl LaneId {
    /// The lane of this account and service towards this origin.
    ///
    /// Parts are joined by a character that none of them may hold (see `rules::input`).
    pub fn of(account: &Account, service: &ServiceName, origin: &str) -> Self {
        Self([account.as_str(), service.as_str(), origin].join("\n"))
    }

    /// The lane as text: its key in a store.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Whether it leads to this machine: only there does an origin begin with `http:`.
    pub fn is_local(&self) -> bool {
        self.0.rsplit('\n').next().is_some_and(|origin| origin.starts_with("http:"))
    }

    /// The lane that a store's key names.
    pub const fn from_key(key: String) -> Self {
        Self(key)
    }
}

/// How often a lane has changed hands; a write under an older epoch is refused.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Epoch(pub u64);

/// How often a record has been written; a write states the revision that it replaces.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Revision(pub u64);

impl Revision {
    /// The revision of the write after this one.
    pub const fn next(self) -> Self {
        Self(self.0 + 1)
    }
}
