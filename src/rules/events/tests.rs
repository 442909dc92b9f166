use proptest::prelude::*;

use super::*;

type Seen = Vec<(String, String)>;

fn read(form: StreamForm, text: &[u8], sizes: &[usize]) -> Seen {
    let (mut seen, mut data) = (Seen::new(), Vec::new());
    let mut take = |part: Part<'_>| match part {
        Part::Data(bytes) => data.extend_from_slice(bytes),
        Part::End(name) => {
            let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
            seen.push((text(name), text(&std::mem::take(&mut data))));
        }
    };
    let mut events = Events::new(form);
    let mut rest = text;
    for size in sizes {
        let (piece, left) = rest.split_at((*size).min(rest.len()));
        events.push(piece, &mut take);
        rest = left;
    }
    events.push(rest, &mut take);
    events.finish(&mut take);
    seen
}

fn sse(text: &str) -> Seen {
    read(StreamForm::Sse, text.as_bytes(), &[])
}

fn seen(all: &[(&str, &str)]) -> Seen {
    all.iter().map(|(name, data)| ((*name).to_owned(), (*data).to_owned())).collect()
}

#[test]
fn events_have_names_and_data() {
    let text = "event: run\ndata: {\"id\":1}\n\ndata:x\nevent:late\n\ndata:  two\n\n";
    assert_eq!(sse(text), seen(&[("run", "{\"id\":1}"), ("late", "x"), ("", " two")]));
}

#[test]
fn lines_end_in_all_three_ways() {
    for end in ["\n", "\r", "\r\n"] {
        let text = "data: a\ndata: b\n\nevent: e\ndata: c\n\n".replace('\n', end);
        assert_eq!(sse(&text), seen(&[("", "a\nb"), ("e", "c")]), "{end:?}");
    }
}

#[test]
fn a_mark_comments_and_other_fields_are_passed_over() {
    let text = "\u{feff}: hello\nid: 7\nretry: 10\ndata: a\n: again\n\n:\n\n";
    assert_eq!(sse(text), seen(&[("", "a")]));
}

#[test]
fn a_field_without_a_colon_has_an_empty_value() {
    assert_eq!(sse("data\n\ndata\ndata\n\n"), seen(&[("", ""), ("", "\n")]));
    assert_eq!(sse("event: a\nevent\ndata: x\n\n"), seen(&[("", "x")]));
    assert_eq!(sse("dataset: x\neventful: y\n\n"), seen(&[]));
}

#[test]
fn an_event_without_data_or_without_its_end_is_none() {
    assert_eq!(sse("event: a\n\ndata: x\n\nevent: b\ndata: y\n"), seen(&[("", "x")]));
}

#[test]
fn lines_of_json_are_events() {
    let text = b"{\"a\":1}\r\n\n  \n[2]\n3";
    let all = read(StreamForm::Ndjson, text, &[]);
    assert_eq!(all, seen(&[("", "{\"a\":1}\r"), ("", "[2]"), ("", "3")]));
}

#[test]
fn a_huge_line_costs_no_memory() {
    let mut events = Events::new(StreamForm::Sse);
    let mut passed = 0;
    let mut take = |part: Part<'_>| match part {
        Part::Data(bytes) => passed += bytes.len(),
        Part::End(name) => assert_eq!(name.len(), NAME_BYTES_MAX),
    };
    for begin in ["event:", "\nunknown", "\ndata:"] {
        events.push(begin.as_bytes(), &mut take);
        for _ in 0..100 {
            events.push(&[b'x'; 10_000], &mut take);
        }
    }
    events.push(b"\n\n", &mut take);
    assert!(events.letters.capacity() + events.name.capacity() < 1_000);
    assert_eq!(passed, 1_000_000);
}

/// What the standard says, over a whole text.
fn reference(text: &str) -> Seen {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let text = text.replace("\r\n", "\n").replace('\r', "\n");
    let Some((lines, _)) = text.rsplit_once('\n') else {
        return Seen::new();
    };
    let (mut all, mut name, mut data) = (Seen::new(), String::new(), None::<String>);
    for line in lines.split('\n') {
        if line.is_empty() {
            let named = std::mem::take(&mut name);
            all.extend(data.take().map(|data| (named, data)));
            continue;
        }
        let (field, value) = line.split_once(':').unwrap_or((line, ""));
        let value = value.strip_prefix(' ').unwrap_or(value);
        match field {
            "event" => name = value.into(),
            "data" => {
                data = Some(match data {
                    Some(before) => before + "\n" + value,
                    None => value.into(),
                });
            }
            _ => {}
        }
    }
    all
}

fn stream_text() -> impl Strategy<Value = String> {
    let piece = prop::sample::select(vec![
        "\n",
        "\r",
        "\r\n",
        "\n\n",
        "data",
        "data:",
        "data: ",
        "event:",
        "event: a",
        ":",
        " ",
        "x",
        "ä",
        "\u{feff}",
        "{\"a\":1}",
        "id: 1",
        "dat",
        "events:",
    ]);
    prop::collection::vec(piece, 0..40).prop_map(|all| all.concat())
}

proptest! {
    #[test]
    fn any_split_reads_what_the_standard_says(
        text in stream_text(),
        sizes in prop::collection::vec(0usize..5, 0..60),
    ) {
        prop_assert_eq!(read(StreamForm::Sse, text.as_bytes(), &sizes), reference(&text));
    }

    #[test]
    fn any_bytes_in_any_split_read_the_same(
        bytes in prop::collection::vec(any::<u8>(), 0..200),
        sizes in prop::collection::vec(0usize..7, 0..60),
    ) {
        for form in [StreamForm::Sse, StreamForm::Ndjson] {
            prop_assert_eq!(read(form, &bytes, &sizes), read(form, &bytes, &[]));
        }
    }
}
