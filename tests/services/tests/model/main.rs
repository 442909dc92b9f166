//! The pure model, in virtual time.
#![expect(clippy::panic, clippy::unwrap_used, reason = "helpers of tests may panic")]
mod bulkgrid;
mod calls;
mod cleanedweb;
mod every_service;
mod ledger;
mod loopback;
mod properties;
mod replay;
mod runharvester;
mod standards;
