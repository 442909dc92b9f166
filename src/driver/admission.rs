//! Whether a member of a transaction may be written: the one judgement that all stores share.
//!
//! A store reads what [`Stored`] asks for inside its transaction, asks [`admit`], and writes.

use super::ports::store::{Erase, Name, Unique, Write, Written};
use crate::model::ids::{LaneId, OperationId, Revision, WriteId};
use crate::model::lane::Lane;
use crate::rules::lease;
use crate::rules::teeth::{Tooth, bites};

/// What a judgement rests on, as it stands inside the transaction: later members of a batch see
/// what earlier ones have written.
pub trait Stored {
    /// The row's revision, and which write it is.
    fn version(&self, id: &OperationId) -> Option<(Revision, &WriteId)>;

    /// The lane's row.
    fn lane(&self, id: &LaneId) -> Option<&Lane>;

    /// The operation that a name stands for.
    fn named(&self, name: &Name) -> Option<&OperationId>;

    /// The operation that something unique belongs to.
    fn owner(&self, unique: &Unique) -> Option<&OperationId>;
}

/// What shall happen with a member.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Admission {
    /// Nothing is to be written, and this is the answer.
    Answered(Written),
    /// All of it is to be written, and the lane becomes this one (`None`: it stays).
    Granted(Option<Lane>),
}

/// Judges a member. Where several conditions fail, the one that reaches furthest is told: a lost
/// lane before a moved row, a moved row before a taken name, a taken name before a taken id or key.
pub fn admit(stored: &impl Stored, write: &Write) -> Admission {
    let version = stored.version(&write.row.id);
    let known = version.is_some_and(|(_, write_id)| *write_id == write.row.write_id);
    let erased = write.erase == Erase::Everything;
    if erased && version.is_none() {
        return Admission::Answered(Written::Done);
    }
    let lane = match &write.fence {
        Some(fence) => match lease::renewed(stored.lane(&fence.lane), fence) {
            None => {
                return Admission::Answered(if known { Written::Late } else { Written::Fenced });
            }
            renewed => renewed,
        },
        None => write.answer_by.and_then(|answer_by| {
            stored.lane(&write.row.lane).map(|lane| lease::poked(lane, answer_by))
        }),
    };
    if known {
        return Admission::Answered(Written::Done);
    }
    let moved = version.map(|(revision, _)| revision) != write.replaces;
    if moved && !bites(Tooth::IgnoreRevision) {
        return Admission::Answered(Written::Stale);
    }
    if let Some(beside) = &write.beside
        && stored.version(&beside.row.id).map(|(own, _)| own) != Some(beside.replaces)
    {
        return Admission::Answered(Written::Stale);
    }
    if erased {
        return Admission::Granted(lane);
    }
    let conflict = taken_name(stored, write).or_else(|| taken(stored, write));
    conflict.map_or(Admission::Granted(lane), Admission::Answered)
}

fn taken_name(stored: &impl Stored, write: &Write) -> Option<Written> {
    let (name, expected) = write.name.as_ref()?;
    match stored.named(name) {
        Some(found) if *found == write.row.id || Some(found) == expected.as_ref() => None,
        Some(found) => Some(Written::NameTaken(found.clone())),
        // The lineage that should be continued is gone.
        None => expected.as_ref().map(|_| Written::Stale),
    }
}

fn taken(stored: &impl Stored, write: &Write) -> Option<Written> {
    for unique in &write.takes {
        if let Some(found) = stored.owner(unique).filter(|found| **found != write.row.id) {
            return Some(unique.taken(found.clone()));
        }
    }
    None
}
