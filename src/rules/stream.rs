//! What a stream says while it passes: the facts in its events, and whether it came whole.

use crate::model::facts::{BodyForm, Fact, Facts};
use crate::model::pointer::Pointer;
use crate::model::profile::{Stream, StreamForm};
use crate::model::table::Table;
use crate::rules::events::{Events, Part};
use crate::rules::facts::{FactsLimits, FactsReader};

/// The fact that tells how many events were gathered into the result.
const RECORDS: &str = "records";

/// Under which names a line of JSON tells what event it is.
const NAMES: [&str; 2] = ["/event", "/type"];

/// The fact that holds that name, which no profile can name.
const NAME: &str = "event:name";

/// A reader that is pushed a stream in pieces of any size. It keeps facts and counts, and no events.
pub struct StreamReader {
    events: Events,
    watch: Watch,
}

struct Watch {
    stream: Stream,
    pointers: Vec<(String, Pointer)>,
    event: Option<FactsReader>,
    /// The event's data, as far as they could be the text that ends the stream.
    text: Vec<u8>,
    found: Table<String, Fact>,
    /// What the event that holds the result says: it has the last word.
    result: Option<Facts>,
    gathered: u64,
    any: bool,
    ended: bool,
    changed: bool,
}

impl StreamReader {
    /// A reader of such a stream for these names and places.
    pub fn new(stream: Stream, mut pointers: Vec<(String, Pointer)>) -> Self {
        for place in NAMES {
            if stream.form == StreamForm::Ndjson
                && let Some(pointer) = Pointer::parse(place)
            {
                pointers.push((NAME.into(), pointer));
            }
        }
        Self {
            events: Events::new(stream.form),
            watch: Watch {
                stream,
                pointers,
                event: None,
                text: Vec::new(),
                found: Table::new(),
                result: None,
                gathered: 0,
                any: false,
                ended: false,
                changed: false,
            },
        }
    }

    /// Takes the next piece; true when an event in it has told something.
    pub fn push(&mut self, bytes: &[u8]) -> bool {
        let watch = &mut self.watch;
        self.events.push(bytes, &mut |part| watch.take(part));
        core::mem::take(&mut self.watch.changed)
    }

    /// Whether the event has come that ends the stream.
    pub const fn has_ended(&self) -> bool {
        self.watch.ended
    }

    /// What has been told so far.
    pub fn told(&self) -> Facts {
        Facts { values: self.watch.found.clone(), form: BodyForm::Broken }
    }

    /// Ends the stream; true where it came whole. Its form is that of the result.
    pub fn finish(mut self) -> (Facts, bool) {
        let watch = &mut self.watch;
        self.events.finish(&mut |part| watch.take(part));
        let mut watch = self.watch;
        let ends_itself = watch.stream.end.is_none() && watch.stream.end_data.is_none();
        let whole = watch.ended || ends_itself;
        let mut form = if watch.any { BodyForm::Json } else { BodyForm::Empty };
        if watch.stream.result.is_some() {
            form = watch.result.as_ref().map_or(BodyForm::Empty, |own| own.form);
        }
        for (name, fact) in watch.result.map(|own| own.values).unwrap_or_default() {
            watch.found.insert(name, fact);
        }
        if !watch.stream.gather.is_empty() {
            watch.found.insert(RECORDS.into(), Fact::List { len: watch.gathered });
        }
        (Facts { values: watch.found, form }, whole)
    }
}

impl Watch {
    fn take(&mut self, part: Part<'_>) {
        match part {
            // Nothing counts after the end.
            _ if self.ended => {}
            Part::Data(bytes) => {
                let pointers = &self.pointers;
                let event = self
                    .event
                    .get_or_insert_with(|| FactsReader::new(pointers, FactsLimits::default()));
                event.push(bytes);
                let mark = self.stream.end_data.as_ref().map_or(0, |own| own.len() + 2);
                let room = mark.saturating_sub(self.text.len()).min(bytes.len());
                self.text.extend_from_slice(&bytes[..room]);
            }
            Part::End(name) => {
                let text = core::mem::take(&mut self.text);
                let end = self.stream.end_data.as_ref();
                if end.is_some_and(|own| own.as_bytes() == text.trim_ascii_end()) {
                    self.ended = true;
                } else if let Some(event) = self.event.take() {
                    self.end(String::from_utf8_lossy(name).into_owned(), event.finish());
                }
            }
        }
    }

    fn end(&mut self, mut name: String, mut facts: Facts) {
        self.any = true;
        if let Some(Fact::Text(own)) = facts.values.remove(NAME) {
            name = own;
        }
        if self.stream.gather.iter().any(|(event, _)| *event == name) {
            // What the app asked for, not what the service says of the work.
            self.gathered += 1;
            return;
        }
        let is = |own: &Option<String>| own.as_ref().is_some_and(|own| *own == name);
        self.ended = is(&self.stream.end);
        for (name, fact) in &facts.values {
            self.changed |= self.found.get(name) != Some(fact);
            self.found.insert(name.clone(), fact.clone());
        }
        if is(&self.stream.result) {
            self.result = Some(facts);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stream(form: StreamForm, result: Option<&str>, end: Option<&str>) -> Stream {
        Stream {
            form,
            result: result.map(String::from),
            end: end.map(String::from),
            end_data: None,
            gather: vec![("record".into(), "records".into())],
        }
    }

    fn read(stream: Stream, text: &str) -> (Facts, bool) {
        let pointers = ["id", "n"]
            .map(|name| (name.to_owned(), Pointer::parse(&["/", name].concat()).unwrap()));
        let mut reader = StreamReader::new(stream, pointers.to_vec());
        for byte in text.bytes() {
            reader.push(&[byte]);
        }
        reader.finish()
    }

    const TEXT: &str = "event: run\ndata: {\"id\":\"run_1\",\"n\":1}\n\n\
                        event: record\ndata: {\"id\":\"theirs\",\"n\":9}\n\n\
                        event: done\ndata: {\"n\":2}\n\n\
                        event: record\ndata: {}\n\nevent: late\ndata: {\"n\":3}\n\n";

    #[test]
    fn facts_come_from_every_event_but_those_that_are_gathered_and_none_after_the_end() {
        let (facts, whole) = read(stream(StreamForm::Sse, Some("done"), Some("done")), TEXT);
        assert!(whole);
        assert_eq!((facts.text("id"), facts.text("n")), (Some("run_1"), Some("2")));
        assert_eq!(facts.count("records"), Some(1));
        assert_eq!(facts.form, BodyForm::Json);
    }

    #[test]
    fn a_stream_without_its_end_is_broken_and_its_facts_are_kept() {
        let (facts, whole) = read(stream(StreamForm::Sse, Some("sum"), Some("end")), TEXT);
        assert!(!whole);
        assert_eq!((facts.text("id"), facts.form), (Some("run_1"), BodyForm::Empty));
    }

    #[test]
    fn the_event_that_holds_the_result_has_the_last_word() {
        let (facts, whole) = read(stream(StreamForm::Sse, Some("run"), None), TEXT);
        assert!(whole);
        assert_eq!(facts.text("n"), Some("1"));
    }

    #[test]
    fn lines_name_their_event_in_a_member() {
        let text =
            "{\"event\":\"run\",\"id\":\"a\"}\n{\"type\":\"record\"}\n{\"type\":\"done\",\"n\":4}";
        let (facts, whole) = read(stream(StreamForm::Ndjson, Some("done"), Some("done")), text);
        assert!(whole);
        assert_eq!((facts.text("id"), facts.text("n")), (Some("a"), Some("4")));
        assert_eq!(facts.count("records"), Some(1));
        assert!(facts.values.get(NAME).is_none());
    }

    #[test]
    fn a_text_ends_a_stream_of_events_without_names() {
        let done = |form| Stream {
            gather: Vec::new(),
            end_data: Some("[DONE]".into()),
            ..stream(form, None, None)
        };
        let text = "data: {\"n\":1}\n\ndata: {\"n\":2}\n\ndata: [DONE]\n\ndata: {\"n\":3}\n\n";
        let (facts, whole) = read(done(StreamForm::Sse), text);
        assert!(whole);
        assert_eq!((facts.text("n"), facts.form), (Some("2"), BodyForm::Json));
        for other in ["[DONE!]", "[DONE] and more", "[DON"] {
            assert!(!read(done(StreamForm::Sse), &text.replace("[DONE]", other)).1, "{other}");
        }
        assert!(!read(done(StreamForm::Sse), &text[..text.find("[D").unwrap()]).1);
        assert!(read(done(StreamForm::Ndjson), "{\"n\":1}\r\n[DONE]\r\n").1);
    }

    #[test]
    fn only_news_is_told() {
        let mut reader = StreamReader::new(
            Stream { gather: Vec::new(), ..stream(StreamForm::Sse, None, None) },
            vec![("n".into(), Pointer::parse("/n").unwrap())],
        );
        assert!(!reader.push(b"data: {\"n\":1}"));
        assert!(reader.push(b"\n\n"));
        assert!(!reader.push(b"data: {\"n\":1}\n\n: alive\n\n"));
        assert!(reader.push(b"data: {\"n\":2}\n\n"));
        assert_eq!(reader.told().text("n"), Some("2"));
    }
}
