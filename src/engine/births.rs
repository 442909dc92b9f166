//! Births: new operations, their first write, and what may keep them from being stored.

use super::Engine;
use super::calls::Waiting;
use super::entry::{Birth, Entry};
use super::input::{Newborn, Rerun};
use super::persist::PendingWrite;
use super::reply::{CallError, CallId};
use crate::model::ending::{Ending, FailureClass};
use crate::model::ids::OperationId;
use crate::model::journal::Entry as JournalEntry;
use crate::model::life::{Life, Stage};
use crate::model::money::{Amount, Ledger};
use crate::model::operation::{Counters, Identity, Operation, Request, Spent};
use crate::model::policy::Limits;
use crate::model::profile::Purpose;
use crate::model::storage::{Durability, Erase};
use crate::model::time::Timestamp;
use crate::rules::composition::with_key;
use crate::rules::derived_key::derived_key;
use crate::rules::listing::REPEATED_JOB;
use crate::rules::next::{Next, next};
use crate::rules::step::Step;
use crate::rules::teeth::{Tooth, bites};

/// How long a first write waits for a credential, to go with its attempt in one transaction, in
/// milliseconds.
pub(super) const COMBINE_MS: u64 = 50;

/// What a first write tells: of work that is handed over, and of a job that was there before.
const SUBMITTED: &str = "submitted";
const ADOPTED: &str = "adopted";

impl Engine {
    pub(super) fn submit(&mut self, now: Timestamp, call: CallId, newborn: Newborn) {
        let operation = newborn.operation;
        if self.account.as_ref() != Some(&operation.identity.account) {
            return self.refuse(Some(call), CallError::AccountChanged);
        }
        let birth = Birth {
            call,
            body: newborn.body,
            profile: Some(newborn.profile),
            succeeds: None,
            replaces: None,
            write_by: now.after(COMBINE_MS),
        };
        self.give_birth(now, operation, birth);
    }

    /// Writes a new operation: with its first attempt in one transaction where the lane is ours
    /// and a credential comes at once, else alone.
    pub(super) fn give_birth(&mut self, now: Timestamp, operation: Operation, birth: Birth) {
        let (id, lane) = (operation.identity.id.clone(), operation.lane());
        let Some(profile) = self.profiles.get(&operation.identity.profile_digest) else {
            return self.refuse(Some(birth.call), CallError::UnknownService);
        };
        let sendable = next(&operation, profile, now) == Next::Exchange(Purpose::Submit)
            && self.owns(&lane)
            && self.may_start(now, &lane);
        let mut entry = Entry::new(operation);
        entry.birth = Some(birth);
        self.entries.insert(id.clone(), entry);
        if sendable && !self.stands_behind(&lane, &id, Purpose::Submit) {
            self.authorize(now, &id, Purpose::Submit);
        } else {
            self.ask_for(now, &lane);
            self.write_newborn(now, &id);
        }
    }

    /// Writes a newborn operation, with its first attempt or without.
    pub(super) fn write_newborn(&mut self, now: Timestamp, id: &OperationId) {
        let Some(entry) = self.entries.get(id) else {
            return;
        };
        let job = entry.operation.life.job().cloned();
        let event = if job.is_some() { ADOPTED } else { SUBMITTED };
        let entries = vec![JournalEntry::new(now, event)];
        let done = Step {
            operation: entry.operation.clone(),
            durability: Durability::Strict,
            entries,
            send: None,
            gate: None,
            job,
            erase: Erase::Nothing,
        };
        self.write(now, id, done, None, None);
    }

    /// The intent stands for an operation already: the caller gets that one, if it is the same.
    pub(super) fn name_taken(&mut self, now: Timestamp, pending: PendingWrite, other: OperationId) {
        let (id, fingerprint) = pending.into_match();
        let birth = self.entries.remove(&id).and_then(|entry| entry.birth);
        if let Some(birth) = birth {
            self.call_on(now, &other, Waiting::Match(birth.call, fingerprint));
        }
    }

    /// A new operation would take what belongs to another: it is not stored.
    pub(super) fn stillborn(&mut self, id: &OperationId, why: CallError) {
        let birth = self.entries.remove(id).and_then(|entry| entry.birth);
        self.refuse(birth.map(|birth| birth.call), why);
    }

    /// Runs a failed job again as new, linked work under the same intent.
    pub(super) fn rerun(&mut self, now: Timestamp, id: &OperationId, call: CallId, rerun: Rerun) {
        let Some(entry) = self.entries.get(id) else {
            return;
        };
        match self.child(now, &entry.operation, &rerun) {
            Ok(child) => {
                let birth = Birth {
                    call,
                    body: None,
                    profile: None,
                    succeeds: Some(id.clone()),
                    replaces: None,
                    write_by: now.after(COMBINE_MS),
                };
                self.give_birth(now, child, birth);
            }
            Err(why) => self.refuse(Some(call), CallError::NotAllowed(why)),
        }
    }

    fn child(
        &self,
        now: Timestamp,
        parent: &Operation,
        rerun: &Rerun,
    ) -> Result<Operation, &'static str> {
        let Stage::Ended { ending: Ending::Failed(failure), .. } = &parent.life.stage else {
            return Err("only a failed operation can be run again");
        };
        if parent.life.purged.is_some() || parent.life.deletion.is_some() {
            return Err("it is deleted: submit the work under a new intent");
        }
        if failure.id != rerun.reviewed {
            return Err("read the failure first: retry({reviewed: operation.failure.id})");
        }
        let own_fault = matches!(failure.class, FailureClass::Input | FailureClass::Target);
        if own_fault && !rerun.anyway {
            return Err("the same input would fail again: submit corrected work under a new \
                        intent, or say retry({anyway: true})");
        }
        let identity = &parent.identity;
        let service =
            self.services.get(&identity.service).ok_or("its service is not configured")?;
        let profile =
            self.profiles.get(&identity.profile_digest).ok_or("its profile is unknown")?;
        let call = profile.calls.retry.as_ref().ok_or("this service cannot run a job again")?;
        let limits = rerun.limits.apply(parent.limits);
        let spent = spent_by(parent, limits)?;
        let mut identity = Identity {
            id: rerun.id.clone(),
            key: rerun.key.clone(),
            ordinal: identity.ordinal + 1,
            parent: Some(identity.id.clone()),
            origin: service.origin.clone(),
            created_at: now,
            ..identity.clone()
        };
        if service.derives_keys {
            identity.key = derived_key(&identity);
        }
        let url = super::request::address(call, parent, &service.base_url, None)
            .ok_or("its job is not known")?;
        let (url, _) = with_key(profile, identity.key.as_str(), url, Vec::new())
            .map_err(|_| "its key cannot be sent without a body")?;
        let mut ledger = Ledger::default();
        ledger.set(Amount::Quoted, parent.ledger.get(Amount::Quoted));
        let mut carried = parent.carried.clone();
        if let Some(job) = parent.life.job() {
            carried.retain(|(name, _)| name != REPEATED_JOB);
            carried.push((REPEATED_JOB.into(), job.0.clone()));
        }
        Ok(Operation {
            identity,
            request: Request {
                method: call.method.clone(),
                url,
                content_type: None,
                body_bytes: 0,
            },
            carried,
            limits,
            retention: parent.retention,
            spent,
            blind: !profile.reads_jobs(),
            keyless: profile.key.is_none(),
            taken: false,
            life: Life::new(),
            reported: crate::model::operation::Reported::default(),
            ledger,
            counters: Counters::default(),
            revision: crate::model::ids::Revision::default(),
            unknown: Vec::new(),
        })
    }
}

/// What is told of a write. A first one that bears the first attempt says both in the journal by that one line.
pub(super) fn told_of(
    newborn: bool,
    operation: &Operation,
    mut entries: Vec<JournalEntry>,
) -> Vec<JournalEntry> {
    let is_told = |own: &JournalEntry| own.event == SUBMITTED || own.event == ADOPTED;
    if newborn && !entries.iter().any(is_told) {
        entries.insert(0, JournalEntry::new(operation.identity.created_at, SUBMITTED));
    }
    entries
}

impl PendingWrite {
    fn into_match(self) -> (OperationId, String) {
        let identity = self.identity();
        (identity.id.clone(), identity.fingerprint.clone())
    }
}

/// What a lineage has used up with this member; refused where nothing is left for another.
pub(super) fn spent_by(parent: &Operation, limits: Limits) -> Result<Spent, &'static str> {
    if parent.life.settlement.is_some() {
        return Err("its billing is not final yet, and what it cost counts: try again once \
                    ledger.open is false");
    }
    let spent = Spent {
        attempts: parent.spent.attempts.saturating_add(parent.life.evidence.attempts),
        cost: parent.lineage_cost(),
    };
    if bites(Tooth::ForgetSpentAttempts) {
        return Ok(Spent { attempts: 0, ..spent });
    }
    if spent.attempts >= limits.attempts {
        return Err("limits.attempts is used up: give a higher one");
    }
    if limits.cost.is_some_and(|cost| spent.cost >= cost) {
        return Err("limits.cost is used up: give a higher one");
    }
    Ok(spent)
}
