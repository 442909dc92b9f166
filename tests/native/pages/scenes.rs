//! Where an answer finds an operation: one scene for each stage that a profile has.

use holdfast::model::ending::Ending;
use holdfast::model::evidence::AcceptedHow;
use holdfast::model::ids::JobId;
use holdfast::model::life::Life;
use holdfast::model::money::Credits;
use holdfast::model::operation::{Identity, Operation};
use holdfast::model::policy::OnUnknown;
use holdfast::model::profile::{Profile, Purpose};
use holdfast::model::time::Timestamp;

use crate::world::World;

/// Where an answer finds the operation.
pub struct Scene {
    pub name: &'static str,
    pub purpose: Purpose,
    pub operation: Operation,
}

pub fn now() -> Timestamp {
    Timestamp(1_790_000_100_000)
}

/// Long enough ago that every attempt is over, and every listing has caught up.
fn before() -> Timestamp {
    Timestamp(now().0 - 1_000_000)
}

pub fn scenes(profile: &Profile) -> Vec<Scene> {
    let base = base();
    let scene = |name, purpose, operation| Scene { name, purpose, operation };
    let calls = &profile.calls;
    let mut all = vec![
        scene("submit", Purpose::Submit, living(&base, write)),
        scene("submit, after an attempt whose answer was lost", Purpose::Submit, resent(&base)),
    ];
    if calls.quote.is_some() {
        let mut bounded = living(&base, |_| {});
        bounded.limits.cost = Credits::parse("10");
        all.push(scene("quote", Purpose::Quote, bounded));
    }
    if profile.reconcile.is_some() {
        let parking = living(&base, look_up);
        let mut resubmitting = parking.clone();
        resubmitting.limits.on_unknown = OnUnknown::Resubmit;
        all.push(scene("reconcile", Purpose::Reconcile, parking));
        all.push(scene("reconcile, with onUnknown: resubmit", Purpose::Reconcile, resubmitting));
    }
    if calls.poll.is_some() {
        all.push(scene("poll", Purpose::Poll, living(&base, accept)));
    }
    if profile.reads_jobs() {
        all.push(scene("result", Purpose::Result, living(&base, |life| complete(life, profile))));
    }
    if calls.cancel.is_some() {
        all.push(scene("cancel", Purpose::Cancel, living(&base, cancel)));
    }
    if calls.retry.is_some() {
        all.push(scene("retry of a failed job", Purpose::Submit, living(&rerun(&base), write)));
    }
    if calls.delete.is_some() {
        all.push(scene("delete", Purpose::Delete, living(&base, delete)));
        all.push(scene("read after a lost delete", Purpose::Settle, living(&base, delete_lost)));
        let taken = living(&base, delete_taken);
        all.push(scene("read after an accepted delete", Purpose::Settle, taken));
    }
    all
}

/// An operation as it is submitted.
fn base() -> Operation {
    let world = World::new();
    let context = world.open();
    let base = world.submit(&context, "daily", "");
    Operation { identity: Identity { created_at: before(), ..base.identity }, ..base }
}

/// An operation with a life of its own.
fn living(base: &Operation, live: impl FnOnce(&mut Life)) -> Operation {
    let mut operation = base.clone();
    operation.life = Life::new();
    live(&mut operation.life);
    operation
}

fn resent(base: &Operation) -> Operation {
    living(base, |life| {
        write(life);
        life.lost().expect("lost");
        write(life);
    })
}

fn rerun(base: &Operation) -> Operation {
    let mut operation = base.clone();
    operation.identity.ordinal = 1;
    operation.identity.parent = Some(operation.identity.id.clone());
    operation.request.content_type = None;
    operation.carried.push(("id".into(), "job-0".into()));
    operation
}

fn write(life: &mut Life) {
    life.write_ahead(now(), 2_000, 32_000, None).expect("written ahead");
}

fn job() -> Option<JobId> {
    Some("job-1".into())
}

fn accept(life: &mut Life) {
    write(life);
    life.accepted(job(), AcceptedHow::Answered, now()).expect("accepted");
}

fn complete(life: &mut Life, profile: &Profile) {
    if profile.calls.poll.is_some() {
        accept(life);
        life.completed(None, false).expect("completed");
    } else {
        write(life);
        life.fulfilled(job(), AcceptedHow::Answered, now(), None).expect("done");
    }
}

fn look_up(life: &mut Life) {
    life.write_ahead(before(), 2_000, 32_000, None).expect("written ahead");
    life.lost().expect("lost");
    life.reconcile(now(), 0).expect("looked up");
    life.release().expect("due");
}

fn cancel(life: &mut Life) {
    accept(life);
    life.want_cancel(now()).expect("wanted");
    life.write_cancel_ahead(now(), 2_000, 32_000).expect("written ahead");
}

fn delete(life: &mut Life) {
    accept(life);
    life.end(now(), Ending::Cancelled).expect("over");
    life.want_delete(now()).expect("wanted");
    life.write_delete_ahead(now(), 2_000, 32_000).expect("written ahead");
}

fn delete_taken(life: &mut Life) {
    delete(life);
    life.delete_accepted().expect("taken");
}

fn delete_lost(life: &mut Life) {
    delete(life);
    life.delete_answered(false).expect("lost");
}
