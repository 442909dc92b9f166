//! Where explorations begin: each service, at each turn of an operation's life.

use holdfast::engine::WriteSet;
use holdfast::model::life::Stage;

use super::actions::Action;
use super::service::{Kind, Service};
use super::state::{Faults, State, Task};

const DAY_MS: u64 = 86_400_000;

/// A place to begin.
#[derive(Clone, Copy, Debug)]
pub struct Scene {
    pub name: &'static str,
    pub kind: Kind,
    pub at: At,
    /// How often the app may wish to cancel.
    pub wishes: u8,
}

/// How far the two have come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum At {
    /// Nothing is submitted.
    Start,
    /// The first attempt is to be written.
    Writing,
    /// It is on the wire.
    Sent,
    /// Its answer was lost.
    Lost,
    /// The first context writes the next attempt, and the second asks for the lane.
    Retried,
    /// The work is accepted.
    Accepted,
}

const fn scene(name: &'static str, kind: Kind, at: At) -> Scene {
    Scene { name, kind, at, wishes: 0 }
}

const KEYED: Kind = Kind::Keyed { retention_ms: DAY_MS };
const SHORT: Kind = Kind::Keyed { retention_ms: 120_000 };

pub const SCENES: &[Scene] = &[
    scene("keys: nothing is submitted", KEYED, At::Start),
    scene("keys: an attempt is being written", KEYED, At::Writing),
    scene("keys: an attempt is out", KEYED, At::Sent),
    scene("keys: an answer is lost", KEYED, At::Lost),
    scene("keys: both take it up", KEYED, At::Retried),
    scene("keys: the work is accepted", KEYED, At::Accepted),
    Scene { wishes: 1, ..scene("keys: the work is accepted, a wish", KEYED, At::Accepted) },
    Scene { wishes: 1, ..scene("keys: an answer is lost, a wish", KEYED, At::Lost) },
    scene("keys of two minutes: an answer is lost", SHORT, At::Lost),
    scene("listing: nothing is submitted", Kind::Listed, At::Start),
    scene("listing: an attempt is out", Kind::Listed, At::Sent),
    scene("listing: an answer is lost", Kind::Listed, At::Lost),
    Scene { wishes: 1, ..scene("listing: an answer is lost, a wish", Kind::Listed, At::Lost) },
    scene("neither: an attempt is out", Kind::Unlisted, At::Sent),
    scene("neither: an answer is lost", Kind::Unlisted, At::Lost),
];

/// Faults that an exploration may make use of.
pub const FAULTS: Faults =
    Faults { crashes: 1, losses: 1, commits: 1, refusals: 1, opens: 1, wishes: 0 };

impl Scene {
    /// The state in which it begins: two pages, of which the first has gone so far undisturbed.
    pub fn state(&self) -> State {
        let mut state = State::new(Service::new(self.kind), FAULTS);
        state.left.opens += 2;
        for slot in 0..2 {
            state.let_happen(Action::Open(slot));
        }
        if self.at != At::Start {
            state.let_happen(Action::Submit(0));
        }
        while !self.has_come(&state) {
            let next = self.next(&state);
            state.let_happen(next);
        }
        state.left = Faults { wishes: self.wishes, ..FAULTS };
        state
    }

    /// What leads on.
    fn next(&self, state: &State) -> Action {
        let is_second = self.at == At::Retried && is_lost(state);
        let leads_on = |action: &&Action| match action {
            Action::GoOn(slot, task) => {
                let task = state.context(*slot).and_then(|own| own.tasks.get(*task));
                let held = matches!(task, Some(Task::Write(_, None) | Task::Claim(_, None)));
                (*slot == 0 || is_second) && !(is_second && held)
            }
            Action::Tick(slot) => *slot == 0 || is_second,
            Action::Arrive(_) => self.at == At::Accepted,
            Action::Answer(_) => true,
            Action::Lose(_) => matches!(self.at, At::Lost | At::Retried) && !is_lost(state),
            Action::Open(_)
            | Action::Submit(_)
            | Action::Hint(_)
            | Action::Cancel(_)
            | Action::Abort(..)
            | Action::Unknown(..)
            | Action::Crash(_)
            | Action::Refuse(..)
            | Action::TimeOut(_)
            | Action::Advance(_) => false,
        };
        let all = state.actions();
        let next = all.iter().find(leads_on).copied();
        next.unwrap_or_else(|| Action::Advance(state.points().first().copied().expect("a way on")))
    }

    fn has_come(&self, state: &State) -> bool {
        let has = |slot, is_it: fn(&Task) -> bool| {
            state.context(slot).is_some_and(|own| own.tasks.iter().any(is_it))
        };
        let stored = state.stored.as_deref();
        match self.at {
            At::Start => true,
            At::Writing => has(0, is_attempt),
            At::Sent => state.net.iter().any(|own| own.get().is_submission()),
            At::Lost => is_lost(state),
            At::Retried => {
                is_lost(state) && has(0, is_attempt) && has(1, |own| matches!(own, Task::Claim(..)))
            }
            At::Accepted => stored.is_some_and(|own| own.life.stage == Stage::Work),
        }
    }
}

/// The first answer is lost, and that is stored.
fn is_lost(state: &State) -> bool {
    state.stored.as_ref().is_some_and(|own| own.life.evidence.unresolved.is_some())
}

fn is_attempt(task: &Task) -> bool {
    let current = |own: &WriteSet| own.operation.life.evidence.current.is_some();
    matches!(task, Task::Write(set, None) if current(set))
}
