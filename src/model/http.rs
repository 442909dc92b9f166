//! What crosses the wire, as plain data.

/// Header fields in the order in which they came; names are compared without case. A credential is among
/// them: there is no `Debug`.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Headers(Vec<(String, String)>);

impl Headers {
    /// The value of the first field of this name.
    pub fn first(&self, name: &str) -> Option<&str> {
        self.0
            .iter()
            .find(|(own, _)| own.eq_ignore_ascii_case(name))
            .map(|(_, value)| value.as_str())
    }

    /// Adds a field.
    pub fn push(&mut self, name: impl Into<String>, value: impl Into<String>) {
        self.0.push((name.into(), value.into()));
    }

    /// Adds those of other fields whose names are not there yet: of two values in one field, as of a
    /// key or a media type, a service would read neither.
    pub fn complete(&mut self, others: &Self) {
        for (name, value) in others.iter() {
            if self.first(name).is_none() {
                self.push(name, value);
            }
        }
    }

    /// All fields.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0.iter().map(|(name, value)| (name.as_str(), value.as_str()))
    }
}

impl<N: Into<String>, V: Into<String>> FromIterator<(N, V)> for Headers {
    fn from_iter<I: IntoIterator<Item = (N, V)>>(fields: I) -> Self {
        Self(fields.into_iter().map(|(name, value)| (name.into(), value.into())).collect())
    }
}
