//! The app: one script in every context, and a person who looks after what is parked.

use std::rc::Rc;

use holdfast::driver::{Driver, Submission};
use holdfast::model::error::{Code, Error};
use holdfast::model::hold::{Hold, ParkReason};
use holdfast::model::ids::{Account, Intent, ServiceName};
use holdfast::model::money::Credits;
use holdfast::model::operation::Operation;
use holdfast::model::policy::LimitsPatch;
use holdfast::rules::step::{Command, Resolution};

use super::house::House;
use super::plan::{DAY_MS, Work};
use super::ports::SimPorts;
use super::verbs;
use super::world::{SECRET, Tab, World};

/// What an app does in one context, for as long as that lives.
pub async fn live(world: World, tab: Rc<Tab>, driver: Driver<SimPorts>) {
    let _ = driver.start().await;
    loop {
        let longest_ms = if world.0.calm.get() { 5_000 } else { 4_000 };
        let pause_ms = tab.dice.borrow_mut().up_to(longest_ms);
        world.0.clock.sleep(pause_ms).await;
        if world.0.calm.get() {
            for work in world.wanted() {
                submit(&world, &driver, &work).await;
            }
        } else {
            act(&world, &tab, &driver).await;
        }
    }
}

async fn act(world: &World, tab: &Rc<Tab>, driver: &Driver<SimPorts>) {
    let roll = |max| tab.dice.borrow_mut().up_to(max);
    let (what, which) = (roll(9), roll(1_000));
    let account = world.0.account.get();
    let own: Vec<_> = world.0.plan.work.iter().filter(|work| work.account == account).collect();
    if what < 6 || !world.0.plan.meddles {
        if let Some(work) = own.get(usize::try_from(which).unwrap_or(0) % own.len().max(1)) {
            submit(world, driver, &(*work).clone()).await;
        }
        return;
    }
    let all = world.operations(account);
    let Some(operation) = all.get(usize::try_from(which).unwrap_or(0) % all.len().max(1)) else {
        return driver.wake();
    };
    match roll(if world.0.plan.has_further_verbs() { 13 } else { 7 }) {
        0 => command(world, driver, operation, Command::Cancel).await,
        1 => command(world, driver, operation, Command::Acknowledge).await,
        2 | 3 => verbs::retry(world, driver, operation).await,
        8 | 9 => verbs::revise(world, driver, operation).await,
        10 | 11 => verbs::delete(world, driver, operation).await,
        12 => verbs::forget(world, driver, operation).await,
        13 => {
            if let Some(work) = world.work(operation).cloned() {
                verbs::quote(world, driver, &work).await;
            }
        }
        4 => {
            let lines = driver.journal(&operation.identity.id).await;
            check_error(world, lines.as_ref().err());
        }
        5 => {
            let again = Command::Resume { limits: None, accept_duplicate: roll(3) == 0 };
            command(world, driver, operation, again).await;
        }
        _ => help(world, driver, operation).await,
    }
}

pub async fn submit(world: &World, driver: &Driver<SimPorts>, work: &Work) {
    let freed = world.0.oracle.borrow().freed.contains(&work.name());
    if world.0.account.get() != work.account || freed {
        return;
    }
    if work.adopted {
        return verbs::adopt(world, driver, work).await;
    }
    let submission = Submission {
        service: ServiceName::from("reports"),
        intent: Intent::from(work.intent.as_str()),
        content_type: "application/json".into(),
        key: None,
        params: Vec::new(),
        limits: LimitsPatch::default(),
        body: work.body.clone().into_bytes(),
    };
    let result = driver.submit(submission).await;
    world.taken_on(work, &result);
}

pub fn check_error(world: &World, error: Option<&Error>) {
    if error.is_some_and(|error| format!("{error:?}").contains(SECRET)) {
        world.breach(|| "a credential is in an error".into());
    }
}

pub async fn command(
    world: &World,
    driver: &Driver<SimPorts>,
    operation: &Operation,
    command: Command,
) {
    let id = &operation.identity.id;
    {
        let mut oracle = world.0.oracle.borrow_mut();
        if command == Command::Cancel {
            oracle.cancelled.insert(id.clone());
        } else if command == Command::Resolve(Resolution::Abandon) {
            oracle.abandoned.insert(id.clone());
        }
    }
    world.note(|| format!("{} {command:?}", operation.identity.intent.as_str()));
    let result = driver.command(id, command).await;
    if let Err(error) = &result {
        world.note(|| format!("{}: {}", error.code.name(), error.message));
    }
    check_error(world, result.as_ref().err());
}

/// What a person does about a park: looks at the service, and takes the exit that fits.
pub async fn help(world: &World, driver: &Driver<SimPorts>, operation: &Operation) {
    let id = &operation.identity.id;
    if is_deletion_parked(operation) {
        return command(world, driver, operation, Command::Delete).await;
    }
    let Hold::Parked { reason, .. } = operation.life.hold else { return };
    let times = {
        let mut oracle = world.0.oracle.borrow_mut();
        let times = oracle.helped.entry(id.clone()).or_default();
        *times += 1;
        *times
    };
    let whose = world.whose(operation);
    if world.0.oracle.borrow().flying.get(&whose).is_some_and(|count| *count > 0) {
        return;
    }
    let exit = match reason {
        // It was deleted there, at the app's own word.
        ParkReason::JobNotFound
            if times > 2 && world.0.oracle.borrow().freed.contains(&whose.0) =>
        {
            Command::Resolve(Resolution::Abandon)
        }
        ParkReason::NeedsCredential
        | ParkReason::NeedsAccess
        | ParkReason::NeedsCredit
        | ParkReason::JobNotFound => Command::Resume { limits: None, accept_duplicate: false },
        ParkReason::DeadlineExceeded | ParkReason::BudgetExhausted => {
            let past_ms = world.wall().saturating_sub(operation.identity.created_at.0);
            let limits = LimitsPatch {
                send_within_ms: Some(past_ms + DAY_MS),
                total_ms: Some(past_ms + DAY_MS),
                attempts: Some(operation.limits.attempts + 50),
                cost: operation.limits.cost.map(|cost| Credits(cost.0 + 50_000_000)),
            };
            Command::Resume { limits: Some(limits), accept_duplicate: false }
        }
        ParkReason::OutcomeUnknown
        | ParkReason::Ambiguous
        | ParkReason::ScopeChanged
        | ParkReason::CancelUnconfirmed
        | ParkReason::KeyConflict
        | ParkReason::VersionMoved => match world.job_of(&whose) {
            // What has failed is never replayed, and what a service has forgotten neither.
            Some(_) if world.0.plan.house == House::Priced && times > 2 => {
                Command::Resolve(Resolution::Abandon)
            }
            Some(job) => Command::Resolve(Resolution::Found(job.as_str().into())),
            None => Command::Resolve(Resolution::NotExecuted),
        },
    };
    command(world, driver, operation, exit).await;
}

/// Whether its deletion waits for a person.
pub fn is_deletion_parked(operation: &Operation) -> bool {
    let deletion = operation.life.deletion.as_ref().filter(|_| operation.life.is_ended());
    deletion.is_some_and(|own| matches!(own.hold, Hold::Parked { .. }))
}

impl World {
    /// What a submission, or an adoption, was answered with.
    pub fn taken_on(&self, work: &Work, result: &Result<Operation, Error>) {
        match result {
            Ok(operation) => {
                self.0.oracle.borrow_mut().told_last = Some(operation.identity.id.clone());
                // The account may have changed on the way: then it is the other one's work.
                if operation.identity.account == Account::from(work.account) {
                    self.acknowledged(operation);
                }
            }
            Err(error) => {
                self.note(|| format!("submit of {}: {}", work.name(), error.code.name()));
                let conflict = matches!(error.code, Code::IntentConflict | Code::KeyConflict);
                let freed = self.0.oracle.borrow().freed.contains(&work.name());
                if (conflict || error.code == Code::InvalidInput) && !freed {
                    self.breach(|| format!("a good submission is refused: {error:?}"));
                }
            }
        }
        check_error(self, result.as_ref().err());
    }

    /// Every operation of an account, as it is stored.
    pub fn operations(&self, account: &str) -> Vec<Rc<Operation>> {
        use holdfast::driver::ports::Store;
        let rows = pollster::block_on(self.0.disk.live.list(&account.into(), None, 1_000));
        let rows = rows.unwrap_or_default();
        rows.iter().filter_map(|row| self.read(row)).collect()
    }

    /// Work of the current account that has no operation yet.
    fn wanted(&self) -> Vec<Work> {
        let account = self.0.account.get();
        let all = self.operations(account);
        let has = |work: &Work| all.iter().any(|own| own.identity.intent.as_str() == work.intent);
        let freed = self.0.oracle.borrow().freed.clone();
        let own = self.0.plan.work.iter().filter(|work| work.account == account);
        own.filter(|work| !has(work) && !freed.contains(&work.name())).cloned().collect()
    }
}
