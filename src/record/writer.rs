//! Writes JSON objects member by member; what is absent is left out.

use crate::model::ids::JobId;
use crate::model::money::Credits;
use crate::model::time::Timestamp;
use crate::model::value::write_string;

/// A JSON object that is being written.
pub(super) struct Object(String);

impl Object {
    pub(super) fn new() -> Self {
        Self(String::from("{"))
    }

    /// The object's text.
    pub(super) fn end(mut self) -> String {
        self.0.push('}');
        self.0
    }

    /// A member whose value is JSON text already.
    pub(super) fn raw(&mut self, name: &str, json: &str) -> &mut Self {
        if self.0.len() > 1 {
            self.0.push(',');
        }
        write_string(name, &mut self.0);
        self.0.push(':');
        self.0.push_str(json);
        self
    }

    pub(super) fn text(&mut self, name: &str, text: &str) -> &mut Self {
        let mut json = String::new();
        write_string(text, &mut json);
        self.raw(name, &json)
    }

    pub(super) fn some_text(&mut self, name: &str, text: Option<&str>) -> &mut Self {
        match text {
            Some(text) => self.text(name, text),
            None => self,
        }
    }

    pub(super) fn number(&mut self, name: &str, number: u64) -> &mut Self {
        self.raw(name, &number.to_string())
    }

    /// A count that is left out while it is 0.
    pub(super) fn count(&mut self, name: &str, number: u32) -> &mut Self {
        if number == 0 { self } else { self.number(name, u64::from(number)) }
    }

    pub(super) fn time(&mut self, name: &str, at: Timestamp) -> &mut Self {
        self.number(name, at.0)
    }

    pub(super) fn flag(&mut self, name: &str, flag: bool) -> &mut Self {
        self.raw(name, if flag { "true" } else { "false" })
    }

    /// A flag that is left out while it is false.
    pub(super) fn mark(&mut self, name: &str, flag: bool) -> &mut Self {
        if flag { self.flag(name, true) } else { self }
    }

    pub(super) fn credits(&mut self, name: &str, credits: Option<Credits>) -> &mut Self {
        match credits {
            Some(credits) => self.raw(name, &credits.to_text()),
            None => self,
        }
    }

    pub(super) fn ids(&mut self, name: &str, ids: &[JobId]) -> &mut Self {
        let mut list = String::from("[");
        for (index, id) in ids.iter().enumerate() {
            if index > 0 {
                list.push(',');
            }
            write_string(id.as_str(), &mut list);
        }
        list.push(']');
        self.raw(name, &list)
    }

    pub(super) fn object(&mut self, name: &str, object: Self) -> &mut Self {
        self.raw(name, &object.end())
    }

    /// An object with one member: a variant and what it holds.
    pub(super) fn tagged(tag: &str, inner: Self) -> Self {
        let mut outer = Self::new();
        outer.object(tag, inner);
        outer
    }
}
