//! Reading a result into the store, piece by piece, while it comes: a body, or a stream of events.

use super::Driver;
use super::exchange::{BodyOf, add_header_facts};
use super::pages;
use super::ports::store::ChunkId;
use super::ports::transport::{Body, Lost};
use super::ports::{App, Clock, Ports, Store};
use super::secrets::Secrets;
use crate::engine::{Input, Transmit, epoch_of};
use crate::model::answer::Answer;
use crate::model::ending::ResultRef;
use crate::model::facts::{BodyForm, Facts};
use crate::model::http::Headers;
use crate::model::pages::Turn;
use crate::model::profile::{Purpose, Stream};
use crate::model::time::Timestamp;
use crate::rules::bounds::{RESULT_BYTES_MAX, STREAM_NEWS_MS};
use crate::rules::digest::{Sha256Stream, hex};
use crate::rules::facts::FactsReader;
use crate::rules::stream::StreamReader;
use crate::rules::teeth::{Tooth, bites};

/// A result is kept in pieces of about this size, in bytes.
const CHUNK_BYTES: usize = 256 * 1024;

/// What looks for facts in what comes.
pub(super) enum Reader {
    Body(Box<FactsReader>),
    Stream(Box<StreamReader>),
}

/// When the engine was last told of a stream, and what it has not been told yet.
struct News {
    told_at: Timestamp,
    id: Option<String>,
    pending: bool,
}

impl<P: Ports> Driver<P> {
    /// Reads a result into the store.
    pub(super) async fn keep(
        &self,
        transmit: &Transmit,
        secrets: &Secrets,
        mut reader: Reader,
        mut body: BodyOf<P>,
        headers: &Headers,
        answer: &mut Answer,
    ) -> Result<(), Lost> {
        let mut whole = self.0.ports.app().validates(&transmit.service).then(Vec::new);
        let mut digest = Sha256Stream::default();
        let (mut bytes, mut index, mut piece) = pages::begin(transmit);
        let mut news = News { told_at: self.0.ports.runtime().now(), id: None, pending: false };
        loop {
            let next = match body.next().await {
                // What has come names the work, perhaps: that is not lost with the rest.
                Err(Lost) if transmit.purpose == Purpose::Submit => {
                    answer.facts = reader.finish().0;
                    return Ok(());
                }
                next => next?,
            };
            if !self.is_own(transmit) {
                return Err(Lost);
            }
            if let Some(next) = &next {
                bytes += next.len() as u64;
                if bytes > RESULT_BYTES_MAX {
                    return Err(Lost);
                }
                news.pending |= reader.push(next);
                digest.update(next);
                if let Some(whole) = &mut whole {
                    whole.extend_from_slice(next);
                }
                piece.extend_from_slice(next);
            }
            let over = next.is_none() || reader.has_ended();
            if over && transmit.page.is_some() {
                bytes += 1;
                piece.push(pages::END);
            }
            if piece.len() >= CHUNK_BYTES || (over && !piece.is_empty()) {
                self.put(transmit, index, &piece).await?;
                piece.clear();
                index += 1;
            }
            if over {
                break;
            }
            if let Reader::Stream(stream) = &reader {
                let now = self.0.ports.runtime().now();
                if transmit.open_until <= now {
                    answer.facts = reader.finish().0;
                    return Ok(());
                }
                self.tell(transmit, secrets, (stream, headers), answer, &mut news);
            }
        }
        let stream = reader.stream(transmit);
        (answer.facts, answer.whole) = reader.finish();
        let usual = stream.as_ref().map(|own| own.form.media_type());
        let kept = ResultRef {
            download: transmit.download,
            chunks: index,
            bytes,
            sha256: hex(&digest.finish()),
            media_type: headers.first("content-type").or(usual).map(String::from),
            at: transmit.result_at.clone(),
            stream,
            items: None,
            earlier: Vec::new(),
            captured_at: self.0.ports.runtime().now(),
        };
        self.judge(transmit, kept, whole, answer).await
    }

    /// What has been kept, where no further page of it is wanted: what the app's schema says of it.
    async fn judge(
        &self,
        transmit: &Transmit,
        mut kept: ResultRef,
        mut whole: Option<Vec<u8>>,
        answer: &mut Answer,
    ) -> Result<(), Lost> {
        if let Some(page) = &transmit.page {
            pages::add(page, &mut kept, answer);
            if matches!(answer.turn, Some(Turn::Next(_))) {
                answer.kept = Some(kept);
                return Ok(());
            }
            // An earlier context may have fetched those before it: the digest is that of all.
            let mut digest = Sha256Stream::default();
            if let Some(whole) = &mut whole {
                whole.clear();
            }
            for index in 0..kept.chunks {
                let download = kept.download_of(index);
                let chunk = ChunkId { operation: transmit.id.clone(), download, index };
                let piece = self.0.ports.store().chunk(&chunk).await.map_err(|_| Lost)?;
                let Some(piece) = piece else {
                    (answer.turn, answer.kept) = (Some(Turn::Anew), Some(kept));
                    return Ok(());
                };
                digest.update(&piece);
                if let Some(whole) = &mut whole {
                    whole.extend_from_slice(&piece);
                }
            }
            kept.sha256 = hex(&digest.finish());
        }
        let sound = kept.stream.is_none() || (answer.whole && answer.facts.form == BodyForm::Json);
        if let Some(whole) = whole.filter(|_| sound) {
            let app = self.0.ports.app();
            answer.schema_fault = app.fault_of(&transmit.service, &kept, &whole).await;
        }
        answer.kept = Some(kept);
        Ok(())
    }

    /// Whether it is still for this exchange to go on: its operation may have left memory, and another
    /// exchange may be bringing the same result.
    pub(super) fn is_own(&self, transmit: &Transmit) -> bool {
        self.0.engine.borrow().is_own_exchange(&transmit.id, transmit.download)
    }

    /// Keeps one piece, unless the lane has changed hands since the download began, which a context that was
    /// frozen does not know: another may have finished, and all of it may be deleted.
    async fn put(&self, transmit: &Transmit, index: u32, piece: &[u8]) -> Result<(), Lost> {
        self.reach("chunk.before");
        let chunk = ChunkId { operation: transmit.id.clone(), download: transmit.download, index };
        let (store, epoch) = (self.0.ports.store(), epoch_of(transmit.download));
        let kept = bites(Tooth::ForgetBytes)
            || store.put_chunk(&transmit.lane, epoch, &chunk, piece).await == Ok(true);
        self.reach("chunk.after");
        if kept { Ok(()) } else { Err(Lost) }
    }

    /// Tells the engine what a stream has told: an id at once, other news at most once a second, and
    /// that it goes on in good time.
    fn tell(
        &self,
        transmit: &Transmit,
        secrets: &Secrets,
        (stream, headers): (&StreamReader, &Headers),
        answer: &Answer,
        news: &mut News,
    ) {
        const SHARE: u64 = 4;
        let since_ms = self.0.ports.runtime().now().since(news.told_at);
        let due = since_ms >= transmit.timeout_ms / SHARE;
        if !(due || news.pending) {
            return;
        }
        let mut facts = stream.told();
        add_header_facts(&transmit.facts, headers, &mut facts);
        let id = facts.text("id").map(String::from);
        let named = id.is_some() && id != news.id;
        if !(due || named || since_ms >= STREAM_NEWS_MS) {
            return;
        }
        *news = News { told_at: self.0.ports.runtime().now(), id, pending: false };
        let mut told = Answer { facts, ..answer.clone() };
        secrets.cleanse(&mut told);
        self.feed(Input::Heard(transmit.id.clone(), Box::new(told)));
    }
}

impl Reader {
    /// Takes the next piece; true when it has told something of a stream.
    fn push(&mut self, bytes: &[u8]) -> bool {
        match self {
            Self::Body(reader) => {
                reader.push(bytes);
                false
            }
            Self::Stream(reader) => reader.push(bytes),
        }
    }

    fn has_ended(&self) -> bool {
        match self {
            Self::Body(_) => false,
            Self::Stream(reader) => reader.has_ended(),
        }
    }

    fn stream(&self, transmit: &Transmit) -> Option<Box<Stream>> {
        match self {
            Self::Body(_) => None,
            Self::Stream(_) => transmit.stream.clone().map(Box::new),
        }
    }

    fn finish(self) -> (Facts, bool) {
        match self {
            Self::Body(reader) => (reader.finish(), true),
            Self::Stream(reader) => reader.finish(),
        }
    }
}
