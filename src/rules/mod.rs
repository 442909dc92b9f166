//! Floor 1: pure functions over the model.

pub mod backoff;
pub mod canonical;
mod civil;
mod cursor;
pub mod digest;
pub mod facts;
pub mod guidance;
pub mod http_date;
pub mod json;
mod json_tokens;
pub mod rfc3339;
pub mod structured;
