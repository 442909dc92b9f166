//! JSON tokens from text that comes in pieces, in bounded memory.
//!
//! The grammar is the crate `actson`'s. This file stands in front of it, for what it leaves open:
//! it buffers a token whole however long it is, it mistakes some lone surrogates, and at the end of
//! the text it takes part of a number for a number.

use actson::{JsonEvent, JsonParser, feeder::JsonFeeder, options, parser::ParserError};

/// The most bytes that are copied at a time.
const PIECE_BYTES: usize = 4096;

/// A byte that is allowed nowhere in JSON: handed on in place of what is found to be wrong.
const REFUSED: u8 = 0;

/// U+FFFD in UTF-8.
const REPLACEMENT: [u8; 3] = [0xEF, 0xBF, 0xBD];

/// What to do with an escaped half of a surrogate pair that stands alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LoneSurrogates {
    /// The text is malformed.
    Refuse,
    /// U+FFFD takes its place.
    Replace,
}

/// A pull parser that is fed piece by piece.
pub(super) struct JsonTokens {
    parser: JsonParser<Feed>,
}

impl JsonTokens {
    /// A parser of one JSON text, nested at most `depth_max` deep, which keeps no more than
    /// `token_bytes_max` bytes of a string or a name and refuses a longer number.
    pub(super) fn new(
        surrogates: LoneSurrogates,
        depth_max: usize,
        token_bytes_max: usize,
    ) -> Self {
        // One level is the parser's own; one more lets the caller see the level that is too deep.
        let options = options::JsonParserOptionsBuilder::default()
            .with_max_depth(depth_max.saturating_add(2))
            .build();
        let feed = Feed::new(surrogates, token_bytes_max);
        Self { parser: JsonParser::new_with_options(feed, options) }
    }

    /// Calls `visit` for each token that `bytes` complete; ends at the first error, after which
    /// the parser is spent.
    pub(super) fn feed<E: From<ParserError>>(
        &mut self,
        bytes: &[u8],
        mut visit: impl FnMut(JsonEvent, &Self) -> Result<(), E>,
    ) -> Result<(), E> {
        for piece in bytes.chunks(PIECE_BYTES) {
            self.parser.feeder.refill(piece);
            while let Some(event) = self.parser.next_event()? {
                if event == JsonEvent::NeedMoreInput {
                    break;
                }
                visit(event, self)?;
            }
        }
        Ok(())
    }

    /// The text of the token at hand; `None` when it was cut or is not UTF-8.
    pub(super) fn text(&self) -> Option<&str> {
        if self.parser.feeder.cut { None } else { self.parser.current_str().ok() }
    }
}

/// Where in the text the next byte stands.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    Outside,
    Number,
    String,
    Escape,
    /// In a `\u` escape: digits still to come, and their value so far.
    Hex(u8, u16),
}

struct Feed {
    piece: Vec<u8>,
    position: usize,
    /// What one byte became, between `out_start` and `out_end`.
    out: [u8; 16],
    out_start: usize,
    out_end: usize,
    place: Place,
    /// The first half of a surrogate pair, whose second half must come next.
    high: Option<u16>,
    surrogates: LoneSurrogates,
    token_bytes: usize,
    token_bytes_max: usize,
    cut: bool,
}

impl Feed {
    fn new(surrogates: LoneSurrogates, token_bytes_max: usize) -> Self {
        Self {
            piece: Vec::new(),
            position: 0,
            out: [0; 16],
            out_start: 0,
            out_end: 0,
            place: Place::Outside,
            high: None,
            surrogates,
            token_bytes: 0,
            token_bytes_max,
            cut: false,
        }
    }

    fn refill(&mut self, piece: &[u8]) {
        self.piece.clear();
        self.piece.extend_from_slice(piece);
        self.position = 0;
    }

    fn emit(&mut self, bytes: &[u8]) {
        for byte in bytes {
            if let Some(slot) = self.out.get_mut(self.out_end) {
                *slot = *byte;
                self.out_end += 1;
            }
        }
    }

    /// Emits a part of a string; leaves it out when the string is too long already.
    fn emit_content(&mut self, bytes: &[u8]) {
        self.token_bytes = self.token_bytes.saturating_add(bytes.len());
        if self.token_bytes > self.token_bytes_max {
            self.cut = true;
        } else {
            self.emit(bytes);
        }
    }

    fn begin_token(&mut self) {
        self.token_bytes = 0;
        self.cut = false;
    }

    /// Counts `byte` where it stands for itself in a string that has room for it; whether it does.
    /// Nearly all do, which is why they go around the rest.
    fn takes_plain(&mut self, byte: u8) -> bool {
        let plain = self.place == Place::String
            && self.high.is_none()
            && !matches!(byte, ..0x20 | b'"' | b'\\')
            && self.token_bytes < self.token_bytes_max;
        self.token_bytes += usize::from(plain);
        plain
    }

    fn scan(&mut self, byte: u8) {
        match self.place {
            Place::Outside | Place::Number => self.scan_outside(byte),
            Place::String => self.scan_string(byte),
            Place::Escape => self.scan_escape(byte),
            Place::Hex(left, value) => self.scan_hex(byte, left, value),
        }
    }

    fn scan_outside(&mut self, byte: u8) {
        if self.place == Place::Outside && (byte == b'-' || byte.is_ascii_digit()) {
            self.begin_token();
            self.place = Place::Number;
        }
        let goes_on = byte.is_ascii_digit() || matches!(byte, b'-' | b'+' | b'.' | b'e' | b'E');
        if self.place == Place::Number && goes_on {
            self.token_bytes = self.token_bytes.saturating_add(1);
            self.emit(&[if self.token_bytes > self.token_bytes_max { REFUSED } else { byte }]);
            return;
        }
        self.place = Place::Outside;
        if byte == b'"' {
            self.begin_token();
            self.place = Place::String;
        }
        self.emit(&[byte]);
    }

    fn scan_string(&mut self, byte: u8) {
        match byte {
            b'\\' => self.place = Place::Escape,
            b'"' => {
                self.end_pair();
                self.place = Place::Outside;
                self.emit(b"\"");
            }
            control if control < 0x20 => self.emit(&[REFUSED]),
            plain => {
                self.end_pair();
                self.emit_content(&[plain]);
            }
        }
    }

    fn scan_escape(&mut self, byte: u8) {
        self.place = Place::String;
        match byte {
            b'u' => self.place = Place::Hex(4, 0),
            b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't' => {
                self.end_pair();
                self.emit_content(&[b'\\', byte]);
            }
            _ => self.emit(&[REFUSED]),
        }
    }

    fn scan_hex(&mut self, byte: u8, left: u8, value: u16) {
        let Some(digit) = char::from(byte).to_digit(16) else {
            self.emit(&[REFUSED]);
            return;
        };
        let value = value << 4 | u16::try_from(digit).unwrap_or(0);
        if left > 1 {
            self.place = Place::Hex(left - 1, value);
            return;
        }
        self.place = Place::String;
        if let Some(high) = self.high
            && let Some(Ok(character)) = char::decode_utf16([high, value]).next()
        {
            self.high = None;
            self.emit_character(character);
            return;
        }
        self.end_pair();
        match char::from_u32(u32::from(value)) {
            Some(character) => self.emit_character(character),
            None if value < 0xDC00 => self.high = Some(value),
            None => self.emit_lone_surrogate(),
        }
    }

    /// Emits a character that was written as an escape; escaped again where JSON requires it.
    fn emit_character(&mut self, character: char) {
        const HEX: &[u8; 16] = b"0123456789abcdef";
        let mut buffer = [0; 4];
        let code = u32::from(character);
        if code < 0x20 {
            let code = code as usize;
            self.emit_content(&[b'\\', b'u', b'0', b'0', HEX[code >> 4], HEX[code & 15]]);
        } else if character == '"' || character == '\\' {
            self.emit_content(&[b'\\', u8::try_from(code).unwrap_or(REFUSED)]);
        } else {
            self.emit_content(character.encode_utf8(&mut buffer).as_bytes());
        }
    }

    /// Settles a first half of a pair that nothing fitting followed.
    fn end_pair(&mut self) {
        if self.high.take().is_some() {
            self.emit_lone_surrogate();
        }
    }

    fn emit_lone_surrogate(&mut self) {
        match self.surrogates {
            LoneSurrogates::Refuse => self.emit(&[REFUSED]),
            LoneSurrogates::Replace => self.emit_content(&REPLACEMENT),
        }
    }
}

impl JsonFeeder for Feed {
    fn has_input(&self) -> bool {
        self.out_start < self.out_end || self.position < self.piece.len()
    }

    /// Never: the caller ends the text with white space, and judges for itself whether it is whole.
    fn is_done(&self) -> bool {
        false
    }

    fn next_input(&mut self) -> Option<u8> {
        while self.out_start == self.out_end {
            let byte = *self.piece.get(self.position)?;
            self.position += 1;
            if self.takes_plain(byte) {
                return Some(byte);
            }
            (self.out_start, self.out_end) = (0, 0);
            self.scan(byte);
        }
        let byte = self.out.get(self.out_start).copied();
        self.out_start += 1;
        byte
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Failed;

    impl From<ParserError> for Failed {
        fn from(_: ParserError) -> Self {
            Self
        }
    }

    #[test]
    fn a_long_string_is_passed_over_in_bounded_memory() {
        let mut tokens = JsonTokens::new(LoneSurrogates::Replace, 1, 100);
        let mut seen = Vec::new();
        let mut feed = |bytes: &[u8]| {
            tokens
                .feed::<Failed>(bytes, |event, tokens| {
                    let kept = tokens.parser.current_str().map_or(0, str::len);
                    seen.push((event, kept, tokens.text().is_some()));
                    Ok(())
                })
                .is_ok()
        };
        assert!(feed(b"[\""));
        for _ in 0..10_000 {
            assert!(feed("\\n\\ud83d\\ude00\\\"xyz".repeat(50).as_bytes()));
        }
        assert!(feed(b"\",\"short\"]"));
        let [_, (_, kept, has_text), short, _] = seen[..] else { panic!("four tokens") };
        assert!(kept <= 100 && !has_text);
        assert_eq!(short, (JsonEvent::ValueString, 5, true));
    }

    #[test]
    fn a_number_without_end_is_refused() {
        let mut tokens = JsonTokens::new(LoneSurrogates::Replace, 1, 100);
        assert!(tokens.feed::<Failed>(&[b'1'; 100], |_, _| Ok(())).is_ok());
        assert!(tokens.feed::<Failed>(b"1", |_, _| Ok(())).is_err());
    }
}
