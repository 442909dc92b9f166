//! The network between one context and the service.

use std::future::pending;

use holdfast::driver::ports::Transport;
use holdfast::driver::ports::transport::{Body, Head, Lost, Outgoing};
use holdfast_services::{Delivery, Request, Response};

use super::SimPorts;
use crate::world::World;

/// A body that comes in pieces, each after a while.
pub struct SimBody {
    world: World,
    /// The last comes first; each with the time that passes before it.
    pieces: Vec<(u64, Vec<u8>)>,
    broken: bool,
    ends_at: u64,
    /// How much time each piece gives, where it does.
    idle_ms: Option<u64>,
}

impl Body for SimBody {
    async fn next(&mut self) -> Result<Option<Vec<u8>>, Lost> {
        let clock = &self.world.0.clock;
        match self.pieces.pop() {
            Some((wait_ms, _)) if clock.now() + wait_ms > self.ends_at => {
                clock.sleep(self.ends_at.saturating_sub(clock.now())).await;
                self.pieces.clear();
                self.broken = true;
                Err(Lost)
            }
            Some((wait_ms, piece)) => {
                if wait_ms > 0 {
                    clock.sleep(wait_ms).await;
                }
                if let Some(idle_ms) = self.idle_ms {
                    self.ends_at = clock.now() + idle_ms;
                }
                Ok(Some(piece))
            }
            None if self.broken => Err(Lost),
            None => Ok(None),
        }
    }
}

impl Transport for SimPorts {
    type Body = SimBody;

    fn is_online(&self) -> bool {
        !self.world.0.settings.borrow().offline
    }

    fn send(
        &self,
        outgoing: Outgoing,
    ) -> impl Future<Output = Result<Head<SimBody>, Lost>> + 'static {
        let own = self.clone();
        let timeout_ms = u64::from(outgoing.timeout_ms);
        let idle_ms = outgoing.idle.then_some(timeout_ms);
        let left = own.reach_point();
        let request = request(outgoing, &self.world.0.settings.borrow().origin);
        if left {
            self.world.0.log.sent(&request);
        }
        async move {
            if !left {
                return pending().await;
            }
            let latency_ms = own.world.0.settings.borrow().latency_ms;
            if own.world.0.settings.borrow().offline {
                return Err(Lost);
            }
            own.world.0.clock.sleep(latency_ms).await;
            let now = own.world.0.clock.now();
            let ends_at = now + timeout_ms;
            let outcome = own.world.0.service.borrow_mut().exchange(now, &request);
            own.point().await;
            let (response, broken) = match outcome.delivery {
                Delivery::Answer(response) => (Some(response), false),
                Delivery::Truncated(response) => (Some(response), true),
                Delivery::Lost => (None, true),
            };
            let early = response.as_ref().is_some_and(|answer| answer.early_bytes > 0);
            let work_ms = outcome.delay_ms;
            let head_ms = latency_ms + if early { 0 } else { work_ms };
            let left_ms = ends_at.saturating_sub(now);
            own.world.0.clock.sleep(head_ms.min(left_ms)).await;
            own.point().await;
            if head_ms > left_ms {
                return Err(Lost);
            }
            let response = response.ok_or(Lost)?;
            let mut head = head(&own.world, &response, broken, work_ms, ends_at);
            head.body.idle_ms = idle_ms;
            Ok(head)
        }
    }
}

fn request(outgoing: Outgoing, origin: &str) -> Request {
    // What goes elsewhere keeps its origin.
    let path = outgoing.url.strip_prefix(origin).unwrap_or(&outgoing.url);
    Request {
        method: outgoing.method,
        path: path.into(),
        headers: outgoing.headers.iter().map(|(n, v)| (n.to_owned(), v.to_owned())).collect(),
        body: outgoing.body.unwrap_or_default(),
    }
}

fn head(
    world: &World,
    response: &Response,
    broken: bool,
    work_ms: u64,
    ends_at: u64,
) -> Head<SimBody> {
    let sent = if broken { response.body.len() / 2 } else { response.body.len() };
    let (early, late) = response.body[..sent].split_at(response.early_bytes.min(sent));
    let piece_ms = world.0.settings.borrow().piece_ms;
    let mut pieces = Vec::new();
    for (part, mut wait_ms) in [(early, 0), (late, if early.is_empty() { 0 } else { work_ms })] {
        for piece in part.chunks(7_000) {
            pieces.push((std::mem::take(&mut wait_ms) + piece_ms, piece.to_vec()));
        }
    }
    pieces.reverse();
    Head {
        status: response.status,
        headers: response.headers.iter().map(|(n, v)| (n.clone(), v.clone())).collect(),
        body: SimBody { world: world.clone(), pieces, broken, ends_at, idle_ms: None },
    }
}
