//! Reading an answer: facts for the rules, bytes for the store, nothing else kept.

use super::Driver;
use super::ports::store::ChunkId;
use super::ports::transport::{Body, Head, Lost};
use super::ports::{App, Clock, Ports, Store};
use crate::engine::{Input, Transmit};
use crate::model::answer::Answer;
use crate::model::ending::ResultRef;
use crate::model::facts::{Fact, Facts};
use crate::model::http::Headers;
use crate::model::pointer::Pointer;
use crate::model::profile::{FactSource, Purpose};
use crate::rules::bounds::{ANSWER_BYTES_MAX, RESULT_BYTES_MAX};
use crate::rules::digest::{Sha256Stream, hex};
use crate::rules::facts::{FactsLimits, FactsReader};
use crate::rules::guidance::server_wait;

/// A result is kept in pieces of about this size, in bytes.
const CHUNK_BYTES: usize = 256 * 1024;

/// What a place in a header begins with (see [`FactSource`]).
const HEADER: &str = "header:";

impl<P: Ports> Driver<P> {
    /// Waits for the answer to what was sent, and tells the engine.
    pub(super) async fn exchange(
        self,
        transmit: Transmit,
        answer: impl Future<Output = Result<Head<BodyOf<P>>, Lost>>,
    ) {
        let read = match answer.await {
            Ok(head) => {
                self.reach_for("answer.head", transmit.purpose);
                self.read(&transmit, head).await
            }
            Err(Lost) => Err(Lost),
        };
        self.reach_for("answer.read", transmit.purpose);
        let (id, purpose) = (transmit.id, transmit.purpose);
        self.feed(match read {
            Ok(answer) => Input::Answered(id, purpose, Box::new(answer)),
            Err(Lost) => Input::Lost(id, purpose),
        });
    }

    async fn read(&self, transmit: &Transmit, head: Head<BodyOf<P>>) -> Result<Answer, Lost> {
        let Head { status, headers, body } = head;
        let now = self.0.ports.runtime().now();
        let server_wait_ms = server_wait(&headers, now).map(|guidance| guidance.wait_ms);
        let reader = FactsReader::new(&pointers(&transmit.facts), FactsLimits::default());
        let mut answer =
            Answer { status, server_wait_ms, url: transmit.url.clone(), ..Answer::default() };
        if transmit.keeps.covers(status) {
            self.keep(transmit, reader, body, &headers, &mut answer).await?;
        } else {
            skim(reader, body, &mut answer).await?;
        }
        add_header_facts(&transmit.facts, &headers, &mut answer.facts);
        Ok(answer)
    }

    /// Reads a result into the store, piece by piece.
    async fn keep(
        &self,
        transmit: &Transmit,
        mut reader: FactsReader,
        mut body: BodyOf<P>,
        headers: &Headers,
        answer: &mut Answer,
    ) -> Result<(), Lost> {
        let app = self.0.ports.app();
        let mut whole = app.validates(&transmit.service).then(Vec::new);
        let mut digest = Sha256Stream::default();
        let (mut bytes, mut index) = (0_u64, 0);
        let mut piece = Vec::new();
        loop {
            let next = match body.next().await {
                // What has come names the work, perhaps: that is not lost with the rest.
                Err(Lost) if transmit.purpose == Purpose::Submit => {
                    answer.facts = reader.finish();
                    return Ok(());
                }
                next => next?,
            };
            if let Some(next) = &next {
                bytes += next.len() as u64;
                if bytes > RESULT_BYTES_MAX {
                    return Err(Lost);
                }
                reader.push(next);
                digest.update(next);
                if let Some(whole) = &mut whole {
                    whole.extend_from_slice(next);
                }
                piece.extend_from_slice(next);
            }
            if piece.len() >= CHUNK_BYTES || (next.is_none() && !piece.is_empty()) {
                let chunk =
                    ChunkId { operation: transmit.id.clone(), download: transmit.download, index };
                self.reach("chunk.before");
                self.0.ports.store().put_chunk(&chunk, &piece).await.map_err(|_| Lost)?;
                self.reach("chunk.after");
                piece.clear();
                index += 1;
            }
            if next.is_none() {
                break;
            }
        }
        answer.facts = reader.finish();
        answer.whole = true;
        answer.kept = Some(ResultRef {
            download: transmit.download,
            chunks: index,
            bytes,
            sha256: hex(&digest.finish()),
            media_type: headers.first("content-type").map(String::from),
            at: transmit.result_at.clone(),
            captured_at: self.0.ports.runtime().now(),
        });
        if let Some(whole) = whole {
            answer.schema_fault =
                app.fault_of(&transmit.service, transmit.result_at.as_deref(), &whole).await;
        }
        Ok(())
    }
}

type BodyOf<P> = <<P as Ports>::Transport as super::ports::Transport>::Body;

/// Reads an answer for its facts alone, up to a bound.
async fn skim(
    mut reader: FactsReader,
    mut body: impl Body,
    answer: &mut Answer,
) -> Result<(), Lost> {
    let mut bytes = 0_u64;
    answer.whole = true;
    while let Some(piece) = body.next().await? {
        bytes += piece.len() as u64;
        if bytes > ANSWER_BYTES_MAX {
            answer.whole = false;
            break;
        }
        reader.push(&piece);
    }
    answer.facts = reader.finish();
    Ok(())
}

fn pointers(sources: &[FactSource]) -> Vec<(String, Pointer)> {
    let mut found = Vec::new();
    for source in sources {
        for place in &source.places {
            if !place.starts_with(HEADER)
                && let Some(pointer) = Pointer::parse(place)
            {
                found.push((source.name.clone(), pointer));
            }
        }
    }
    found
}

/// What a header says counts where the body says nothing.
fn add_header_facts(sources: &[FactSource], headers: &Headers, facts: &mut Facts) {
    for source in sources {
        for place in &source.places {
            let value = place.strip_prefix(HEADER).and_then(|name| headers.first(name));
            if let Some(value) = value
                && !facts.values.contains_key(&source.name)
            {
                facts.values.insert(source.name.clone(), Fact::Text(value.into()));
            }
        }
    }
}
