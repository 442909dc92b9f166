//! A write whose fate is unknown, and which is found to be done when its lane has another owner already:
//! who waits for it is told, and what shall follow it is left to the owner.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use crate::world::{
    CommitFault, Context, DAY_MS, FreezeWhen, Settings, World, keys, service, standing, submission,
};
use holdfast::driver::ports::Store;
use holdfast::model::error::Error;
use holdfast::model::ids::Epoch;
use holdfast::model::life::Stage;
use holdfast::model::operation::Operation;
use holdfast::rules::step::Command;
use holdfast_services::Call;

/// What the app is told of a call, once it is.
type Told = Rc<RefCell<Option<Result<Operation, Error>>>>;

/// How it is known that a context which stands still is not to be waited for.
#[derive(Clone, Copy, Debug)]
enum Loses {
    /// Its lock is gone: at once, and its attempt might still leave.
    Lock,
    /// Its lease is over.
    Lease,
}

fn world(loses: Loses) -> World {
    // While it waits for a credential, a new owner has read what is due and written nothing of it.
    let locks = matches!(loses, Loses::Lock);
    World::with(Settings { locks, authorize_ms: 40, ..Settings::default() }, service())
}

/// Makes a call of the app that may stand still.
fn calls(
    world: &World,
    context: &Context,
    call: impl Future<Output = Result<Operation, Error>> + 'static,
) -> Told {
    let told = Told::default();
    let slot = Rc::clone(&told);
    world.spawn(context, async move { *slot.borrow_mut() = Some(call.await) });
    told
}

fn submits(world: &World, context: &Context, intent: &str) -> Told {
    let (driver, request) = (context.driver.clone(), submission(intent, r#","duration_ms":3000"#));
    calls(world, context, async move { driver.submit(request).await })
}

/// The writer of such a write stands still behind it until another context has its lane; gives that
/// one, or nothing where there is no such write.
fn lose_lane_behind(world: &World, writer: &Context, wanted: FreezeWhen) -> Option<Context> {
    *world.0.freeze_when.borrow_mut() = Some(wanted);
    world.run(world.0.clock.now() + DAY_MS, || writer.being.frozen.get());
    if !writer.being.frozen.get() {
        return None;
    }
    let epoch = || -> Epoch {
        let lane = world.stored("daily").expect("it is stored").lane();
        let lane = pollster::block_on(world.0.store.lane(&lane)).expect("memory");
        lane.expect("a lane").epoch
    };
    let before = epoch();
    world.lose_lock(writer);
    let other = world.open();
    submits(world, &other, "other");
    world.run(world.0.clock.now() + DAY_MS, || epoch() != before);
    assert_ne!(epoch(), before, "the lane has another owner");
    world.thaw(writer);
    Some(other)
}

/// A life whose write of this number is answered when its lane is lost; nothing where it has fewer.
fn life(loses: Loses, number: usize) -> Option<(World, Told)> {
    let world = world(loses);
    let first = world.open();
    // So that it owns the lane already, and its first write of the next is under ownership too.
    world.live(&first, "earlier", "");
    let mut faults = vec![CommitFault::Pass; number];
    faults.push(CommitFault::UnknownDone);
    world.0.commits.fail(&faults);
    let told = submits(&world, &first, "daily");
    let before = Cell::new(number);
    let wanted = Box::new(move |_: &Operation| before.replace(before.get().wrapping_sub(1)) == 0);
    let second = lose_lane_behind(&world, &first, wanted)?;
    for intent in ["daily", "other"] {
        comes_home(&world, &second, intent, number);
    }
    Some((world, told))
}

fn comes_home(world: &World, context: &Context, intent: &str, number: usize) {
    let ended = world.settle(context, intent).expect("it ends");
    assert_eq!(standing(&ended), "succeeded", "{intent}, write {number}: {:?}", ended.life);
    let delivered = world.0.delivered.borrow();
    assert!(delivered.contains(&ended.identity.id.as_str().to_owned()), "{intent}, {number}");
}

#[test]
fn any_write_of_a_life_that_is_found_late_loses_nothing_and_repeats_nothing() {
    for loses in [Loses::Lock, Loses::Lease] {
        let mut lives = 0;
        while let Some((world, told)) = life(loses, lives) {
            let how = format!("{loses:?}, write {lives}");
            assert_eq!(world.0.commits.late.get(), 1, "{how}");
            assert!(matches!(*told.borrow(), Some(Ok(_))), "{how}: {:?}", told.borrow());
            assert_eq!((world.requests(Call::Submit).len(), keys(&world)), (3, 3), "{how}");
            let service = world.0.service.borrow();
            let ledger = service.ledger();
            assert_eq!((ledger.executions, ledger.charges), (3, 3), "{how}");
            assert_eq!((ledger.key_mismatches, ledger.too_fast), (0, 0), "{how}");
            lives += 1;
        }
        assert!(lives >= 5, "{lives} writes");
    }
}

#[test]
fn a_wish_that_is_found_late_is_granted_and_carried_out_by_the_owner_alone() {
    for loses in [Loses::Lock, Loses::Lease] {
        let world = world(loses);
        let first = world.open();
        let operation = world.submit(&first, "daily", r#","duration_ms":600000"#);
        world.until("daily", |own| own.life.stage == Stage::Work);
        // Between two polls.
        world.pass(500);
        world.0.commits.fail(&[CommitFault::UnknownDone]);
        let (driver, id) = (first.driver.clone(), operation.identity.id);
        let told = calls(&world, &first, async move { driver.command(&id, Command::Cancel).await });
        let wanted = Box::new(|own: &Operation| own.life.cancel.is_some());
        let second = lose_lane_behind(&world, &first, wanted).expect("a wish");
        let ended = world.settle(&second, "daily").expect("it ends");
        assert!(matches!(*told.borrow(), Some(Ok(_))), "{loses:?}: {:?}", told.borrow());
        assert_eq!(standing(&ended), "cancelled", "{loses:?}");
        let (late, cancels) = (world.0.commits.late.get(), world.requests(Call::Cancel).len());
        assert_eq!((late, cancels), (1, 1), "{loses:?}");
    }
}

#[test]
fn a_wish_that_waits_behind_a_write_that_is_found_late_is_granted_all_the_same() {
    let world = world(Loses::Lease);
    let first = world.open();
    let operation = world.submit(&first, "daily", r#","duration_ms":600000"#);
    world.until("daily", |own| own.life.stage == Stage::Work);
    world.0.settings.borrow_mut().commit_ms = 1_000;
    let polls = world.requests(Call::Poll).len();
    world.run(world.0.clock.now() + DAY_MS, || world.requests(Call::Poll).len() > polls);
    // The answer has come, and is being written.
    world.pass(500);
    world.0.commits.fail(&[CommitFault::UnknownDone]);
    let (driver, id) = (first.driver.clone(), operation.identity.id);
    let told = calls(&world, &first, async move { driver.command(&id, Command::Cancel).await });
    let wanted = Box::new(|own: &Operation| own.identity.intent.as_str() == "daily");
    let second = lose_lane_behind(&world, &first, wanted).expect("a poll's write");
    let ended = world.settle(&second, "daily").expect("it ends");
    assert_eq!(world.0.commits.late.get(), 1);
    assert!(matches!(*told.borrow(), Some(Ok(_))), "{:?}", told.borrow());
    assert_eq!(standing(&ended), "cancelled");
}
