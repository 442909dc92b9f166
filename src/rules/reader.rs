//! Reads JSON values that come from outside and tells everything that is wrong with them at once.

use core::cell::RefCell;

use crate::model::money::Credits;
use crate::model::value::Value;

/// One thing that is wrong with an input.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// Where: a JSON pointer (RFC 6901).
    pub pointer: String,
    /// What, and what would be right.
    pub message: String,
}

/// The faults of one input, gathered while it is read.
#[derive(Debug)]
pub struct Faults<'a> {
    root: &'a Value,
    found: RefCell<Vec<Fault>>,
}

impl<'a> Faults<'a> {
    /// No faults yet of this input.
    pub const fn of(root: &'a Value) -> Self {
        Self { root, found: RefCell::new(Vec::new()) }
    }

    /// The input's root.
    pub const fn root(&'a self) -> Reader<'a> {
        Reader { value: self.root, name: "", faults: self }
    }

    /// What was read, if nothing was wrong with it.
    pub fn settle<T>(self, read: Option<T>) -> Result<T, Vec<Fault>> {
        let faults = self.found.into_inner();
        match read {
            Some(read) if faults.is_empty() => Ok(read),
            Some(_) | None => Err(faults),
        }
    }
}

/// A value in its place. It costs nothing to have or to drop: where its place is comes out of the
/// input by the value's address, when there is a fault to tell.
#[derive(Clone, Copy, Debug)]
pub struct Reader<'a> {
    /// The value.
    pub value: &'a Value,
    name: &'a str,
    faults: &'a Faults<'a>,
}

impl<'a> Reader<'a> {
    /// Tells a fault of this value.
    pub fn fault(&self, message: &str) {
        self.fault_at(self.pointer(), message);
    }

    /// The member of this name. `null` is there, and of the wrong type for every reading: it is
    /// what JSON makes of a number that is not finite.
    pub fn member(&self, name: &str) -> Option<Self> {
        let Value::Map(members) = self.value else {
            return None;
        };
        let (name, value) = members.iter().find(|(own, _)| own == name)?;
        Some(self.at(name, value))
    }

    /// The member of this name; a fault when it is absent.
    pub fn required(&self, name: &str) -> Option<Self> {
        let found = self.member(name);
        if found.is_none() {
            let mut pointer = self.pointer();
            step(&mut pointer, name);
            self.fault_at(pointer, "it is missing");
        }
        found
    }

    /// Tells of members that are not among these, and of what is no object at all.
    pub fn only(&self, names: &[&str]) {
        for member in self.members() {
            if !names.contains(&member.name) {
                member.fault_listing("there is no option of this name; there is ", names);
            }
        }
    }

    /// The members of an object; a fault when it is none.
    pub fn members(&self) -> Vec<Self> {
        let mut found = Vec::new();
        if let Value::Map(members) = self.value {
            for (name, value) in members {
                found.push(self.at(name, value));
            }
        } else {
            self.fault("it must be an object");
        }
        found
    }

    /// The items of a list; a fault when it is none.
    pub fn items(&self) -> Vec<Self> {
        let mut found = Vec::new();
        if let Value::List(items) = self.value {
            for value in items {
                found.push(self.at("", value));
            }
        } else {
            self.fault("it must be a list");
        }
        found
    }

    /// Whether it is an object.
    pub const fn value_is_map(&self) -> bool {
        matches!(self.value, Value::Map(_))
    }

    /// Whether it is a list.
    pub const fn value_is_list(&self) -> bool {
        matches!(self.value, Value::List(_))
    }

    /// The name of the member that this is; empty for what is no member.
    pub const fn name(&self) -> &'a str {
        self.name
    }

    /// A string; a fault when it is none.
    pub fn text(&self) -> Option<&'a str> {
        match self.value {
            Value::String(text) => Some(text),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::List(_) | Value::Map(_) => {
                self.fault("it must be a string");
                None
            }
        }
    }

    /// `true` or `false`; a fault when it is neither.
    pub fn bool(&self) -> Option<bool> {
        match self.value {
            Value::Bool(value) => Some(*value),
            Value::Null | Value::Number(_) | Value::String(_) | Value::List(_) | Value::Map(_) => {
                self.fault("it must be true or false");
                None
            }
        }
    }

    /// A number's text; a fault when it is none.
    pub fn number(&self) -> Option<&'a str> {
        match self.value {
            Value::Number(text) => Some(text),
            Value::Null | Value::Bool(_) | Value::String(_) | Value::List(_) | Value::Map(_) => {
                self.fault("it must be a number");
                None
            }
        }
    }

    /// A whole number within bounds; a fault when it is none.
    pub fn whole(&self, min: u64, max: u64) -> Option<u64> {
        let number = self.number()?.parse().ok().filter(|number| (min..=max).contains(number));
        if number.is_none() {
            let (min, max) = (min.to_string(), max.to_string());
            self.fault(&["it must be a whole number from ", &min, " to ", &max].concat());
        }
        number
    }

    /// As [`Reader::whole`], for 32 bits.
    pub fn whole_u32(&self, min: u32, max: u32) -> Option<u32> {
        u32::try_from(self.whole(u64::from(min), u64::from(max))?).ok()
    }

    /// An amount above 0.
    pub fn credits(&self) -> Option<Credits> {
        let fits = Credits::LEAST..Credits(i64::MAX);
        let credits = Credits::parse(self.number()?).filter(|own| fits.contains(own));
        if credits.is_none() {
            self.fault("it must be a number of credits above 0");
        }
        credits
    }

    /// A value by its name in a table; a fault that lists the names when it is none of them.
    pub fn one_of<T: Copy>(&self, all: &[T], name_of: fn(T) -> &'static str) -> Option<T> {
        let text = self.text()?;
        let mut names = Vec::new();
        for value in all {
            let name = name_of(*value);
            if name == text {
                return Some(*value);
            }
            names.push(name);
        }
        self.fault_listing("it must be one of ", &names);
        None
    }

    const fn at(&self, name: &'a str, value: &'a Value) -> Self {
        Self { value, name, faults: self.faults }
    }

    fn fault_listing(&self, what: &str, names: &[&str]) {
        let mut message = String::from(what);
        for (index, name) in names.iter().enumerate() {
            if index > 0 {
                message.push_str(", ");
            }
            message.push_str(name);
        }
        self.fault(&message);
    }

    fn fault_at(&self, pointer: String, message: &str) {
        self.faults.found.borrow_mut().push(Fault { pointer, message: message.into() });
    }

    fn pointer(&self) -> String {
        let mut pointer = String::new();
        find(self.faults.root, self.value, &mut pointer);
        pointer
    }
}

/// Finds a value below another by its address, and appends the steps that lead there.
fn find(at: &Value, value: &Value, pointer: &mut String) -> bool {
    if core::ptr::eq(at, value) {
        return true;
    }
    let before = pointer.len();
    let mut is_below = |name: &str, below: &Value| {
        step(pointer, name);
        let found = find(below, value, pointer);
        if !found {
            pointer.truncate(before);
        }
        found
    };
    match at {
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => false,
        Value::List(items) => {
            items.iter().enumerate().any(|(index, item)| is_below(&usize::to_string(&index), item))
        }
        Value::Map(members) => members.iter().any(|(name, member)| is_below(name, member)),
    }
}

/// Appends one step to a pointer.
fn step(pointer: &mut String, name: &str) {
    pointer.push('/');
    for character in name.chars() {
        match character {
            '~' => pointer.push_str("~0"),
            '/' => pointer.push_str("~1"),
            plain => pointer.push(plain),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rules::json;

    fn faults(text: &str, read: impl FnOnce(&Reader<'_>)) -> Vec<String> {
        let value = json::parse(text.as_bytes(), 8).unwrap();
        let faults = Faults::of(&value);
        read(&faults.root());
        let found = faults.settle(Some(())).err().unwrap_or_default();
        found.into_iter().map(|fault| [fault.pointer, fault.message].join(": ")).collect()
    }

    #[test]
    fn every_fault_is_told_with_its_place() {
        let found = faults(r#"{"a":1,"b":{"c~/d":[true,"x"]},"e":-1}"#, |reader| {
            reader.required("a").unwrap().text();
            let inner = reader.member("b").unwrap().member("c~/d").unwrap();
            assert_eq!(inner.name(), "c~/d");
            inner.items()[1].bool();
            inner.members();
            reader.required("e").unwrap().whole(0, 9);
            reader.required("f");
        });
        assert_eq!(
            found,
            [
                "/a: it must be a string",
                "/b/c~0~1d/1: it must be true or false",
                "/b/c~0~1d: it must be an object",
                "/e: it must be a whole number from 0 to 9",
                "/f: it is missing",
            ]
        );
    }

    #[test]
    fn null_is_no_value_of_any_type() {
        let found = faults(r#"{"a":null}"#, |reader| {
            let own = || reader.required("a").unwrap();
            assert!(own().text().is_none() && own().bool().is_none() && own().number().is_none());
            assert!(own().items().is_empty() && own().members().is_empty());
        });
        assert_eq!(found.len(), 5);
    }

    #[test]
    fn members_of_other_names_are_told_with_the_names_there_are() {
        let found = faults(r#"{"a":1,"b":2,"c":3}"#, |reader| reader.only(&["b", "d"]));
        assert_eq!(
            found,
            [
                "/a: there is no option of this name; there is b, d",
                "/c: there is no option of this name; there is b, d",
            ]
        );
    }

    #[test]
    fn bounds_belong_to_what_is_allowed() {
        let found = faults("[0,1,9,10,1.0,18446744073709551616]", |reader| {
            let read: Vec<_> = reader.items().iter().map(|own| own.whole(1, 9)).collect();
            assert_eq!(read, [None, Some(1), Some(9), None, None, None]);
        });
        assert_eq!(found.len(), 4);
    }
}
