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
        let whole = watch.ended || watch.stream.end.is_none();
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
            }
            Part::End(name) => {
                if let Some(event) = self.event.take() {
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
