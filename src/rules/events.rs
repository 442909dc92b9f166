//! Cuts a stream into events while it passes: server-sent events (WHATWG HTML, 9.2), or lines of
//! JSON. An event's data goes on in pieces as it comes; nothing of it is kept here.

use crate::model::profile::StreamForm;

/// Longest name of an event that is told apart, in bytes; a longer one is cut.
const NAME_BYTES_MAX: usize = 128;

/// The byte order mark in UTF-8.
const BYTE_ORDER_MARK: [u8; 3] = [0xEF, 0xBB, 0xBF];

/// A part of a stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part<'a> {
    /// The next bytes of the data of the event at hand.
    Data(&'a [u8]),
    /// The event is whole. Its name, where the stream gives it one.
    End(&'a [u8]),
}

/// What takes the parts.
pub type Taker<'a> = dyn FnMut(Part<'_>) + 'a;

/// A reader that is pushed a stream in pieces of any size.
#[derive(Debug)]
pub struct Events {
    form: StreamForm,
    /// How much of a byte order mark has come; its length once there can be none.
    mark: usize,
    /// The last byte was a carriage return: a line feed after it ends no further line.
    after_return: bool,
    field: Field,
    /// The letters of the field's name so far.
    letters: Vec<u8>,
    name: Vec<u8>,
    has_data: bool,
}

/// Where in its line a stream is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Field {
    /// In the name of the line's field.
    Name,
    /// Before a value, of which a first blank is no part.
    Before(Kind),
    /// In a value.
    Value(Kind),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Data,
    Event,
    Other,
}

impl Events {
    /// A reader of such a stream.
    pub const fn new(form: StreamForm) -> Self {
        Self {
            form,
            mark: 0,
            after_return: false,
            field: Field::Name,
            letters: Vec::new(),
            name: Vec::new(),
            has_data: false,
        }
    }

    /// Takes the next piece.
    pub fn push(&mut self, mut bytes: &[u8], take: &mut Taker<'_>) {
        while let (Some(expected), Some((byte, rest))) =
            (BYTE_ORDER_MARK.get(self.mark), bytes.split_first())
        {
            if byte == expected {
                self.mark += 1;
                bytes = rest;
            } else {
                // Half a mark is text like any other.
                let begun = core::mem::replace(&mut self.mark, BYTE_ORDER_MARK.len());
                self.read(&BYTE_ORDER_MARK[..begun], take);
            }
        }
        self.read(bytes, take);
    }

    /// Ends the stream. A last line of JSON needs no line feed; an event that its blank line does not
    /// end is none.
    pub fn finish(&mut self, take: &mut Taker<'_>) {
        match self.form {
            StreamForm::Ndjson => self.dispatch(take),
            StreamForm::Sse => {}
        }
    }

    fn read(&mut self, bytes: &[u8], take: &mut Taker<'_>) {
        match self.form {
            StreamForm::Sse => self.fields(bytes, take),
            StreamForm::Ndjson => self.lines(bytes, take),
        }
    }

    fn lines(&mut self, bytes: &[u8], take: &mut Taker<'_>) {
        let mut rest = bytes;
        while !rest.is_empty() {
            let length = rest.iter().position(|byte| *byte == b'\n');
            let mut line = &rest[..length.unwrap_or(rest.len())];
            if !self.has_data {
                line = line.trim_ascii_start();
                self.has_data = !line.is_empty();
            }
            if self.has_data {
                take(Part::Data(line));
            }
            let Some(length) = length else {
                return;
            };
            self.dispatch(take);
            rest = &rest[length + 1..];
        }
    }

    fn fields(&mut self, bytes: &[u8], take: &mut Taker<'_>) {
        let mut rest = bytes;
        while let Some(byte) = rest.first() {
            if core::mem::take(&mut self.after_return) && *byte == b'\n' {
                rest = &rest[1..];
                continue;
            }
            if matches!(byte, b'\n' | b'\r') {
                self.after_return = *byte == b'\r';
                self.end_line(take);
                rest = &rest[1..];
                continue;
            }
            match self.field {
                Field::Name => {
                    if *byte == b':' {
                        self.field = Field::Before(self.kind());
                    } else if self.letters.len() < b"event".len() + 1 {
                        self.letters.push(*byte);
                    }
                    rest = &rest[1..];
                }
                Field::Before(kind) => {
                    self.begin(kind, take);
                    if *byte == b' ' {
                        rest = &rest[1..];
                    }
                }
                Field::Value(kind) => {
                    let end = rest.iter().position(|byte| matches!(byte, b'\n' | b'\r'));
                    let (value, after) = rest.split_at(end.unwrap_or(rest.len()));
                    self.value(kind, value, take);
                    rest = after;
                }
            }
        }
    }

    fn kind(&self) -> Kind {
        match self.letters.as_slice() {
            b"data" => Kind::Data,
            b"event" => Kind::Event,
            _ => Kind::Other,
        }
    }

    fn begin(&mut self, kind: Kind, take: &mut Taker<'_>) {
        self.field = Field::Value(kind);
        match kind {
            Kind::Data => {
                if core::mem::replace(&mut self.has_data, true) {
                    take(Part::Data(b"\n"));
                }
            }
            Kind::Event => self.name.clear(),
            Kind::Other => {}
        }
    }

    fn value(&mut self, kind: Kind, value: &[u8], take: &mut Taker<'_>) {
        match kind {
            Kind::Data => take(Part::Data(value)),
            Kind::Event => {
                let room = NAME_BYTES_MAX.saturating_sub(self.name.len());
                self.name.extend_from_slice(&value[..value.len().min(room)]);
            }
            Kind::Other => {}
        }
    }

    fn end_line(&mut self, take: &mut Taker<'_>) {
        match self.field {
            Field::Name if self.letters.is_empty() => self.dispatch(take),
            // A field without a colon has an empty value.
            Field::Name => self.begin(self.kind(), take),
            Field::Before(kind) => self.begin(kind, take),
            Field::Value(_) => {}
        }
        self.field = Field::Name;
        self.letters.clear();
    }

    fn dispatch(&mut self, take: &mut Taker<'_>) {
        if core::mem::take(&mut self.has_data) {
            take(Part::End(&self.name));
        }
        self.name.clear();
    }
}

#[cfg(test)]
mod tests {
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
}
