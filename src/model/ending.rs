//! The ways in which an operation ends.

use super::profile::Stream;
use super::time::Timestamp;

/// What a service said about a refusal or a failure: public texts only, bounded.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Fault {
    /// HTTP status of the answer that said it.
    pub status: Option<u16>,
    /// The service's own code.
    pub code: Option<String>,
    /// The service's own message, cut to [`FAULT_TEXT_MAX`] bytes.
    pub message: Option<String>,
    /// The service's trace id.
    pub trace_id: Option<String>,
}

/// Longest text kept of a service's message, in bytes.
pub const FAULT_TEXT_MAX: usize = 500;

/// What kind of failure a failed job reports; decides whether the same input may be tried again.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum FailureClass {
    /// The input is wrong.
    Input,
    /// The target is not there or blocks.
    Target,
    /// Likely to pass.
    Transient,
    /// Not told.
    #[default]
    Unknown,
}

/// A job that ran and failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// Names this failure, so that a retry can say that it was read.
    pub id: String,
    /// Its kind.
    pub class: FailureClass,
    /// What the service said.
    pub fault: Fault,
}

/// Where a kept result stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ResultRef {
    /// Which download wrote the chunks: the epoch of the lane's owner that made it, and its own count
    /// (20 bits). Below 2^53.
    pub download: u64,
    /// How many chunks.
    pub chunks: u32,
    /// How many bytes.
    pub bytes: u64,
    /// SHA-256 over the bytes, in hex.
    pub sha256: String,
    /// The media type that came with them.
    pub media_type: Option<String>,
    /// Where in the body the result itself stands (a JSON pointer); `None`: it is the body.
    pub at: Option<String>,
    /// How its events are put together, where it came as a stream.
    pub stream: Option<Box<Stream>>,
    /// Where each of its pages holds its items (a JSON pointer), where it came in pages: the bytes are
    /// then those of all pages, as a sequence of JSON texts (RFC 7464).
    pub items: Option<String>,
    /// The downloads that wrote its first chunks, each with the number of the first chunk after its
    /// own; `download` wrote those behind them.
    pub earlier: Vec<(u32, u64)>,
    /// When the service captured it, where it says so; else when the last byte was kept.
    pub captured_at: Timestamp,
}

impl ResultRef {
    /// Its first chunks are those of an earlier download, which may have added none of its own.
    pub fn goes_on_from(&mut self, before: &Self) {
        self.earlier.clone_from(&before.earlier);
        let end = self.earlier.last().map_or(0, |(end, _)| *end);
        if before.download != self.download && before.chunks > end {
            self.earlier.push((before.chunks, before.download));
        }
    }

    /// Which download wrote a chunk.
    pub fn download_of(&self, index: u32) -> u64 {
        let wrote = self.earlier.iter().find(|(end, _)| index < *end);
        wrote.map_or(self.download, |(_, download)| *download)
    }
}

/// How an operation ended. Nothing is submitted or polled after it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ending {
    /// The result is kept.
    Succeeded {
        /// Where.
        result: ResultRef,
        /// Whether the service replayed earlier work.
        replayed: bool,
    },
    /// The service refused the request, and no attempt can have been accepted.
    Rejected(Fault),
    /// The job ran and failed.
    Failed(Failure),
    /// The job was cancelled, or never left.
    Cancelled,
    /// The job completed, and the service no longer has its result.
    Expired(Fault),
    /// The job completed, and its result is not what it should be. What came is kept.
    Incomplete {
        /// What is wrong with it.
        fault: Fault,
        /// What came.
        result: Option<ResultRef>,
    },
    /// A person gave it up.
    Abandoned,
}
