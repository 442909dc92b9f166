//! Reading an answer: facts for the rules, bytes for the store, nothing else kept.

use super::Driver;
use super::keep::Reader;
use super::part::{NOT_SATISFIABLE, PARTIAL, anew, keep_digest};
use super::ports::transport::{Body, Head, Lost};
use super::ports::{Clock, Ports, Store};
use super::secrets::Secrets;
use crate::engine::{Input, Transmit};
use crate::model::answer::Answer;
use crate::model::facts::{Fact, Facts};
use crate::model::http::Headers;
use crate::model::listing::{LISTED_IDS_MAX, Page};
use crate::model::pointer::Pointer;
use crate::model::profile::FactSource;
use crate::model::storage::Unique;
use crate::rules::bounds::{ANSWER_BYTES_MAX, RESULT_BYTES_MAX};
use crate::rules::facts::{FactsLimits, FactsReader};
use crate::rules::grammar::is_json;
use crate::rules::guidance::server_wait;
use crate::rules::stream::StreamReader;

/// Where a problem (RFC 9457) says what is wrong, if the profile's own places say nothing.
const PROBLEM: [(&str, &str); 3] =
    [("message", "/detail"), ("message", "/title"), ("code", "/type")];

/// What a place in a header begins with (see [`FactSource`]).
const HEADER: &str = "header:";

impl<P: Ports> Driver<P> {
    /// Waits for the answer to what was sent, and tells the engine.
    pub(super) async fn exchange(
        self,
        transmit: Transmit,
        secrets: Secrets,
        answer: impl Future<Output = Result<Head<BodyOf<P>>, Lost>>,
    ) {
        let read = match answer.await {
            Ok(head) => {
                self.reach_for("answer.head", transmit.purpose);
                self.read(&transmit, &secrets, head).await
            }
            Err(Lost) => Err(Lost),
        };
        self.reach_for("answer.read", transmit.purpose);
        if !self.is_own(&transmit) {
            return;
        }
        let (id, purpose) = (transmit.id, transmit.purpose);
        self.feed(match read {
            Ok(answer) => Input::Answered(id, purpose, Box::new(answer)),
            Err(Lost) => Input::Lost(id, purpose),
        });
    }

    async fn read(
        &self,
        transmit: &Transmit,
        secrets: &Secrets,
        head: Head<BodyOf<P>>,
    ) -> Result<Answer, Lost> {
        let Head { status, headers, body } = head;
        let now = self.0.ports.runtime().now();
        let server_wait_ms = server_wait(&headers, now).map(|guidance| guidance.wait_ms);
        let pointers = pointers(&transmit.facts, status, &headers);
        let mut answer =
            Answer { status, server_wait_ms, url: transmit.url.clone(), ..Answer::default() };
        if transmit.keeps.covers(status) {
            let reader = match &transmit.stream {
                Some(stream) if !is_json(headers.first("content-type")) => {
                    Reader::Stream(Box::new(StreamReader::new(stream.clone(), pointers)))
                }
                Some(_) | None => Reader::Body(Box::new(facts_of(&pointers))),
            };
            self.keep(transmit, secrets, reader, body, &headers, &mut answer).await?;
        } else {
            let mut text = transmit.sought.as_ref().map(|_| Vec::new());
            skim(&pointers, body, &mut answer, text.as_mut()).await?;
            let no_rest = transmit.before.as_deref().filter(|_| status == NOT_SATISFIABLE);
            answer.turn = no_rest.map(anew);
            if let (Some(sought), Some(text)) = (&transmit.sought, text) {
                answer.page = sought.read(&text, now);
                if let Some(page) = &mut answer.page {
                    self.leave_out_others(transmit, &sought.jobs, page).await?;
                }
            }
        }
        add_header_facts(&transmit.facts, status, &headers, &mut answer.facts);
        secrets.cleanse(&mut answer);
        keep_digest(&mut answer);
        Ok(answer)
    }
}

impl<P: Ports> Driver<P> {
    /// Runs that belong to other operations already are nobody's else, however alike they look.
    async fn leave_out_others(
        &self,
        transmit: &Transmit,
        jobs: &str,
        page: &mut Page,
    ) -> Result<(), Lost> {
        let found = core::mem::take(&mut page.found);
        let full = found.len() >= LISTED_IDS_MAX;
        for id in found {
            let unique = Unique::Job(jobs.into(), id.clone());
            let owner = self.0.ports.store().owner(&unique).await.map_err(|_| Lost)?;
            if owner.is_none_or(|owner| owner == transmit.id) {
                page.found.push(id);
            } else {
                // Where a list is full, one that is left out may have hidden another.
                page.doubtful |= full;
            }
        }
        Ok(())
    }
}

pub(super) type BodyOf<P> = <<P as Ports>::Transport as super::ports::Transport>::Body;

/// Reads an answer for its facts, up to a bound; keeps its text only for a listing. A success may hold a
/// result beside them, and is read to its end, of which nothing stays. Of one that breaks off, what has
/// come is not lost with the rest: it may name the work.
async fn skim(
    pointers: &[(String, Pointer)],
    mut body: impl Body,
    answer: &mut Answer,
    mut text: Option<&mut Vec<u8>>,
) -> Result<(), Lost> {
    let mut bytes = 0_u64;
    let mut reader = facts_of(pointers);
    let success = (200..300).contains(&answer.status);
    let holds_more = success && text.is_none() && !pointers.is_empty();
    let bytes_max = if holds_more { RESULT_BYTES_MAX } else { ANSWER_BYTES_MAX };
    answer.whole = true;
    loop {
        let piece = match body.next().await {
            Ok(Some(piece)) => piece,
            Ok(None) => break,
            Err(Lost) if success => {
                answer.whole = false;
                break;
            }
            Err(Lost) => return Err(Lost),
        };
        bytes += piece.len() as u64;
        if bytes > bytes_max {
            answer.whole = false;
            break;
        }
        reader.push(&piece);
        if let Some(text) = &mut text {
            text.extend_from_slice(&piece);
        }
    }
    answer.facts = reader.finish();
    Ok(())
}

/// An answer of which nothing is kept but its facts.
pub(super) async fn facts_in<P: Ports>(
    url: &str,
    sources: &[FactSource],
    secrets: &Secrets,
    head: Head<BodyOf<P>>,
) -> Result<Answer, Lost> {
    let mut answer = Answer { status: head.status, url: url.into(), ..Answer::default() };
    let pointers = pointers(sources, head.status, &head.headers);
    skim(&pointers, head.body, &mut answer, None).await?;
    add_header_facts(sources, answer.status, &head.headers, &mut answer.facts);
    secrets.cleanse(&mut answer);
    Ok(answer)
}

/// Where in the body each fact is looked for: at the places before the header field that tells it.
fn pointers(sources: &[FactSource], status: u16, headers: &Headers) -> Vec<(String, Pointer)> {
    let (mut found, mut told) = (Vec::new(), Vec::new());
    let mut add = |name: &str, place: &str| {
        found.extend(Pointer::parse(place).map(|pointer| (name.to_owned(), pointer)));
    };
    for source in sources {
        let field = field(source, status, headers);
        let count = field.map_or(source.places.len(), |(index, _)| index);
        for place in &source.places[..count] {
            add(&source.name, place);
        }
        told.extend(field.map(|_| source.name.as_str()));
    }
    if status >= 400 {
        for (name, place) in PROBLEM {
            if !told.contains(&name) {
                add(name, place);
            }
        }
    }
    found
}

/// The first header field that tells a fact: the index of its place, and what it says. In a partial
/// answer, `Content-Digest` is of the part alone (RFC 9530, 2).
fn field<'h>(source: &FactSource, status: u16, headers: &'h Headers) -> Option<(usize, &'h str)> {
    for (index, place) in source.places.iter().enumerate() {
        if let Some(name) = place.strip_prefix(HEADER)
            && !(status == PARTIAL && name.eq_ignore_ascii_case("content-digest"))
            && let Some(value) = headers.first(name).filter(|value| !value.is_empty())
        {
            return Some((index, value));
        }
    }
    None
}

fn facts_of(pointers: &[(String, Pointer)]) -> FactsReader {
    FactsReader::new(pointers, FactsLimits::default())
}

/// What a header says counts where the body says nothing at an earlier place, which is where it was looked
/// for (see [`pointers`]).
pub(super) fn add_header_facts(
    sources: &[FactSource],
    status: u16,
    headers: &Headers,
    facts: &mut Facts,
) {
    for source in sources {
        if let Some((_, value)) = field(source, status, headers)
            && facts.values.get(&source.name).is_none_or(Fact::is_blank)
        {
            facts.values.insert(source.name.clone(), Fact::Text(value.into()));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_field_says_of_a_part_alone_is_no_fact_of_the_whole() {
        let places = ["header:Content-Digest", "header:Repr-Digest"].map(String::from).to_vec();
        let sources = [FactSource { name: "digest".into(), places }];
        let headers = [("content-digest", "sha-256=:AA==:"), ("repr-digest", "sha-256=:BB==:")];
        for (status, told) in [(200, "sha-256=:AA==:"), (206, "sha-256=:BB==:")] {
            let mut facts = Facts::default();
            add_header_facts(&sources, status, &headers.into_iter().collect(), &mut facts);
            assert_eq!(facts.text("digest"), Some(told), "{status}");
        }
    }
}
