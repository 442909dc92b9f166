//! A lane that changes hands while something of it is in memory: what was read before it was won drives
//! nothing, and once it is lost nothing but wishes of the app is written.
//!
//! One engine by itself is told what happens, in just this order: between a transaction and its answer
//! there is no telling what else a host reports.

use crate::world::{Settings, World, service};
use holdfast::engine::{CallId, Engine, Input, Output, ServiceSetup, Ticket};
use holdfast::model::dice::Dice;
use holdfast::model::ids::{ContextId, Epoch};
use holdfast::model::lane::Lane;
use holdfast::model::life::Stage;
use holdfast::model::operation::Operation;
use holdfast::model::profile::Purpose;
use holdfast::model::storage::{Queue, StoreError, Written};
use holdfast::model::time::Timestamp;
use holdfast::rules::profile;
use holdfast::rules::step::Command;

struct Alone {
    engine: Engine,
    now: Timestamp,
    operation: Operation,
}

impl Alone {
    /// A context that has just found work which is due, and asks for its lane.
    fn asking() -> Self {
        let world = World::with(Settings::default(), service());
        let context = world.open();
        world.submit(&context, "daily", r#","duration_ms":600000"#);
        let operation = world.until("daily", |own| own.life.stage == Stage::Work);
        let identity = &operation.identity;
        let setup = ServiceSetup {
            name: identity.service.clone(),
            profile: profile::read(crate::world::PROFILE).expect("a good profile"),
            profile_text: crate::world::PROFILE.into(),
            base_url: identity.origin.clone(),
            origin: identity.origin.clone(),
            derives_keys: false,
            retention: operation.retention,
            params: Vec::new(),
            limits: operation.limits,
        };
        let engine = Engine::new("late".into(), vec![setup], false, Dice::seeded(1));
        let now = Timestamp(world.0.clock.now() + 60_000);
        let mut own = Self { engine, now, operation };
        own.feed(Input::Account(Some("ann".into())));
        let asked = own.due();
        assert!(asked.iter().any(|own| matches!(own, Output::Claim(_))), "{asked:?}");
        own
    }

    /// A context that owns the lane, and has a poll on the wire.
    fn polling() -> Self {
        let mut own = Self::asking();
        own.claimed("late", 8);
        own.due();
        own.now = own.now.after(1_000);
        let id = own.operation.identity.id.clone();
        own.feed(Input::Tick);
        let sent = own.feed(Input::Authorized(id, Purpose::Poll, None));
        assert!(sent.iter().any(|own| matches!(own, Output::Transmit(_))), "{sent:?}");
        own
    }

    fn feed(&mut self, input: Input) -> Vec<Output> {
        self.engine.handle_input(self.now, input);
        std::iter::from_fn(|| self.engine.poll_output()).collect()
    }

    fn due(&mut self) -> Vec<Output> {
        let due = (vec![self.operation.clone()], None);
        self.feed(Input::Due(self.operation.lane(), Queue::Work, Ok(due)))
    }

    fn claimed(&mut self, owner: &str, epoch: u64) -> Vec<Output> {
        let lane = Lane {
            id: self.operation.lane(),
            owner: Some(ContextId::from(owner)),
            epoch: Epoch(epoch),
            renewed_at: self.now,
            lease_until: self.now.after(120_000),
            gate: None,
            sent: Vec::new(),
        };
        self.feed(Input::Claimed(self.operation.lane(), Ok(lane)))
    }

    /// The app wants it stopped; which write that leads to.
    fn wish(&mut self) -> Ticket {
        let id = self.operation.identity.id.clone();
        let outputs = self.feed(Input::Command(CallId(1), id, Command::Cancel));
        writes(&outputs).pop().expect("a write").0
    }

    /// The poll has no readable answer.
    fn poll_lost(&mut self) -> Vec<Output> {
        self.feed(Input::Lost(self.operation.identity.id.clone(), Purpose::Poll))
    }

    fn persisted(&mut self, ticket: Ticket, written: Written) -> Vec<Output> {
        self.feed(Input::Persisted(ticket, Ok(written)))
    }
}

/// What is to be written: which write, whether under ownership, and what it takes for stored.
fn writes(outputs: &[Output]) -> Vec<(Ticket, bool)> {
    let mut all = Vec::new();
    for own in outputs {
        if let Output::Persist(set) = own {
            all.push((set.ticket, set.fence.is_some()));
        }
    }
    all
}

#[test]
fn what_was_being_read_when_a_lane_was_lost_and_won_again_drives_nothing() {
    let mut own = Alone::asking();
    let won = own.claimed("late", 8);
    assert!(won.iter().any(|own| matches!(own, Output::ReadDue { .. })), "{won:?}");
    // Frozen for so long that another has owned the lane since, and has driven what is being read.
    own.now = own.now.after(150_000);
    own.claimed("late", 10);
    let read = own.due();
    let begun = read.iter().any(|own| matches!(own, Output::Authorize { .. } | Output::Persist(_)));
    assert!(!begun, "{read:?}");
    assert!(read.iter().any(|own| matches!(own, Output::ReadDue { .. })), "{read:?}");
}

#[test]
fn an_overdue_lane_drives_nothing_until_the_store_says_whose_it_is() {
    let mut own = Alone::asking();
    own.claimed("late", 8);
    own.due();
    own.now = own.now.after(150_000);
    let begins = |all: &[Output]| {
        all.iter().any(|own| matches!(own, Output::Authorize { .. } | Output::Persist(_)))
    };
    let asks = |all: &[Output]| all.iter().any(|own| matches!(own, Output::Claim(_)));
    let thawed = own.feed(Input::Tick);
    assert!(asks(&thawed) && !begins(&thawed), "{thawed:?}");
    // Said to have failed; another has owned it meanwhile for all that is known.
    let lane = own.operation.lane();
    let failed =
        own.feed(Input::Claimed(lane, Err(StoreError::Unknown("the disk is slow".into()))));
    assert!(!asks(&failed) && !begins(&failed), "{failed:?}");
    own.now = own.now.after(10_000);
    let again = own.feed(Input::Tick);
    assert!(asks(&again) && !begins(&again), "{again:?}");
    let sure = own.claimed("late", 8);
    assert!(begins(&sure), "{sure:?}");
}

#[test]
fn what_an_overdue_owner_has_begun_to_write_does_not_make_it_sure_of_its_lane() {
    let mut own = Alone::polling();
    own.now = own.now.after(200_000);
    // The answer that was lost meanwhile is to be written, under the lane as it is known here.
    let lost = own.poll_lost();
    let (ticket, fenced) = writes(&lost).pop().expect("it is written");
    assert!(fenced);
    own.now = own.now.after(30_000);
    let written = own.persisted(ticket, Written::Done);
    let begun = written.iter().any(|own| matches!(own, Output::Authorize { .. }));
    assert!(!begun, "{written:?}");
    let asks = written.iter().any(|own| matches!(own, Output::Claim(_)));
    assert!(asks, "{written:?}");
}

#[test]
fn a_lane_that_is_won_is_driven_by_what_is_stored_and_not_by_what_was_in_memory() {
    let mut own = Alone::asking();
    let id = own.operation.identity.id.clone();
    // A wish of the app brings it into memory, while another context still drives the lane.
    own.feed(Input::Command(CallId(1), id.clone(), Command::Cancel));
    let loaded = own.feed(Input::Loaded(id, Ok(Some(Box::new(own.operation.clone())))));
    let (ticket, fenced) = writes(&loaded).pop().expect("the wish is written");
    assert!(!fenced, "the lane is another's");
    own.persisted(ticket, Written::Done);
    own.now = own.now.after(1_000);
    let won = own.claimed("late", 8);
    assert!(won.iter().any(|own| matches!(own, Output::ReadDue { .. })), "{won:?}");
    let begun = won.iter().any(|own| matches!(own, Output::Authorize { .. } | Output::Persist(_)));
    assert!(!begun, "{won:?}");
}

#[test]
fn an_answer_whose_write_met_another_is_not_written_anew_once_the_lane_is_lost() {
    let mut own = Alone::polling();
    let (ticket, fenced) = writes(&own.poll_lost()).pop().expect("a write");
    assert!(fenced, "the lane is its own");
    own.claimed("other", 9);
    let after = own.persisted(ticket, Written::Stale);
    assert!(after.iter().all(|own| !matches!(own, Output::Load(_) | Output::Persist(_))));
}

#[test]
fn an_answer_that_waited_for_another_write_is_not_written_once_the_lane_is_lost() {
    let mut own = Alone::polling();
    let ticket = own.wish();
    assert_eq!(writes(&own.poll_lost()), [], "it waits for the wish");
    own.claimed("other", 9);
    let after = own.persisted(ticket, Written::Done);
    assert!(after.iter().any(|own| matches!(own, Output::Reply(_, Ok(_)))), "the wish is granted");
    assert_eq!(writes(&after), []);
}

#[test]
fn a_wish_whose_write_met_another_is_written_anew_though_the_lane_is_lost_and_an_answer_is_not() {
    let mut own = Alone::polling();
    let ticket = own.wish();
    own.poll_lost();
    own.claimed("other", 9);
    let after = own.persisted(ticket, Written::Stale);
    assert!(after.iter().any(|own| matches!(own, Output::Load(_))), "{after:?}");
    let id = own.operation.identity.id.clone();
    let again = own.feed(Input::Loaded(id, Ok(Some(Box::new(own.operation.clone())))));
    let (ticket, fenced) = writes(&again).pop().expect("the wish is written");
    assert!(!fenced, "the lane is another's");
    let after = own.persisted(ticket, Written::Done);
    assert_eq!(writes(&after), []);
}

/// Another context is quicker so often, each time that the wish was to be written on what it had written before.
fn outrun(own: &mut Alone, ticket: Ticket, times: u32) -> Vec<Output> {
    let mut outputs = vec![];
    let mut ticket = Some(ticket);
    for _ in 0..times {
        outputs = own.persisted(ticket.take().expect("the wish is written"), Written::Stale);
        own.operation.revision = own.operation.revision.next();
        if outputs.iter().any(|own| matches!(own, Output::Load(_))) {
            let id = own.operation.identity.id.clone();
            let stored = Box::new(own.operation.clone());
            outputs = own.feed(Input::Loaded(id, Ok(Some(stored))));
            ticket = writes(&outputs).pop().map(|(ticket, _)| ticket);
        }
    }
    outputs
}

#[test]
fn a_wish_of_a_slow_tab_is_written_though_the_owner_was_quicker_sixty_times_in_a_row() {
    let mut own = Alone::polling();
    let ticket = own.wish();
    let written = outrun(&mut own, ticket, 60);
    let (ticket, _) = writes(&written).pop().expect("the wish is written");
    let after = own.persisted(ticket, Written::Done);
    assert!(after.iter().any(|own| matches!(own, Output::Reply(_, Ok(_)))), "{after:?}");
}

#[test]
fn a_wish_that_others_outrun_without_end_is_refused_with_the_reason_and_may_be_made_again() {
    let mut own = Alone::polling();
    let ticket = own.wish();
    let refused = outrun(&mut own, ticket, 65);
    let refusal = |own: &Output| {
        if let Output::Reply(_, Err(why)) = own { Some(why.to_string()) } else { None }
    };
    let why = refused.iter().find_map(refusal).expect("a refusal");
    assert!(why.contains("nothing was sent: other tabs keep changing it"), "{why}");
    let id = own.operation.identity.id.clone();
    own.feed(Input::Command(CallId(2), id.clone(), Command::Cancel));
    let stored = Box::new(own.operation.clone());
    let again = own.feed(Input::Loaded(id, Ok(Some(stored))));
    let (ticket, _) = writes(&again).pop().expect("the wish is written");
    let after = own.persisted(ticket, Written::Done);
    assert!(after.iter().any(|own| matches!(own, Output::Reply(CallId(2), Ok(_)))), "{after:?}");
}

#[test]
fn a_wish_that_waited_for_a_write_is_written_though_the_lane_was_lost_before_that_was_answered() {
    for written in [Written::Fenced, Written::Late] {
        let mut own = Alone::polling();
        let (ticket, _) = writes(&own.poll_lost()).pop().expect("a write");
        let id = own.operation.identity.id.clone();
        let waits = own.feed(Input::Command(CallId(1), id, Command::Cancel));
        assert!(waits.is_empty(), "{waits:?}");
        let after = own.persisted(ticket, written.clone());
        let refused = after.iter().any(|own| matches!(own, Output::Reply(..)));
        assert!(!refused, "{written:?}: {after:?}");
        assert!(after.iter().any(|own| matches!(own, Output::Load(_))), "{written:?}: {after:?}");
    }
}
