//! Carrying out what happens: the shipped code does it, and the laws look on.

use std::rc::Rc;

use holdfast::engine::{CallId, Input, Output, Transmit};
use holdfast::model::profile::Purpose;
use holdfast::model::storage::StoreError;
use holdfast::rules::step::Command;

use super::actions::Action;
use super::service::said;
use super::state::{Exchange, Part, State, Task};

/// A read that never arrives is given up then, in milliseconds.
const READ_TIMEOUT_MS: u64 = 30_000;

impl Exchange {
    pub fn is_submission(&self) -> bool {
        self.transmit.purpose == Purpose::Submit
    }
}

impl State {
    /// The state after something has happened.
    pub fn after(&self, action: Action) -> Self {
        let mut next = self.clone();
        next.let_happen(action);
        next
    }

    /// Lets something happen.
    pub fn let_happen(&mut self, action: Action) {
        self.carry_out(action);
        self.forget_what_is_over();
    }

    fn carry_out(&mut self, action: Action) {
        match action {
            Action::Open(slot) => {
                self.left.opens -= 1;
                self.open(slot);
                self.feed(slot, Input::Tick);
            }
            Action::Submit(slot) => self.submit(slot),
            Action::Hint(slot) => {
                if let Some(context) = self.context_mut(slot) {
                    context.hinted = false;
                }
                self.feed(slot, Input::Hint("reports".into()));
            }
            Action::Cancel(slot) => {
                self.left.wishes -= 1;
                self.seen.wished = true;
                if let Some(id) = self.stored.as_ref().map(|own| own.identity.id.clone()) {
                    let wish = Input::Command(CallId(99), id, Command::Cancel);
                    self.feed(slot, wish);
                }
            }
            Action::Tick(slot) => self.feed(slot, Input::Tick),
            Action::GoOn(slot, number) => self.go_on(slot, number),
            Action::Abort(slot, number) => {
                self.left.commits -= 1;
                self.tell(slot, number, |set| {
                    Input::Persisted(set, Err(StoreError::Aborted("at will".into())))
                });
            }
            Action::Unknown(slot, number) => {
                self.left.commits -= 1;
                self.go_on(slot, number);
                self.tell(slot, number, |set| {
                    Input::Persisted(set, Err(StoreError::Unknown("at will".into())))
                });
            }
            Action::Crash(slot) => {
                self.left.crashes -= 1;
                self.slots[slot] = None;
            }
            Action::Arrive(number) => {
                let mut exchange = self.net[number].get().clone();
                exchange.answer = Some(self.service.take(self.now, &exchange));
                self.net[number] = Rc::new(Part::new(exchange));
                self.arrived();
            }
            Action::Refuse(number, status) => {
                self.left.refusals -= 1;
                self.seen.refused += u8::from(status == 422);
                let mut exchange = self.net[number].get().clone();
                let code = if status == 409 { "REQUEST_IN_PROGRESS" } else { "INVALID" };
                exchange.answer = Some(said(status, &exchange.transmit, &[("code", code)]));
                self.net[number] = Rc::new(Part::new(exchange));
            }
            Action::Answer(number) => self.answer(number),
            Action::Lose(number) => {
                self.left.losses -= 1;
                self.give_up(number);
            }
            Action::TimeOut(number) => self.give_up(number),
            Action::Advance(to) => self.now = to,
        }
    }

    /// Feeds an input to a context as the driver does: whose work it is first, then what follows from
    /// each input before the next.
    pub fn feed(&mut self, slot: usize, input: Input) {
        let mut inputs = vec![input, Input::Account(Some("ann".into()))];
        let now = self.time();
        while let Some(input) = inputs.pop() {
            let Some(context) = self.context_mut(slot) else { return };
            context.engine.handle_input(now, input);
            while let Some(output) = self.context_mut(slot).and_then(|own| own.engine.poll_output())
            {
                self.begin(slot, output, &mut inputs);
            }
        }
    }

    fn begin(&mut self, slot: usize, output: Output, inputs: &mut Vec<Input>) {
        let task = match output {
            Output::Authorize { id, purpose, .. } => Task::Authorize(id, purpose),
            Output::Claim(claim) => Task::Claim(claim, None),
            Output::Deliver(operation) => Task::Deliver(operation.identity.id),
            Output::Event(event) => {
                self.told(&event);
                if let Some(other) = self.context_mut(1 - slot) {
                    other.hinted = true;
                }
                return;
            }
            Output::GiveBack(fence) => Task::GiveBack(fence),
            Output::Load(id) => Task::Load(id, None),
            Output::Persist(set) => Task::Write(set, None),
            Output::ReadDue { lane, queue, before, limit } => {
                Task::ReadDue { lane, queue, before, limit, read: None }
            }
            Output::Reply(_, Ok(operation)) => return self.acknowledged(&operation),
            Output::Reply(_, Err(_)) => {
                // The app is told, and asks again.
                if let Some(context) = self.context_mut(slot) {
                    context.asked = false;
                }
                return;
            }
            Output::Transmit(transmit) => return self.transmit(slot, *transmit, inputs),
        };
        if let Some(context) = self.context_mut(slot) {
            context.tasks.push(task);
        }
    }

    /// Sends, if that may be in this very turn.
    fn transmit(&mut self, slot: usize, transmit: Transmit, inputs: &mut Vec<Input>) {
        let (now, purpose) = (self.time(), transmit.purpose);
        let Some(context) = self.context(slot) else { return };
        if !context.engine.may_send(now, &transmit.id, purpose) {
            return inputs.insert(0, Input::NotSent(transmit.id, purpose));
        }
        let from = context.number;
        self.leaves(from, &transmit);
        let attempt =
            self.operation(&transmit.id).and_then(|own| own.life.evidence.current.clone());
        let until = match attempt.filter(|_| purpose == Purpose::Submit) {
            Some(attempt) => attempt.abort_at.0,
            None => self.now + READ_TIMEOUT_MS,
        };
        let key = transmit.headers.first("idempotency-key");
        let mark = key.unwrap_or(transmit.id.as_str()).to_owned();
        let exchange = Exchange { from, transmit, mark, until, answer: None, given_up: false };
        self.net.push(Rc::new(Part::new(exchange)));
    }

    fn answer(&mut self, number: usize) {
        let exchange = self.net.remove(number);
        let exchange = exchange.get();
        let Some(slot) = self.slot_of(exchange.from) else { return };
        let (transmit, answer) = (&exchange.transmit, exchange.answer.clone());
        let own = self
            .context(slot)
            .is_some_and(|own| own.engine.is_own_exchange(&transmit.id, transmit.download));
        if let Some(answer) = answer.filter(|_| own) {
            let news = Input::Answered(transmit.id.clone(), transmit.purpose, Box::new(answer));
            self.feed(slot, news);
        }
    }

    /// A context is told that its request is lost; the request itself goes on.
    fn give_up(&mut self, number: usize) {
        let mut exchange = self.net[number].get().clone();
        exchange.given_up = true;
        let (id, purpose) = (exchange.transmit.id.clone(), exchange.transmit.purpose);
        let (from, download) = (exchange.from, exchange.transmit.download);
        self.net[number] = Rc::new(Part::new(exchange));
        let Some(slot) = self.slot_of(from) else { return };
        if self.context(slot).is_some_and(|own| own.engine.is_own_exchange(&id, download)) {
            self.feed(slot, Input::Lost(id, purpose));
        }
    }

    /// Requests that can neither arrive nor be heard of any more, and reads that nobody waits for.
    fn forget_what_is_over(&mut self) {
        let numbers: Vec<u8> = (0..2).filter_map(|own| Some(self.context(own)?.number)).collect();
        let now = self.now;
        self.net.retain(|own| {
            let own = own.get();
            let waits = !own.given_up && numbers.contains(&own.from);
            let arrives = own.answer.is_none() && now < own.until && own.is_submission();
            waits || arrives
        });
    }
}
