//! One operation: who it is, what it sends, within which bounds, and how far it has come.

use super::ending::Fault;
use super::hold::Hold;
use super::ids::{Account, IdempotencyKey, Intent, LaneId, OperationId, Revision, ServiceName};
use super::life::{Delivery, Life, Stage};
use super::money::{Credits, Ledger, ReceiptKind};
use super::policy::{Limits, Retention};
use super::time::Timestamp;
use super::value::Value;

/// Who an operation is. Never changes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Identity {
    /// Its record's name.
    pub id: OperationId,
    /// Whose it is.
    pub account: Account,
    /// The service as the app configures it.
    pub service: ServiceName,
    /// Scheme, host and port that it is sent to.
    pub origin: String,
    /// The caller's name for the work.
    pub intent: Intent,
    /// 0 for the submission, 1 for its first rerun or revision, and so on.
    pub ordinal: u32,
    /// The operation whose failed job this one runs again, or whose work it corrects.
    pub parent: Option<OperationId>,
    /// What makes a retry the same submission to the service.
    pub key: IdempotencyKey,
    /// Digest of everything that makes the request this request, in hex.
    pub fingerprint: String,
    /// Name of the profile that it was submitted under.
    pub profile: String,
    /// Digest of that profile's text.
    pub profile_digest: String,
    /// When it was submitted.
    pub created_at: Timestamp,
}

impl Identity {
    /// Among which jobs an id names one: two services may go by one profile, and number theirs alike.
    pub fn jobs(&self) -> String {
        [&self.profile, " ", &self.origin].concat()
    }
}

/// The exact request. Never changes; the body's bytes are kept beside it, written once.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Request {
    /// HTTP method.
    pub method: String,
    /// Absolute URL.
    pub url: String,
    /// Media type of the body; `None` without a body.
    pub content_type: Option<String>,
    /// Length of the body in bytes.
    pub body_bytes: u64,
}

/// Named values that later calls are addressed by: the submission's parameters, and what the
/// profile carries over from answers.
pub type Carried = Vec<(String, String)>;

/// What earlier members of the lineage have used up of its bounds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Spent {
    /// State-changing attempts.
    pub attempts: u32,
    /// Credits.
    pub cost: Credits,
}

/// What the service last reported, for people.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Reported {
    /// The service's own word for the job's state.
    pub state: Option<String>,
    /// The service's own account of progress, as its number's text.
    pub progress: Option<String>,
    /// The service's id for the last exchange that had one.
    pub request_id: Option<String>,
    /// The service's trace id.
    pub trace_id: Option<String>,
    /// The service's id of the charge for the delivered work.
    pub charge_receipt_id: Option<String>,
    /// What that receipt is, as the profile says.
    pub charge_receipt_kind: Option<ReceiptKind>,
    /// How many records the service says that it delivered, as its number's text.
    pub record_count: Option<String>,
    /// The digest of the result that the service declares, as it writes it.
    pub digest: Option<String>,
    /// What it said with its last answer, where that was a refusal.
    pub fault: Option<Fault>,
}

/// Counts that bound an operation, and that pace it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// Polls answered since acceptance.
    pub polls: u32,
    /// Exchanges in a row that failed.
    pub failures: u32,
    /// Authorizations in a row that failed.
    pub authorizations: u32,
    /// How often the service said that what it has taken on cannot be had yet: the result of a
    /// complete job, a result that it could not deliver, or whether the work runs or has failed. One
    /// budget for the three, over the operation's life; a resume gives it anew.
    pub not_ready: u32,
    /// Refusals since an attempt that may have been accepted.
    pub refusals: u32,
    /// Reads in a row that were answered, and not with what must be there: the job, or its result.
    pub misses: u32,
    /// Reads in a row that were answered with a redirect.
    pub redirects: u32,
    /// How often the result had to be begun anew; a resume gives that anew.
    pub restarts: u32,
    /// Deliveries that failed.
    pub deliveries: u32,
    /// Journal entries written.
    pub journal: u32,
}

/// One operation's durable record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Operation {
    /// Who it is.
    pub identity: Identity,
    /// What it sends.
    pub request: Request,
    /// What later calls are addressed by.
    pub carried: Carried,
    /// Within which bounds.
    pub limits: Limits,
    /// How long it is kept here.
    pub retention: Retention,
    /// What its lineage had used up before it.
    pub spent: Spent,
    /// The service cannot be asked for its job by an id.
    pub blind: bool,
    /// The service knows no key, or keeps it no longer: nothing is replayed.
    pub keyless: bool,
    /// The job that the service answers with belongs to another operation: there is none to be found.
    pub taken: bool,
    /// How far it has come.
    pub life: Life,
    /// What the service last reported.
    pub reported: Reported,
    /// What it costs.
    pub ledger: Ledger,
    /// Counts.
    pub counters: Counters,
    /// How often it has been written.
    pub revision: Revision,
    /// Fields of a later format that this code does not know, kept as they are.
    pub unknown: Vec<(String, Value)>,
}

impl Operation {
    /// The lane that it is driven in.
    pub fn lane(&self) -> LaneId {
        LaneId::of(&self.identity.account, &self.identity.service, &self.identity.origin)
    }

    /// The end of the time that it may take in all.
    pub const fn total_until(&self) -> Timestamp {
        self.identity.created_at.after(self.limits.total_ms)
    }

    /// What its lineage has cost so far, as far as is known.
    pub fn lineage_cost(&self) -> Credits {
        self.spent.cost.plus(self.ledger.cost())
    }

    /// Whether so much more than what is known goes beyond what its lineage may cost.
    pub fn is_too_dear(&self, more: Credits) -> bool {
        self.limits.cost.is_some_and(|most| self.lineage_cost().plus(more) > most)
    }

    /// When it parks, if it is not over by then; `None` once its result only needs fetching, which
    /// has bounds of its own.
    pub const fn deadline(&self) -> Option<Timestamp> {
        match self.life.stage() {
            Stage::Submit | Stage::Reconcile(_) | Stage::Work => Some(self.total_until()),
            Stage::Result { .. } | Stage::Ended { .. } => None,
        }
    }

    /// When it must be looked at next; `None` while only a person or code can move it on.
    ///
    /// While an attempt is out, that is the point from which a successor may take it up.
    pub fn due(&self) -> Option<Timestamp> {
        if self.life.is_ended() {
            if let Some(open) = &self.life.settlement {
                return due_of(&open.hold);
            }
            return match &self.life.deletion {
                Some(deletion) => {
                    let out = deletion.current.as_ref();
                    out.map_or_else(|| due_of(&deletion.hold), |out| Some(out.send_before))
                }
                None => self.kept_until(),
            };
        }
        let cancel = self.life.cancel.as_ref().and_then(|cancel| cancel.current.as_ref());
        let out = self.life.evidence.current.as_ref().or(cancel);
        out.map_or_else(|| due_of(&self.life.hold), |attempt| Some(attempt.send_before))
    }

    /// When what is kept of it goes: its content, or with a tombstone all of it. `None`: it stays.
    pub fn kept_until(&self) -> Option<Timestamp> {
        let Stage::Ended { at, .. } = self.life.stage() else {
            return None;
        };
        if let Some(purged) = &self.life.purged {
            return Some(purged.at.after(self.retention.tombstone_ms));
        }
        let taken = match &self.life.delivery {
            Some(Delivery::Delivered(at) | Delivery::Acknowledged(at)) => Some(*at),
            Some(Delivery::Pending(_)) | None => None,
        };
        let after_taking = taken.zip(self.retention.result_ms).map(|(at, length)| at.after(length));
        let by_age = self.retention.age_ms.map(|length| at.after(length));
        [after_taking, by_age].into_iter().flatten().min()
    }

    /// When its ending must be delivered next; `None` when there is nothing to deliver.
    pub fn delivery_due(&self) -> Option<Timestamp> {
        match &self.life.delivery {
            Some(Delivery::Pending(hold)) => due_of(hold),
            None | Some(Delivery::Delivered(_) | Delivery::Acknowledged(_)) => None,
        }
    }
}

const fn due_of(hold: &Hold) -> Option<Timestamp> {
    match hold {
        Hold::Ready => Some(Timestamp(0)),
        Hold::Until { wait, .. } => Some(wait.until()),
        Hold::Parked { .. } => None,
    }
}
