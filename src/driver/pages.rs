//! Keeping a result page by page: the bytes of all pages, as a sequence of JSON texts (RFC 7464).

use crate::engine::Transmit;
use crate::model::answer::Answer;
use crate::model::ending::ResultRef;
use crate::model::facts::BodyForm;
use crate::rules::pages::Wanted;

/// What stands before a text of the sequence: no JSON text holds it.
const BEGIN: u8 = 0x1E;

/// What stands behind one.
pub(super) const END: u8 = b'\n';

/// The media type of such a sequence.
const MEDIA_TYPE: &str = "application/json-seq";

/// What is kept already when an exchange begins: bytes, chunks, and the bytes of the next chunk.
pub(super) fn begin(transmit: &Transmit) -> (u64, u32, Vec<u8>) {
    let Some(page) = &transmit.page else {
        return (0, 0, Vec::new());
    };
    let (bytes, chunks) =
        page.before.as_ref().map_or((0, 0), |own| (own.kept.bytes, own.kept.chunks));
    (bytes + 1, chunks, vec![BEGIN])
}

/// Adds a page to those that have come, and says in the answer what it leads to.
pub(super) fn add(page: &Wanted, kept: &mut ResultRef, answer: &mut Answer) {
    kept.media_type = Some(MEDIA_TYPE.into());
    kept.items = Some(page.rule.items.clone());
    if let Some(before) = &page.before {
        kept.goes_on_from(&before.kept);
    }
    if answer.whole && answer.facts.form == BodyForm::Json {
        answer.turn = page.turn(&answer.facts, &answer.url, kept);
    }
}
