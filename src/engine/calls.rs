//! What the app asks of operations, and credentials for their exchanges.

use super::Engine;
use super::entry::{Entry, Exchange, Phase};
use super::input::{LoadError, Newborn, Rerun};
use super::lanes::ACTION_MS;
use super::output::Output;
use super::reply::{CallError, CallId};
use crate::model::ids::{OperationId, Scope};
use crate::model::operation::Operation;
use crate::model::profile::{Call, Profile, Purpose};
use crate::model::time::Timestamp;
use crate::rules::bounds::{EXCHANGE_TIMEOUT_MS, SEND_BEFORE_MS};
use crate::rules::listing::sought;
use crate::rules::next::{Next, next};
use crate::rules::step::{self, Command};

/// What waits for an operation to be read.
#[derive(Clone, Debug)]
pub(super) enum Waiting {
    Command(CallId, Command),
    /// A submission whose intent stands for it already, with its fingerprint.
    Match(CallId, String),
    Retry(CallId, Box<Rerun>),
    Revise(CallId, Box<Newborn>),
}

impl Waiting {
    /// Whether a new operation of this name comes of it.
    pub(super) fn bears(&self, id: &OperationId) -> bool {
        matches!(self, Self::Revise(_, newborn) if newborn.operation.identity.id == *id)
    }
}

/// Somebody else was quicker.
pub(super) const MOVED_ON: CallError = CallError::NotAllowed("it has moved on; look at it again");

/// By when an exchange is over that may leave now, or a stream that goes on now.
pub(super) fn ends_by(now: Timestamp, profile: Option<&Profile>, purpose: Purpose) -> Timestamp {
    let call = profile.and_then(|profile| profile.call(purpose));
    now.after(call.map_or(0, Call::silence_ms) + SEND_BEFORE_MS)
}

impl Engine {
    pub(super) fn authorize(&mut self, now: Timestamp, id: &OperationId, purpose: Purpose) {
        let Some(entry) = self.entries.get_mut(id) else {
            return;
        };
        let profile = self.profiles.get(&entry.operation.identity.profile_digest);
        let call = profile.and_then(|profile| profile.call(purpose));
        let with_body = match purpose {
            Purpose::Submit => entry.operation.request.content_type.is_some(),
            Purpose::Reconcile => profile
                .and_then(|profile| sought(&entry.operation, profile))
                .is_some_and(|sought| sought.with_body),
            Purpose::Quote => call.is_some_and(Call::has_body),
            Purpose::Poll
            | Purpose::Result
            | Purpose::Settle
            | Purpose::Cancel
            | Purpose::Delete
            | Purpose::Diagnose => false,
        };
        let keyless = profile.is_some_and(|profile| profile.key.is_none());
        let alone = (keyless && purpose == Purpose::Submit)
            .then(|| entry.operation.identity.fingerprint.clone());
        // A credential takes as long as an exchange at most; then it is known how long that may take.
        let ends_by = now.after(EXCHANGE_TIMEOUT_MS);
        entry.exchange =
            Some(Exchange { purpose, phase: Phase::Authorizing, download: None, ends_by });
        if purpose == Purpose::Diagnose {
            // It bears no credential.
            return self.authorized(now, id, purpose, None);
        }
        self.outputs.push(Output::Authorize {
            id: id.clone(),
            service: entry.operation.identity.service.clone(),
            purpose,
            refresh: entry.operation.counters.authorizations > 0,
            with_body,
            alone,
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
        let profile = self.profiles.get(&entry.operation.identity.profile_digest);
        exchange.ends_by = ends_by(now, profile, purpose);
        match purpose {
            Purpose::Submit | Purpose::Cancel | Purpose::Delete => {
                self.apply(now, id, step::Input::Send { purpose, scope }, None);
            }
            Purpose::Reconcile if entry.operation.life.evidence.is_of_another(scope.as_ref()) => {
                // Somebody else's listing proves nothing.
                self.exchange_over(id);
                self.apply(now, id, step::Input::ScopeChanged, None);
            }
            Purpose::Poll
            | Purpose::Result
            | Purpose::Settle
            | Purpose::Reconcile
            | Purpose::Quote
            | Purpose::Diagnose => {
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

    /// Whether an operation still wants an exchange from here: while its credential was asked for,
    /// time has passed, a bound may have been reached, the app may have changed its mind, and the
    /// lane may have been lost.
    pub(super) fn still_wants(&self, now: Timestamp, id: &OperationId, purpose: Purpose) -> bool {
        self.entries.get(id).is_some_and(|entry| {
            let owned = self.owns(&entry.lane);
            let profile = self.profiles.get(&entry.operation.identity.profile_digest);
            let wanted = Next::Exchange(purpose);
            owned && profile.is_some_and(|own| next(&entry.operation, own, now) == wanted)
        })
    }

    pub(super) fn unauthorized(&mut self, now: Timestamp, id: &OperationId, purpose: Purpose) {
        if self.not_begun(now, id, purpose) {
            self.apply(now, id, step::Input::Unauthorized(purpose), None);
        }
    }

    /// Others elsewhere go first: it is asked again, and nothing of it is written.
    pub(super) fn postponed(
        &mut self,
        now: Timestamp,
        id: &OperationId,
        purpose: Purpose,
        delay_ms: u32,
    ) {
        if !self.not_begun(now, id, purpose) {
            return;
        }
        if let Some(entry) = self.entries.get_mut(id) {
            let until = entry.not_before.max(now.after(delay_ms.into()));
            entry.not_before = until;
            let lane = entry.lane.clone();
            self.cover(now, &lane, until.after(ACTION_MS));
        }
    }

    /// The exchange that was asked for is not made now; false where that is no news.
    fn not_begun(&mut self, now: Timestamp, id: &OperationId, purpose: Purpose) -> bool {
        // What an operation that has left memory since was refused is no news for its next exchange.
        let asked = self.entries.get(id).and_then(|entry| entry.exchange.as_ref());
        if !asked.is_some_and(|own| own.purpose == purpose && own.phase == Phase::Authorizing) {
            return false;
        }
        self.exchange_over(id);
        let unborn = self.entries.get(id).is_some_and(|entry| entry.birth.is_some());
        if unborn {
            let writing = self.entries.get(id).is_some_and(|entry| entry.writing.is_some());
            if !writing {
                self.write_newborn(now, id);
            }
        }
        true
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
                    self.entries.insert(id.clone(), Entry::loaded(*operation, now));
                }
                self.next_in_inbox(now, id);
                for call in waiting {
                    self.serve(now, id, call);
                }
            }
            Err(why) => {
                let unborn = self.entries.get(id).is_some_and(|entry| entry.birth.is_some());
                if unborn && why == CallError::NotFound {
                    // What it was to follow on has changed since it was looked at.
                    self.stillborn(id, MOVED_ON);
                }
                self.abandon_entry(id, &why);
                for call in waiting {
                    let (Waiting::Command(call, _)
                    | Waiting::Match(call, _)
                    | Waiting::Retry(call, _)
                    | Waiting::Revise(call, _)) = call;
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
            Waiting::Revise(call, newborn) => self.revise(now, id, call, *newborn),
            Waiting::Retry(call, rerun) => self.rerun(now, id, call, *rerun),
        }
    }
}
