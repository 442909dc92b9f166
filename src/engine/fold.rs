//! The journal's lines: numbered, and folded where one is like the last.

use super::output::Line;
use crate::model::journal::Entry;
use crate::model::operation::Operation;
use crate::rules::teeth::{Tooth, bites};

/// Numbers the new journal lines; a line like the last one is folded into it.
pub(super) fn fold(operation: &mut Operation, last: Option<&Line>, entries: &[Entry]) -> Vec<Line> {
    if let ([entry], Some(last)) = (entries, last) {
        let like = last.entry.event == entry.event
            && last.entry.status == entry.status
            && last.entry.code == entry.code
            && last.entry.state == entry.state;
        if like {
            // The cost is what it has come to so far, and told only where it has changed.
            let cost = entry.cost.or(last.entry.cost);
            let folded = Entry { at: last.entry.at, cost, ..entry.clone() };
            return vec![Line { count: last.count + 1, entry: folded, ..*last }];
        }
    }
    let mut lines = Vec::new();
    if bites(Tooth::ForgetJournal) {
        operation.counters.journal += 1;
        return lines;
    }
    for entry in entries {
        operation.counters.journal += 1;
        lines.push(Line { number: operation.counters.journal, count: 1, entry: entry.clone() });
    }
    lines
}
