//! The support report: what may be sent to strangers.
//!
//! By construction: a page takes numbers, points in time and tokens, and nothing else.
//! A token cannot be a URL, a sentence or a document, so that neither bodies nor signed addresses nor
//! what a service says in its own words can enter.

use super::writer::Object;
use super::{DEPTH_MAX, FORMAT};
use crate::model::ending::{Ending, FailureClass, Fault};
use crate::model::hold::Hold;
use crate::model::ids::{JobId, OperationId};
use crate::model::life::Stage;
use crate::model::money::{Amount, Credits, ReceiptKind};
use crate::model::operation::Operation;
use crate::model::time::Timestamp;
use crate::rules::json;
use crate::rules::reader::{Faults, Reader};
use crate::rules::status::status;

/// Stands for what is not told.
const WITHHELD: &str = "[withheld]";

/// Longest token, in bytes.
const TOKEN_BYTES_MAX: usize = 128;

/// An operation's report, with its journal's lines.
pub fn report(operation: &Operation, journal: &[String]) -> String {
    let (identity, life) = (&operation.identity, &operation.life);
    let reported = &operation.reported;
    let mut page = Page(Object::new());
    page.token("holdfast", Some(env!("CARGO_PKG_VERSION")))
        .number("recordFormat", Some(FORMAT))
        .token("profile", Some(&identity.profile))
        .token("profileDigest", Some(&identity.profile_digest))
        .token("service", Some(identity.service.as_str()))
        .place("intent", identity.intent.as_str(), b" ")
        .token("operationId", Some(identity.id.as_str()))
        .token("parentId", identity.parent.as_ref().map(OperationId::as_str))
        .number("ordinal", Some(identity.ordinal.into()))
        .token("key", Some(identity.key.as_str()).filter(|key| !key.is_empty()))
        .token("jobId", life.job().map(JobId::as_str))
        .token("requestId", reported.request_id.as_deref())
        .token("traceId", reported.trace_id.as_deref())
        .token("chargeReceiptId", reported.charge_receipt_id.as_deref())
        .token("chargeReceiptKind", reported.charge_receipt_kind.map(ReceiptKind::name))
        .token("method", Some(&operation.request.method))
        .place("path", path_of(operation), b"/@%")
        .time("createdAt", Some(identity.created_at))
        .token("status", Some(status(operation).name()))
        .token("serviceStatus", reported.state.as_deref())
        .number("attempts", Some(life.evidence.attempts.into()))
        .number("retries", Some(life.evidence.attempts.saturating_sub(1).into()))
        .number("polls", Some(operation.counters.polls.into()));
    page.0.object("ledger", money(operation));
    standing(&mut page, &life.hold);
    let mut last = reported.fault.as_ref().map(|fault| (fault, None));
    if let Stage::Ended { ending, at } = &life.stage {
        page.time("endedAt", Some(*at)).token("outcome", Some(ending.name()));
        last = fault_of(ending);
    }
    if let Some((fault, class)) = last {
        let mut inner = Page(Object::new());
        inner
            .number("httpStatus", fault.status.map(u64::from))
            .token("code", fault.code.as_deref())
            .token("class", class.map(FailureClass::name))
            .token("traceId", fault.trace_id.as_deref());
        page.0.object("lastError", inner.0);
    }
    page.0.raw("transitions", &transitions(journal));
    page.0.end()
}

/// What may be filled in: every method names what kind of thing it lets in.
struct Page(Object);

impl Page {
    fn token(&mut self, name: &str, text: Option<&str>) -> &mut Self {
        if let Some(text) = text {
            self.0.text(name, token(text, b""));
        }
        self
    }

    /// A token that may hold some characters more.
    fn place(&mut self, name: &str, text: &str, more: &[u8]) -> &mut Self {
        self.0.text(name, token(text, more));
        self
    }

    fn number(&mut self, name: &str, number: Option<u64>) -> &mut Self {
        if let Some(number) = number {
            self.0.number(name, number);
        }
        self
    }

    fn time(&mut self, name: &str, at: Option<Timestamp>) -> &mut Self {
        self.number(name, at.map(|at| at.0))
    }
}

/// A text that is one word of letters, digits and `-._:~`, else [`WITHHELD`].
pub(super) fn token<'t>(text: &'t str, more: &[u8]) -> &'t str {
    let plain =
        |byte: u8| byte.is_ascii_alphanumeric() || b"-._:~".contains(&byte) || more.contains(&byte);
    let fits = text.len() <= TOKEN_BYTES_MAX && text.bytes().all(plain);
    if fits { text } else { WITHHELD }
}

/// The path that it was sent to, without a query. A job that is named by a link has none to show.
fn path_of(operation: &Operation) -> &str {
    let linked = operation.life.job().is_some_and(|job| job.as_str().contains('/'));
    let path = operation.request.url.strip_prefix(operation.identity.origin.as_str());
    match path.filter(|_| !linked) {
        Some(path) => path.split(['?', '#']).next().unwrap_or(WITHHELD),
        None => WITHHELD,
    }
}

fn standing(page: &mut Page, hold: &Hold) {
    match hold {
        Hold::Ready => {}
        Hold::Until { wait, reason } => {
            page.token("waitingFor", Some(reason.name())).time("waitingUntil", Some(wait.until()));
        }
        Hold::Parked { reason, at } => {
            page.token("parkedFor", Some(reason.name())).time("parkedSince", Some(*at));
        }
    }
}

/// What it cost; what the account has left is nobody else's business.
fn money(operation: &Operation) -> Object {
    let ledger = &operation.ledger;
    let mut page = Page(Object::new());
    for amount in Amount::ALL.iter().filter(|own| **own != Amount::Balance) {
        page.token(amount.name(), ledger.get(*amount).map(Credits::to_text).as_deref());
    }
    page.token("cost", Some(&ledger.cost().to_text()))
        .token("lineageCost", Some(&operation.lineage_cost().to_text()))
        .token("tokenState", ledger.token_state.as_deref());
    page.0.mark("possiblyDuplicated", ledger.duplicated);
    page.0
}

fn fault_of(ending: &Ending) -> Option<(&Fault, Option<FailureClass>)> {
    match ending {
        Ending::Rejected(fault) | Ending::Expired(fault) | Ending::Incomplete { fault, .. } => {
            Some((fault, None))
        }
        Ending::Failed(failure) => Some((&failure.fault, Some(failure.class))),
        Ending::Succeeded { .. } | Ending::Cancelled | Ending::Abandoned => None,
    }
}

/// The journal's lines, each read by name and told anew.
fn transitions(journal: &[String]) -> String {
    let mut out = String::from("[");
    for line in journal {
        let Ok(value) = json::parse(line.as_bytes(), DEPTH_MAX) else {
            continue;
        };
        let faults = Faults::of(&value);
        if out.len() > 1 {
            out.push(',');
        }
        out.push_str(&transition(&faults.root()));
    }
    out.push(']');
    out
}

fn transition(line: &Reader<'_>) -> String {
    let mut page = Page(Object::new());
    for name in ["at", "count", "httpStatus", "waitMs"] {
        page.number(name, line.member(name).and_then(|own| own.whole(0, u64::MAX)));
    }
    for name in ["event", "purpose", "code", "state", "reason", "cost"] {
        page.token(name, line.member(name).and_then(|own| own.text()));
    }
    page.0.end()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::tests::arbitrary::any_operation;
    use super::*;

    #[test]
    fn a_word_is_told_and_whatever_may_hold_a_secret_is_not() {
        for word in ["", "req_01JF8Z", "trc:7", "TARGET_UNREACHABLE", "a.b~c-d"] {
            assert_eq!(token(word, b""), word);
        }
        let long = "a".repeat(TOKEN_BYTES_MAX + 1);
        for text in ["Bearer x", "https://a.b/c?sig=1", "a/b", "a=b", "{}", "\u{e4}", "a\nb", &long]
        {
            assert_eq!(token(text, b""), WITHHELD, "{text}");
        }
    }

    proptest! {
        #[test]
        fn whatever_is_stored_the_report_is_json_of_words_and_numbers(
            operation in any_operation(), line in ".{0,80}",
        ) {
            let text = report(&operation, &[line]);
            let told: serde_json::Value = serde_json::from_str(&text).unwrap();
            for (name, value) in told.as_object().unwrap() {
                let more: &[u8] = match name.as_str() {
                    "intent" => b" ",
                    "path" => b"/@%",
                    _ => b"",
                };
                if let Some(text) = value.as_str() {
                    prop_assert!(text == WITHHELD || token(text, more) == text, "{name}: {text}");
                }
            }
        }
    }
}
