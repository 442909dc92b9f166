//! Reads a service's calls.

use super::{ENTRIES_MAX, TIMEOUT_MS_MAX};
use crate::model::profile::{Call, Calls, FactSource, Param, Stream, StreamForm};
use crate::rules::bounds::EXCHANGE_TIMEOUT_MS;
use crate::rules::grammar::{is_token, leads_up};
use crate::rules::reader::Reader;
use crate::rules::template::slots;
use crate::rules::text::split_once;

/// What names of header fields hold whose values are credentials.
const CREDENTIALS: [&str; 6] = ["authorization", "cookie", "api-key", "apikey", "secret", "token"];

/// What a call may be addressed by.
#[derive(Clone, Copy)]
struct Known<'a> {
    params: &'a [Param],
    /// Nothing is carried, and no id is known, before a submission.
    carry: Option<&'a [FactSource]>,
    /// It lists jobs, page by page.
    pages: bool,
    /// It reads, which may cost.
    reads: bool,
    /// It brings a result, which may come as a stream.
    streams: bool,
}

pub(super) fn calls(reader: &Reader<'_>, params: &[Param], carry: &[FactSource]) -> Option<Calls> {
    reader.only(&[
        "submit", "poll", "result", "cancel", "retry", "delete", "list", "quote", "diagnose",
    ]);
    let of_a_job = Known { params, carry: Some(carry), pages: false, reads: false, streams: false };
    let of_none = Known { carry: None, ..of_a_job };
    let submit = reader.required("submit");
    let result_on = submit.as_ref().and_then(|own| own.member("resultOn"));
    let submit = submit.and_then(|own| call(&own, Known { streams: true, ..of_none }));
    let quote = reader.member("quote").map(|own| call(&own, of_none));
    let diagnose = reader.member("diagnose").map(|own| {
        let read = call(&own, of_none);
        if read.as_ref().is_some_and(Call::has_body) {
            own.fault("it is a read, with GET");
        }
        read
    });
    let list =
        reader.member("list").map(|own| call(&own, Known { pages: true, reads: true, ..of_none }));
    let other = |name: &str| reader.member(name).map(|own| call(&own, of_a_job));
    let read = Known { reads: true, ..of_a_job };
    let poll = reader.member("poll").map(|own| call(&own, read));
    let result = reader.member("result");
    let result = result.map(|own| call(&own, Known { streams: true, ..read }));
    let (cancel, retry, delete) = (other("cancel"), other("retry"), other("delete"));
    Some(Calls {
        submit: submit?,
        result_on: result_on.map(|own| statuses(&own)).unwrap_or_default(),
        poll: poll.flatten(),
        result: result.flatten(),
        cancel: cancel.flatten(),
        retry: retry.flatten(),
        delete: delete.flatten(),
        list: list.flatten(),
        quote: quote.flatten(),
        diagnose: diagnose.flatten(),
    })
}

fn call(reader: &Reader<'_>, known: Known<'_>) -> Option<Call> {
    let mut members = vec!["method", "path", "link", "anyOrigin", "headers", "timeoutMs"];
    let submits = known.streams && known.carry.is_none();
    if submits {
        members.push("resultOn");
    }
    if known.streams {
        members.push("stream");
    }
    if known.streams && !submits {
        members.push("ranges");
    }
    if known.reads {
        members.push("cost");
    }
    reader.only(&members);
    let method = reader.required("method").and_then(|own| {
        let method = own.one_of(&["GET", "POST", "PUT", "PATCH", "DELETE"], |name| name)?;
        if known.pages && method != "GET" {
            own.fault("a listing is read, with GET");
        } else if method == "GET" && submits {
            own.fault("work is handed over with a body, which GET has not");
        } else if method == "DELETE" && known.reads {
            own.fault("it is a read, which DELETE is not");
        }
        Some(method.to_owned())
    });
    let link = reader.member("link").and_then(|own| {
        let name = own.text()?;
        if !known.carry.is_some_and(|carry| carry.iter().any(|source| source.name == name)) {
            own.fault("it must name a carried value");
        }
        Some(name.to_owned())
    });
    if link.is_none() && reader.member("link").is_none() {
        reader.required("path");
    }
    let path = reader.member("path").and_then(|own| path(&own, known, link.is_some()));
    let any_origin = reader.member("anyOrigin").map_or(Some(false), |own| own.bool());
    if any_origin == Some(true) && link.is_none() {
        reader.fault("anyOrigin is about a link");
    }
    let timeout_ms = reader
        .member("timeoutMs")
        .map_or(Some(EXCHANGE_TIMEOUT_MS), |own| own.whole(100, TIMEOUT_MS_MAX));
    let stream = reader.member("stream").and_then(|own| stream(&own));
    Some(Call {
        method: method?,
        path,
        link,
        any_origin: any_origin?,
        headers: reader.member("headers").map(|own| headers(&own)).unwrap_or_default(),
        idle: stream.is_some() || (known.streams && !submits),
        stream,
        ranges: reader.member("ranges").map_or(Some(false), |own| own.bool())?,
        timeout_ms: timeout_ms?,
        cost: reader.member("cost").and_then(|own| own.credits()),
    })
}

/// An answer that comes as events; the record of a kept one has the same form.
pub fn stream(reader: &Reader<'_>) -> Option<Stream> {
    reader.only(&["form", "result", "end", "endData", "gather"]);
    let form =
        reader.required("form").and_then(|own| own.one_of(StreamForm::ALL, StreamForm::name));
    let event = |name: &str| reader.member(name).and_then(|own| own.text().map(String::from));
    let mut gather = Vec::new();
    if let Some(own) = reader.member("gather") {
        let members = own.members();
        if members.len() > ENTRIES_MAX || reader.member("result").is_none() {
            own.fault("it gathers a few kinds of events into the data of the event `result`");
        }
        for member in members {
            gather.push((member.name().to_owned(), member.text().unwrap_or_default().to_owned()));
        }
    }
    let (result, end, end_data) = (event("result"), event("end"), event("endData"));
    Some(Stream { form: form?, result, end, end_data, gather })
}

/// Statuses of answers that are the result.
fn statuses(reader: &Reader<'_>) -> Vec<u16> {
    let items = reader.items();
    if items.is_empty() || items.len() > ENTRIES_MAX {
        reader.fault("it must list one status or more");
    }
    let mut read = Vec::new();
    for own in items {
        read.extend(own.whole(200, 299).and_then(|status| u16::try_from(status).ok()));
    }
    read
}

fn path(reader: &Reader<'_>, known: Known<'_>, linked: bool) -> Option<String> {
    let path = reader.text()?;
    let plain = path.bytes().all(|byte| byte.is_ascii_graphic() && !b"#\\".contains(&byte));
    let before_query = path.split('?').next().unwrap_or_default();
    if !path.starts_with('/') || path.starts_with("//") || !plain || leads_up(before_query) {
        reader.fault("it must be an absolute path, such as /v1/jobs/{id}");
    }
    let mut leads_to_it = known.carry.is_none() || linked;
    match slots(path) {
        Some(slots) => {
            for slot in slots {
                let carried = known.carry.is_some_and(|carry| {
                    slot.name == "id" || carry.iter().any(|source| source.name == slot.name)
                });
                leads_to_it |= carried;
                let page = known.pages && slot.name == "page";
                if !carried && !page && !known.params.iter().any(|param| param.name == slot.name) {
                    let what = if known.carry.is_none() && slot.name == "id" {
                        "no id is known yet: no {id}"
                    } else {
                        "a name in braces must be id, a parameter or a carried value"
                    };
                    reader.fault(what);
                }
            }
        }
        None => reader.fault("its braces do not match"),
    }
    if !leads_to_it {
        reader.fault("it must hold {id}, or a carried value");
    }
    Some(path.to_owned())
}

fn headers(reader: &Reader<'_>) -> Vec<(String, String)> {
    let members = reader.members();
    if members.len() > ENTRIES_MAX {
        reader.fault("there are too many");
    }
    let mut read = Vec::new();
    for own in members {
        let value = own.text().unwrap_or_default();
        if !is_token(own.name()) || !value.bytes().all(|byte| (0x20..0x7F).contains(&byte)) {
            own.fault("it must be a header field: a name, and a value of printable ASCII");
        }
        let name = own.name().to_ascii_lowercase();
        if CREDENTIALS.iter().any(|part| split_once(&name, part).is_some()) {
            own.fault("a credential stands in no profile, for that is stored: authorize gives it");
        }
        read.push((own.name().to_owned(), value.to_owned()));
    }
    read
}
