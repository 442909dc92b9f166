//! How an idempotency key travels.

/// How an idempotency key travels.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyCarrier {
    /// What carries it.
    pub place: KeyPlace,
    /// Written as a structured-field string, with quotes (the IETF draft), or bare; headers only.
    pub quoted: bool,
    /// Only UUIDs are keys of this service.
    pub uuid: bool,
    /// Fewest characters.
    pub length_min: usize,
    /// Most characters.
    pub length_max: usize,
    /// Characters allowed besides letters and digits.
    pub punctuation: String,
    /// How long the service keeps a key, in milliseconds; past it nothing unresolved is resent.
    pub retention_ms: Option<u64>,
    /// Whether it keeps an answer of status 500 under a key too, and gives it whenever it is asked again;
    /// else only successes are replayed.
    pub keeps_errors: bool,
    /// The header field that tells when the key was first sent, as an HTTP date.
    pub sent_at: Option<String>,
    /// Whether the order of an object's properties is no difference to the service.
    pub canonical_body: bool,
}

/// What carries an idempotency key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum KeyPlace {
    /// A header field of this name.
    Header(String),
    /// A member of the JSON body, by its JSON pointer.
    Field(String),
    /// A parameter of the query, by its name.
    Query(String),
}
