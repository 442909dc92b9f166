//! The body of an answer: whole, or cut in its middle.
use std::future::Future;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use hyper::body::{Body, Bytes, Frame, SizeHint};
use tokio::time::Sleep;

/// How long the first half has to leave before the connection is broken off.
const CUT_AFTER: Duration = Duration::from_millis(20);

/// Bytes, and what comes after them.
#[derive(Debug)]
pub(super) struct Answer {
    bytes: Option<Bytes>,
    end: End,
}

#[derive(Debug)]
enum End {
    Whole,
    Cut(Pin<Box<Sleep>>),
}

impl Answer {
    pub(super) fn whole(bytes: Vec<u8>) -> Self {
        Self { bytes: Some(Bytes::from(bytes)).filter(|bytes| !bytes.is_empty()), end: End::Whole }
    }

    /// The first half of the bytes; the head must announce them all.
    pub(super) fn cut(mut bytes: Vec<u8>) -> Self {
        bytes.truncate(bytes.len() / 2);
        let end = End::Cut(Box::pin(tokio::time::sleep(CUT_AFTER)));
        Self { end, ..Self::whole(bytes) }
    }
}

impl Body for Answer {
    type Data = Bytes;
    type Error = io::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, io::Error>>> {
        if let Some(bytes) = self.bytes.take() {
            return Poll::Ready(Some(Ok(Frame::data(bytes))));
        }
        match &mut self.end {
            End::Whole => Poll::Ready(None),
            End::Cut(sleep) => {
                ready!(sleep.as_mut().poll(context));
                Poll::Ready(Some(Err(io::ErrorKind::ConnectionAborted.into())))
            }
        }
    }

    fn is_end_stream(&self) -> bool {
        matches!(self.end, End::Whole) && self.bytes.is_none()
    }

    fn size_hint(&self) -> SizeHint {
        match self.end {
            End::Whole => {
                SizeHint::with_exact(self.bytes.as_ref().map_or(0, |bytes| bytes.len() as u64))
            }
            End::Cut(_) => SizeHint::default(),
        }
    }
}
