//! Everything that can happen next in a state.

use super::service::Kind;
use super::state::{State, Task};

/// One thing that happens. A slot is a context's place, a number stands for a task or a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// A page is opened.
    Open(usize),
    /// The app submits, in a page that has not yet.
    Submit(usize),
    /// A context hears that another has changed something, however late.
    Hint(usize),
    /// The app wishes to cancel.
    Cancel(usize),
    /// A timer fires, however late.
    Tick(usize),
    /// A task goes on: its transaction is carried out, or what came of that is told.
    GoOn(usize, usize),
    /// A transaction is aborted, and that is told.
    Abort(usize, usize),
    /// A transaction is carried out, and nobody is told; nor when it is made again.
    Unknown(usize, usize),
    /// A context ends without a word.
    Crash(usize),
    /// A request arrives.
    Arrive(usize),
    /// A request arrives, and is refused with this status.
    Refuse(usize, u16),
    /// An answer is handed to its context, however late.
    Answer(usize),
    /// A context is told that its request is lost. One that has not arrived may do so yet.
    Lose(usize),
    /// The exchange has taken as long as it may.
    TimeOut(usize),
    /// The clock moves on to a point at which something changes.
    Advance(u64),
}

impl State {
    /// Everything that can happen now.
    pub fn actions(&self) -> Vec<Action> {
        let mut all = Vec::new();
        for slot in 0..2 {
            self.actions_of(slot, &mut all);
        }
        for number in 0..self.net.len() {
            self.actions_on_wire(number, &mut all);
        }
        all.extend(self.points().into_iter().map(Action::Advance));
        all
    }

    fn actions_of(&self, slot: usize, all: &mut Vec<Action>) {
        let Some(context) = self.context(slot) else {
            if self.left.opens > 0 {
                all.push(Action::Open(slot));
            }
            return;
        };
        if !context.asked {
            all.push(Action::Submit(slot));
        }
        if context.engine.poll_timeout().is_some_and(|at| at.0 <= self.now) {
            all.push(Action::Tick(slot));
        }
        if context.hinted {
            all.push(Action::Hint(slot));
        }
        if self.left.wishes > 0 && self.stored.is_some() {
            all.push(Action::Cancel(slot));
        }
        let mut writing = false;
        for (number, task) in context.tasks.iter().enumerate() {
            // Writes go one after the other.
            let write = matches!(task, Task::Write(..));
            if write && std::mem::replace(&mut writing, true) {
                continue;
            }
            all.push(Action::GoOn(slot, number));
            if self.left.commits > 0 && matches!(task, Task::Write(_, None)) {
                all.extend([Action::Abort(slot, number), Action::Unknown(slot, number)]);
            }
        }
        if self.left.crashes > 0 {
            all.push(Action::Crash(slot));
        }
    }

    fn actions_on_wire(&self, number: usize, all: &mut Vec<Action>) {
        let exchange = self.net[number].get();
        let waits = !exchange.given_up && self.slot_of(exchange.from).is_some();
        if exchange.answer.is_none() && self.now < exchange.until {
            all.push(Action::Arrive(number));
            if self.left.refusals > 0 && waits && exchange.is_submission() {
                all.push(Action::Refuse(number, 422));
                let keyed = matches!(self.service.kind, Kind::Keyed { .. });
                if keyed && self.service.executions() > 0 {
                    all.push(Action::Refuse(number, 409));
                }
            }
        }
        if waits && exchange.answer.is_some() {
            all.push(Action::Answer(number));
        }
        if waits && self.left.losses > 0 {
            all.push(Action::Lose(number));
        }
        if waits && exchange.answer.is_none() && exchange.until <= self.now {
            all.push(Action::TimeOut(number));
        }
    }

    /// The points ahead at which something changes: where a timer is due, an attempt may no longer
    /// leave or arrive, a lease ends, a listing shows more, a key is forgotten.
    pub fn points(&self) -> Vec<u64> {
        let mut all = Vec::new();
        for slot in 0..2 {
            all.extend(self.context(slot).and_then(|own| own.engine.poll_timeout()).map(|at| at.0));
        }
        all.extend(self.net.iter().map(|own| own.get().until));
        all.extend(self.lane().map(|lane| lane.lease_until.0));
        all.extend(self.service.changes_at());
        if let Some(stored) = &self.stored {
            all.extend(stored.life.evidence.current.as_ref().map(|own| own.send_before.0));
        }
        all.retain(|at| *at > self.now);
        all.sort_unstable();
        all.dedup();
        all
    }
}
