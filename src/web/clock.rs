//! Wall time, by `Date.now()`.

use super::runtime::WebRuntime;
use crate::driver::ports::Clock;
use crate::model::time::Timestamp;

/// The time.
pub(super) fn now() -> Timestamp {
    // The cast saturates: a clock before 1970 stands at 0.
    Timestamp(js_sys::Date::now() as u64)
}

impl Clock for WebRuntime {
    fn now(&self) -> Timestamp {
        now()
    }
}
