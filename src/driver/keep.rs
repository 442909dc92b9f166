//! Reading a result into the store, piece by piece, while it comes: a body, or a stream of events.

use std::rc::Rc;

use super::Driver;
use super::exchange::BodyOf;
use super::news::News;
use super::pages;
use super::part::{Part, anew};
use super::ports::store::ChunkId;
use super::ports::transport::{Body, Lost};
use super::ports::{App, Clock, Ports, Store};
use super::secrets::Secrets;
use crate::engine::{Transmit, epoch_of};
use crate::model::answer::Answer;
use crate::model::ending::ResultRef;
use crate::model::facts::{BodyForm, Facts};
use crate::model::http::Headers;
use crate::model::pages::Turn;
use crate::model::profile::{Purpose, Stream};
use crate::model::storage::Piece;
use crate::rules::bounds::RESULT_BYTES_MAX;
use crate::rules::digest::{Sha256Stream, hex};
use crate::rules::facts::FactsReader;
use crate::rules::stream::StreamReader;
use crate::rules::teeth::{Tooth, bites};

/// A result is kept in pieces of this size, in bytes; a row of some stores holds 2 MB.
const CHUNK_BYTES: usize = 256 * 1024;

/// What looks for facts in what comes.
pub(super) enum Reader {
    Body(Box<FactsReader>),
    Stream(Box<StreamReader>),
}

/// What all of a result goes through.
struct Read {
    reader: Reader,
    digest: Sha256Stream,
    /// Only where the app has a schema for it.
    whole: Option<Vec<u8>>,
    bytes: u64,
    /// How many pieces are kept.
    chunks: u32,
    /// What is not kept yet.
    piece: Vec<u8>,
}

impl Read {
    /// Takes the next bytes; true when they have told something of a stream.
    fn take(&mut self, bytes: &[u8]) -> bool {
        self.digest.update(bytes);
        if let Some(whole) = &mut self.whole {
            whole.extend_from_slice(bytes);
        }
        self.reader.push(bytes)
    }

    /// The last piece of what has come: it is counted, and not kept yet.
    fn last_piece(&mut self, download: u64) -> Option<Rc<Piece>> {
        let (index, bytes) = (self.chunks, core::mem::take(&mut self.piece));
        let last = (!bytes.is_empty()).then(|| Rc::new(Piece { download, index, bytes }))?;
        self.chunks += 1;
        Some(last)
    }
}

impl<P: Ports> Driver<P> {
    /// Reads a result into the store.
    pub(super) async fn keep(
        &self,
        transmit: &Transmit,
        secrets: &Secrets,
        reader: Reader,
        mut body: BodyOf<P>,
        headers: &Headers,
        answer: &mut Answer,
    ) -> Result<(), Lost> {
        let Some(part) = Part::of(transmit, answer.status, headers) else {
            answer.turn = transmit.before.as_deref().map(anew);
            return Ok(());
        };
        let Some(mut read) = self.begin(transmit, &part, reader).await? else {
            answer.turn = part.before.map(anew);
            return Ok(());
        };
        let mut news = News::since(transmit.at);
        let mut broke_off = false;
        loop {
            let next = match body.next().await {
                // What has come names the work, perhaps: that is not lost with the rest.
                Err(Lost) if transmit.purpose == Purpose::Submit => {
                    answer.facts = read.reader.finish().0;
                    return Ok(());
                }
                Err(Lost) if part.goes_on() => {
                    broke_off = true;
                    None
                }
                next => next?,
            };
            if !self.is_own(transmit) {
                return Err(Lost);
            }
            if let Some(next) = &next {
                news.pending |= read.take(next);
                read.piece.extend_from_slice(next);
                read.bytes += next.len() as u64;
                if read.bytes > RESULT_BYTES_MAX {
                    return Err(Lost);
                }
            }
            let over = next.is_none() || read.reader.has_ended();
            if over && transmit.page.is_some() {
                read.bytes += 1;
                read.piece.push(pages::END);
            }
            // What comes at once may be longer than a store takes; of what is over, the last piece is left.
            let whole = read.piece.len().saturating_sub(over.into()) / CHUNK_BYTES * CHUNK_BYTES;
            let rest = read.piece.split_off(whole);
            for piece in core::mem::replace(&mut read.piece, rest).chunks(CHUNK_BYTES) {
                self.put(transmit, read.chunks, piece).await?;
                read.chunks += 1;
            }
            if over {
                break;
            }
            if transmit.idle {
                let now = self.0.ports.runtime().now();
                if transmit.open_until <= now {
                    answer.facts = read.reader.finish().0;
                    return Ok(());
                }
                self.tell(transmit, secrets, (&read.reader, headers), answer, &mut news);
            }
        }
        answer.last_piece =
            read.last_piece(transmit.download).filter(|_| !bites(Tooth::ForgetBytes));
        let kept = self.kept(transmit, headers, &part, &read);
        answer.turn = part.rest(&kept, broke_off);
        if answer.turn.is_some() {
            part.declare(&mut answer.facts);
            return Ok(());
        }
        answer.partial = part.is_partial(&kept);
        (answer.facts, answer.whole) = read.reader.finish();
        part.declare(&mut answer.facts);
        self.judge(transmit, kept, read.whole, answer).await
    }

    /// What has come before; `None` where some of it is gone.
    async fn begin(
        &self,
        transmit: &Transmit,
        part: &Part<'_>,
        reader: Reader,
    ) -> Result<Option<Read>, Lost> {
        let whole = self.0.ports.app().validates(&transmit.service).then(Vec::new);
        let (bytes, chunks, piece) = match part.before {
            Some(before) => (before.kept.bytes, before.kept.chunks, Vec::new()),
            None => pages::begin(transmit),
        };
        let digest = Sha256Stream::default();
        let mut read = Read { reader, digest, whole, bytes, chunks, piece };
        let is_there = match part.before {
            Some(before) => {
                self.reread(transmit, &before.kept, None, |piece| _ = read.take(piece)).await?
            }
            None => true,
        };
        Ok(is_there.then_some(read))
    }

    /// What is kept of a result now.
    fn kept(
        &self,
        transmit: &Transmit,
        headers: &Headers,
        part: &Part<'_>,
        read: &Read,
    ) -> ResultRef {
        let stream = read.reader.stream(transmit);
        let usual = stream.as_ref().map(|own| own.form.media_type());
        let mut kept = ResultRef {
            download: transmit.download,
            chunks: read.chunks,
            bytes: read.bytes,
            sha256: hex(&read.digest.clone().finish()),
            media_type: headers.first("content-type").or(usual).map(String::from),
            at: transmit.result_at.clone(),
            stream,
            items: None,
            earlier: Vec::new(),
            captured_at: self.0.ports.runtime().now(),
        };
        if let Some(before) = part.before {
            kept.goes_on_from(&before.kept);
        }
        kept
    }

    /// Reads what is kept of a result, but for a last piece that is not stored yet; false where some of it is gone.
    async fn reread(
        &self,
        transmit: &Transmit,
        kept: &ResultRef,
        last: Option<&Piece>,
        mut take: impl FnMut(&[u8]),
    ) -> Result<bool, Lost> {
        for index in 0..kept.chunks {
            if let Some(last) = last.filter(|last| last.index == index) {
                take(&last.bytes);
                continue;
            }
            let download = kept.download_of(index);
            let chunk = ChunkId { operation: transmit.id.clone(), download, index };
            let piece = self.0.ports.store().chunk(&chunk).await.map_err(|_| Lost)?;
            let Some(piece) = piece else {
                return Ok(false);
            };
            take(&piece);
        }
        Ok(true)
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
            let take = |piece: &[u8]| {
                digest.update(piece);
                if let Some(whole) = &mut whole {
                    whole.extend_from_slice(piece);
                }
            };
            if !self.reread(transmit, &kept, answer.last_piece.as_deref(), take).await? {
                (answer.turn, answer.kept) = (Some(Turn::Anew), Some(kept));
                return Ok(());
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

    /// What it has told so far. A body is read to its end before anything is believed.
    pub(super) fn told(&self) -> Facts {
        match self {
            Self::Body(_) => Facts::default(),
            Self::Stream(reader) => reader.told(),
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
