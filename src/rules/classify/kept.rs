//! Whether what has come as the result is what it should be.

use super::{Finding, RESULT_FACT, Said, cut};
use crate::model::answer::Answer;
use crate::model::ending::ResultRef;
use crate::model::facts::BodyForm;
use crate::model::pages::Turn;
use crate::model::profile::{Meaning, Profile};
use crate::rules::grammar::is_json;

/// What has come as the result, if it is what it should be.
pub(super) fn kept(profile: &Profile, answer: &Answer, said: &mut Said) -> Finding {
    let Some(mut kept) = answer.kept.clone().filter(|_| answer.whole) else {
        return Finding::Unreadable(None);
    };
    if let Some(at) = said.captured_at {
        kept.captured_at = at;
    }
    // A page of a list is a part of that, and some services say so.
    if answer.partial && profile.pages.is_none() {
        said.fault.message = Some("the answer holds a part of the result".into());
        return Finding::Unreadable(Some(kept));
    }
    match answer.facts.form {
        BodyForm::Json => {}
        // Only the status tells an answer without content from one whose content is lost.
        BodyForm::Empty if profile.result_any_form && answer.status == 204 => {}
        BodyForm::NotJson | BodyForm::Broken
            if profile.result_any_form && !is_json(kept.media_type.as_deref()) => {}
        BodyForm::Empty | BodyForm::NotJson | BodyForm::Broken => {
            return Finding::Unreadable(Some(kept));
        }
    }
    if profile.pages.is_some() {
        return page(answer, kept, said);
    }
    if !profile.result_at.is_empty() && !answer.facts.values.contains_key(RESULT_FACT) {
        said.fault.message = Some("the answer does not hold the result".into());
        return Finding::Incomplete(Some(kept));
    }
    valid(answer, kept, said)
}

/// A page of the result: where it is the last, they are judged together.
fn page(answer: &Answer, kept: ResultRef, said: &mut Said) -> Finding {
    match &answer.turn {
        None => Finding::Unreadable(Some(kept)),
        Some(Turn::Next(paged)) => Finding::Paged(paged.clone()),
        Some(Turn::Last) => valid(answer, kept, said),
        Some(Turn::Anew) => Finding::Other(Meaning::NotReady),
        Some(Turn::Broken(why)) => {
            said.fault.message = Some((*why).into());
            Finding::Incomplete(Some(kept))
        }
    }
}

fn valid(answer: &Answer, kept: ResultRef, said: &mut Said) -> Finding {
    if let Some(fault) = &answer.schema_fault {
        said.fault.message = Some(cut(fault));
        return Finding::Incomplete(Some(kept));
    }
    Finding::Kept(kept)
}
