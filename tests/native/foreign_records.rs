//! Records that this code must not drive: newer, or damaged.

use crate::world::{World, standing, succeeds_once, write_of};
use holdfast::driver::ports::Store;
use holdfast::driver::ports::store::{Name, Row, Write};
use holdfast::model::error::Code;
use holdfast::model::ids::WriteId;
use holdfast::model::life::Stage;
use holdfast::model::storage::Durability;
use holdfast_services::Call;

/// Rewrites the stored record of an intent, as another version or a broken disk would.
fn rewrite(world: &World, intent: &str, change: impl FnOnce(&str) -> String) {
    let name = Name { account: "ann".into(), service: "reports".into(), intent: intent.into() };
    let row = pollster::block_on(world.0.store.find(&name)).expect("memory").expect("stored");
    let next = Row {
        document: change(&row.document),
        write_id: WriteId::from("rewritten"),
        ..row.clone()
    };
    let write = Write { replaces: Some(row.revision), ..write_of(next) };
    pollster::block_on(world.0.store.commit(&[write], Durability::Strict)).expect("memory");
}

/// A world with two waiting operations, of which one's record is changed before a context opens.
fn with_changed(change: impl FnOnce(&str) -> String) -> (World, crate::world::Context) {
    let world = World::new();
    let first = world.open();
    world.submit(&first, "odd", r#","duration_ms":60000"#);
    world.submit(&first, "even", r#","duration_ms":60000"#);
    for intent in ["odd", "even"] {
        world.until(intent, |own| own.life.stage == Stage::Work);
    }
    world.kill(&first);
    rewrite(&world, "odd", change);
    let second = world.open();
    (world, second)
}

fn only_the_other_is_driven(world: &World, context: &crate::world::Context) {
    let odd = world.requests(Call::Submit)[0].key.clone().expect("a key");
    let job = {
        let service = world.0.service.borrow();
        let jobs = &service.ledger().jobs;
        jobs.values().find(|own| own.key == odd).map(|own| own.id.clone()).expect("a job")
    };
    let before = world.requests(Call::Any).len();
    let ended = world.settle(context, "even").expect("it ends");
    assert_eq!(standing(&ended), "succeeded");
    world.pass(600_000);
    let touched = world.requests(Call::Any)[before..].iter().any(|own| own.path.contains(&job));
    assert!(!touched, "it was driven");
}

#[test]
fn a_newer_record_is_told_as_such_and_never_driven() {
    let (world, context) =
        with_changed(|text| text.replacen(r#""minReader":1"#, r#""minReader":99"#, 1));
    let error = world.find(&context, "odd").expect_err("newer");
    assert_eq!(error.code, Code::NewerRecord);
    assert!(error.operation.is_some());
    let error = world.try_submit(&context, "odd", "").expect_err("newer");
    assert_eq!(error.code, Code::NewerRecord);
    only_the_other_is_driven(&world, &context);
}

#[test]
fn a_command_on_a_newer_record_changes_nothing() {
    let world = World::new();
    let first = world.open();
    let operation = world.submit(&first, "odd", r#","duration_ms":60000"#);
    world.until("odd", |own| own.life.stage == Stage::Work);
    world.kill(&first);
    rewrite(&world, "odd", |text| text.replacen(r#""minReader":1"#, r#""minReader":99"#, 1));
    let second = world.open();
    let error = world.cancel(&second, &operation).expect_err("newer");
    assert_eq!(error.code, Code::NewerRecord);
}

#[test]
fn a_list_names_what_cannot_be_read_and_why() {
    let newer = |text: &str| text.replacen(r#""minReader":1"#, r#""minReader":99"#, 1);
    let damaged = |text: &str| text[..text.len() / 2].to_owned();
    for (change, code) in [
        (&newer as &dyn Fn(&str) -> String, Code::NewerRecord),
        (&damaged, Code::StorageUnavailable),
    ] {
        let (world, context) = with_changed(change);
        let id = world.find(&context, "odd").expect_err("unreadable").operation;
        let unreadable = world.page(&context).expect("a list").unreadable;
        let told: Vec<_> = unreadable.into_iter().map(|own| (own.operation, own.code)).collect();
        assert_eq!(told, [(id, code)]);
    }
}

#[test]
fn a_damaged_record_is_never_driven_and_hinders_nobody() {
    let (world, context) = with_changed(|text| text[..text.len() / 2].to_owned());
    world.find(&context, "odd").expect_err("damaged");
    assert_eq!(world.listed(&context).expect("a list"), ["even"]);
    only_the_other_is_driven(&world, &context);
}

#[test]
fn many_damaged_records_hinder_nobody() {
    let world = World::new();
    let first = world.open();
    let intents: Vec<_> = (0..140).map(|number| format!("odd {number}")).collect();
    world.0.settings.borrow_mut().unauthorized = u32::MAX;
    for intent in &intents {
        world.submit(&first, intent, "");
    }
    world.kill(&first);
    for intent in &intents {
        rewrite(&world, intent, |_| "{".to_owned());
    }
    world.0.settings.borrow_mut().unauthorized = 0;
    let second = world.open();
    let ended = world.live(&second, "even", "");
    succeeds_once(&world, &ended);
    world.kill(&second);
    let third = world.open();
    let again = world.live(&third, "later", r#","duration_ms":60000"#);
    assert_eq!(standing(&again), "succeeded");
}

#[test]
fn members_that_this_code_does_not_know_survive_a_drive() {
    let (world, context) = with_changed(|text| {
        text.replacen('{', r#"{"tomorrow":{"big":12345678901234567890,"list":[1.50,null]},"#, 1)
    });
    let ended = world.settle(&context, "odd").expect("it ends");
    assert_eq!(standing(&ended), "succeeded");
    let name = Name { account: "ann".into(), service: "reports".into(), intent: "odd".into() };
    let row = pollster::block_on(world.0.store.find(&name)).expect("memory").expect("stored");
    let kept = r#""tomorrow":{"big":12345678901234567890,"list":[1.50,null]}"#;
    assert!(row.document.contains(kept), "{}", row.document);
}
