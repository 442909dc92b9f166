//! The public form of an operation: `OperationState` in `index.d.ts`.

use super::ending;
use super::writer::Object;
use crate::model::ending::{Ending, ResultRef};
use crate::model::hold::Hold;
use crate::model::ids::{JobId, OperationId};
use crate::model::life::{Delivery, Stage};
use crate::model::money::{Amount, Credits, ReceiptKind};
use crate::model::operation::Operation;
use crate::model::value::write_string;
use crate::rules::classify::Said;
use crate::rules::exits::exits;
use crate::rules::status::status;

/// An operation as the app sees it.
pub fn view(operation: &Operation) -> String {
    let mut out = Object::new();
    let (identity, life) = (&operation.identity, &operation.life);
    let job = life.job().map(JobId::as_str);
    out.text("id", identity.id.as_str())
        .text("service", identity.service.as_str())
        .text("intent", identity.intent.as_str())
        .text("origin", identity.origin.as_str())
        .number("ordinal", u64::from(identity.ordinal))
        .some_text("parentId", identity.parent.as_ref().map(OperationId::as_str))
        .text("status", status(operation).name())
        .some_text("serviceStatus", operation.reported.state.as_deref())
        .some_text("progress", operation.reported.progress.as_deref());
    standing(operation, &mut out);
    out.time("createdAt", identity.created_at)
        .text("key", identity.key.as_str())
        .some_text("jobId", job)
        .number("attempts", u64::from(life.evidence.attempts))
        .number("polls", u64::from(operation.counters.polls));
    if let Stage::Ended { ending, at } = &life.stage {
        out.time("endedAt", *at);
        ended(ending, &mut out);
    }
    let (delivered, acknowledged) = match &life.delivery {
        Some(Delivery::Delivered(_)) => (true, false),
        Some(Delivery::Acknowledged(_)) => (true, true),
        Some(Delivery::Pending(_)) | None => (false, false),
    };
    let mut receipt = Object::new();
    receipt
        .text("operationId", identity.id.as_str())
        .text("key", identity.key.as_str())
        .some_text("jobId", job)
        .some_text("requestId", operation.reported.request_id.as_deref())
        .some_text("traceId", operation.reported.trace_id.as_deref())
        .some_text("chargeReceiptId", operation.reported.charge_receipt_id.as_deref())
        .some_text(
            "chargeReceiptKind",
            operation.reported.charge_receipt_kind.map(ReceiptKind::name),
        )
        .some_text("recordCount", operation.reported.record_count.as_deref());
    if let Some(own) = &life.deletion {
        let mut deletion = Object::new();
        deletion.time("requestedAt", own.requested_at);
        if let Hold::Parked { reason, .. } = &own.hold {
            deletion.text("parked", reason.name());
        }
        out.object("deletion", deletion);
    }
    if let Some(own) = &life.purged {
        out.time("deletedAt", own.at);
    }
    out.object("ledger", ledger(operation))
        .object("receipt", receipt)
        .flag("delivered", delivered)
        .flag("acknowledged", acknowledged)
        .number("revision", operation.revision.0);
    out.end()
}

/// What it waits for, or why it is parked, and whether it is being cancelled.
fn standing(operation: &Operation, out: &mut Object) {
    let life = &operation.life;
    let hold = life.settlement.as_ref().map_or(&life.hold, |open| &open.hold);
    match hold {
        Hold::Ready => {}
        Hold::Until { wait, reason } => {
            let mut waiting = Object::new();
            waiting.text("reason", reason.name()).time("until", wait.until());
            out.object("waiting", waiting);
        }
        Hold::Parked { reason, at } => {
            let mut list = String::from("[");
            for (index, exit) in exits(operation).into_iter().enumerate() {
                if index > 0 {
                    list.push(',');
                }
                write_string(exit, &mut list);
            }
            list.push(']');
            let mut parked = Object::new();
            parked.text("reason", reason.name()).time("since", *at).raw("exits", &list);
            if let Stage::Reconcile(listing) = &life.stage {
                parked.ids("candidates", &listing.found).flag("absent", listing.absent);
            }
            out.object("parked", parked);
            if let Some(fault) = &operation.reported.fault {
                out.object("fault", ending::fault(fault));
            }
        }
    }
    out.flag("cancelling", life.cancel.is_some() && !life.is_ended());
}

fn ended(ending: &Ending, out: &mut Object) {
    match ending {
        Ending::Succeeded { result, replayed } => {
            out.object("result", kept(result, *replayed));
        }
        Ending::Rejected(fault) | Ending::Expired(fault) => {
            out.object("fault", ending::fault(fault));
        }
        Ending::Incomplete { fault, result } => {
            out.object("fault", ending::fault(fault));
            if let Some(result) = result {
                out.object("result", kept(result, false));
            }
        }
        Ending::Failed(failure) => {
            out.object("failure", ending::failure(failure));
        }
        Ending::Cancelled | Ending::Abandoned => {}
    }
}

/// A kept result, as the app sees it.
pub fn result(result: &ResultRef) -> String {
    kept(result, false).end()
}

fn kept(result: &ResultRef, replayed: bool) -> Object {
    let mut out = Object::new();
    out.number("bytes", result.bytes)
        .text("sha256", &result.sha256)
        .some_text("mediaType", result.media_type.as_deref())
        .some_text("at", result.at.as_deref())
        .time("capturedAt", result.captured_at)
        .flag("replayed", replayed);
    out.some_text("items", result.items.as_deref());
    if let Some(own) = &result.stream {
        out.object("stream", ending::stream(own));
    }
    out
}

/// What a service said that work would cost: `Quote` in `index.d.ts`.
pub fn quote(said: &Said) -> String {
    let mut out = Object::new();
    for amount in [Amount::Quoted, Amount::Balance] {
        let credits = said.ledger.get(amount).map(Credits::to_text);
        out.some_text(amount.name(), credits.as_deref());
    }
    out.some_text("requestId", said.request_id.as_deref());
    out.end()
}

fn ledger(operation: &Operation) -> Object {
    let ledger = &operation.ledger;
    let mut out = Object::new();
    for amount in Amount::ALL {
        let sum = *amount == Amount::Charged;
        let credits = if sum { ledger.charged() } else { ledger.get(*amount) };
        out.some_text(amount.name(), credits.map(Credits::to_text).as_deref());
    }
    out.text("cost", &ledger.cost().to_text())
        .text("lineageCost", &operation.lineage_cost().to_text())
        .some_text("tokenState", ledger.token_state.as_deref())
        .flag("open", operation.life.settlement.is_some())
        .flag("possiblyDuplicated", ledger.duplicated);
    out
}
