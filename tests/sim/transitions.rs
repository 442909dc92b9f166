//! What happened to an operation from one commit to the next, by name; and the table of all that can.

use holdfast::model::hold::Hold;
use holdfast::model::life::Stage;
use holdfast::model::operation::Operation;
use holdfast::rules::status::status;

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
type Line = (&'static str, &'static str, &'static str);

const ELSEWHERE: &str =
    "the service modelled here never answers so; see tests/job.rs, tests/exits.rs";
const DELETING: &str = "the app of this world deletes nothing; see tests/delete.rs";

/// What can happen and, in enough seeds, does.
const TAKEN: &[(&str, &[&str])] = &[
    ("new", &["submitted", "submit.written"]),
    (
        "submit",
        &[
            "accepted",
            "attempt refused",
            "attempt unresolved",
            "cancel.wanted",
            "cancelled",
            "clock.jumped_back",
            "parked: BudgetExhausted",
            "parked: CancelUnconfirmed",
            "parked: DeadlineExceeded",
            "parked: NeedsCredential",
            "parked: NeedsCredit",
            "parked: OutcomeUnknown",
            "parked: ScopeChanged",
            "rejected",
            "resolved.found",
            "resolved.not_executed",
            "resumed",
            "submit.answered",
            "submit.lost",
            "submit.not_sent",
            "submit.written",
            "unauthorized",
            "waits: authorization",
            "waits: backoff",
            "waits: inProgress",
            "waits: poll",
            "waits: rateLimit",
            "waits: serverGuidance",
        ],
    ),
    (
        "work",
        &[
            "billing left open",
            "cancel.answered",
            "cancel.lost",
            "cancel.wanted",
            "cancel.written",
            "cancelled",
            "clock.jumped_back",
            "completed",
            "failed",
            "parked: DeadlineExceeded",
            "parked: JobNotFound",
            "parked: NeedsCredential",
            "poll.answered",
            "poll.lost",
            "resumed",
            "unauthorized",
            "waits: authorization",
            "waits: backoff",
            "waits: notFoundGrace",
            "waits: poll",
            "waits: rateLimit",
            "waits: resultNotReady",
            "waits: serverGuidance",
        ],
    ),
    (
        "result",
        &[
            "cancel.wanted",
            "clock.jumped_back",
            "expired",
            "not ready after all",
            "parked: DeadlineExceeded",
            "parked: NeedsCredential",
            "result.answered",
            "result.lost",
            "resumed",
            "succeeded",
            "unauthorized",
            "waits: authorization",
            "waits: backoff",
            "waits: rateLimit",
            "waits: resultNotReady",
            "waits: serverGuidance",
        ],
    ),
    (
        "ended",
        &[
            "acknowledged",
            "billing closed",
            "billing read again later",
            "clock.jumped_back",
            "delivered",
            "delivery.failed",
            "settlement.answered",
            "settlement.final",
            "settlement.given_up",
            "unauthorized",
        ],
    ),
];

/// What can happen and does not here, with the reason.
const NEVER: &[Line] = &[
    (
        "submit",
        "abandoned",
        "the person of this world can look at the service, and gives nothing up",
    ),
    ("submit", "parked: KeyConflict", "keys and bytes never change; coming to it is a failure"),
    ("submit", "parked: NeedsAccess", ELSEWHERE),
    ("submit", "parked: VersionMoved", ELSEWHERE),
    ("submit", "submit.job_taken", "the service gives no id twice, and every job one operation"),
    ("work", "expired", ELSEWHERE),
    (
        "work",
        "cancel.given_up",
        "five lost cancellations in a row are rarer than the seeds are many",
    ),
    ("work", "parked: CancelUnconfirmed", "as above"),
    ("result", "incomplete", "six pages in the place of one result are rarer than that too"),
    ("result", "parked: BudgetExhausted", "forty failed downloads outlast every storm"),
    (
        "result",
        "parked: JobNotFound",
        "six answers of that kind in the place of one result are rarer",
    ),
    ("ended", "delete.wanted", DELETING),
    ("ended", "delete.written", DELETING),
    ("ended", "delete.answered", DELETING),
    ("ended", "delete.read", DELETING),
    ("ended", "delete.lost", DELETING),
    ("ended", "delete.parked", DELETING),
    ("ended", "deleted", DELETING),
    ("ended", "forgotten", DELETING),
    ("ended", "tombstone.expired", "no run lasts 400 days; see tests/retention.rs"),
];

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
