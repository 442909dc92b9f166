//! The reckoning at the end of a run: everything is settled, and nothing is lost.

use holdfast::driver::ports::Store;
use holdfast::driver::ports::store::ChunkId;
use holdfast::model::ending::Ending;
use holdfast::model::journal::JOURNAL_MAX;
use holdfast::model::life::Stage;
use holdfast::model::money::Credits;
use holdfast::model::operation::Operation;
use holdfast::rules::digest::{Sha256Stream, hex};
use pollster::block_on;

use super::oracle::event_of;
use super::transitions::standing;
use super::world::World;

pub fn check(world: &World) {
    if world.is_breached() {
        return;
    }
    if !world.is_settled() {
        let all = ["ann", "ben"].iter().flat_map(|own| world.operations(own));
        let open: Vec<_> = all.map(|own| (own.identity.intent.0.clone(), standing(&own))).collect();
        return world.breach(|| format!("it does not settle: {open:?}"));
    }
    let acknowledged = world.0.oracle.borrow().acknowledged.clone();
    for (id, key) in acknowledged {
        let kept = world.operation(&id).is_some_and(|own| own.identity.key.as_str() == key);
        if !kept {
            world.breach(|| format!("acknowledged work is lost: {}", id.as_str()));
        }
    }
    if world.0.service.borrow().ledger().key_mismatches > 0 {
        world.breach(|| "the service has seen a key with another request".into());
    }
    super::plants::check(world);
    for account in ["ann", "ben"] {
        for own in world.operations(account) {
            check_one(world, &own);
        }
    }
}

fn check_one(world: &World, own: &Operation) {
    let id = &own.identity.id;
    if world.0.plan.consumes && !world.0.oracle.borrow().delivered.contains(id) {
        let acknowledged = own.delivery_due().is_none();
        if !acknowledged {
            world.breach(|| "an ending is never delivered".into());
        }
    }
    check_journal(world, own);
    check_result(world, own);
    check_ledger(world, own);
}

/// The journal tells what the state shows.
fn check_journal(world: &World, own: &Operation) {
    let id = &own.identity.id;
    let rows = block_on(world.0.disk.live.journal(id)).unwrap_or_default();
    let count = u32::try_from(rows.len()).unwrap_or(u32::MAX);
    let newest = rows.last().map_or(0, |row| row.number);
    if count != own.counters.journal.min(JOURNAL_MAX) || newest != own.counters.journal {
        return world.breach(|| {
            format!("the journal has {count} lines and should have {}", own.counters.journal)
        });
    }
    if own.counters.journal > JOURNAL_MAX {
        return;
    }
    let told = |event: &str| -> u64 {
        let rows = rows.iter().filter(|row| event_of(&row.document).as_deref() == Some(event));
        rows.map(|row| times(&row.document)).sum()
    };
    if told("submit.written") != u64::from(own.life.attempts()) {
        world.breach(|| "the journal tells of other attempts than there were".into());
    }
    if let Stage::Ended { ending, .. } = &own.life.stage
        && told(ending.name()) != 1
    {
        world.breach(|| "the journal tells of another ending".into());
    }
}

fn times(line: &str) -> u64 {
    let value: serde_json::Value = serde_json::from_str(line).unwrap_or_default();
    value["count"].as_u64().unwrap_or(0)
}

/// The kept result is whole, and it is this work's.
fn check_result(world: &World, own: &Operation) {
    let Stage::Ended { ending: Ending::Succeeded { result, .. }, .. } = &own.life.stage else {
        return;
    };
    let mut bytes = Vec::new();
    for index in 0..result.chunks {
        let operation = own.identity.id.clone();
        let chunk = ChunkId { operation, download: result.download, index };
        bytes.extend(block_on(world.0.disk.live.chunk(&chunk)).ok().flatten().unwrap_or_default());
    }
    let mut digest = Sha256Stream::default();
    digest.update(&bytes);
    let whole = bytes.len() as u64 == result.bytes && hex(&digest.finish()) == result.sha256;
    let job = own.life.job().map(|job| job.as_str().to_owned()).unwrap_or_default();
    let body: serde_json::Value = serde_json::from_slice(&bytes).unwrap_or_default();
    if !whole || body["id"].as_str() != Some(&job) {
        world.breach(|| "a kept result is not whole, or another's".into());
    }
}

/// What the client says that it cost is what the service charged, once the billing is final.
fn check_ledger(world: &World, own: &Operation) {
    let Some(id) = own.life.job() else { return };
    let settled = own.ledger.token_state.as_deref();
    if !matches!(settled, Some("charged" | "released")) {
        return;
    }
    let service = world.0.service.borrow();
    let Some(job) = service.ledger().jobs.get(id.as_str()) else { return };
    let charged = i64::try_from(job.charged - job.refunded).unwrap_or(0) * 1_000_000;
    if own.ledger.cost() != Credits(charged) {
        let (own, job) = (own.ledger.clone(), job.clone());
        drop(service);
        world.breach(|| format!("the ledgers differ: {own:?} and {job:?}"));
    }
}
