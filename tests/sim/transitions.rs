//! What happened to an operation from one commit to the next, by name; and the table of all that can.

use holdfast::model::hold::Hold;
use holdfast::model::life::Stage;
use holdfast::model::operation::Operation;
use holdfast::rules::status::status;

use super::table::{NEVER, TAKEN};

/// Where it was, and what happened.
pub type Transition = (&'static str, String);

/// How an operation stands, for a trace.
pub fn standing(own: &Operation) -> String {
    let cancel = if own.life.cancel.is_some() { " cancelling" } else { "" };
    format!("{} {}{cancel}", status(own).name(), held(&own.life.hold))
}

fn held(hold: &Hold) -> String {
    match hold {
        Hold::Ready => "ready".into(),
        Hold::Until { wait, reason } => format!("waits {} ms: {}", wait.length_ms, reason.name()),
        Hold::Parked { reason, .. } => format!("parked: {}", reason.name()),
    }
}

fn stage(own: Option<&Operation>) -> &'static str {
    match own.map(|own| &own.life.stage) {
        None => "new",
        Some(Stage::Submit) => "submit",
        Some(Stage::Reconcile(_)) => "reconcile",
        Some(Stage::Work) => "work",
        Some(Stage::Result { .. }) => "result",
        Some(Stage::Ended { .. }) => "ended",
    }
}

/// What happened between two commits.
pub fn between(
    before: Option<&Operation>,
    after: &Operation,
    events: &[String],
) -> Vec<Transition> {
    let from = stage(before);
    let mut all: Vec<Transition> = Vec::new();
    for event in events {
        let what = match event.as_str() {
            "parked" => held(&after.life.hold),
            other => other.to_owned(),
        };
        all.push((from, what));
    }
    if let Hold::Until { reason, .. } = after.life.hold
        && before.map(|own| &own.life.hold) != Some(&after.life.hold)
        && !after.life.is_ended()
    {
        all.push((from, format!("waits: {}", reason.name())));
    }
    let Some(before) = before else { return all };
    let (old, new) = (&before.life.evidence, &after.life.evidence);
    if new.refused > old.refused {
        all.push((from, "attempt refused".into()));
    }
    if new.unresolved.is_some() && old.unresolved != new.unresolved {
        all.push((from, "attempt unresolved".into()));
    }
    if from == "result" && matches!(after.life.stage, Stage::Work) {
        all.push((from, "not ready after all".into()));
    }
    let (old, new) = (&before.life.settlement, &after.life.settlement);
    let settlement = match (old.is_some(), new.is_some()) {
        (false, true) => Some("billing left open"),
        (true, true) if old != new => Some("billing read again later"),
        (true, false) => Some("billing closed"),
        _ => None,
    };
    all.extend(settlement.map(|what| (from, what.to_owned())));
    all
}

/// Where, what, and why the simulation cannot come to it; `""` where it does.
pub type Line = (&'static str, &'static str, &'static str);

/// What the table shows and was not taken, with the reason where there is one.
pub fn never(taken: impl Fn(&str, &str) -> bool) -> Vec<Line> {
    let expected =
        TAKEN.iter().flat_map(|(from, all)| all.iter().map(move |what| (*from, *what, "")));
    let all = expected.chain(NEVER.iter().copied());
    all.filter(|(from, what, _)| !taken(from, what)).collect()
}

/// Whether the table shows it.
pub fn is_known(from: &str, what: &str) -> bool {
    TAKEN.iter().any(|(own, all)| *own == from && all.contains(&what))
        || NEVER.iter().any(|line| line.0 == from && line.1 == what)
}
