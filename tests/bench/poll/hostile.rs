//! Services that would have a client ask without a pause.

use serde_json::json;

use crate::BEGIN_MS;
use crate::client::Holdfast;
use crate::table::Table;
use crate::wire::{Answer, Ask, Client as _, Service, World};

/// No service has a client ask more often than this in ten seconds, or after less than this.
const IN_TEN_SECONDS_MAX: usize = 5;
const GAP_MIN_MS: u64 = 250;

/// What a hostile service answers to every poll: status, `Retry-After`, body.
type Hostile = (&'static str, u16, Option<&'static str>, &'static str);

const ACTIVE: &str = r#"{"id":"job_1","status":"running"}"#;

const ALL: [Hostile; 14] = [
    ("says nothing", 200, None, ACTIVE),
    ("Retry-After: 0", 200, Some("0"), ACTIVE),
    ("Retry-After: -1", 200, Some("-1"), ACTIVE),
    ("Retry-After: 0.001", 200, Some("0.001"), ACTIVE),
    ("Retry-After: soon", 200, Some("soon"), ACTIVE),
    ("Retry-After: a date of long ago", 200, Some("Wed, 21 Oct 2015 07:28:00 GMT"), ACTIVE),
    ("Retry-After: 999999999", 200, Some("999999999"), ACTIVE),
    ("a word that nobody knows", 200, None, r#"{"id":"job_1","status":"purring"}"#),
    ("an empty body", 200, None, ""),
    ("429, Retry-After: 0", 429, Some("0"), "{}"),
    ("503, Retry-After: 0", 503, Some("0"), "{}"),
    ("404 for ever", 404, None, "{}"),
    ("401 for ever", 401, None, "{}"),
    ("breaks the connection", 0, None, ""),
];

struct OneAnswer {
    hostile: Hostile,
    asked_at: Vec<u64>,
}

impl Service for OneAnswer {
    fn take(&mut self, now: u64, ask: &Ask) -> Option<Answer> {
        let (_, status, retry_after, body) = self.hostile;
        match ask {
            Ask::Submit { .. } => Some(Answer::new(202, ACTIVE)),
            Ask::Poll { .. } | Ask::Result => {
                self.asked_at.push(now);
                let answer = Answer::new(status, body).asking_to_wait(retry_after);
                (status > 0).then_some(answer)
            }
        }
    }
}

/// Lets each of them be asked for so long: the table, and those that were asked in a hot loop.
pub fn compare(seconds: u64) -> (Table, Vec<String>) {
    let mut faults = Vec::new();
    let mut table = Table::new(
        "poll-hostile",
        &["service", "then", "polls", "shortest gap ms", "most in 10 s", "hot loop"],
    );
    for hostile in ALL {
        // No time at all passes on the wire: nothing but the client's own patience holds it back.
        let mut world = World::new(OneAnswer { hostile, asked_at: Vec::new() }, 0, BEGIN_MS);
        world.add(Holdfast::submitting(BEGIN_MS, 1));
        while world.next().is_some_and(|at| at < BEGIN_MS + seconds * 1000) {
            world.step();
        }
        let asked_at = &world.service.asked_at;
        let gap = asked_at.windows(2).map(|pair| pair[1] - pair[0]).min();
        let within =
            |from: u64| asked_at.iter().filter(move |at| (from..from + 10_000).contains(*at));
        let most = asked_at.iter().map(|from| within(*from).count()).max().unwrap_or_default();
        let parked = world.clients[0].as_ref().is_some_and(Holdfast::has_given_up);
        let then = if parked { "parks" } else { "goes on" };
        let hot = most > IN_TEN_SECONDS_MAX || gap.is_some_and(|gap| gap < GAP_MIN_MS);
        if hot {
            faults.push(format!("a hot loop: {}: {most} in 10 s, gap {gap:?} ms", hostile.0));
        }
        table.row([
            json!(hostile.0),
            json!(then),
            json!(asked_at.len()),
            json!(gap),
            json!(most),
            json!(hot),
        ]);
    }
    (table, faults)
}
