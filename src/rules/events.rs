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
mod tests;
