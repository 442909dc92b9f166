//! Downloads that are cut short, fail, are large, or belong to a context that has ended, left or frozen.

use crate::world::{
    CommitFault, Context, DAY_MS, SECRET, World, is_whole, park, patch, result, standing,
};
use holdfast::model::hold::ParkReason;
use holdfast::model::life::Stage;
use holdfast::model::operation::Operation;
use holdfast::rules::bounds::RESULT_FAILURES_MAX;
use holdfast::rules::step::Command;
use holdfast_services::{Call, Delivery, Request};

#[test]
fn a_download_that_is_cut_short_is_made_again() {
    let world = World::with_faults(r#"[{"call":"result","fault":"truncate","times":3}]"#);
    let (context, ended) = world.lived(r#","result_bytes":50000"#);
    assert_eq!(standing(&ended), "succeeded");
    assert_eq!(world.requests(Call::Result).len(), 4);
    is_whole(&world, &context, &ended);
}

#[test]
fn a_download_that_fails_is_made_again() {
    let world = World::with_faults(
        r#"[{"call":"result","fault":"lose_before"},{"call":"result","fault":"status","status":500},
            {"call":"result","fault":"html"},{"call":"result","fault":"rate_limited"}]"#,
    );
    let (context, ended) = world.lived("");
    assert_eq!(standing(&ended), "succeeded");
    is_whole(&world, &context, &ended);
}

#[test]
fn the_kept_bytes_are_the_bytes_that_the_service_sent() {
    let world = World::new();
    let (context, ended) = world.lived(r#","result_bytes":12345"#);
    is_whole(&world, &context, &ended);
    let path = world.requests(Call::Result)[0].path.clone();
    let request =
        Request::new("GET", &path).with_header("authorization", &format!("Bearer {}", SECRET));
    let now = world.0.clock.now();
    let again = world.0.service.borrow_mut().exchange(now, &request);
    let Delivery::Answer(answer) = again.delivery else { panic!("an answer") };
    assert_eq!(world.kept_bytes(&context, &ended.identity.id), answer.body);
}

#[test]
fn a_result_of_3_mb_is_kept_in_pieces() {
    let world = World::new();
    let (context, ended) = world.lived(r#","result_bytes":3000000"#);
    assert_eq!(standing(&ended), "succeeded");
    let kept = result(&ended).expect("a result");
    assert!(kept.bytes > 2_500_000, "{}", kept.bytes);
    assert!(kept.chunks > 8, "{}", kept.chunks);
    is_whole(&world, &context, &ended);
}

#[test]
fn a_result_on_a_slow_line_takes_longer_than_its_timeout_and_is_asked_for_once() {
    let world = World::new();
    let context = world.open();
    // It holds nothing that would tell of a death.
    let _other = world.open();
    world.submit(&context, "daily", r#","result_bytes":300000"#);
    world.until("daily", |own| matches!(own.life.stage, Stage::Result { .. }));
    let owner = world.lane("daily").owner;
    world.0.settings.borrow_mut().piece_ms = 10_000;
    let at = world.0.clock.now();
    let ended = world.settle(&context, "daily").expect("it ends");
    assert_eq!((standing(&ended), world.requests(Call::Result).len()), ("succeeded", 1));
    assert!(world.0.clock.now() - at > 300_000, "it is no slow line");
    assert_eq!(world.lane("daily").owner, owner, "nobody takes it over");
    is_whole(&world, &context, &ended);
}

#[test]
fn a_download_that_a_restart_cut_off_is_made_anew() {
    let world = World::new();
    let first = world.open();
    world.submit(&first, "daily", r#","result_bytes":1000000"#);
    world.until("daily", |own| matches!(own.life.stage, Stage::Result { .. }));
    let before = world.requests(Call::Result).len();
    world.run(world.0.clock.now() + 60_000, || world.requests(Call::Result).len() > before);
    world.kill(&first);
    let second = world.open();
    let ended = world.settle(&second, "daily").expect("it ends");
    assert_eq!(standing(&ended), "succeeded");
    is_whole(&world, &second, &ended);
}

/// A context in the middle of a download of some pieces, which is slow; every later one is quick.
fn downloading(world: &World) -> (Context, Operation) {
    let context = world.open();
    world.submit(&context, "daily", r#","result_bytes":600000"#);
    world.until("daily", |own| matches!(own.life.stage, Stage::Result { .. }));
    world.0.settings.borrow_mut().piece_ms = 400;
    world.run(world.0.clock.now() + 60_000, || !world.requests(Call::Result).is_empty());
    world.pass(1_000);
    world.0.settings.borrow_mut().piece_ms = 0;
    let operation = world.stored("daily").expect("stored");
    assert!(!operation.life.is_ended(), "its download goes on");
    (context, operation)
}

#[test]
fn a_download_whose_operation_has_left_memory_leaves_the_kept_result_alone() {
    let world = World::answering("result", 200, &"x".repeat(600_000), 1);
    let (context, operation) = downloading(&world);
    world.0.commits.fail(&[CommitFault::Aborted]);
    world.cancel(&context, &operation).expect_err("storage fails");
    context.driver.hint("reports".into());
    let ended = world.settle(&context, "daily").expect("it ends");
    assert_eq!((standing(&ended), world.requests(Call::Result).len()), ("succeeded", 2));
    world.pass(60_000);
    is_whole(&world, &context, &ended);
    assert_eq!(world.stored("daily"), Some(ended));
}

/// The other context brings the result home, and deletes it.
fn finished_and_deleted(world: &World, other: &Context) -> Operation {
    let ended = world.settle(other, "daily").expect("it ends");
    assert_eq!(standing(&ended), "succeeded");
    world.delete(other, &ended).expect("a wish");
    assert!(!world.has_content(&ended.identity.id));
    ended
}

#[test]
fn what_is_deleted_is_not_brought_back_by_a_page_that_has_left() {
    let world = World::new();
    let (first, _) = downloading(&world);
    first.driver.give_back();
    let second = world.open();
    let deleted = finished_and_deleted(&world, &second);
    world.pass(60_000);
    assert!(!world.has_content(&deleted.identity.id));
}

#[test]
fn what_is_deleted_is_not_brought_back_by_a_context_that_thaws() {
    let world = World::new();
    let (first, _) = downloading(&world);
    world.freeze(&first);
    let second = world.open();
    world.submit(&second, "other", "");
    let deleted = finished_and_deleted(&world, &second);
    world.thaw(&first);
    world.pass(60_000);
    assert!(!world.has_content(&deleted.identity.id));
}

#[test]
fn the_last_piece_of_a_result_is_stored_with_its_ending_and_not_before() {
    for bytes in [0, 12_345, 600_000] {
        let world = World::new();
        let context = world.open();
        world.submit(&context, "daily", &format!(r#","result_bytes":{bytes}"#));
        world.until("daily", |own| matches!(own.life.stage, Stage::Result { .. }));
        world.0.commits.full_for_pieces.set(true);
        world.run(world.0.clock.now() + 60_000, || !world.requests(Call::Result).is_empty());
        world.pass(100);
        let waiting = world.stored("daily").expect("stored");
        assert!(!waiting.life.is_ended(), "what is not there whole does not end the work");
        world.0.commits.full_for_pieces.set(false);
        let ended = world.settle(&context, "daily").expect("it ends");
        assert_eq!(standing(&ended), "succeeded");
        is_whole(&world, &context, &ended);
    }
}

#[test]
fn a_result_is_not_fetched_for_ever_where_nobody_tells_what_becomes_of_its_last_piece() {
    let world = World::new();
    let context = world.open();
    world.0.commits.silent_of_pieces.set(true);
    world.submit(&context, "daily", "");
    let parked = world.settle(&context, "daily").expect("it parks");
    assert_eq!(park(&parked), Some(ParkReason::BudgetExhausted));
    let asked = world.requests(Call::Result).len();
    assert!(asked <= RESULT_FAILURES_MAX as usize + 1, "{asked}");
}

#[test]
fn a_last_piece_that_was_stored_although_nobody_told_is_not_fetched_again() {
    let world = World::new();
    let context = world.open();
    world.submit(&context, "daily", "");
    world.until("daily", |own| matches!(own.life.stage, Stage::Result { .. }));
    // Made again, it is found and told, and so it must be both that nobody tells of.
    world.0.commits.fail(&[CommitFault::UnknownDone, CommitFault::UnknownLost]);
    let ended = world.settle(&context, "daily").expect("it ends");
    assert!(!world.0.commits.is_pending());
    assert_eq!((standing(&ended), world.requests(Call::Result).len()), ("succeeded", 1));
    is_whole(&world, &context, &ended);
}

#[test]
fn a_result_for_whose_last_piece_there_is_never_room_is_for_a_person() {
    let world = World::new();
    let context = world.open();
    world.0.commits.full_for_pieces.set(true);
    world.submit(&context, "daily", "");
    let parked = world.settle(&context, "daily").expect("it parks");
    assert_eq!(park(&parked), Some(ParkReason::BudgetExhausted));
    let asked = world.requests(Call::Result).len();
    assert!(asked <= RESULT_FAILURES_MAX as usize + 1, "{asked}");
    world.0.commits.full_for_pieces.set(false);
    let limits = Some(patch(|own| own.total_ms = Some(2 * DAY_MS)));
    let resume = Command::Resume { limits, accept_duplicate: false };
    world.command(&context, &parked, resume).expect("offered");
    let ended = world.settle(&context, "daily").expect("it ends");
    is_whole(&world, &context, &ended);
}
