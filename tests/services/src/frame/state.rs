//! A model's state, and how the frame makes a service of it.
use super::{Desk, Keys, Known, Model, Route, Settings};
use crate::{Call, Ledger, Request, Response, Service};

/// The state of a model that is made from a configuration `C`, keeps a `K` for each key, and has
/// `O` of its own.
#[derive(Clone, Debug)]
pub struct State<C, K, O = ()> {
    pub(crate) desk: Desk,
    pub(crate) config: C,
    pub(crate) keys: Keys<K>,
    pub(crate) own: O,
}

impl<C: Clone + Into<Settings>, K: Clone, O: Default> State<C, K, O> {
    /// A service that has seen no request.
    pub fn new(config: C) -> Self {
        let settings = config.clone().into();
        let keys = Keys::kept_for(settings.key_retention_ms);
        Self { desk: Desk::new(settings), config, keys, own: O::default() }
    }
}

impl<C: Clone + Default + Into<Settings>, K: Clone, O: Default> Default for State<C, K, O> {
    fn default() -> Self {
        Self::new(C::default())
    }
}

impl<C, K: Clone, O> State<C, K, O> {
    /// What is known of a key; that it came with another request is counted.
    pub(crate) fn look(&mut self, now_ms: u64, key: &str, identity: &str) -> Known<K> {
        let known = self.keys.look(now_ms, key, identity);
        self.desk.ledger.key_mismatches += u64::from(matches!(known, Known::Changed));
        known
    }
}

impl<C, K, O> AsMut<Desk> for State<C, K, O> {
    fn as_mut(&mut self) -> &mut Desk {
        &mut self.desk
    }
}

impl<C, K: Clone, O: Default> Service for State<C, K, O>
where
    Self: Model,
{
    fn stage_of(&self, request: &Request) -> Call {
        Self::route(request).call
    }

    fn key_of(&self, request: &Request) -> Option<String> {
        Self::key(request)
    }

    fn arrive(&mut self, now_ms: u64, request: &Request) {
        self.advance(now_ms);
        let route = Self::route(request);
        let desk = &mut self.desk;
        let job = route.id.and_then(|id| desk.jobs.get(id));
        let (end_told, subject) = match (job, route.id) {
            (Some(job), _) => (job.end_told, Some(job.subject().to_owned())),
            (None, Some(_)) => (false, None),
            (None, None) => (false, Self::key(request)),
        };
        if let Some(subject) = subject {
            desk.ledger.see(&subject, now_ms);
        }
        match route.call {
            Call::Submit | Call::Retry => desk.ledger.submits += 1,
            Call::Poll => {
                desk.ledger.polls += 1;
                desk.ledger.polls_after_end += u64::from(end_told);
            }
            Call::Result
            | Call::Cancel
            | Call::List
            | Call::Delete
            | Call::Quote
            | Call::Other
            | Call::Any => {}
        }
    }

    fn handle(&mut self, now_ms: u64, request: &Request) -> Response {
        self.advance(now_ms);
        let token = Self::token(request).unwrap_or_default();
        if !self.desk.settings.tokens.contains(token) {
            self.desk.ledger.unauthorized += 1;
            return self.refuse_credential();
        }
        self.serve(now_ms, request, Self::route(request))
    }

    fn faulty(&self, status: u16, code: &str) -> Response {
        <Self as Model>::faulty(status, code)
    }

    fn told(&mut self, request: &Request, response: &Response) {
        let Route { call: Call::Poll, id: Some(id), .. } = Self::route(request) else {
            return;
        };
        if let Some(job) = self.desk.jobs.get_mut(id) {
            job.end_told |= Self::tells_end(response);
        }
    }

    fn advance(&mut self, now_ms: u64) {
        self.desk.settle(now_ms, Self::word);
        self.pass(now_ms);
    }

    fn set_clock_error(&mut self, by_ms: i64) {
        self.desk.clock_error_ms = by_ms;
    }

    fn reset(&mut self) {
        self.desk.reset();
        self.keys.clear();
        self.own = O::default();
    }

    fn ledger(&self) -> &Ledger {
        &self.desk.ledger
    }

    fn ledger_mut(&mut self) -> &mut Ledger {
        &mut self.desk.ledger
    }

    fn browser_headers(&self) -> (&'static [&'static str], &'static [&'static str]) {
        Self::headers()
    }
}
