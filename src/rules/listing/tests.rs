use proptest::prelude::*;
use serde_json::json;

use super::*;

const NOW: Timestamp = Timestamp(10_000_000);

fn rule(mark: Mark) -> Reconcile {
    Reconcile {
        items: "/runs".into(),
        id: "/id".into(),
        created_at: "/at".into(),
        mark,
        retry_of: None,
        next: None,
        lag_ms: 0,
        skew_ms: 1_000,
        pages_max: 10,
    }
}

/// Looks for the run with the reference `op`, sent between 5,000,000 and 6,000,000.
fn by_echo() -> Sought {
    Sought {
        jobs: String::new(),
        rule: rule(Mark::Echo { sent: "/ref".into(), listed: "/ref".into() }),
        values: vec![("/ref".into(), Value::String("op".into()))],
        exact: true,
        after: Timestamp(5_000_000),
        before: Timestamp(6_000_000),
        left_out: Vec::new(),
        page: "1".into(),
        with_body: false,
    }
}

fn by_url(body: &serde_json::Value) -> Sought {
    let places = vec![("/url".into(), "/target/url".into()), ("/depth".into(), "/depth".into())];
    let mut sought =
        Sought { rule: rule(Mark::Same(places)), values: Vec::new(), exact: false, ..by_echo() };
    sought.add_body(body.to_string().as_bytes());
    sought
}

fn read(sought: &Sought, runs: &serde_json::Value) -> Page {
    sought.read(json!({ "runs": runs }).to_string().as_bytes(), NOW).unwrap()
}

fn ids(page: &Page) -> Vec<&str> {
    page.found.iter().map(JobId::as_str).collect()
}

#[test]
fn a_run_is_known_by_the_operation_s_id_whenever_it_was_made() {
    let page = read(
        &by_echo(),
        &json!([
            { "id": "c", "at": 9_000_000, "ref": "other" },
            { "id": "b", "at": 1_000, "ref": "op" },
            { "id": 9_007_199_254_740_993_u64, "ref": "op" },
            { "id": "a", "at": 2_000 },
        ]),
    );
    assert_eq!(ids(&page), ["b", "9007199254740993"]);
}

#[test]
fn a_run_is_known_by_values_of_the_request_within_the_time_of_its_attempts() {
    let sought = by_url(&json!({ "target": { "url": "u" }, "depth": 2 }));
    let run = |id: &str, at: u64| json!({ "id": id, "at": at, "url": "u", "depth": 2.0 });
    let undated = json!({ "id": "undated", "url": "u", "depth": 2 });
    let other = json!({ "id": "other", "at": 5_500_000_000_000_u64, "url": "u", "depth": 3 });
    let after_ms = |ms: u64| 5_000_000_000_000 + ms;
    let sought =
        Sought { after: Timestamp(after_ms(0)), before: Timestamp(after_ms(1_000)), ..sought };
    let runs = json!([
        run("late", after_ms(1_001)),
        run("ours", after_ms(1_000)),
        run("first", after_ms(0)),
        run("early", after_ms(0) - 1),
        undated,
        other,
    ]);
    assert_eq!(ids(&read(&sought, &runs)), ["ours", "first", "undated"]);
}

#[test]
fn what_neither_side_says_is_the_same_on_both() {
    let sought = by_url(&json!({ "target": { "url": "u" } }));
    let runs = json!([{ "id": "a", "url": "u" }, { "id": "b", "url": "u", "depth": null },
        { "id": "c", "url": "u", "depth": 1 }]);
    assert_eq!(ids(&read(&sought, &runs)), ["a", "b"]);
}

#[test]
fn objects_and_numbers_are_compared_by_what_they_mean() {
    let value = |text: &str| json::parse(text.as_bytes(), 8).unwrap();
    for (one, other) in [
        (r#"{"a":1,"b":[2.50]}"#, r#"{"b":[2.5],"a":1.0}"#),
        (r#"{"a":null}"#, "{}"),
        (r#""7""#, "7"),
        ("100", "100"),
    ] {
        assert!(is_alike(&value(one), &value(other)), "{one} {other}");
        assert!(is_alike(&value(other), &value(one)), "{other} {one}");
    }
    for (one, other) in [("100", "1"), ("[1]", "[1,2]"), ("true", "\"true\""), ("{}", "[]")] {
        assert!(!is_alike(&value(one), &value(other)), "{one} {other}");
    }
}

#[test]
fn a_page_reaches_back_only_when_it_is_dated_ordered_and_old_enough() {
    let at = |times: &[u64]| -> bool {
        let runs: Vec<_> = times.iter().map(|at| json!({ "id": "x", "at": at * 1_000 })).collect();
        read(&by_echo(), &json!(runs)).reaches_back
    };
    // In seconds since the epoch, up to 11 digits, so that the window is 5,000 s to 6,000 s.
    let seconds = |times: &[u64]| -> bool {
        let runs: Vec<_> = times.iter().map(|at| json!({ "id": "x", "at": at })).collect();
        read(&by_echo(), &json!(runs)).reaches_back
    };
    assert!(seconds(&[5_500, 4_999]));
    assert!(!seconds(&[5_500, 5_000]));
    assert!(!seconds(&[4_000, 4_999]), "the oldest stand first");
    assert!(!seconds(&[]));
    assert!(!at(&[9_000]));
    let undated = json!([{ "id": "x" }, { "id": "y", "at": 4_000 }]);
    assert!(!read(&by_echo(), &undated).reaches_back);
}

#[test]
fn a_run_without_a_usable_id_is_told_as_such() {
    for id in [json!(null), json!(""), json!({}), json!("x".repeat(513))] {
        let page = read(&by_echo(), &json!([{ "id": id, "ref": "op" }]));
        assert!(page.doubtful && page.found.is_empty());
    }
    assert!(!read(&by_echo(), &json!([{ "ref": "other" }, 7, null])).doubtful);
}

#[test]
fn one_run_shown_twice_is_one_and_many_are_cut() {
    let twice = json!([{ "id": "a", "ref": "op" }, { "id": "a", "ref": "op" }]);
    assert_eq!(ids(&read(&by_echo(), &twice)), ["a"]);
    let many: Vec<_> = (0..100).map(|id| json!({ "id": id, "ref": "op" })).collect();
    assert_eq!(read(&by_echo(), &json!(many)).found.len(), LISTED_IDS_MAX);
}

#[test]
fn numbered_pages_end_with_an_empty_one() {
    let sought = Sought { page: "3".into(), ..by_echo() };
    assert_eq!(read(&sought, &json!([{ "id": "a" }])).next.as_deref(), Some("4"));
    assert_eq!(read(&sought, &json!([])).next, None);
}

#[test]
fn named_pages_end_where_none_is_named() {
    let mut sought = by_echo();
    sought.rule.next = Some("/next".into());
    let next = |next: serde_json::Value| {
        let page = json!({ "runs": [{ "id": "a" }], "next": next });
        sought.read(page.to_string().as_bytes(), NOW).map(|page| page.next)
    };
    assert_eq!(next(json!("c2")), Some(Some("c2".into())));
    assert_eq!(next(json!(12)), Some(Some("12".into())));
    for end in [json!(null), json!(""), json!(false)] {
        assert_eq!(next(end), Some(None));
    }
    assert_eq!(next(json!({ "href": "x" })), None);
    assert_eq!(next(json!("x".repeat(513))), None);
}

#[test]
fn what_is_no_listing_is_not_read() {
    for text in ["", "<html>", "[]", "{}", r#"{"runs":{}}"#, r#"{"runs":["#, r#"{"runs":null}"#] {
        assert_eq!(by_echo().read(text.as_bytes(), NOW), None, "{text}");
    }
    let deep = ["{\"runs\":", &"[".repeat(100), &"]".repeat(100), "}"].concat();
    assert_eq!(by_echo().read(deep.as_bytes(), NOW), None);
}

proptest! {
    #[test]
    fn no_text_breaks_it(text in ".*", id in ".*") {
        let _ = by_echo().read(text.as_bytes(), NOW);
        let page = json!({ "runs": [{ "id": id, "at": id, "ref": "op" }] }).to_string();
        let page = by_echo().read(page.as_bytes(), NOW).unwrap();
        prop_assert!(page.found.len() + usize::from(page.doubtful) == 1);
    }
}

#[test]
fn what_the_service_may_have_filled_in_is_neither_found_nor_absent() {
    let sought = by_url(&json!({ "target": { "url": "u" } }));
    let page = read(&sought, &json!([{ "id": "a", "url": "u", "depth": 3 }]));
    assert!(page.found.is_empty() && page.doubtful);
}

#[test]
fn a_body_that_cannot_be_read_makes_no_run_absent() {
    let mut sought = Sought { with_body: true, ..by_url(&json!({})) };
    sought.values.clear();
    sought.add_body(b"url=u&depth=3");
    assert_eq!(sought.read(br#"{"runs":[]}"#, NOW), None);
}
