//! What an answer means under a profile.
//!
//! The service's codes speak first, its statuses second, HTTP's own meaning last. A success that
//! cannot be read is no success.

mod kept;
mod said;
mod usual;

use std::rc::Rc;

use crate::model::answer::Answer;
use crate::model::ending::{FailureClass, ResultRef};
use crate::model::facts::BodyForm;
use crate::model::ids::JobId;
use crate::model::listing::Page;
use crate::model::money::Amount;
use crate::model::pages::{Paged, Turn};
use crate::model::profile::{ABSENT_WORD, HTTP_WORD, JobState, Meaning, Profile, Purpose, Rule};
use crate::model::storage::Piece;
use crate::model::time::Timestamp;
use kept::kept;
use said::cut;
pub use said::{Said, told};
use usual::usual;

/// The name under which the place of the result is looked for (see [`Profile::result_at`]).
pub const RESULT_FACT: &str = "result";

/// What the names begin with of values that the submission has stated and the result must repeat.
pub const ECHO: &str = "echo:";

/// What an answer means, and everything it says besides.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Verdict {
    /// What it means.
    pub finding: Finding,
    /// What it says.
    pub said: Said,
    /// What is to be stored with what it leads to (see [`Answer::last_piece`]).
    pub last_piece: Option<Rc<Piece>>,
}

/// What an answer means.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Finding {
    /// The work was taken on, under this id.
    Accepted(JobId),
    /// The job is in this state.
    Job(JobState),
    /// The result has come, and is what it should be.
    Kept(ResultRef),
    /// A page of the result has come, and is not the last; or what came broke off, and its rest is to be
    /// had.
    Paged(Box<Paged>),
    /// The result has come, and is not what it should be.
    Incomplete(Option<ResultRef>),
    /// A page of the listing.
    Listed(Page),
    /// The call was carried out.
    Done,
    /// A success or a refusal that cannot be read: a page of a gateway, half a body, no id.
    Unreadable(Option<ResultRef>),
    /// The answer points elsewhere.
    Redirected,
    /// Something else, by the tables.
    Other(Meaning),
}

impl Finding {
    /// Whether it leads to what has come as the result: nobody looks for the bytes of another.
    const fn names_what_came(&self) -> bool {
        match self {
            Self::Kept(_) | Self::Paged(_) => true,
            Self::Incomplete(kept) | Self::Unreadable(kept) => kept.is_some(),
            Self::Accepted(_)
            | Self::Job(_)
            | Self::Listed(_)
            | Self::Done
            | Self::Redirected
            | Self::Other(_) => false,
        }
    }
}

/// Reads an answer to an exchange.
pub fn classify(profile: &Profile, purpose: Purpose, answer: &Answer, now: Timestamp) -> Verdict {
    let mut said = told(profile, answer, now);
    if said.class == FailureClass::Unknown
        && let Some(rule) = rule(profile, purpose, answer)
    {
        said.class = rule.class;
    }
    let finding = if matches!(answer.status, 0 | 300..=399) {
        // Some services end a job by a redirect to its result; what stands in its body says nothing.
        match state_by_status(profile, answer).filter(|_| purpose == Purpose::Poll) {
            Some(state) => Finding::Job(state),
            None => Finding::Redirected,
        }
    } else if matches!(answer.status, 200..=299) {
        success(profile, purpose, answer, &mut said)
    } else if let Some(so_far) = so_far(profile, answer).filter(|_| purpose == Purpose::Result) {
        Finding::Paged(so_far)
    } else {
        let meaning =
            meant(profile, purpose, answer).unwrap_or_else(|| usual(purpose, answer.status));
        Finding::Other(meaning)
    };
    let last_piece = answer.last_piece.clone().filter(|_| finding.names_what_came());
    Verdict { finding, said, last_piece }
}

fn success(profile: &Profile, purpose: Purpose, answer: &Answer, said: &mut Said) -> Finding {
    let readable = answer.whole && answer.facts.form == BodyForm::Json;
    match purpose {
        Purpose::Submit => submitted(profile, answer, said),
        Purpose::Poll | Purpose::Settle => match job_state(profile, answer) {
            Some(state) => Finding::Job(state),
            None => meant(profile, purpose, answer)
                .filter(|_| readable)
                .map_or(Finding::Unreadable(None), Finding::Other),
        },
        Purpose::Result => result(profile, answer, said),
        // A page of something in between does not say that the service has taken it.
        Purpose::Cancel | Purpose::Delete if answer.facts.form == BodyForm::NotJson => {
            Finding::Unreadable(None)
        }
        Purpose::Cancel | Purpose::Delete => Finding::Done,
        Purpose::Quote
            if answer.whole
                && answer.facts.form != BodyForm::Broken
                && said.ledger.get(Amount::Quoted).is_some() =>
        {
            Finding::Done
        }
        Purpose::Quote => Finding::Unreadable(None),
        Purpose::Diagnose => Finding::Done,
        Purpose::Reconcile => match answer.page.clone().filter(|_| answer.whole) {
            Some(page) => Finding::Listed(page),
            None => Finding::Unreadable(None),
        },
    }
}

/// A success of a submission says which job it has led to, in the body or in a header field.
fn submitted(profile: &Profile, answer: &Answer, said: &mut Said) -> Finding {
    let is_result = profile.answers_with_result(answer.status);
    if let Some(rule) = ruled(profile, Purpose::Submit, answer, true)
        && (is_result || !refuses(rule.meaning) || !names_a_job(profile, answer, said))
    {
        return Finding::Other(rule.meaning);
    }
    if is_result {
        return fulfilled(profile, answer, said);
    }
    let sound = answer.whole && answer.facts.form != BodyForm::Broken;
    let id = said.job.clone().filter(|_| sound);
    // Where only a link leads to the job, an answer without it leads nowhere.
    let leads_on = profile.calls.poll.as_ref().is_none_or(|call| {
        let link = call.link.as_ref().filter(|_| call.path.is_none());
        link.is_none_or(|link| said.carried.iter().any(|(name, _)| name == link))
    });
    match id {
        Some(id) if leads_on => Finding::Accepted(id),
        Some(_) | None => Finding::Unreadable(None),
    }
}

/// Whether a code says that the work was not taken on, or not yet.
const fn refuses(meaning: Meaning) -> bool {
    matches!(
        meaning,
        Meaning::Rejected
            | Meaning::NeedsCredential
            | Meaning::NeedsAccess
            | Meaning::NeedsCredit
            | Meaning::RateLimited
            | Meaning::SourceBlocked
            | Meaning::InProgress
    )
}

/// Whether a success names a job that runs or is done, to be read later: no code beside it takes that back.
fn names_a_job(profile: &Profile, answer: &Answer, said: &Said) -> bool {
    let state = answer.facts.word("status").and_then(|word| profile.known_state(word));
    said.job.is_some() && matches!(state, Some(JobState::Active | JobState::Completed))
}

/// The answer to a submission is the result, unless it says that there is none (yet).
fn fulfilled(profile: &Profile, answer: &Answer, said: &mut Said) -> Finding {
    let tells = answer.facts.is_set("failed") || !profile.states.is_empty();
    match job_state(profile, answer).filter(|_| tells) {
        Some(JobState::Active) => match &said.job {
            Some(id) => Finding::Accepted(id.clone()),
            None => Finding::Other(Meaning::InProgress),
        },
        Some(state @ (JobState::Failed | JobState::Cancelled | JobState::Expired)) => {
            Finding::Job(state)
        }
        Some(JobState::Partial) => Finding::Incomplete(answer.kept.clone()),
        Some(JobState::Completed) | None => kept(profile, answer, said),
    }
}

/// The state of the job that an answer tells: by the sign of a failure, by a word, by its status.
fn job_state(profile: &Profile, answer: &Answer) -> Option<JobState> {
    let facts = &answer.facts;
    let readable = answer.whole && facts.form == BodyForm::Json;
    if readable && facts.is_set("failed") {
        return Some(JobState::Failed);
    }
    if let Some(word) = facts.word("status").filter(|_| readable) {
        return Some(profile.state_of(word));
    }
    let by_status = state_by_status(profile, answer);
    by_status.or_else(|| profile.known_state(ABSENT_WORD).filter(|_| readable))
}

/// The state that the answer's status alone tells, where the profile says so.
fn state_by_status(profile: &Profile, answer: &Answer) -> Option<JobState> {
    let status = [HTTP_WORD, &answer.status.to_string()].concat();
    profile.known_state(&status).filter(|_| answer.whole)
}

/// What has come of a body that broke off, or nothing, where it begins anew.
fn so_far(profile: &Profile, answer: &Answer) -> Option<Box<Paged>> {
    match &answer.turn {
        Some(Turn::Next(so_far)) if profile.pages.is_none() => Some(so_far.clone()),
        Some(Turn::Next(_) | Turn::Last | Turn::Broken(_) | Turn::Anew) | None => None,
    }
}

fn result(profile: &Profile, answer: &Answer, said: &mut Said) -> Finding {
    if answer.status == 202 && !profile.result_is_inline() {
        return Finding::Other(Meaning::NotReady);
    }
    if let Some(so_far) = so_far(profile, answer) {
        return Finding::Paged(so_far);
    }
    if profile.result_is_inline() {
        match job_state(profile, answer) {
            Some(JobState::Completed | JobState::Partial) => {}
            Some(JobState::Active) => return Finding::Other(Meaning::NotReady),
            Some(state) => return Finding::Job(state),
            // A further page need not tell what became of the job.
            None if answer.turn.is_some() => {}
            None => return Finding::Unreadable(None),
        }
    }
    if let Some(meaning @ (Meaning::NotReady | Meaning::Expired)) =
        meant(profile, Purpose::Result, answer)
    {
        return Finding::Other(meaning);
    }
    kept(profile, answer, said)
}

/// What the profile's own table says.
fn meant(profile: &Profile, purpose: Purpose, answer: &Answer) -> Option<Meaning> {
    rule(profile, purpose, answer).map(|rule| rule.meaning)
}

fn rule<'a>(profile: &'a Profile, purpose: Purpose, answer: &Answer) -> Option<&'a Rule> {
    ruled(profile, purpose, answer, true).or_else(|| ruled(profile, purpose, answer, false))
}

/// The same, by the lines that name a code, or by those that name only a status.
fn ruled<'a>(
    profile: &'a Profile,
    purpose: Purpose,
    answer: &Answer,
    by_code: bool,
) -> Option<&'a Rule> {
    let code = answer.facts.text("code");
    profile.meanings.iter().find(|rule| {
        rule.code.is_some() == by_code
            && (rule.purposes.is_empty() || rule.purposes.contains(&purpose))
            && rule.code.as_deref().is_none_or(|own| Some(own) == code)
            && rule.status.is_none_or(|own| own == answer.status)
    })
}

#[cfg(test)]
mod tests;
