//! Pages to read: what every answer leads to, in every stage that a profile has.
#![allow(clippy::expect_used, clippy::panic, unreachable_pub, reason = "helpers of tests")]

mod scenes;

use std::fmt::Write as _;

use holdfast::model::answer::Answer;
use holdfast::model::dice::Dice;
use holdfast::model::ending::{Ending, ResultRef};
use holdfast::model::facts::{BodyForm, Fact, Facts};
use holdfast::model::hold::Hold;
use holdfast::model::life::{Deletion, Stage};
use holdfast::model::listing::Page;
use holdfast::model::operation::Operation;
use holdfast::model::pages::{Paged, Turn};
use holdfast::model::profile::{Profile, Purpose, Rule};
use holdfast::rules::classify::classify;
use holdfast::rules::status;
use holdfast::rules::step::{Input, step};
use scenes::{Scene, now, scenes};

const STATUSES: &[u16] = &[
    0, 200, 201, 202, 203, 204, 205, 206, 302, 303, 304, 307, 400, 401, 402, 403, 404, 405, 407,
    408, 409, 410, 412, 413, 415, 421, 422, 423, 424, 425, 426, 428, 429, 431, 451, 499, 500, 501,
    502, 503, 504, 507, 511, 520, 599,
];

/// How long the service asks to wait where it does, in milliseconds.
const ASKED_MS: u64 = 7_000;

const ROWS: &str = include_str!("rows.txt");

/// The page of a profile.
pub fn page(profile: &Profile) -> String {
    let mut page = format!("What answers lead to under the profile {}.\n", profile.name);
    let scenes = scenes(profile);
    contract(&mut page, profile, &scenes);
    for scene in &scenes {
        let _ = write!(page, "\n## {}\n\n", scene.name);
        for (what, input) in inputs(profile, scene) {
            let _ = writeln!(page, "{what:<38}{}", outcome(profile, scene, input));
        }
    }
    page
}

/// The rows of its contract.
fn contract(page: &mut String, profile: &Profile, scenes: &[Scene]) {
    let _ = write!(page, "\n## The contract\n\n");
    let head = format!("[{}]\n", profile.name);
    let (_, rows) = ROWS.split_once(&head).expect("every built-in has rows");
    let own = rows.lines().take_while(|line| !line.starts_with('['));
    for line in own.filter(|line| !line.is_empty()) {
        let columns: Vec<_> = line.split('|').map(str::trim).collect();
        let [stage, situation, status, facts] = columns[..] else {
            panic!("four columns: {line}");
        };
        let scene = scene(scenes, stage);
        let facts: Vec<_> =
            facts.split_whitespace().filter_map(|own| own.split_once('=')).collect();
        let status = status.parse().expect("a status");
        let mut answer = answer(status, BodyForm::Json, &facts, scene.purpose);
        if facts.contains(&("breaks", "off")) {
            (answer.whole, answer.kept) = (false, None);
        }
        let code = facts.iter().find(|(name, _)| *name == "code").map_or("", |(_, code)| *code);
        let told = format!("{status} {code}");
        let led = outcome(profile, scene, answered(profile, scene, &answer));
        let _ = writeln!(page, "{stage:<8}{situation:<53}{told:<38}{led}");
    }
}

fn scene<'a>(scenes: &'a [Scene], stage: &str) -> &'a Scene {
    let full = match stage {
        "again" => "submit, after an attempt whose answer was lost",
        "retry" => "retry of a failed job",
        other => other,
    };
    scenes.iter().find(|own| own.name == full).expect("a stage of this profile")
}

/// Everything that can be answered in a scene.
fn inputs(profile: &Profile, scene: &Scene) -> Vec<(String, Input)> {
    let purpose = scene.purpose;
    let mut all = vec![("no answer".to_owned(), Input::Lost(purpose))];
    let mut row = |what: &str, answer: Answer| {
        all.push((what.to_owned(), answered(profile, scene, &answer)));
    };
    let said = |status, facts: &[(&str, &str)]| answer(status, BodyForm::Json, facts, purpose);
    if purpose == Purpose::Submit {
        let mut taken = vec![("id", "job-1")];
        taken.extend(profile.carry.iter().map(|own| (own.name.as_str(), "/jobs/1")));
        row("200 with the job's id", said(200, &taken));
    }
    if matches!(purpose, Purpose::Poll | Purpose::Settle) {
        for (word, _) in &profile.states {
            if !word.starts_with("http:") && word != "absent" {
                row(&format!("200 \"{word}\""), said(200, &[("status", word)]));
            }
        }
        row("200 \"a word of next year\"", said(200, &[("status", "a word of next year")]));
    }
    if purpose == Purpose::Quote {
        row("200 with a price", said(200, &[("quoted", "5")]));
        row("200 with a price that is none", said(200, &[("quoted", "many")]));
    }
    if purpose == Purpose::Reconcile {
        for (what, page) in listings() {
            row(what, Answer { page: Some(page), ..said(200, &[]) });
        }
    }
    if profile.pages.is_some() && purpose == Purpose::Result {
        row("200, the first of more pages", first_page(said(200, &[])));
        let broken = Turn::Broken("the next page is said to be at another origin");
        row("200, pages that make no whole", Answer { turn: Some(broken), ..said(200, &[]) });
    }
    for (name, form) in [
        ("200, empty", BodyForm::Empty),
        ("200, a page of HTML", BodyForm::NotJson),
        ("200, half of a JSON text", BodyForm::Broken),
    ] {
        row(name, answer(200, form, &[], purpose));
    }
    for status in STATUSES {
        let form = if *status == 204 { BodyForm::Empty } else { BodyForm::Json };
        let name =
            if *status == 0 { "a redirect that is hidden".into() } else { status.to_string() };
        row(&name, answer(*status, form, &[], purpose));
    }
    for status in [429, 503] {
        let asked = Answer { server_wait_ms: Some(ASKED_MS), ..said(status, &[]) };
        row(&format!("{status}, Retry-After: 7"), asked);
    }
    for rule in profile.meanings.iter().filter(|rule| applies(rule, purpose)) {
        if let Some(code) = &rule.code {
            let status = rule.status.unwrap_or(409);
            row(&format!("{status} {code}"), said(status, &[("code", code)]));
        }
    }
    all
}

fn applies(rule: &Rule, purpose: Purpose) -> bool {
    rule.purposes.is_empty() || rule.purposes.contains(&purpose)
}

/// What a page of the listing can say.
fn listings() -> Vec<(&'static str, Page)> {
    let over = Page { reaches_back: true, ..Page::default() };
    vec![
        ("200, its run", Page { found: vec!["job-1".into()], ..over.clone() }),
        (
            "200, two runs that may be its",
            Page { found: vec!["job-1".into(), "job-2".into()], ..over.clone() },
        ),
        ("200, a run that may be its, no id", Page { doubtful: true, ..over.clone() }),
        ("200, read back: no run of it", over),
        ("200, the next page is wanted", Page { next: Some("2".into()), ..Page::default() }),
    ]
}

fn first_page(last: Answer) -> Answer {
    let kept = last.kept.clone().expect("it is kept");
    let so_far = Paged { kept, pages: 1, items: 1, next: "2".into(), digest: None };
    Answer { turn: Some(Turn::Next(Box::new(so_far))), ..last }
}

fn answer(status: u16, form: BodyForm, facts: &[(&str, &str)], purpose: Purpose) -> Answer {
    let mut found = Facts { form, ..Facts::default() };
    for (name, text) in facts {
        let fact = match text.strip_prefix('#') {
            Some(len) => Fact::List { len: len.parse().expect("a length") },
            None => Fact::Text((*text).to_owned()),
        };
        found.values.insert((*name).to_owned(), fact);
    }
    let carries_result = matches!(purpose, Purpose::Result | Purpose::Submit);
    let kept = (carries_result && (200..300).contains(&status)).then(|| ResultRef {
        download: 1,
        chunks: 1,
        bytes: 20,
        sha256: "00".into(),
        media_type: Some("application/json".into()),
        stream: None,
        at: None,
        items: None,
        earlier: Vec::new(),
        captured_at: now(),
    });
    let turn = kept.as_ref().filter(|_| form == BodyForm::Json).map(|_| Turn::Last);
    let url = "https://api.example.com/jobs/1".into();
    let partial = status == 206;
    Answer { status, url, facts: found, whole: true, partial, kept, turn, ..Answer::default() }
}

fn answered(profile: &Profile, scene: &Scene, answer: &Answer) -> Input {
    let verdict = classify(profile, scene.purpose, answer, now());
    Input::Answered(scene.purpose, Box::new(verdict))
}

/// What an input leads to, in words.
fn outcome(profile: &Profile, scene: &Scene, input: Input) -> String {
    let asked = matches!(&input, Input::Answered(_, own) if own.said.server_wait_ms.is_some());
    let after = step(&scene.operation, profile, now(), &mut Dice::seeded(1), input)
        .expect("an answer is never refused")
        .operation;
    let deleting = matches!(scene.purpose, Purpose::Delete | Purpose::Settle);
    let (mut words, hold) = if deleting { deletion(&after) } else { standing(&after) };
    if let Hold::Until { wait, .. } = hold
        && asked
        && wait.length_ms >= ASKED_MS
    {
        words.push_str(", 7 s or more");
    }
    words
}

fn standing(after: &Operation) -> (String, &Hold) {
    let mut words = status::status(after).name().to_owned();
    let cancel = after.life.cancel.as_ref();
    if cancel.is_some_and(|own| own.settled) {
        words.push_str(", the cancel is settled");
    } else if cancel.is_some_and(|own| !own.read) {
        words.push_str(", read before it is cancelled again");
    }
    let hold = after.life.hold();
    held(&mut words, hold);
    if let Stage::Ended { ending, .. } = after.life.stage() {
        if let Ending::Failed(failure) = ending {
            let _ = write!(words, " ({})", failure.class.name());
        } else if let Ending::Succeeded { replayed: true, .. } = ending {
            words.push_str(" (replayed)");
        }
    }
    (words, hold)
}

fn deletion(after: &Operation) -> (String, &Hold) {
    let Some(own) = &after.life.deletion else {
        return ("deleted, a tombstone is left".into(), after.life.hold());
    };
    let mut words = String::from(match own {
        Deletion { accepted: true, .. } => "deletion taken, read until it is done",
        Deletion { read: true, .. } => "deleting",
        Deletion { .. } => "deleting, read first",
    });
    held(&mut words, &own.hold);
    (words, &own.hold)
}

fn held(words: &mut String, hold: &Hold) {
    match hold {
        Hold::Ready => {}
        Hold::Until { reason, .. } => {
            let _ = write!(words, ", waits: {}", reason.name());
        }
        Hold::Parked { reason, .. } => {
            let _ = write!(words, ": {}", reason.name());
        }
    }
}
