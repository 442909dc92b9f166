//! Floor 1: pure functions over the model.

pub mod backoff;
pub mod bounds;
pub mod canonical;
mod civil;
pub mod classify;
mod cursor;
pub mod derived_key;
pub mod digest;
pub mod exits;
pub mod facts;
mod grammar;
pub mod guidance;
pub mod http_date;
pub mod json;
mod json_tokens;
pub mod lease;
pub mod names;
pub mod next;
pub mod options;
pub mod profile;
pub mod reader;
pub mod rfc3339;
pub mod status;
pub mod step;
pub mod structured;
pub mod text;
