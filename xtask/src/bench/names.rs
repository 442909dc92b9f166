//! Reads of a WebAssembly module what its functions are called and how long their code is.

use std::collections::BTreeMap;

use anyhow::{Context as _, Result, ensure};

/// The functions of a module.
pub(super) struct Names {
    pub(super) functions: Vec<Function>,
}

/// One function with code of its own.
pub(super) struct Function {
    /// As it was called in Rust, without its hash.
    pub(super) name: String,
    /// Its code, with its length before it.
    pub(super) bytes: usize,
}

const CUSTOM: u8 = 0;
const IMPORT: u8 = 2;
const CODE: u8 = 10;

/// In the section `name`: the names of functions.
const OF_FUNCTIONS: u8 = 1;

/// What names of functions begin with that belong to a basic type.
const BASIC: [&str; 16] = [
    "bool", "char", "const", "dyn", "f64", "i32", "i64", "mut", "str", "u128", "u16", "u32", "u64",
    "u8", "usize", "isize",
];

impl Names {
    pub(super) fn read(module: &[u8]) -> Result<Self> {
        ensure!(module.starts_with(b"\0asm"), "it is no module");
        let mut reader = Reader { bytes: module, at: 8 };
        let (mut imported, mut code, mut names) = (0, Vec::new(), BTreeMap::new());
        while reader.at < module.len() {
            let id = reader.byte()?;
            let length = reader.number()?;
            let mut section = Reader { bytes: reader.take(length)?, at: 0 };
            match id {
                IMPORT => imported = section.imported_functions()?,
                CODE => code = section.code()?,
                CUSTOM if section.text()? == "name" => names = section.names()?,
                _ => {}
            }
        }
        ensure!(!names.is_empty(), "the module has no names");
        let functions = code.into_iter().zip(imported..).map(|(bytes, index)| {
            let name = names.get(&index).map_or("", String::as_str);
            Function { name: format!("{:#}", rustc_demangle::demangle(name)), bytes }
        });
        Ok(Self { functions: functions.collect() })
    }
}

impl Function {
    /// The first so many parts of the path that its name begins with: `holdfast::room::file`. Of other
    /// crates the crate alone.
    pub(super) fn part(&self, depth: usize) -> String {
        let own = self.name.find("holdfast::").map_or(self.name.as_str(), |at| &self.name[at..]);
        let is_path = |character: char| character.is_alphanumeric() || ":_".contains(character);
        let from = own.find(|own: char| own.is_alphanumeric() || own == '_').unwrap_or_default();
        let path = own[from..].split(|character| !is_path(character)).next().unwrap_or_default();
        let parts: Vec<_> = path.split("::").filter(|part| !part.is_empty()).collect();
        match parts.as_slice() {
            ["holdfast", rest @ ..] => {
                // What begins with a capital is a type, and no file.
                let rooms = rest.iter().take_while(|part| part.starts_with(char::is_lowercase));
                let rooms: Vec<_> = rooms.take(depth - 1).copied().collect();
                [&["holdfast"], rooms.as_slice()].concat().join("::")
            }
            // What a basic type can do is written in `core`, or in `alloc`.
            [first, ..] if BASIC.contains(first) => "core".to_owned(),
            [first, _, ..] => (*first).to_owned(),
            _ => "exports, and what the binding adds".to_owned(),
        }
    }
}

struct Reader<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Reader<'a> {
    fn byte(&mut self) -> Result<u8> {
        let byte = *self.bytes.get(self.at).context("the module ends too soon")?;
        self.at += 1;
        Ok(byte)
    }

    /// An unsigned LEB128.
    fn number(&mut self) -> Result<usize> {
        let (mut number, mut shift) = (0_usize, 0);
        loop {
            let byte = self.byte()?;
            number |= usize::from(byte & 0x7F) << shift;
            shift += 7;
            if byte & 0x80 == 0 {
                return Ok(number);
            }
        }
    }

    fn take(&mut self, length: usize) -> Result<&'a [u8]> {
        let taken =
            self.bytes.get(self.at..self.at + length).context("the module ends too soon")?;
        self.at += length;
        Ok(taken)
    }

    fn text(&mut self) -> Result<&'a str> {
        let length = self.number()?;
        Ok(std::str::from_utf8(self.take(length)?)?)
    }

    /// How many functions are imported: they come first in the count of functions.
    fn imported_functions(&mut self) -> Result<usize> {
        let mut functions = 0;
        for _ in 0..self.number()? {
            self.text()?;
            self.text()?;
            match self.byte()? {
                0 => {
                    self.number()?;
                    functions += 1;
                }
                kind => self.skip_type(kind)?,
            }
        }
        Ok(functions)
    }

    /// The type of an imported table, memory, global or tag.
    fn skip_type(&mut self, kind: u8) -> Result<()> {
        if kind != 2 {
            self.byte()?;
        }
        match kind {
            1 | 2 => {
                let limits = self.byte()?;
                self.number()?;
                if limits & 1 == 1 {
                    self.number()?;
                }
            }
            _ => {
                self.number()?;
            }
        }
        Ok(())
    }

    fn code(&mut self) -> Result<Vec<usize>> {
        (0..self.number()?)
            .map(|_| {
                let from = self.at;
                let length = self.number()?;
                self.take(length)?;
                Ok(self.at - from)
            })
            .collect()
    }

    fn names(&mut self) -> Result<BTreeMap<usize, String>> {
        let mut names = BTreeMap::new();
        while self.at < self.bytes.len() {
            let id = self.byte()?;
            let length = self.number()?;
            let mut part = Reader { bytes: self.take(length)?, at: 0 };
            if id == OF_FUNCTIONS {
                for _ in 0..part.number()? {
                    let index = part.number()?;
                    names.insert(index, part.text()?.to_owned());
                }
            }
        }
        Ok(names)
    }
}
