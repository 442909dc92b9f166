//! What the app asks for: submissions, commands, reruns.

use super::Engine;
use super::entry::{Birth, Entry, Exchange, Phase};
use super::input::{LoadError, Newborn, Rerun};
use super::output::Output;
use super::persist::PendingWrite;
use super::reply::{CallError, CallId};
use crate::model::ending::{Ending, FailureClass};
use crate::model::ids::{OperationId, Scope};
use crate::model::life::{Life, Stage};
use crate::model::operation::{Counters, Identity, Operation, Request, Spent};
use crate::model::profile::Purpose;
use crate::model::time::Timestamp;
use crate::rules::next::{Next, next};
use crate::rules::step::{self, Command};

/// How long a first write waits for a credential, to go with its attempt in one transaction, in
/// milliseconds.
const COMBINE_MS: u64 = 50;

/// What waits for an operation to be read.
pub(super) enum Waiting {
    Command(CallId, Command),
    /// A submission whose intent stands for it already, with its fingerprint.
    Match(CallId, String),
    Retry(CallId, Box<Rerun>),
}

impl Engine {
    pub(super) fn submit(&mut self, now: Timestamp, call: CallId, newborn: Newborn) {
        let operation = newborn.operation;
        if self.account.as_ref() != Some(&operation.identity.account) {
            return self.refuse(Some(call), CallError::AccountChanged);
        }
        let birth = Birth {
            call,
            body: Some(newborn.body),
            profile: Some(newborn.profile),
            succeeds: None,
            write_by: now.after(COMBINE_MS),
        };
        self.give_birth(now, operation, birth);
    }

    /// Writes a new operation: with its first attempt in one transaction where the lane is ours
    /// and a credential comes at once, else alone.
    fn give_birth(&mut self, now: Timestamp, operation: Operation, birth: Birth) {
        let (id, lane) = (operation.identity.id.clone(), operation.lane());
        let Some(profile) = self.profiles.get(&operation.identity.profile_digest) else {
            return self.refuse(Some(birth.call), CallError::UnknownService);
        };
        let sendable = next(&operation, profile, now) == Next::Exchange(Purpose::Submit)
            && self.lanes.get(&lane).is_some_and(|lane| lane.epoch().is_some())
            && self.may_start(now, &lane);
        let mut entry = Entry::new(operation);
        entry.birth = Some(birth);
        self.entries.insert(id.clone(), entry);
        if sendable {
            self.authorize(now, &id, Purpose::Submit);
        } else {
            self.ask_for(now, &lane);
            self.write_newborn(now, &id);
        }
    }

    pub(super) fn authorize(&mut self, now: Timestamp, id: &OperationId, purpose: Purpose) {
        let Some(entry) = self.entries.get_mut(id) else {
            return;
        };
        let timeout_ms = self
            .profiles
            .get(&entry.operation.identity.profile_digest)
            .and_then(|profile| profile.call(purpose))
            .map_or(0, |call| call.timeout_ms);
        let ends_by = now.after(timeout_ms + crate::rules::bounds::EXCHANGE_TIMEOUT_MS);
        entry.exchange = Some(Exchange { purpose, phase: Phase::Authorizing, ends_by });
        self.outputs.push(Output::Authorize {
            id: id.clone(),
            service: entry.operation.identity.service.clone(),
            purpose,
            refresh: entry.operation.counters.authorizations > 0,
            with_body: purpose == Purpose::Submit && entry.operation.request.content_type.is_some(),
        });
    }

    pub(super) fn authorized(
        &mut self,
        now: Timestamp,
        id: &OperationId,
        purpose: Purpose,
        scope: Option<Scope>,
    ) {
        let Some(entry) = self.entries.get_mut(id) else {
            return;
        };
        let asked = entry
            .exchange
            .as_mut()
            .filter(|own| own.purpose == purpose && own.phase == Phase::Authorizing);
        let Some(exchange) = asked else {
            return;
        };
        match purpose {
            Purpose::Submit | Purpose::Cancel => {
                self.apply(now, id, step::Input::Send { purpose, scope }, None);
            }
            Purpose::Poll | Purpose::Result | Purpose::Settle => {
                exchange.phase = Phase::OnWire;
                let ends_by = exchange.ends_by;
                let lane = entry.operation.lane();
                if !self.still_wants(now, id, purpose) {
                    self.exchange_over(id);
                    return;
                }
                self.cover(now, &lane, ends_by);
                self.transmit(now, id, purpose);
            }
        }
    }

    /// Whether an operation still wants an exchange: while its credential was asked for, time has
    /// passed, a bound may have been reached, and the app may have changed its mind.
    pub(super) fn still_wants(&self, now: Timestamp, id: &OperationId, purpose: Purpose) -> bool {
        self.entries.get(id).is_some_and(|entry| {
            let profile = self.profiles.get(&entry.operation.identity.profile_digest);
            profile.is_some_and(|own| next(&entry.operation, own, now) == Next::Exchange(purpose))
        })
    }

    pub(super) fn unauthorized(&mut self, now: Timestamp, id: &OperationId, purpose: Purpose) {
        if !self.exchange_over(id) {
            return;
        }
        let unborn = self.entries.get(id).is_some_and(|entry| entry.birth.is_some());
        if unborn {
            let writing = self.entries.get(id).is_some_and(|entry| entry.writing.is_some());
            if !writing {
                self.write_newborn(now, id);
            }
        }
        self.apply(now, id, step::Input::Unauthorized(purpose), None);
    }

    /// Carries out a call on an operation, in memory or from the store.
    pub(super) fn call_on(&mut self, now: Timestamp, id: &OperationId, waiting: Waiting) {
        if self.entries.contains_key(id) {
            return self.serve(now, id, waiting);
        }
        let all = self.waiting.get_or_insert_with(id.clone(), Vec::new);
        all.push(waiting);
        if all.len() == 1 {
            self.outputs.push(Output::Load(id.clone()));
        }
    }

    pub(super) fn loaded(
        &mut self,
        now: Timestamp,
        id: &OperationId,
        loaded: Result<Option<Box<Operation>>, LoadError>,
    ) {
        let account = self.account.as_ref();
        let loaded = match loaded {
            Ok(found) => found
                .filter(|own| account == Some(&own.identity.account))
                .ok_or(CallError::NotFound),
            Err(LoadError::Newer) => Err(CallError::NewerRecord),
            Err(LoadError::Damaged) => Err(CallError::NotFound),
            Err(LoadError::Store(error)) => Err(CallError::StorageUnavailable(error.to_string())),
        };
        let waiting = self.waiting.remove(id).unwrap_or_default();
        match loaded {
            Ok(operation) => {
                if let Some(entry) = self.entries.get_mut(id) {
                    if entry.reloading {
                        entry.reloading = false;
                        entry.last_line = None;
                        entry.operation = *operation;
                        // Its first write has reached the store after all.
                        if let Some(birth) = entry.birth.take() {
                            let stored = Box::new(entry.operation.clone());
                            self.outputs.push(Output::Reply(birth.call, Ok(stored)));
                        }
                    }
                } else if !waiting.is_empty() {
                    self.entries.insert(id.clone(), Entry::new(*operation));
                }
                self.next_in_inbox(now, id);
                for call in waiting {
                    self.serve(now, id, call);
                }
            }
            Err(why) => {
                self.abandon_entry(id);
                for call in waiting {
                    let (Waiting::Command(call, _)
                    | Waiting::Match(call, _)
                    | Waiting::Retry(call, _)) = call;
                    self.refuse(Some(call), why.clone());
                }
            }
        }
    }

    fn serve(&mut self, now: Timestamp, id: &OperationId, waiting: Waiting) {
        match waiting {
            Waiting::Command(call, command) => {
                self.apply(now, id, step::Input::Command(command), Some(call));
            }
            Waiting::Match(call, fingerprint) => {
                let Some(entry) = self.entries.get(id) else {
                    return;
                };
                let reply = if entry.operation.identity.fingerprint == fingerprint {
                    Ok(Box::new(entry.operation.clone()))
                } else {
                    Err(CallError::IntentConflict)
                };
                self.outputs.push(Output::Reply(call, reply));
            }
            Waiting::Retry(call, rerun) => self.rerun(now, id, call, *rerun),
        }
    }

    /// The intent stands for an operation already: the caller gets that one, if it is the same.
    pub(super) fn name_taken(&mut self, now: Timestamp, pending: PendingWrite, other: OperationId) {
        let (id, fingerprint) = pending.into_match();
        let birth = self.entries.remove(&id).and_then(|entry| entry.birth);
        if let Some(birth) = birth {
            self.call_on(now, &other, Waiting::Match(birth.call, fingerprint));
        }
    }

    /// Runs a failed job again as new, linked work under the same intent.
    fn rerun(&mut self, now: Timestamp, id: &OperationId, call: CallId, rerun: Rerun) {
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
        let job = parent.life.job().ok_or("its job is not known")?;
        let spent = Spent {
            attempts: parent.spent.attempts.saturating_add(parent.life.evidence.attempts),
            cost: parent.spent.cost.plus(parent.ledger.cost()),
        };
        if spent.attempts >= parent.limits.attempts {
            return Err("limits.attempts is used up: submit under a new intent with a higher one");
        }
        if parent.limits.cost.is_some_and(|cost| spent.cost >= cost) {
            return Err("limits.cost is used up: submit under a new intent with a higher one");
        }
        Ok(Operation {
            identity: Identity {
                id: rerun.id.clone(),
                key: rerun.key.clone(),
                ordinal: identity.ordinal + 1,
                parent: Some(identity.id.clone()),
                origin: service.origin.clone(),
                created_at: now,
                ..identity.clone()
            },
            request: Request {
                method: call.method.clone(),
                url: [&service.base_url, super::request::with_id(&call.path, job).as_str()]
                    .concat(),
                content_type: None,
                body_bytes: 0,
            },
            limits: parent.limits,
            spent,
            life: Life::new(),
            reported: crate::model::operation::Reported::default(),
            ledger: crate::model::money::Ledger::default(),
            counters: Counters::default(),
            revision: crate::model::ids::Revision::default(),
            unknown: Vec::new(),
        })
    }
}

impl PendingWrite {
    fn into_match(self) -> (OperationId, String) {
        let identity = self.identity();
        (identity.id.clone(), identity.fingerprint.clone())
    }
}
