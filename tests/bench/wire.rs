//! Between clients and a service, in virtual time: requests arrive and answers come back in the order of
//! the clock.

use std::collections::BTreeMap;

/// Who does one job by asking a service.
pub trait Client {
    /// The point has come that it asked for.
    fn wake(&mut self, now: u64);
    /// The answer to a request; `None`: there is none, the connection broke.
    fn answer(&mut self, now: u64, number: u64, answer: Option<Answer>);
    /// What it wants sent now.
    fn requests(&mut self) -> Vec<Request>;
    /// When it wants to be woken.
    fn wakes_at(&self) -> Option<u64>;
    /// Whether its result is home.
    fn has_ended(&self) -> bool;
    /// Whether it does nothing more by itself.
    fn has_given_up(&self) -> bool;
}

/// A service.
pub trait Service {
    /// What it answers; `None`: the connection breaks.
    fn take(&mut self, now: u64, ask: &Ask) -> Option<Answer>;
}

/// One request, numbered by its client.
#[derive(Clone, Debug)]
pub struct Request {
    pub number: u64,
    pub ask: Ask,
}

/// What is asked.
#[derive(Clone, Debug)]
pub enum Ask {
    Submit { key: String },
    Poll { job: String },
    Result,
}

/// One answer.
#[derive(Clone, Debug)]
pub struct Answer {
    pub status: u16,
    pub retry_after: Option<String>,
    pub body: String,
}

impl Answer {
    pub fn new(status: u16, body: impl Into<String>) -> Self {
        Self { status, retry_after: None, body: body.into() }
    }

    pub fn asking_to_wait(self, seconds: Option<impl ToString>) -> Self {
        Self { retry_after: seconds.map(|own| own.to_string()), ..self }
    }
}

/// Something that happens at a point in time to the client of a number.
enum Happening {
    Arrive(Request),
    Answer(u64, Option<Answer>),
    Wake,
}

/// All clients, the way between, and the clock.
pub struct World<C, S> {
    pub service: S,
    pub clients: Vec<Option<C>>,
    pub now: u64,
    one_way_ms: u64,
    /// By time, and in the order in which they were arranged.
    ahead: BTreeMap<(u64, u64), (usize, Happening)>,
    count: u64,
}

impl<C: Client, S: Service> World<C, S> {
    pub fn new(service: S, one_way_ms: u64, now: u64) -> Self {
        Self { service, clients: Vec::new(), now, one_way_ms, ahead: BTreeMap::new(), count: 0 }
    }

    /// Takes a client in.
    pub fn add(&mut self, client: C) {
        self.clients.push(Some(client));
        self.look_at(self.clients.len() - 1);
    }

    /// When the next thing happens.
    pub fn next(&self) -> Option<u64> {
        self.ahead.keys().next().map(|(at, _)| *at)
    }

    /// Lets the next thing happen; the number of the client that it happened to.
    pub fn step(&mut self) -> Option<usize> {
        let ((at, _), (client, happening)) = self.ahead.pop_first()?;
        self.now = at;
        match happening {
            Happening::Arrive(request) => {
                let answer = self.service.take(at, &request.ask);
                let back = Happening::Answer(request.number, answer);
                self.at(at + self.one_way_ms, client, back);
                return Some(client);
            }
            Happening::Answer(request, answer) => {
                if let Some(own) = &mut self.clients[client] {
                    own.answer(at, request, answer);
                }
            }
            Happening::Wake => match &mut self.clients[client] {
                // An order that was replaced since is void.
                Some(own) if own.wakes_at() == Some(at) => own.wake(at),
                Some(_) | None => return Some(client),
            },
        }
        self.look_at(client);
        Some(client)
    }

    fn look_at(&mut self, client: usize) {
        let Some(own) = &mut self.clients[client] else { return };
        let (requests, wakes_at) = (own.requests(), own.wakes_at());
        for request in requests {
            self.at(self.now + self.one_way_ms, client, Happening::Arrive(request));
        }
        if let Some(at) = wakes_at {
            self.at(at.max(self.now), client, Happening::Wake);
        }
    }

    fn at(&mut self, at: u64, client: usize, happening: Happening) {
        self.count += 1;
        self.ahead.insert((at, self.count), (client, happening));
    }
}
