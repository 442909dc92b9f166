//! What the app does besides submitting: reruns, corrections, adoptions, deletions, prices.

use holdfast::driver::{Adoption, Driver, Inquiry, Revision};
use holdfast::model::ending::Ending;
use holdfast::model::hold::Hold;
use holdfast::model::ids::ServiceName;
use holdfast::model::life::Stage;
use holdfast::model::money::{Amount, Credits};
use holdfast::model::operation::Operation;
use holdfast::model::policy::LimitsPatch;
use holdfast::rules::exits::may_be_revised;
use holdfast::rules::step::Command;
use holdfast_services::Request;

use super::app::{check_error, command, submit};
use super::house::House;
use super::parks::PRICE;
use super::plan::Work;
use super::ports::SimPorts;
use super::world::{SECRET, World};

type Client = Driver<SimPorts>;

/// Runs a failed job again.
pub async fn retry(world: &World, driver: &Client, operation: &Operation) {
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

/// Puts corrected work in the place of work of which nothing ran.
pub async fn revise(world: &World, driver: &Client, operation: &Operation) {
    let Some(work) = world.work(operation).filter(|_| world.0.plan.revises) else { return };
    let body = work.corrected(u64::from(operation.identity.ordinal) + 1).into_bytes();
    let revision = Revision { content_type: None, limits: LimitsPatch::default(), body };
    world.note(|| format!("{} is revised", work.name()));
    let result = driver.revise(&operation.identity.id, revision).await;
    match &result {
        Ok(child) => world.acknowledged(child),
        Err(error) => world.note(|| format!("{}: {}", error.code.name(), error.message)),
    }
    check_error(world, result.as_ref().err());
}

/// Whether a person would rather correct it than leave it as it is.
pub fn wants_correction(world: &World, operation: &Operation) -> bool {
    let refused = matches!(operation.life.stage, Stage::Ended { ending: Ending::Rejected(_), .. })
        || matches!(operation.life.hold, Hold::Parked { .. });
    let attempts = operation.spent.attempts + operation.life.attempts();
    let least = if world.0.plan.house == House::Priced { PRICE } else { Credits::LEAST };
    let spent = attempts >= operation.limits.attempts || operation.is_too_dear(least);
    let (work, ordinal) = world.whose(operation);
    let newest = !world.0.oracle.borrow().members.contains_key(&(work, ordinal + 1));
    world.0.plan.revises && refused && may_be_revised(operation) && !spent && newest
}

pub async fn delete(world: &World, driver: &Client, operation: &Operation) {
    if world.0.plan.deletes {
        world.0.oracle.borrow_mut().cancelled.insert(operation.identity.id.clone());
        command(world, driver, operation, Command::Delete).await;
    }
}

pub async fn forget(world: &World, driver: &Client, operation: &Operation) {
    if !world.0.plan.forgets {
        return;
    }
    let identity = &operation.identity;
    world.note(|| format!("{} is forgotten", identity.intent.as_str()));
    let result = driver.forget(identity.service.clone(), identity.intent.clone()).await;
    check_error(world, result.as_ref().err());
}

/// Asks for the price; what it says is the price.
pub async fn quote(world: &World, driver: &Client, work: &Work) {
    if world.0.plan.house != House::Priced {
        return;
    }
    let inquiry = Inquiry {
        service: ServiceName::from("reports"),
        content_type: "application/json".into(),
        params: Vec::new(),
        body: work.body.clone().into_bytes(),
    };
    let result = driver.quote(inquiry).await;
    let priced = |own: &holdfast::rules::classify::Said| own.ledger.get(Amount::Quoted);
    if let Ok(said) = &result
        && priced(said) != Some(PRICE)
    {
        world.breach(|| "another price is told than the service named".into());
    }
    check_error(world, result.as_ref().err());
}

/// Takes on the job that somebody else has made.
pub async fn adopt(world: &World, driver: &Client, work: &Work) {
    let job = world.0.oracle.borrow().foreign.get(&work.name()).cloned();
    let Some(job) = job else { return };
    let (service, intent) = (ServiceName::from("reports"), work.intent.as_str().into());
    let result = driver.adopt(Adoption { service, intent, job: job.as_str().into() }).await;
    world.taken_on(work, &result);
}

/// Somebody else makes the jobs that this app takes on.
pub fn make_foreign(world: &World) {
    for work in world.0.plan.work.iter().filter(|work| work.adopted) {
        let (path, name, value) = match world.0.plan.house {
            House::Listed | House::Bare => ("/api/v1/extract", "x-api-key", SECRET.to_owned()),
            House::Keyed | House::Priced | House::Streamed => {
                ("/api/v1/data/requests", "authorization", format!("Bearer {SECRET}"))
            }
        };
        let request = Request::new("POST", path)
            .with_header(name, &value)
            .with_header("idempotency-key", &work.name().replace(['/', ' '], "-"))
            .with_body(work.body.as_str());
        let outcome = {
            let mut service = world.0.service.borrow_mut();
            service.process(world.now(), &request)
        };
        world.arrived(&request, None, &outcome);
        let job = world.job_of(&(work.name(), 0));
        world.0.oracle.borrow_mut().foreign.extend(job.map(|job| (work.name(), job)));
    }
}

/// Everything is over: each intent still gives the newest operation of its work, whatever is left of
/// it, and nothing more is executed.
pub async fn submit_again(world: World, driver: Client) {
    for work in world.0.plan.work.clone() {
        if world.0.oracle.borrow().freed.contains(&work.name()) {
            continue;
        }
        world.sign_in(work.account);
        world.0.oracle.borrow_mut().told_last = None;
        submit(&world, &driver, &work).await;
        let oracle = world.0.oracle.borrow();
        let newest = oracle.members.iter().rfind(|(whose, _)| whose.0 == work.name());
        let told = oracle.told_last.clone();
        let same = newest.is_some_and(|(_, id)| told.as_ref() == Some(id));
        drop(oracle);
        if !same {
            world.breach(|| format!("{}, submitted again, gives {told:?}", work.name()));
        }
    }
    world.0.oracle.borrow_mut().submitted_again = true;
}
