//! What befalls the machine, the network and the session as a whole.

use std::cell::RefCell;
use std::rc::Rc;

use holdfast::model::dice::Dice;

use super::kinds::Kind;
use super::world::World;

/// More than a minute back ends a key's lifetime while an outcome is unknown: so little does not.
const LITTLE_MS: u64 = 35_000;

/// Strikes now and then, until the calm.
pub async fn rage(world: World) {
    while !world.0.calm.get() {
        let pause_ms = 200 + world.up_to(4_000);
        world.0.clock.sleep(pause_ms).await;
        strike_network(&world);
        strike_contexts(&world);
        strike_clock(&world);
        strike_session(&world);
    }
}

/// Somebody looks at one context, then at another, which asks the others for what they drive; until the calm.
pub async fn look(world: World) {
    let dice = RefCell::new(Dice::seeded(world.0.plan.seed ^ 0x5EE4));
    let roll = |max| dice.borrow_mut().up_to(max);
    while !world.0.calm.get() {
        world.0.clock.sleep(100 + roll(6_000)).await;
        let alive = world.alive();
        let seen = roll(alive.len() as u64) as usize;
        for tab in alive.iter().enumerate().filter(|(at, _)| *at != seen).map(|(_, tab)| tab) {
            if let Some(driver) = tab.awake() {
                world.0.tasks.spawn(Rc::clone(&tab.being), async move { driver.offer(None) });
            }
        }
    }
}

/// One context has no credential for a while where another goes on, then another has none; until the calm.
pub async fn sign_out(world: World) {
    let mut dice = Dice::seeded(world.0.plan.seed ^ 0x0575);
    while !world.0.calm.get() {
        let alive = world.alive();
        let one = dice.up_to(2 * alive.len() as u64) as usize;
        for (at, tab) in alive.iter().enumerate() {
            tab.being.signed_out.set(at == one);
        }
        world.0.clock.sleep(1_000 + dice.up_to(60_000)).await;
    }
    for tab in world.alive() {
        tab.being.signed_out.set(false);
    }
}

fn strike_network(world: &World) {
    if world.strikes(Kind::Outage, 1) {
        let length_ms = world.pick(&[1_000, 15_000, 90_000]);
        world.0.offline_until.set(world.now() + length_ms);
    }
    if world.strikes(Kind::ServiceDown, 1) {
        let length_ms = world.pick(&[2_000, 20_000, 120_000]);
        world.0.down_until.set(world.now() + length_ms);
    }
}

fn strike_contexts(world: &World) {
    for tab in world.alive() {
        if world.strikes(Kind::Close, 2) {
            if let Some(driver) = tab.awake() {
                driver.close();
            }
            let (later, tab) = (world.clone(), tab);
            world.outside(async move {
                let last_ms = later.pick(&[0, 3, 200]);
                later.0.clock.sleep(last_ms).await;
                later.kill(&tab);
            });
        }
    }
    let power = world.strikes(Kind::PowerLost, 4);
    if power || world.strikes(Kind::BrowserKilled, 4) {
        for tab in world.alive() {
            world.kill(&tab);
        }
        let machine = world.0.machine.replace(super::tasks::Being::new());
        machine.alive.set(false);
        world.0.tasks.drop_dead();
        if power {
            let most = u64::try_from(world.0.disk.unsynced()).unwrap_or(0);
            let survive = usize::try_from(world.up_to(most)).unwrap_or(0);
            world.note(|| format!("power is lost, {survive} of {most} relaxed writes survive"));
            world.0.disk.lose_power(survive);
        }
    }
    if world.strikes(Kind::Sleep, 4) {
        let length_ms = world.pick(&[5_000, 60_000, 900_000]);
        for tab in world.alive() {
            world.freeze(&tab, length_ms);
        }
    }
}

fn strike_clock(world: &World) {
    let by_ms: i64 = if world.strikes(Kind::ClockAhead, 2) {
        world.pick(&[1_000, 30_000, 600_000, 7_200_000])
    } else if (world.0.plan.hard || set_back(world) < LITTLE_MS)
        && world.strikes(Kind::ClockBack, 2)
    {
        -world.pick(&[500, 5_000, 20_000])
    } else if world.strikes(Kind::ClockFarBack, 2) {
        -world.pick(&[300_000, 3_600_000, 36_000_000])
    } else {
        return;
    };
    world.set_clock(by_ms);
}

/// By how much the clock has been set back so far.
fn set_back(world: &World) -> u64 {
    world.0.oracle.borrow().clock_set_back.iter().sum()
}

fn strike_session(world: &World) {
    if world.strikes(Kind::AccountSwitch, 2) {
        let account = if world.0.account.get() == "ann" { "ben" } else { "ann" };
        world.sign_in(account);
    }
    if world.strikes(Kind::ScopeChange, 2) {
        let length_ms = world.pick(&[2_000, 30_000]);
        world.0.scope_until.set(world.now() + length_ms);
        world.0.oracle.borrow_mut().scope_changes += 1;
    }
}

impl World {
    pub fn set_clock(&self, by_ms: i64) {
        self.note(|| format!("the clock is set by {by_ms} ms"));
        self.0.offset_ms.set(self.0.offset_ms.get() + by_ms);
        let mut oracle = self.0.oracle.borrow_mut();
        oracle.clock_set_at = self.now();
        if by_ms < 0 {
            oracle.clock_set_back.push(by_ms.unsigned_abs());
        }
    }

    /// Another account is signed in, in every context; each hears of it sooner or later.
    pub fn sign_in(&self, account: &'static str) {
        self.note(|| format!("{account} is signed in"));
        self.0.account.set(account);
        for tab in self.alive() {
            if let Some(driver) = tab.awake() {
                self.0.tasks.spawn(Rc::clone(&tab.being), async move { driver.wake() });
            }
        }
    }

    /// The faults are over: everything is awake, and at least one context lives.
    pub fn calm_down(&self) {
        self.note(|| "calm".into());
        self.0.calm.set(true);
        self.0.offline_until.set(0);
        self.0.down_until.set(0);
        self.0.scope_until.set(0);
        for tab in self.alive() {
            self.thaw(&tab);
        }
        if self.alive().is_empty() {
            self.open();
        }
    }
}
