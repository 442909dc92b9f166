//! The reckoning at the end of a run: everything is settled, and nothing is lost.

use holdfast::driver::ports::Store;
use holdfast::driver::ports::store::ChunkId;
use holdfast::model::ending::{Ending, ResultRef};
use holdfast::model::journal::JOURNAL_MAX;
use holdfast::model::life::Stage;
use holdfast::model::money::{Amount, Credits};
use holdfast::model::operation::Operation;
use holdfast::rules::digest::{Sha256Stream, hex};
use pollster::block_on;

use super::house::House;
use super::rows::event_of;
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
    let (acknowledged, erased) = {
        let oracle = world.0.oracle.borrow();
        (oracle.acknowledged.clone(), oracle.erased.clone())
    };
    for (id, key) in acknowledged.into_iter().filter(|(id, _)| !erased.contains(id)) {
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
    if own.life.purged.is_some() {
        check_tombstone(world, own);
    } else {
        check_journal(world, own);
        check_result(world, own);
    }
    check_ledger(world, own);
}

/// Of what is deleted nothing is left but who it was and how it ended.
fn check_tombstone(world: &World, own: &Operation) {
    let id = &own.identity.id;
    let body = block_on(world.0.disk.live.body(id)).ok().flatten();
    let rows = block_on(world.0.disk.live.journal(id)).unwrap_or_default();
    let kept: usize = match &own.life.stage {
        Stage::Ended { ending: Ending::Succeeded { result, .. }, .. } => {
            chunks(world, own, result).iter().filter(|chunk| chunk.is_some()).count()
        }
        Stage::Ended { .. } => 0,
        Stage::Submit | Stage::Reconcile(_) | Stage::Work | Stage::Result { .. } => 1,
    };
    if body.is_some() || kept > 0 {
        world.breach(|| "deleted content is still there".into());
    }
    let told =
        |event: &str| rows.iter().any(|row| event_of(&row.document).as_deref() == Some(event));
    if !told("deleted") || told("submit.written") {
        world.breach(|| "a tombstone's journal is not its own".into());
    }
}

fn chunks(world: &World, own: &Operation, result: &ResultRef) -> Vec<Option<Vec<u8>>> {
    let chunk = |index| {
        let operation = own.identity.id.clone();
        let chunk = ChunkId { operation, download: result.download_of(index), index };
        block_on(world.0.disk.live.chunk(&chunk)).ok().flatten()
    };
    (0..result.chunks).map(chunk).collect()
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
    let bytes: Vec<u8> = chunks(world, own, result).into_iter().flatten().flatten().collect();
    let mut digest = Sha256Stream::default();
    digest.update(&bytes);
    let whole = bytes.len() as u64 == result.bytes && hex(&digest.finish()) == result.sha256;
    if !whole || !is_own(world, own, &bytes) {
        world.breach(|| "a kept result is not whole, or another's".into());
    }
}

/// Whether a result is that of this very job, with all that belongs to it.
fn is_own(world: &World, own: &Operation, bytes: &[u8]) -> bool {
    let job = own.life.job().map(|job| job.as_str().to_owned()).unwrap_or_default();
    let read =
        |bytes: &[u8]| -> serde_json::Value { serde_json::from_slice(bytes).unwrap_or_default() };
    match world.0.plan.house {
        House::Keyed => read(bytes)["id"].as_str() == Some(&job),
        House::Priced => {
            let body = read(bytes);
            let first =
                body["original_request_id"].as_str().or_else(|| body["request_id"].as_str());
            first == Some(&job)
        }
        House::Streamed => {
            let text = String::from_utf8_lossy(bytes);
            text.contains(&format!("\"{job}\""))
        }
        // A sequence of JSON texts (RFC 7464), one for each page.
        House::Listed | House::Bare => {
            let pages: Vec<_> = bytes.split(|byte| *byte == 0x1E).skip(1).map(read).collect();
            let items: usize =
                pages.iter().filter_map(|page| page["results"].as_array()).map(Vec::len).sum();
            let total = pages.first().and_then(|page| page["total"].as_u64());
            pages.iter().all(|page| page["run_id"].as_str() == Some(&job))
                && total == u64::try_from(items).ok()
        }
    }
}

/// What the client says that it cost is what the service charged, once the billing is final.
fn check_ledger(world: &World, own: &Operation) {
    let Some(id) = own.life.job() else { return };
    let settled = own.ledger.token_state.as_deref();
    let told = match &own.life.stage {
        Stage::Ended { ending, .. } => {
            matches!(ending, Ending::Succeeded { .. } | Ending::Failed(_))
        }
        Stage::Submit | Stage::Reconcile(_) | Stage::Work | Stage::Result { .. } => false,
    };
    let known = match world.0.plan.house {
        House::Keyed => matches!(settled, Some("charged" | "released")),
        House::Listed | House::Bare => told,
        // What failed says nothing of what it cost, and a stream never does.
        House::Priced => own.ledger.get(Amount::Charged).is_some(),
        House::Streamed => false,
    };
    if !known {
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
