//! Models of the services that Holdfast talks to, with billing and faults.
//!
//! A [`Service`] is a pure model: no I/O, no clock, the same answers for the same requests at the
//! same times. [`Loopback`] puts faults in front of it. Clones are independent worlds. `serve` puts
//! all of that on a socket, with a control plane under `/_control/` and static files.
mod azure_lro;
mod bulkgrid;
mod cleanedweb;
mod fault;
mod frame;
mod google_lro;
mod house;
mod http;
mod http_async;
mod idempotency_key;
mod ledger;
mod loopback;
mod replay;
mod runharvester;
#[cfg(not(target_arch = "wasm32"))]
mod server;
mod service;
mod time;

pub use azure_lro::{AzureLro, AzureLroConfig, AzureStyle};
pub use bulkgrid::{Bulkgrid, BulkgridConfig};
pub use cleanedweb::{CleanedWeb, CleanedWebConfig, Sources};
pub use fault::{Fault, FaultKind, FaultPlan, RetryAfter};
pub use frame::{Settings, State};
pub use google_lro::{GoogleLro, GoogleLroConfig};
pub use house::all_services;
pub use http::{Request, Response};
pub use http_async::{Finish, HttpAsync, HttpAsyncConfig};
pub use idempotency_key::{IdempotencyKey, IdempotencyKeyConfig};
pub use ledger::{FLOOR_MS, JobEntry, LOG_MAX, Ledger, LoggedRequest};
pub use loopback::{Delivery, Loopback, Outcome};
pub use replay::{Replay, ReplayConfig};
pub use runharvester::{Config, RunHarvester};
#[cfg(not(target_arch = "wasm32"))]
pub use server::{Mount, Options, Server, serve, serve_all};
pub use service::{AnyService, Call, Service};
pub use time::{http_date, rfc3339};
