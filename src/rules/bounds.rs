//! Every bound that the app or the profile does not set, with its unit and its reason.

/// An attempt may leave at most this long after it was written, in milliseconds: a context that
/// froze in between must not send what another may have taken over.
pub const SEND_BEFORE_MS: u64 = 2_000;

/// How long past its own date a lease stays good, in milliseconds: clocks and disks are slow.
pub const LEASE_GRACE_MS: u64 = 5_000;

/// One exchange, where the profile says nothing, in milliseconds.
pub const EXCHANGE_TIMEOUT_MS: u64 = 30_000;

/// Two requests of one operation are at least this far apart, in milliseconds.
pub const REQUEST_FLOOR_MS: u64 = 250;

/// Exchanges of one lane at a time: what a browser opens to one origin.
pub const IN_FLIGHT_MAX: u32 = 6;

/// Longest id of a job that is taken from an answer, in bytes: it is in every record, and where a link
/// is the id, a link is followed up to this length.
pub const JOB_ID_BYTES_MAX: usize = 4_096;

/// Longest request body, in bytes.
pub const BODY_BYTES_MAX: u64 = 8 * 1024 * 1024;

/// Longest refusal, and longest page of a listing, in bytes; what else is read for facts may be as long as a
/// result, which may stand in it.
pub const ANSWER_BYTES_MAX: u64 = 1024 * 1024;

/// Refusals taken after an attempt that may have been accepted, before a person is asked.
pub const REFUSALS_MAX: u32 = 3;

/// Failed reads of a result in a row, before a person is asked.
pub const RESULT_FAILURES_MAX: u32 = 40;

/// A download that broke off, and has brought so many bytes more, is no failed read of a result.
pub const PROGRESS_BYTES_MIN: u64 = 64 * 1024;

/// Unreadable results in a row, before what came is kept as incomplete; answers in a row that find
/// none, before a person is asked.
pub const UNREADABLE_RESULTS_MAX: u32 = 5;

/// Answers in a row that do not find a further part of a result, before it is read from its beginning.
pub const PARTS_MISSED_MAX: u32 = 2;

/// How often a result may be begun anew, before a person is asked.
pub const RESTARTS_MAX: u32 = 8;

/// Answered reads in a row that were redirected, before a person is asked.
pub const REDIRECTS_MAX: u32 = 5;

/// The longest that one refusal (429) closes a lane for all work, in milliseconds: a day. The operation
/// that was refused waits as long as it is told; the others find out whether that holds for them.
pub const GATE_MS_MAX: u64 = 86_400_000;

/// Answers in a row that do not find a job that must be there, before a person is asked.
pub const NOT_FOUND_MAX: u32 = 3;

/// Failed questions for a price in a row, before a person is asked.
pub const QUOTE_FAILURES_MAX: u32 = 8;

/// Failed reads of a listing in a row, before a person is asked.
pub const LISTING_FAILURES_MAX: u32 = 8;

/// Readings of a listing that do not reach back far enough, before a person is asked.
pub const LISTING_READS_MAX: u32 = 3;

/// Attempts to cancel one job.
pub const CANCEL_ATTEMPTS_MAX: u32 = 5;

/// Attempts to delete one job, and failed exchanges about it, before a person is asked.
pub const DELETE_ATTEMPTS_MAX: u32 = 5;

/// Failed authorizations in a row, before a person is asked.
pub const AUTHORIZATIONS_MAX: u32 = 4;

/// A clock that jumps back further than this while an outcome is unknown ends a key's lifetime, in
/// milliseconds: how much of it is left can no longer be told.
pub const CLOCK_JUMP_MS: u64 = 60_000;

/// News of a stream are kept at most this often, in milliseconds (an id at once).
pub const STREAM_NEWS_MS: u64 = 1_000;

/// How long a result may come in one exchange, in milliseconds, however slowly.
pub const DOWNLOAD_MS_MAX: u64 = 7_200_000;

/// Longest result, in bytes.
pub const RESULT_BYTES_MAX: u64 = 512 * 1024 * 1024;
