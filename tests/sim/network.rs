//! The network between a context and the service: requests go their own way, whatever becomes of
//! the context that sent them.

use holdfast::driver::ports::Transport;
use holdfast::driver::ports::transport::{Body, Head, Lost, Outgoing};
use holdfast_services::Service as _;
use holdfast_services::{Call, Delivery, Fault, FaultKind, Outcome, Request, Response, RetryAfter};

use super::house::House;
use super::kinds::Kind;
use super::ports::SimPorts;
use super::slot::Slot;
use super::world::World;

/// A body that came with its head; of a stream, only its beginning did.
pub struct SimBody {
    /// What is to come, the last piece first, and how long after the piece before it.
    pieces: Vec<(u64, Vec<u8>)>,
    broken: bool,
    ports: SimPorts,
}

impl Body for SimBody {
    async fn next(&mut self) -> Result<Option<Vec<u8>>, Lost> {
        match self.pieces.pop() {
            Some((0, piece)) => Ok(Some(piece)),
            Some((wait_ms, piece)) => {
                self.ports.world.0.clock.sleep(wait_ms).await;
                self.ports.point().await;
                Ok(Some(piece))
            }
            None if self.broken => Err(Lost),
            None => Ok(None),
        }
    }
}

/// What comes back.
struct Arrival {
    response: Response,
    broken: bool,
    /// How long after its beginning the rest of it comes.
    rest_ms: u64,
}

type Answer = Result<Head<SimBody>, Lost>;

impl Transport for SimPorts {
    type Body = SimBody;

    fn send(&self, outgoing: Outgoing) -> impl Future<Output = Answer> + 'static {
        let timeout_ms = u64::from(outgoing.timeout_ms);
        let request = request(outgoing);
        let slot: Slot<Result<Arrival, Lost>> = Slot::new();
        if self.tab.being.alive.get() {
            self.world.sent(&self.tab, &request);
            let (world, answer) = (self.world.clone(), slot.clone());
            self.world.outside(async move { carry(world, request, answer).await });
            let (world, timeout) = (self.world.clone(), slot.clone());
            self.world.outside(async move {
                world.0.clock.sleep(timeout_ms).await;
                timeout.fill(Err(Lost));
            });
        }
        let own = self.clone();
        async move {
            let answer = slot.wait().await;
            own.point().await;
            answer.map(|arrival| head(&arrival, own.clone()))
        }
    }
}

/// Carries a request to the service and its answer back.
async fn carry(world: World, request: Request, answer: Slot<Result<Arrival, Lost>>) {
    let clock = || &world.0.clock;
    let way_ms = || world.0.plan.latency_ms + world.up_to(world.0.plan.latency_ms);
    let offline = || world.now() < world.0.offline_until.get();
    clock().sleep(way_ms()).await;
    if offline() || world.strikes(Kind::LoseBefore, 1) {
        clock().sleep(world.pick(&[0, 100, 4_000])).await;
        world.landed(&request);
        answer.fill(Err(Lost));
        return;
    }
    if world.strikes(Kind::SlowRequest, 1) {
        clock().sleep(world.pick(&[500, 5_000, 25_000])).await;
    }
    // A browser sends again only what got no answer: both copies meet the service as it is.
    let call = world.0.service.borrow().service.stage_of(&request);
    let again = world.0.plan.house.has_keys() || !matches!(call, Call::Submit | Call::Retry);
    let resent = again && world.strikes(Kind::Resend, 1);
    if resent {
        let twin = (world.clone(), request.clone(), world.pick(&[0, 5, 300, 9_000]));
        world.outside(async move {
            let (world, request, late_ms) = twin;
            world.0.clock.sleep(late_ms).await;
            process(&world, &request, None);
        });
    }
    let fault = if resent { None } else { fault(&world, call) };
    let outcome = process(&world, &request, fault);
    world.landed(&request);
    let early = outcome.early().is_some();
    if !early {
        clock().sleep(outcome.delay_ms).await;
    }
    clock().sleep(way_ms()).await;
    if world.strikes(Kind::Slow, 1) {
        clock().sleep(world.pick(&[700, 10_000, 40_000, 130_000])).await;
    }
    if offline() || world.strikes(Kind::LoseAfter, 1) {
        answer.fill(Err(Lost));
        return;
    }
    answer.fill(match outcome.delivery {
        Delivery::Answer(response) => {
            world.answered(&request, response.status);
            let broken = early && world.strikes(Kind::Truncate, 1);
            let rest_ms = if early { outcome.delay_ms } else { 0 };
            Ok(Arrival { response, broken, rest_ms })
        }
        Delivery::Truncated(response) => Ok(Arrival { response, broken: true, rest_ms: 0 }),
        Delivery::Lost => Err(Lost),
    });
}

/// The request is at the service.
fn process(world: &World, request: &Request, fault: Option<(Kind, Fault)>) -> Outcome {
    let now = world.now();
    let outcome = {
        let mut service = world.0.service.borrow_mut();
        service.faults.clear();
        service.faults.add(fault.clone().map(|(_, fault)| fault));
        service.process(now, request)
    };
    world.arrived(request, fault.map(|(kind, _)| kind), &outcome);
    outcome
}

/// What goes wrong at the service, if anything.
fn fault(world: &World, call: Call) -> Option<(Kind, Fault)> {
    let submits = matches!(call, Call::Submit | Call::Retry);
    let reads = matches!(call, Call::Poll | Call::Result);
    if world.now() < world.0.down_until.get() {
        let after_commit = world.up_to(4) == 0;
        let kind = if after_commit { Kind::UnavailableAfter } else { Kind::Unavailable };
        return Some((kind, Fault { after_commit, ..status(call, world.pick(&[500, 502, 503])) }));
    }
    let strikes = |kind: Kind| world.strikes(kind, 1);
    let fault = if strikes(Kind::Truncate) {
        (Kind::Truncate, Fault::once(call, FaultKind::Truncate))
    } else if strikes(Kind::Page) {
        let after_commit = world.up_to(1) == 0;
        let page = Fault::once(call, FaultKind::Html);
        let code = Some(world.pick(&[502, 503, 504]));
        (Kind::Page, Fault { after_commit, status: code, ..page })
    } else if strikes(Kind::Unavailable) {
        let answer = status(call, world.pick(&[500, 503, 408, 425]));
        (Kind::Unavailable, Fault { retry_after: wait(world), ..answer })
    } else if strikes(Kind::UnavailableAfter) {
        let answer = status(call, world.pick(&[500, 503]));
        (Kind::UnavailableAfter, Fault { after_commit: true, retry_after: wait(world), ..answer })
    } else if strikes(Kind::RateLimited) {
        let limited = Fault::once(call, FaultKind::RateLimited);
        (Kind::RateLimited, Fault { retry_after: wait(world), ..limited })
    } else if submits && world.0.plan.house == House::Keyed && strikes(Kind::InProgress) {
        (Kind::InProgress, coded(call, 409, "REQUEST_IN_PROGRESS"))
    } else if strikes(Kind::Unauthorized) {
        (Kind::Unauthorized, coded(call, world.pick(&[401, 403]), "UNAUTHORIZED"))
    } else if submits && strikes(Kind::NoCredit) {
        (Kind::NoCredit, coded(call, 402, "INSUFFICIENT_CREDITS"))
    } else if submits && strikes(Kind::Refused) {
        (Kind::Refused, coded(call, 422, "VALIDATION_FAILED"))
    } else if strikes(Kind::Redirect) {
        (Kind::Redirect, status(call, 307))
    } else if reads && strikes(Kind::NotFound) {
        (Kind::NotFound, Fault::once(call, FaultKind::NotFound))
    } else if strikes(Kind::PageOk) {
        let page = Fault::once(call, FaultKind::Html);
        (Kind::PageOk, Fault { status: Some(200), ..page })
    } else {
        return None;
    };
    Some(fault)
}

fn status(call: Call, status: u16) -> Fault {
    Fault { status: Some(status), ..Fault::once(call, FaultKind::Status) }
}

fn coded(call: Call, code: u16, word: &str) -> Fault {
    let body = format!(r#"{{"error":{{"code":"{word}","message":"A fault was set."}}}}"#);
    Fault { body: Some(body), ..status(call, code) }
}

fn wait(world: &World) -> Option<RetryAfter> {
    match world.up_to(6) {
        0..=2 => None,
        3 => Some(RetryAfter::Seconds(world.pick(&[0, 1, 7, 45]))),
        4 => Some(RetryAfter::Seconds(120)),
        5 => Some(RetryAfter::Text("in a while".into())),
        _ => Some(RetryAfter::Date { date_in_ms: world.pick(&[-5_000, 3_000, 60_000]) }),
    }
}

fn request(outgoing: Outgoing) -> Request {
    let path = outgoing.url.strip_prefix("https://api.example.com").unwrap_or(&outgoing.url);
    Request {
        method: outgoing.method,
        path: path.into(),
        headers: outgoing.headers.iter().map(|(n, v)| (n.to_owned(), v.to_owned())).collect(),
        body: outgoing.body.unwrap_or_default(),
    }
}

fn head(arrival: &Arrival, ports: SimPorts) -> Head<SimBody> {
    let Arrival { response, broken, rest_ms } = arrival;
    let sent = if *broken { response.body.len() / 2 } else { response.body.len() };
    let body = &response.body[..sent];
    let early = if *rest_ms > 0 { response.early_bytes.min(sent) } else { 0 };
    let now = body[..early].chunks(7_000).map(|piece| (0, piece.to_vec()));
    let later = body[early..].chunks(7_000).map(|piece| (0, piece.to_vec()));
    let count = now.len();
    let mut pieces: Vec<_> = now.chain(later).collect();
    if let Some(first_later) = pieces.get_mut(count) {
        first_later.0 = *rest_ms;
    }
    pieces.reverse();
    Head {
        status: response.status,
        headers: response.headers.iter().map(|(n, v)| (n.clone(), v.clone())).collect(),
        body: SimBody { pieces, broken: *broken, ports },
    }
}
