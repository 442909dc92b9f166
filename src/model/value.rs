//! A JSON value that keeps what JSON says: number text verbatim, member order, nothing rounded.

/// One JSON value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Value {
    /// `null`
    Null,
    /// `true` or `false`
    Bool(bool),
    /// A number as its text: a 64-bit id is never rounded.
    Number(String),
    /// A string.
    String(String),
    /// An array.
    List(Vec<Self>),
    /// An object, members in the order of the text.
    Map(Vec<(String, Self)>),
}

impl Value {
    /// The member of this name, when this is an object that has it.
    pub fn member(&self, name: &str) -> Option<&Self> {
        match self {
            Self::Map(members) => {
                members.iter().find(|(own, _)| own == name).map(|(_, value)| value)
            }
            Self::Null | Self::Bool(_) | Self::Number(_) | Self::String(_) | Self::List(_) => None,
        }
    }

    /// Appends the JSON text of this value.
    pub fn write(&self, out: &mut String) {
        match self {
            Self::Null => out.push_str("null"),
            Self::Bool(true) => out.push_str("true"),
            Self::Bool(false) => out.push_str("false"),
            Self::Number(text) => out.push_str(text),
            Self::String(text) => write_string(text, out),
            Self::List(items) => {
                write_sequence(('[', ']'), items, out, Self::write);
            }
            Self::Map(members) => {
                write_sequence(('{', '}'), members, out, |(name, value), out| {
                    write_string(name, out);
                    out.push(':');
                    value.write(out);
                });
            }
        }
    }

    /// The JSON text of this value.
    pub fn to_json(&self) -> String {
        let mut out = String::new();
        self.write(&mut out);
        out
    }
}

fn write_sequence<T>(
    (open, close): (char, char),
    items: &[T],
    out: &mut String,
    mut write: impl FnMut(&T, &mut String),
) {
    out.push(open);
    for (index, item) in items.iter().enumerate() {
        if index > 0 {
            out.push(',');
        }
        write(item, out);
    }
    out.push(close);
}

/// Appends `text` as a JSON string (RFC 8259, section 7).
pub fn write_string(text: &str, out: &mut String) {
    const HEX: &[u8; 16] = b"0123456789abcdef";
    out.push('"');
    for character in text.chars() {
        match character {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            control if u32::from(control) < 0x20 => {
                let code = u32::from(control) as usize;
                out.push_str("\\u00");
                out.push(char::from(HEX[code >> 4]));
                out.push(char::from(HEX[code & 15]));
            }
            plain => out.push(plain),
        }
    }
    out.push('"');
}
