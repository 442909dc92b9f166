//! The tasks of a context: transactions, and what is told of them.

use std::rc::Rc;

use holdfast::driver::ports::Store as _;
use holdfast::driver::ports::store::Write;
use holdfast::engine::{Input, LoadError, Ticket};
use holdfast::model::storage::{Durability, StoreError, Written};
use holdfast::record;
use pollster::block_on;

use super::state::{State, Task};

impl State {
    /// Carries a task's transaction out; where that is done, tells what came of it.
    pub fn go_on(&mut self, slot: usize, number: usize) {
        let Some(context) = self.context(slot) else { return };
        let Some(task) = context.tasks.get(number).cloned() else { return };
        let done = match task {
            Task::Claim(claim, None) => {
                let lane = block_on(self.store_mut().claim(&claim)).ok();
                Task::Claim(claim, lane)
            }
            Task::Load(id, None) => {
                let read = self.read(&id).map(Box::new);
                Task::Load(id, Some(read))
            }
            Task::ReadDue { lane, queue, before, limit, read: None } => {
                let due = block_on(self.store.get().due(&lane, queue, before, limit));
                let due = due.unwrap_or_default();
                let rows = due.rows.iter().filter_map(|row| record::decode(&row.document).ok());
                let read = Some((rows.collect(), due.next));
                Task::ReadDue { lane, queue, before, limit, read }
            }
            Task::Write(set, None) => {
                let written = self.commit(Write::from((*set).clone()), set.durability);
                Task::Write(set, Some(written))
            }
            Task::GiveBack(fence) => {
                let _ = block_on(self.store_mut().give_back(&fence));
                return self.take_task(slot, number);
            }
            over @ (Task::Authorize(..)
            | Task::Claim(..)
            | Task::Deliver(_)
            | Task::Load(..)
            | Task::ReadDue { .. }
            | Task::Write(..)) => return self.finish(slot, number, over),
        };
        if let Some(own) = self.context_mut(slot).and_then(|own| own.tasks.get_mut(number)) {
            *own = done;
        }
    }

    /// Tells a context what has come of a task.
    fn finish(&mut self, slot: usize, number: usize, task: Task) {
        self.take_task(slot, number);
        let input = match task {
            Task::Authorize(id, purpose) => Input::Authorized(id, purpose, None),
            Task::Claim(claim, lane) => {
                let failed = || StoreError::Aborted("no lane".into());
                Input::Claimed(claim.lane, lane.ok_or_else(failed))
            }
            Task::Deliver(id) => Input::Delivered(id, true),
            Task::Load(id, read) => Input::Loaded(id, read.ok_or(LoadError::Damaged)),
            Task::ReadDue { lane, queue, read, .. } => {
                Input::Due(lane, queue, Ok(read.unwrap_or_default()))
            }
            Task::Write(set, written) => {
                Input::Persisted(set.ticket, Ok(written.unwrap_or(Written::Stale)))
            }
            Task::GiveBack(_) => return,
        };
        self.feed(slot, input);
    }

    fn take_task(&mut self, slot: usize, number: usize) {
        if let Some(context) = self.context_mut(slot) {
            context.tasks.remove(number);
        }
    }

    /// Ends a write with news of its own.
    pub fn tell(&mut self, slot: usize, number: usize, news: impl FnOnce(Ticket) -> Input) {
        let Some(context) = self.context_mut(slot) else { return };
        if let Task::Write(set, _) = context.tasks.remove(number) {
            self.feed(slot, news(set.ticket));
        }
    }

    fn commit(&mut self, write: Write, durability: Durability) -> Written {
        let before = self.operation(&write.row.id);
        let batch = [write];
        let written = block_on(self.store_mut().commit(&batch, durability)).unwrap_or_default();
        let written = written.into_iter().next().unwrap_or(Written::Stale);
        let [write] = batch;
        if written == Written::Done {
            match record::decode(&write.row.document) {
                Ok(after) => {
                    self.written(&write, before.as_deref(), &after, durability);
                    self.stored = Some(Rc::new(after));
                }
                Err(_) => self.breach("a record that cannot be read"),
            }
        }
        written
    }
}
