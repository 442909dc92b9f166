//! The ports: everything that the driver needs of its host, and nothing else reaches outside.

pub mod app;
pub mod runtime;
pub mod store;
pub mod transport;

pub use app::{App, Authorization, AuthorizeRequest, Turn};
pub use runtime::{Clock, Entropy, FailPoints, Locks, Spawn, Timer};
pub use store::Store;
pub use transport::{Body, Head, Lost, Outgoing, Transport};

/// All ports of one host.
pub trait Ports: 'static {
    /// Durable storage.
    type Store: Store;
    /// HTTP.
    type Transport: Transport;
    /// The app's own callbacks.
    type App: App;
    /// Clock, timer, randomness, tasks, locks, fail points.
    type Runtime: Clock + Timer + Entropy + Spawn + Locks + FailPoints;

    /// Durable storage.
    fn store(&self) -> &Self::Store;
    /// HTTP.
    fn transport(&self) -> &Self::Transport;
    /// The app's own callbacks.
    fn app(&self) -> &Self::App;
    /// Clock, timer, randomness, tasks, locks, fail points.
    fn runtime(&self) -> &Self::Runtime;
}
