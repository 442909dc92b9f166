//! The app: one script in every context, and a person who looks after what is parked.

use std::rc::Rc;

use holdfast::driver::{Driver, Submission};
use holdfast::engine::ServiceSetup;
use holdfast::model::ending::Ending;
use holdfast::model::error::{Code, Error};
use holdfast::model::hold::{Hold, ParkReason};
use holdfast::model::ids::{Account, Intent, ServiceName};
use holdfast::model::life::Stage;
use holdfast::model::operation::Operation;
use holdfast::model::policy::LimitsPatch;
use holdfast::record;
use holdfast::rules::profile;
use holdfast::rules::step::{Command, Resolution};

use super::plan::{DAY_MS, Plan, Work};
use super::ports::SimPorts;
use super::world::{SECRET, Tab, World};

const PROFILE: &str = include_str!("../../pkg-template/profiles/runharvester.json");

/// The service, as the app configures it.
pub fn service(plan: &Plan) -> ServiceSetup {
    let lifetime = format!("\"retentionMs\": {}", plan.key_ms);
    let text = PROFILE.replace("\"retentionMs\": 86400000", &lifetime);
    ServiceSetup {
        name: ServiceName::from("reports"),
        profile: profile::read(&text).unwrap_or_else(|_| unreachable!("a good profile")),
        profile_text: text,
        base_url: "https://api.example.com".into(),
        origin: "https://api.example.com".into(),
        params: Vec::new(),
        limits: plan.limits,
        retention: holdfast::model::policy::Retention::default(),
        derives_keys: plan.derives_keys,
    }
}

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
    match roll(7) {
        0 => command(world, driver, operation, Command::Cancel).await,
        1 => command(world, driver, operation, Command::Acknowledge).await,
        2 | 3 => retry(world, driver, operation).await,
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
    if world.0.account.get() != work.account {
        return;
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
    match &result {
        Ok(operation) => {
            // The account may have changed on the way: then it is the other one's work.
            if operation.identity.account == Account::from(work.account) {
                world.acknowledged(operation);
            }
        }
        Err(error) => {
            world.note(|| format!("submit of {}: {}", work.name(), error.code.name()));
            if matches!(error.code, Code::IntentConflict | Code::InvalidInput) {
                world.breach(|| format!("a good submission is refused: {error:?}"));
            }
        }
    }
    check_error(world, result.as_ref().err());
}

fn check_error(world: &World, error: Option<&Error>) {
    if error.is_some_and(|error| format!("{error:?}").contains(SECRET)) {
        world.breach(|| "a credential is in an error".into());
    }
}

async fn command(
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
        } else if matches!(command, Command::Resume { accept_duplicate: true, .. }) {
            let work = world.work(operation).map(Work::name).unwrap_or_default();
            *oracle.risked.entry(work).or_default() += 1;
        }
    }
    world.note(|| format!("{} {command:?}", operation.identity.intent.as_str()));
    let result = driver.command(id, command).await;
    if let Err(error) = &result {
        world.note(|| format!("{}: {}", error.code.name(), error.message));
    }
    check_error(world, result.as_ref().err());
}

async fn retry(world: &World, driver: &Driver<SimPorts>, operation: &Operation) {
    let Stage::Ended { ending: Ending::Failed(failure), .. } = &operation.life.stage else {
        return;
    };
    let id = &operation.identity.id;
    let result = driver.retry(id, failure.id.clone(), true, LimitsPatch::default()).await;
    if let Ok(child) = &result {
        world.acknowledged(child);
    }
    check_error(world, result.as_ref().err());
}

/// What a person does about a park: looks at the service, and takes the exit that fits.
pub async fn help(world: &World, driver: &Driver<SimPorts>, operation: &Operation) {
    let Hold::Parked { reason, .. } = operation.life.hold else { return };
    let exit = match reason {
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
                cost: None,
            };
            Command::Resume { limits: Some(limits), accept_duplicate: false }
        }
        ParkReason::OutcomeUnknown
        | ParkReason::Ambiguous
        | ParkReason::ScopeChanged
        | ParkReason::CancelUnconfirmed
        | ParkReason::KeyConflict
        | ParkReason::VersionMoved => match world.job_of(operation.identity.key.as_str()) {
            Some(job) => Command::Resolve(Resolution::Found(job.as_str().into())),
            None => Command::Resolve(Resolution::NotExecuted),
        },
    };
    command(world, driver, operation, exit).await;
}

impl World {
    /// Every operation of an account, as it is stored.
    pub fn operations(&self, account: &str) -> Vec<Operation> {
        use holdfast::driver::ports::Store;
        let rows = pollster::block_on(self.0.disk.live.list(&account.into(), None, 1_000));
        let rows = rows.unwrap_or_default();
        rows.iter().filter_map(|row| record::decode(&row.document).ok()).collect()
    }

    /// Work of the current account that has no operation yet.
    fn wanted(&self) -> Vec<Work> {
        let account = self.0.account.get();
        let all = self.operations(account);
        let has = |work: &Work| all.iter().any(|own| own.identity.intent.as_str() == work.intent);
        let own = self.0.plan.work.iter().filter(|work| work.account == account);
        own.filter(|work| !has(work)).cloned().collect()
    }
}
