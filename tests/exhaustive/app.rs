//! The app: it submits the same intent in every page.

use holdfast::engine::{CallId, Input, Newborn};
use holdfast::model::ids::{IdempotencyKey, OperationId, Revision};
use holdfast::model::life::Life;
use holdfast::model::money::Ledger;
use holdfast::model::operation::{Counters, Identity, Operation, Reported, Request, Spent};

use super::state::State;

impl State {
    pub fn submit(&mut self, slot: usize) {
        let Some(context) = self.context_mut(slot) else { return };
        context.asked = true;
        let number = context.number;
        // Work that is stored already is given as it is.
        if self.stored.is_some() {
            return self.feed(slot, Input::Tick);
        }
        let newborn = self.newborn(number);
        self.feed(slot, Input::Submit(CallId(u64::from(number)), Box::new(newborn)));
    }

    fn newborn(&self, number: u8) -> Newborn {
        let service = self.service.setup();
        let path = match service.profile.key {
            Some(_) => "/api/v1/data/requests",
            None => "/api/v1/extract",
        };
        let operation = Operation {
            identity: Identity {
                id: OperationId(format!("op-{number}")),
                account: "ann".into(),
                service: service.name,
                origin: service.origin,
                intent: "daily".into(),
                ordinal: 0,
                parent: None,
                key: IdempotencyKey(format!("key-{number}")),
                fingerprint: "same".into(),
                profile: service.profile.name,
                profile_digest: service.profile.digest.clone(),
                created_at: self.time(),
            },
            request: Request {
                method: "POST".into(),
                url: format!("{}{path}", service.base_url),
                content_type: Some("application/json".into()),
                body_bytes: 2,
            },
            carried: vec![("endpoint".into(), "extract".into())],
            limits: service.limits,
            retention: service.retention,
            spent: Spent::default(),
            life: Life::new(),
            reported: Reported::default(),
            ledger: Ledger::default(),
            counters: Counters::default(),
            revision: Revision::default(),
            blind: false,
            keyless: false,
            taken: false,
            unknown: Vec::new(),
        };
        Newborn {
            operation,
            body: Some(b"{}".to_vec()),
            profile: (service.profile.digest, service.profile_text),
        }
    }
}
