//! Reads of a WebAssembly module what its functions are called and how long their code is.

use std::collections::BTreeMap;

use anyhow::{Result, ensure};
use wasmparser::{
    BinaryReader, CodeSectionReader, KnownCustom, Name, NameSectionReader, Naming, Parser, Payload,
    TypeRef,
};

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

/// What names of functions begin with that belong to a basic type.
const BASIC: [&str; 16] = [
    "bool", "char", "const", "dyn", "f64", "i32", "i64", "mut", "str", "u128", "u16", "u32", "u64",
    "u8", "usize", "isize",
];

impl Names {
    pub(super) fn read(module: &[u8]) -> Result<Self> {
        let (mut imported, mut code, mut names) = (0, Vec::new(), BTreeMap::new());
        for part in Parser::new(0).parse_all(module) {
            let part = part?;
            if let Payload::ImportSection(imports) = part {
                for import in imports.into_imports() {
                    imported += u32::from(matches!(import?.ty, TypeRef::Func(_)));
                }
            } else if let Payload::CodeSectionStart { range, .. } = part {
                let section = BinaryReader::new(&module[range.clone()], range.start);
                for body in CodeSectionReader::new(section)?.into_iter_with_offsets() {
                    let (from, body) = body?;
                    code.push(body.range().end - from);
                }
            } else if let Payload::CustomSection(section) = part
                && let KnownCustom::Name(parts) = section.as_known()
            {
                names.extend(function_names(parts)?);
            }
        }
        ensure!(!names.is_empty(), "the module has no names");
        // What is imported comes first in the count of functions.
        let functions = (imported..).zip(code).map(|(index, bytes)| {
            let name = names.get(&index).copied().unwrap_or_default();
            Function { name: format!("{:#}", rustc_demangle::demangle(name)), bytes }
        });
        Ok(Self { functions: functions.collect() })
    }
}

fn function_names(parts: NameSectionReader<'_>) -> Result<BTreeMap<u32, &str>> {
    let mut names = BTreeMap::new();
    for part in parts {
        if let Name::Function(functions) = part? {
            for naming in functions {
                let Naming { index, name } = naming?;
                names.insert(index, name);
            }
        }
    }
    Ok(names)
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

#[cfg(test)]
mod tests {
    use super::*;

    /// One import, a function, and a memory that is imported; two functions of its own, of 2 and of 3
    /// bytes after their lengths; and names for the import and the second function.
    const MODULE: &[u8] = b"\0asm\x01\0\0\0\
        \x01\x04\x01\x60\0\0\
        \x02\x0e\x02\x01a\x01f\0\0\x01a\x01m\x02\0\0\
        \x03\x03\x02\0\0\
        \x0a\x08\x02\x02\0\x0b\x03\0\x01\x0b\
        \0\x12\x04name\x01\x0b\x02\0\x01f\x02\x05g::hi";

    fn part(name: &str, depth: usize) -> String {
        Function { name: name.to_owned(), bytes: 0 }.part(depth)
    }

    #[test]
    fn code_is_counted_with_its_length_under_the_name_of_its_function() {
        let Names { functions } = Names::read(MODULE).unwrap();
        let told: Vec<_> = functions.iter().map(|own| (own.name.as_str(), own.bytes)).collect();
        assert_eq!(told, [("", 3), ("g::hi", 4)]);
    }

    #[test]
    fn a_module_without_names_is_refused() {
        assert!(Names::read(&MODULE[..8]).is_err());
        assert!(Names::read(b"no module").is_err());
    }

    #[test]
    fn a_function_belongs_to_the_room_and_file_that_its_name_begins_with() {
        let name = "<holdfast::engine::lanes::Lane as core::fmt::Display>::fmt";
        assert_eq!(part(name, 2), "holdfast::engine");
        assert_eq!(part(name, 3), "holdfast::engine::lanes");
        assert_eq!(part("holdfast::Engine::new", 3), "holdfast");
        assert_eq!(part("<str>::trim", 2), "core");
        assert_eq!(part("alloc::vec::push", 3), "alloc");
        assert_eq!(part("__wbindgen_malloc", 2), "exports, and what the binding adds");
    }
}
