//! Reads JSON values that come from outside and tells everything that is wrong with them at once.

use core::cell::RefCell;

use crate::model::value::Value;

/// One thing that is wrong with an input.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// Where: the names that lead there, each after a slash (a JSON pointer).
    pub pointer: String,
    /// What, and what would be right.
    pub message: String,
}

/// The faults of one input, gathered while it is read.
#[derive(Debug, Default)]
pub struct Faults(RefCell<Vec<Fault>>);

impl Faults {
    /// What was read, if nothing was wrong with it.
    pub fn settle<T>(self, read: Option<T>) -> Result<T, Vec<Fault>> {
        let faults = self.0.into_inner();
        match read {
            Some(read) if faults.is_empty() => Ok(read),
            Some(_) | None => Err(faults),
        }
    }
}

/// A value in its place.
pub struct Reader<'a> {
    /// The value.
    pub value: &'a Value,
    pointer: String,
    faults: &'a Faults,
}

impl<'a> Reader<'a> {
    /// The root of an input.
    pub const fn root(value: &'a Value, faults: &'a Faults) -> Self {
        Self { value, pointer: String::new(), faults }
    }

    /// Tells a fault of this value.
    pub fn fault(&self, message: &str) {
        let pointer = self.pointer.clone();
        self.faults.0.borrow_mut().push(Fault { pointer, message: message.into() });
    }

    /// The member of this name; `null` counts as absent.
    pub fn member(&self, name: &str) -> Option<Self> {
        let value = self.value.member(name).filter(|value| **value != Value::Null)?;
        Some(self.at(name, value))
    }

    /// The member of this name; a fault when it is absent.
    pub fn required(&self, name: &str) -> Option<Self> {
        let found = self.member(name);
        if found.is_none() {
            self.fault(&["\"", name, "\" is missing"].concat());
        }
        found
    }

    /// Tells of members that are not among these, and of what is no object at all.
    pub fn only(&self, names: &[&str]) {
        for member in self.members() {
            let own = member.name();
            if !names.contains(&own) {
                member.fault(
                    &["there is no option of this name; there is ", &names.join(", ")].concat(),
                );
            }
        }
    }

    /// The members of an object; a fault when it is none.
    pub fn members(&self) -> Vec<Self> {
        match self.value {
            Value::Map(members) => {
                members.iter().map(|(name, value)| self.at(name, value)).collect()
            }
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::List(_) => {
                self.fault("it must be an object");
                Vec::new()
            }
        }
    }

    /// The items of a list; a fault when it is none.
    pub fn items(&self) -> Vec<Self> {
        match self.value {
            Value::List(items) => {
                let place = |(index, value)| self.at(&usize::to_string(&index), value);
                items.iter().enumerate().map(place).collect()
            }
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Map(_) => {
                self.fault("it must be a list");
                Vec::new()
            }
        }
    }

    /// Whether it is an object.
    pub const fn value_is_map(&self) -> bool {
        matches!(self.value, Value::Map(_))
    }

    /// Whether it is a list.
    pub const fn value_is_list(&self) -> bool {
        matches!(self.value, Value::List(_))
    }

    /// The last name that leads here.
    pub fn name(&self) -> &str {
        self.pointer.rsplit('/').next().unwrap_or_default()
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

    /// A value by its name in a table; a fault that lists the names when it is none of them.
    pub fn one_of<T: Copy>(&self, all: &[T], name_of: fn(T) -> &'static str) -> Option<T> {
        let text = self.text()?;
        let found = all.iter().copied().find(|value| name_of(*value) == text);
        if found.is_none() {
            let names: Vec<_> = all.iter().map(|value| name_of(*value)).collect();
            self.fault(&["it must be one of ", &names.join(", ")].concat());
        }
        found
    }

    fn at(&self, name: &str, value: &'a Value) -> Self {
        let pointer = [self.pointer.as_str(), "/", name].concat();
        Self { value, pointer, faults: self.faults }
    }
}
