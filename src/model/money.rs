//! What work costs, as the service reports it: kept as told, never assumed.
//!
//! What a service says can only narrow a cost limit: an amount below nothing says nothing, one that
//! does not fit is the largest, and what is given back beyond a charge pays for nothing else. Where
//! the profile has a call for quotes, bounded work asks for its price before it is sent, and anew
//! after each resume. What may have been accepted is charged once in any case: it is sent again for
//! its answer whatever it costs.

mod credits;
mod ledger;

pub use credits::Credits;
pub use ledger::{Amount, Ledger, ReceiptKind};
