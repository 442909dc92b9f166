//! What a path and method ask for.
use crate::{Call, Request};

/// A request's place in a service.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Route<'a> {
    /// What it asks for.
    pub(crate) call: Call,
    /// The id of the job that it names.
    pub(crate) id: Option<&'a str>,
    /// The collection, surface or source that it names.
    pub(crate) at: &'a str,
}

impl<'a> Route<'a> {
    /// A route that names no job.
    pub(crate) fn to(call: Call, at: &'a str) -> Self {
        Self { call, id: None, at }
    }

    /// A route to one job.
    pub(crate) fn of_job(call: Call, id: &'a str) -> Self {
        Self { call, id: Some(id), at: "" }
    }

    /// A route of services whose reports are made by operations.
    pub(crate) fn by_operations(request: &'a Request) -> Self {
        match (request.method.as_str(), request.parts().as_slice()) {
            ("POST", ["v1", "reports"]) => Self::to(Call::Submit, ""),
            ("GET", ["v1", "operations", id]) => Self::of_job(Call::Poll, id),
            ("POST", ["v1", "operations", named]) => match named.strip_suffix(":cancel") {
                Some(id) => Self::of_job(Call::Cancel, id),
                None => Self::nowhere(),
            },
            _ => Self::nowhere(),
        }
    }

    /// No route of the service.
    pub(crate) fn nowhere() -> Self {
        Self::to(Call::Other, "")
    }
}

/// A parameter of a request's query, as it is written.
pub(crate) fn query<'a>(request: &'a Request, name: &str) -> Option<&'a str> {
    let (_, query) = request.path.split_once('?')?;
    let mut pairs = query.split('&').filter_map(|pair| pair.split_once('='));
    pairs.find(|(known, _)| *known == name).map(|(_, value)| value)
}
