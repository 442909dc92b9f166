//! Reads how a result of many pages is read.

use super::reconcile::place;
use crate::model::profile::{Calls, Pages};
use crate::rules::grammar::is_token;
use crate::rules::reader::Reader;

const PAGES_MAX: u32 = 1_000;

/// Most pages of one result that a profile may allow.
const PAGES_LIMIT: u32 = 10_000;

pub(super) fn pages(reader: &Reader<'_>, calls: Option<&Calls>) -> Option<Pages> {
    reader.only(&["items", "total", "next", "query", "first", "pagesMax"]);
    if let Some(calls) = calls {
        if calls.poll.is_none() || !calls.result_on.is_empty() {
            reader.fault(
                "it is about the result of a job that is read: with calls.poll, no resultOn",
            );
        }
        if calls.result.as_ref().is_some_and(|call| call.stream.is_some()) {
            reader.fault("a stream has no pages");
        }
    }
    let items = reader.required("items").and_then(|own| place(&own));
    let total = reader.member("total").and_then(|own| place(&own));
    let next = reader.member("next").and_then(|own| place(&own));
    let query = reader.member("query").and_then(|own| {
        let name = own.text()?;
        if !is_token(name) {
            own.fault("it must be the name of a parameter of the query");
        }
        Some(name.to_owned())
    });
    if next.is_none() && query.is_none() {
        reader.fault("it must say what a page is asked for by: query, next, or both");
    }
    let first = reader.member("first").map_or(Some(1), |own| own.whole_u32(0, 1));
    let max =
        reader.member("pagesMax").map_or(Some(PAGES_MAX), |own| own.whole_u32(1, PAGES_LIMIT));
    Some(Pages { items: items?, total, next, query, first: first?, max: max? })
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use crate::model::profile::Pages;
    use crate::rules::profile::read;

    fn with(pages: &Value, result: &Value) -> Result<Option<Pages>, Vec<String>> {
        let mut profile = json!({
            "profile": 1,
            "name": "own",
            "calls": {
                "submit": { "method": "POST", "path": "/jobs" },
                "poll": { "method": "GET", "path": "/jobs/{id}" },
                "result": { "method": "GET", "path": "/jobs/{id}/items" },
            },
            "facts": { "id": ["/id"], "status": ["/status"] },
            "states": { "done": "completed" },
            "pages": pages,
        });
        if let Some(members) = result.as_object() {
            for (name, value) in members {
                profile["calls"][name] = value.clone();
            }
        }
        let read = read(&profile.to_string()).map(|profile| profile.pages);
        read.map_err(|faults| faults.into_iter().map(|fault| fault.pointer).collect())
    }

    #[test]
    fn pages_are_numbered_from_1_and_at_most_a_thousand_where_nothing_else_is_said() {
        let read = with(&json!({ "items": "/items", "query": "page" }), &Value::Null).unwrap();
        let read = read.unwrap();
        assert_eq!((read.first, read.max, read.next, read.total), (1, 1_000, None, None));
    }

    #[test]
    fn what_says_nothing_of_the_next_page_or_makes_no_sense_is_refused() {
        for (pages, at) in [
            (json!({ "items": "/items" }), "/pages"),
            (json!({ "query": "page" }), "/pages/items"),
            (json!({ "items": "items", "query": "page" }), "/pages/items"),
            (json!({ "items": "", "query": "a=b" }), "/pages/query"),
            (json!({ "items": "", "query": "page", "first": 2 }), "/pages/first"),
            (json!({ "items": "", "query": "page", "pagesMax": 10_001 }), "/pages/pagesMax"),
        ] {
            assert_eq!(with(&pages, &Value::Null), Err(vec![at.to_owned()]), "{pages}");
        }
    }

    #[test]
    fn only_the_result_of_a_job_that_is_read_has_pages() {
        let pages = json!({ "items": "", "query": "page" });
        let stream = json!({ "result": {
            "method": "GET", "path": "/jobs/{id}/items", "stream": { "form": "sse" },
        } });
        assert_eq!(with(&pages, &stream), Err(vec!["/pages".to_owned()]));
        let answered =
            json!({ "submit": { "method": "POST", "path": "/jobs", "resultOn": [200] } });
        assert_eq!(with(&pages, &answered), Err(vec!["/pages".to_owned()]));
    }
}
