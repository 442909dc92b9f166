//! What work costs, as the service reports it: kept as told, never assumed.

mod credits;
mod ledger;

pub use credits::Credits;
pub use ledger::{Amount, Ledger, ReceiptKind};
