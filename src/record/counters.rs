//! The durable form of an operation's counts.

use super::count;
use super::writer::Object;
use crate::model::operation::Counters;
use crate::rules::reader::Reader;

pub(super) fn encode(counters: Counters) -> Object {
    let mut out = Object::new();
    out.count("polls", counters.polls)
        .count("failures", counters.failures)
        .count("authorizations", counters.authorizations)
        .count("notReady", counters.not_ready)
        .count("refusals", counters.refusals)
        .count("misses", counters.misses)
        .count("redirects", counters.redirects)
        .count("restarts", counters.restarts)
        .count("deliveries", counters.deliveries)
        .count("journal", counters.journal);
    out
}

pub(super) fn decode(reader: &Reader<'_>) -> Counters {
    Counters {
        polls: count(reader, "polls"),
        failures: count(reader, "failures"),
        authorizations: count(reader, "authorizations"),
        not_ready: count(reader, "notReady"),
        refusals: count(reader, "refusals"),
        misses: count(reader, "misses"),
        redirects: count(reader, "redirects"),
        restarts: count(reader, "restarts"),
        deliveries: count(reader, "deliveries"),
        journal: count(reader, "journal"),
    }
}
