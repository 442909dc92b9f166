//! The durable form of what the service last reported.

use super::writer::Object;
use super::{ending, some_text};
use crate::model::money::ReceiptKind;
use crate::model::operation::Reported;
use crate::rules::reader::Reader;

pub(super) fn encode(reported: &Reported) -> Object {
    let mut out = Object::new();
    out.some_text("state", reported.state.as_deref())
        .some_text("progress", reported.progress.as_deref())
        .some_text("requestId", reported.request_id.as_deref())
        .some_text("traceId", reported.trace_id.as_deref())
        .some_text("chargeReceiptId", reported.charge_receipt_id.as_deref())
        .some_text("chargeReceiptKind", reported.charge_receipt_kind.map(ReceiptKind::name))
        .some_text("recordCount", reported.record_count.as_deref())
        .some_text("digest", reported.digest.as_deref());
    if let Some(fault) = &reported.fault {
        out.object("fault", ending::fault(fault));
    }
    out
}

pub(super) fn decode(reader: &Reader<'_>) -> Reported {
    Reported {
        state: some_text(reader, "state"),
        progress: some_text(reader, "progress"),
        request_id: some_text(reader, "requestId"),
        trace_id: some_text(reader, "traceId"),
        charge_receipt_id: some_text(reader, "chargeReceiptId"),
        charge_receipt_kind: reader
            .member("chargeReceiptKind")
            .and_then(|own| own.one_of(ReceiptKind::ALL, ReceiptKind::name)),
        record_count: some_text(reader, "recordCount"),
        digest: some_text(reader, "digest"),
        fault: reader.member("fault").map(|own| ending::read_fault(&own)),
    }
}
