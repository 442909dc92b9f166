//! A journal line: stored in the very form in which the app gets it.

use super::report::token;
use super::writer::Object;
use crate::engine::output::Line;
use crate::model::money::Credits;
use crate::model::profile::Purpose;

/// A line's text.
pub fn encode_line(line: &Line) -> String {
    let entry = &line.entry;
    let mut out = Object::new();
    out.time("at", entry.at)
        .text("event", entry.event)
        .number("count", u64::from(line.count))
        .some_text("purpose", entry.purpose.map(Purpose::name));
    if let Some(status) = entry.status {
        out.number("httpStatus", u64::from(status));
    }
    // What the service says in its own words could be anything: only words go in.
    out.some_text("code", entry.code.as_deref().map(|own| token(own, b"/")))
        .some_text("state", entry.state.as_deref().map(|own| token(own, b" ")));
    if let Some((wait_ms, reason)) = entry.wait {
        out.number("waitMs", wait_ms).text("reason", reason);
    }
    out.some_text("cost", entry.cost.map(Credits::to_text).as_deref());
    out.end()
}
