//! The durable form of an ending, and of what a service said; the public one has the same shape.

use super::writer::Object;
use super::{count, flag, number, some_text, text, time};
use crate::model::ending::{Ending, Failure, FailureClass, Fault, ResultRef};
use crate::model::profile::Stream;
use crate::rules::profile;
use crate::rules::reader::Reader;

/// What stands beside the ending's name.
pub(super) fn encode(ending: &Ending) -> Object {
    match ending {
        Ending::Succeeded { result, replayed } => {
            let mut out = result_ref(result);
            out.mark("replayed", *replayed);
            out
        }
        Ending::Rejected(own) | Ending::Expired(own) => fault(own),
        Ending::Failed(own) => failure(own),
        Ending::Cancelled | Ending::Abandoned => Object::new(),
        Ending::Incomplete { fault: own, result } => {
            let mut out = fault(own);
            if let Some(result) = result {
                out.object("result", result_ref(result));
            }
            out
        }
    }
}

/// The ending among the members of an ended stage.
pub(super) fn decode(reader: &Reader<'_>) -> Option<Ending> {
    for own in reader.members() {
        return Some(match own.name() {
            "succeeded" => {
                Ending::Succeeded { result: read_result(&own)?, replayed: flag(&own, "replayed") }
            }
            "rejected" => Ending::Rejected(read_fault(&own)),
            "expired" => Ending::Expired(read_fault(&own)),
            "failed" => Ending::Failed(Failure {
                id: text(&own, "id"),
                class: own.required("class")?.one_of(FailureClass::ALL, FailureClass::name)?,
                fault: read_fault(&own),
            }),
            "cancelled" => Ending::Cancelled,
            "abandoned" => Ending::Abandoned,
            "incomplete" => {
                let result = own.member("result").map(|inner| read_result(&inner));
                let result = if let Some(read) = result { Some(read?) } else { None };
                Ending::Incomplete { fault: read_fault(&own), result }
            }
            _ => continue,
        });
    }
    reader.fault("it must name an ending");
    None
}

pub(super) fn fault(fault: &Fault) -> Object {
    let mut out = Object::new();
    if let Some(status) = fault.status {
        out.number("httpStatus", u64::from(status));
    }
    out.some_text("code", fault.code.as_deref())
        .some_text("message", fault.message.as_deref())
        .some_text("traceId", fault.trace_id.as_deref());
    out
}

pub(super) fn failure(failure: &Failure) -> Object {
    let mut out = fault(&failure.fault);
    out.text("id", &failure.id).text("class", failure.class.name());
    out
}

pub(super) fn read_fault(reader: &Reader<'_>) -> Fault {
    let status = reader.member("httpStatus").and_then(|own| own.whole(0, 999));
    Fault {
        status: status.and_then(|status| u16::try_from(status).ok()),
        code: some_text(reader, "code"),
        message: some_text(reader, "message"),
        trace_id: some_text(reader, "traceId"),
    }
}

pub(super) fn result_ref(result: &ResultRef) -> Object {
    let mut out = Object::new();
    out.number("download", result.download)
        .count("chunks", result.chunks)
        .number("bytes", result.bytes)
        .text("sha256", &result.sha256)
        .some_text("mediaType", result.media_type.as_deref())
        .some_text("at", result.at.as_deref())
        .time("capturedAt", result.captured_at);
    if let Some(own) = &result.stream {
        out.object("stream", stream(own));
    }
    out.some_text("items", result.items.as_deref());
    if !result.earlier.is_empty() {
        let mut earlier = Object::new();
        for (end, download) in &result.earlier {
            earlier.number(&end.to_string(), *download);
        }
        out.object("earlier", earlier);
    }
    out
}

/// As a profile has it.
pub(super) fn stream(stream: &Stream) -> Object {
    let mut out = Object::new();
    out.text("form", stream.form.name())
        .some_text("result", stream.result.as_deref())
        .some_text("end", stream.end.as_deref())
        .some_text("endData", stream.end_data.as_deref());
    if !stream.gather.is_empty() {
        let mut gather = Object::new();
        for (event, member) in &stream.gather {
            gather.text(event, member);
        }
        out.object("gather", gather);
    }
    out
}

pub(super) fn read_result(reader: &Reader<'_>) -> Option<ResultRef> {
    let mut earlier = Vec::new();
    for own in reader.member("earlier").map(|own| own.members()).unwrap_or_default() {
        earlier.push((own.name().parse().ok()?, own.whole(0, u64::MAX)?));
    }
    Some(ResultRef {
        download: number(reader, "download"),
        chunks: count(reader, "chunks"),
        bytes: number(reader, "bytes"),
        sha256: text(reader, "sha256"),
        media_type: some_text(reader, "mediaType"),
        at: some_text(reader, "at"),
        stream: reader.member("stream").and_then(|own| profile::stream(&own)).map(Box::new),
        items: some_text(reader, "items"),
        earlier,
        captured_at: time(reader, "capturedAt"),
    })
}
