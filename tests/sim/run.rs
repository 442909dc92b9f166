//! One run: a storm, then a calm in which everything must settle, then the reckoning.

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};

use holdfast::model::hold::Hold;
use holdfast::model::operation::Operation;

use super::house::House;
use super::plan::{Ends, Plan};
use super::transitions::Transition;
use super::world::World;
use super::{app, chaos, plants, reckoning, verbs};

/// How long the calm may take, in virtual milliseconds.
const CALM_MS: u64 = 3 * 3_600_000;

/// How long one account stays signed in during the calm, in virtual milliseconds.
const TURN_MS: u64 = 600_000;

/// What came of a run.
#[derive(Debug, Default)]
pub struct Outcome {
    pub breach: Option<String>,
    pub struck: Vec<u64>,
    pub transitions: BTreeMap<Transition, u64>,
    pub operations: u64,
    /// Operations that ended and were parked for nobody.
    pub unaided: u64,
    /// Which share its operations count in ([`super::report::SHARES`]).
    pub share: usize,
    pub parks: BTreeMap<String, u64>,
    pub commits: u64,
    pub requests: u64,
    pub executions: u64,
    pub calm_ms: u64,
}

/// Lives one seed through.
pub fn run(seed: u64, trace: bool) -> Outcome {
    let plan = Plan::draw(seed);
    let world = World::new(plan, trace);
    let lived = catch_unwind(AssertUnwindSafe(|| live(&world)));
    if lived.is_err() {
        world.breach(|| "a panic".into());
    }
    let outcome = outcome(&world);
    world.end();
    outcome
}

fn live(world: &World) {
    world.note(|| format!("{:#?}", world.0.plan));
    verbs::make_foreign(world);
    for _ in 0..world.0.plan.contexts {
        world.open();
    }
    world.outside(chaos::rage(world.clone()));
    if world.0.plan.plants {
        world.outside(plants::plant(world.clone()));
    }
    if world.0.plan.looks {
        world.outside(chaos::look(world.clone()));
    }
    if world.0.plan.signs_out {
        world.outside(chaos::sign_out(world.clone()));
    }
    world.run(world.now() + world.0.plan.storm_ms);
    world.calm_down();
    world.outside(person(world.clone()));
    let begin = world.now();
    world.sign_in("ann");
    settle(world, begin);
    // What was asked for in the last moment of the storm may only begin now.
    world.run(world.now() + 10_000);
    settle(world, begin);
    world.0.calm_ms.set(world.now() - begin);
    reckoning::check(world);
    submit_again(world);
}

/// Lets everything come to its end, with each account signed in by turns.
fn settle(world: &World, begin: u64) {
    let mut turned = world.now();
    while !world.is_breached() && world.now() < begin + CALM_MS && !world.is_settled() {
        if world.now() >= turned + TURN_MS {
            turned = world.now();
            let other = if world.0.account.get() == "ann" { "ben" } else { "ann" };
            if world.0.plan.work.iter().any(|work| work.account == other) {
                world.sign_in(other);
            }
        }
        world.run(world.now() + 5_000);
    }
}

/// Whatever is over is known still: nothing follows from submitting it again.
fn submit_again(world: &World) {
    let awake = world.alive().into_iter().find_map(|tab| Some((tab.awake()?, tab)));
    let Some((driver, tab)) = awake.filter(|_| !world.is_breached()) else { return };
    let before = world.0.service.borrow().ledger().executions;
    let again = verbs::submit_again(world.clone(), driver);
    world.0.tasks.spawn(std::rc::Rc::clone(&tab.being), again);
    world.run(world.now() + 20_000);
    if !world.0.oracle.borrow().submitted_again {
        world.breach(|| "submitting again is not answered".into());
    }
    let freed = !world.0.oracle.borrow().freed.is_empty();
    if world.0.service.borrow().ledger().executions > before && !freed {
        world.breach(|| "what is over is executed again".into());
    }
}

/// Looks after what is parked.
async fn person(world: World) {
    loop {
        world.0.clock.sleep(30_000).await;
        let Some(tab) = world.alive().into_iter().next() else { continue };
        let Some(driver) = tab.awake() else { continue };
        for operation in world.operations(world.0.account.get()) {
            let parked = matches!(operation.life.hold, Hold::Parked { .. });
            let corrects = verbs::wants_correction(&world, &operation);
            let helps = parked && !operation.life.is_ended() || app::is_deletion_parked(&operation);
            if !corrects && !helps {
                continue;
            }
            let (own, driver) = (world.clone(), driver.clone());
            let help = async move {
                if corrects {
                    verbs::revise(&own, &driver, &operation).await;
                } else {
                    app::help(&own, &driver, &operation).await;
                }
            };
            world.0.tasks.spawn(std::rc::Rc::clone(&tab.being), help);
        }
    }
}

impl World {
    /// Whether all work is over, delivered and billed.
    pub fn is_settled(&self) -> bool {
        self.0.plan.work.iter().all(|work| {
            let own = self.operations(work.account);
            let mut own = own.iter().filter(|own| own.identity.intent.as_str() == work.intent);
            let freed = self.0.oracle.borrow().freed.contains(&work.name());
            (freed || own.clone().next().is_some()) && own.all(|own| self.is_over(own))
        })
    }

    fn is_over(&self, own: &Operation) -> bool {
        let delivered = own.delivery_due().is_none() || !self.0.plan.consumes;
        let (deleted, right) = (own.life.deletion.is_none(), !verbs::wants_correction(self, own));
        own.life.is_ended() && delivered && deleted && right && own.life.settlement.is_none()
    }

    /// Takes the world apart: its parts hold one another.
    fn end(&self) {
        for tab in self.0.contexts.take() {
            tab.being.alive.set(false);
            tab.driver.take();
        }
        self.0.outside.alive.set(false);
        self.0.machine.borrow().alive.set(false);
        self.0.clock.drop_dead();
        while self.0.tasks.run_ready() {}
    }
}

fn outcome(world: &World) -> Outcome {
    let oracle = world.0.oracle.borrow();
    let all: Vec<_> = ["ann", "ben"].iter().flat_map(|own| world.operations(own)).collect();
    // A refusal after a lost answer is for a person by contract, and no result is to be had.
    let refused = |own: &Operation| world.work(own).is_none_or(|own| own.ends == Ends::Rejected);
    let all: Vec<_> = all.into_iter().filter(|own| !refused(own)).collect();
    let unaided = all
        .iter()
        .filter(|own| own.life.is_ended() && !oracle.parked.contains_key(&own.identity.id));
    let mut parks = BTreeMap::new();
    for reason in oracle.parked.values().flatten() {
        *parks.entry(reason.clone()).or_default() += 1;
    }
    Outcome {
        breach: oracle.breach.clone(),
        struck: world.struck(),
        transitions: oracle.transitions.clone(),
        operations: u64::try_from(all.len()).unwrap_or(0),
        unaided: u64::try_from(unaided.count()).unwrap_or(0),
        share: match world.0.plan.house {
            // Who has no credential for a minute may be asked for one.
            House::Keyed => usize::from(world.0.plan.hard || world.0.plan.signs_out),
            House::Listed | House::Bare | House::Priced | House::Streamed => 2,
        },
        parks,
        commits: oracle.commits,
        requests: oracle.requests,
        executions: u64::try_from(oracle.jobs.len()).unwrap_or(0),
        calm_ms: world.0.calm_ms.get(),
    }
}
