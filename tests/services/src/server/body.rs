//! The body of an answer: whole, in two parts, or cut in its middle.
use std::future::Future;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use hyper::body::{Body, Bytes, Frame, SizeHint};
use tokio::time::{Sleep, sleep};

use crate::Response;

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
    /// These bytes follow later.
    Rest(Bytes, Pin<Box<Sleep>>),
    Cut(Pin<Box<Sleep>>),
}

impl Answer {
    pub(super) fn new(response: Response) -> Self {
        Self::of(response.body, End::Whole)
    }

    /// The early bytes at once, the others after a delay.
    pub(super) fn in_two(response: Response, delay: Duration) -> Self {
        let mut early = response.body;
        let rest = early.split_off(response.early_bytes.min(early.len()));
        Self::of(early, End::Rest(Bytes::from(rest), Box::pin(sleep(delay))))
    }

    /// The first half of the bytes; the head must announce them all.
    pub(super) fn cut(response: Response) -> Self {
        let mut bytes = response.body;
        bytes.truncate(bytes.len() / 2);
        Self::of(bytes, End::Cut(Box::pin(sleep(CUT_AFTER))))
    }

    fn of(bytes: Vec<u8>, end: End) -> Self {
        Self { bytes: Some(Bytes::from(bytes)).filter(|bytes| !bytes.is_empty()), end }
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
            End::Rest(rest, sleep) => {
                ready!(sleep.as_mut().poll(context));
                let rest = std::mem::take(rest);
                self.end = End::Whole;
                Poll::Ready(Some(Ok(Frame::data(rest))))
            }
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
            End::Rest(..) | End::Cut(_) => SizeHint::default(),
        }
    }
}
