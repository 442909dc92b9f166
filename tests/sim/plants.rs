//! Records that this code must not drive: a later version's, and a damaged one. They are due for ever,
//! in the lane of the other work; they must be shown or told of, stay as they are, and keep nobody
//! waiting.

use holdfast::driver::ports::store::{Durability, Name, Row, Write};
use holdfast::model::error::Code;
use holdfast::model::ids::{OperationId, Revision, WriteId};
use holdfast::model::life::Life;
use holdfast::model::operation::Operation;
use holdfast::model::time::Timestamp;
use holdfast::record;
use holdfast::rules::step::Command;

use super::store::Change;
use super::world::World;
use super::write::write_of;

/// Puts them into the store as soon as there is other work, and looks at them from a context.
pub async fn plant(world: World) {
    loop {
        world.0.clock.sleep(3_000).await;
        if let Some(model) = world.operations("ann").into_iter().next() {
            let newer = record::encode(&renamed(&model, "later"));
            let newer = newer.replacen("\"minReader\":1", "\"minReader\":2,\"soul\":{\"x\":1}", 1);
            put(&world, &model, "later", newer);
            let whole = record::encode(&renamed(&model, "damaged"));
            put(&world, &model, "damaged", whole[..whole.len() / 2].to_owned());
            put(&world, &model, "impossible", impossible(&world, &model));
            break;
        }
    }
    while !world.0.calm.get() {
        world.0.clock.sleep(7_000).await;
        look(&world).await;
    }
}

/// A record that is whole and contradicts itself: it is at work, and nothing was ever submitted.
fn impossible(world: &World, model: &Operation) -> String {
    let fresh = Operation { life: Life::new(), ..renamed(model, "impossible") };
    let whole = record::encode(&fresh);
    let damaged = whole.replacen("\"submit\":{}", "\"work\":{}", 1);
    if damaged == whole {
        world.breach(|| "nothing is damaged".into());
    }
    damaged
}

fn renamed(model: &Operation, intent: &str) -> Operation {
    let mut operation = model.clone();
    operation.identity.id = OperationId(format!("op-{intent}"));
    operation.identity.intent = intent.into();
    operation
}

fn put(world: &World, model: &Operation, intent: &str, document: String) {
    let row = Row {
        id: OperationId(format!("op-{intent}")),
        account: model.identity.account.clone(),
        lane: model.lane(),
        created_at: model.identity.created_at,
        due: Some(Timestamp(0)),
        delivery_due: Some(Timestamp(0)),
        revision: Revision(3),
        write_id: WriteId(format!("planted:{intent}")),
        document,
    };
    world.note(|| format!("a record that must not be driven: {intent}"));
    world.0.oracle.borrow_mut().planted.push(row.clone());
    let write = Write { name: Some((name(intent), None)), ..write_of(row) };
    world.0.disk.apply(Change::Commit(vec![write]), Durability::Strict);
}

fn name(intent: &str) -> Name {
    Name { account: "ann".into(), service: "reports".into(), intent: intent.into() }
}

/// A later version's record is told for what it is, and no wish changes it.
async fn look(world: &World) {
    let Some(driver) = world.alive().into_iter().find_map(|tab| tab.awake()) else { return };
    if world.0.account.get() != "ann" {
        return;
    }
    for (intent, expected) in [
        ("later", Code::NewerRecord),
        ("damaged", Code::StorageUnavailable),
        ("impossible", Code::StorageUnavailable),
    ] {
        match driver.find(&name(intent)).await {
            Err(error) if error.code == expected || error.code == Code::StorageUnavailable => {}
            other => {
                let other = other.map(|own| own.map(|own| own.identity.id));
                world.breach(|| format!("{intent} is found as {other:?}"));
            }
        }
        let id = OperationId(format!("op-{intent}"));
        if driver.command(&id, Command::Cancel).await.is_ok() {
            world.breach(|| format!("a wish changes what is {intent}"));
        }
    }
}

/// They are as they were put.
pub fn check(world: &World) {
    let planted = world.0.oracle.borrow().planted.clone();
    for row in planted {
        if world.row(&row.id).as_ref() != Some(&row) {
            world.breach(|| format!("{} is driven or lost", row.id.as_str()));
        }
    }
}
