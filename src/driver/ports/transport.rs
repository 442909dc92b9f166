//! The port to HTTP: one exchange at a time, with no retry, no redirect and no cache of its own.

use core::future::Future;

use crate::model::http::Headers;

/// Sends requests.
pub trait Transport {
    /// What reads an answer's body.
    type Body: Body;

    /// Whether requests can leave at all, as far as the host knows. While they cannot, none is begun:
    /// it would be an attempt whose outcome is unknown.
    fn is_online(&self) -> bool {
        true
    }

    /// Sends at once: when this returns, the request has been handed to the host in the same turn
    /// (only *then* may the future be awaited). Redirects are not followed: they come as answers
    /// (an opaque redirect as status 0). Ends within `timeout_ms`, by [`Lost`] if need be; the
    /// timeout covers the body too, unless it begins
    /// anew with each piece of that ([`Outgoing::idle`]).
    fn send(
        &self,
        outgoing: Outgoing,
    ) -> impl Future<Output = Result<Head<Self::Body>, Lost>> + 'static;
}

/// A request with its credential. It is never stored, never shown and has no `Debug`.
pub struct Outgoing {
    /// HTTP method.
    pub method: String,
    /// Absolute URL.
    pub url: String,
    /// All header fields, the credential among them.
    pub headers: Headers,
    /// The exact body.
    pub body: Option<Vec<u8>>,
    /// How long the exchange may take, in milliseconds.
    pub timeout_ms: u32,
    /// The timeout begins anew with each piece of the body.
    pub idle: bool,
}

/// An answer whose body is still to be read.
pub struct Head<B> {
    /// HTTP status; 0 for a redirect that the host hides.
    pub status: u16,
    /// Header fields that the host lets be seen.
    pub headers: Headers,
    /// The body.
    pub body: B,
}

/// An answer's body.
#[expect(async_fn_in_trait, reason = "single-threaded hosts only; no Send bound is wanted")]
pub trait Body {
    /// The next piece; `None` at the end.
    async fn next(&mut self) -> Result<Option<Vec<u8>>, Lost>;
}

/// There is no answer, or not the whole of it. Whether the request arrived is not known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lost;
