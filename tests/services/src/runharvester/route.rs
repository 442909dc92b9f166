//! The paths of the service.
use crate::{Call, Request};

const ROOT: &str = "/api/v1/data/requests";

/// What a path and method ask for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Route<'a> {
    Submit,
    Poll(&'a str),
    Result(&'a str),
    Cancel(&'a str),
    Retry(&'a str),
    Unknown,
}

impl<'a> Route<'a> {
    pub(super) fn of(request: &'a Request) -> Self {
        let Some(rest) = request.route().strip_prefix(ROOT) else {
            return Self::Unknown;
        };
        let mut parts = rest.split('/').skip(1);
        let (id, action, more) = (parts.next(), parts.next(), parts.next());
        match (request.method.as_str(), rest.is_empty(), id, action, more) {
            ("POST", true, None, None, None) => Self::Submit,
            ("GET", false, Some(id), None, None) => Self::Poll(id),
            ("GET", false, Some(id), Some("result"), None) => Self::Result(id),
            ("POST", false, Some(id), Some("cancel"), None) => Self::Cancel(id),
            ("POST", false, Some(id), Some("retry"), None) => Self::Retry(id),
            _ => Self::Unknown,
        }
    }

    pub(super) fn call(self) -> Call {
        match self {
            Self::Submit => Call::Submit,
            Self::Poll(_) => Call::Poll,
            Self::Result(_) => Call::Result,
            Self::Cancel(_) => Call::Cancel,
            Self::Retry(_) => Call::Retry,
            Self::Unknown => Call::Other,
        }
    }

    /// The id of the job that it names.
    pub(super) fn id(self) -> Option<&'a str> {
        match self {
            Self::Poll(id) | Self::Result(id) | Self::Cancel(id) | Self::Retry(id) => Some(id),
            Self::Submit | Self::Unknown => None,
        }
    }
}
