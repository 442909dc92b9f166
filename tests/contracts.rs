//! What every answer in every stage leads to, for every built-in profile, as a page to read.
//!
//! `HOLDFAST_WRITE=1 cargo test --test contracts` writes the pages anew; look at what has changed.
#![cfg(not(target_arch = "wasm32"))]
#![allow(clippy::expect_used, clippy::panic, reason = "helpers of tests")]

mod world;

use std::fmt::Write as _;
use std::path::Path;

use holdfast::model::answer::Answer;
use holdfast::model::dice::Dice;
use holdfast::model::ending::{Ending, ResultRef};
use holdfast::model::evidence::AcceptedHow;
use holdfast::model::facts::{BodyForm, Fact, Facts};
use holdfast::model::hold::Hold;
use holdfast::model::life::{Life, Stage};
use holdfast::model::operation::Operation;
use holdfast::model::profile::{Profile, Purpose, Rule};
use holdfast::model::time::Timestamp;
use holdfast::rules::classify::classify;
use holdfast::rules::step::{Input, step};
use holdfast::rules::{profile, status};
use world::World;

const STATUSES: &[u16] = &[
    0, 200, 201, 202, 204, 302, 303, 400, 401, 402, 403, 404, 408, 409, 410, 413, 422, 425, 429,
    451, 500, 502, 503, 504,
];

/// Where an answer finds the operation.
struct Scene {
    name: &'static str,
    purpose: Purpose,
    operation: Operation,
}

fn now() -> Timestamp {
    Timestamp(1_790_000_100_000)
}

/// An operation with a life of its own.
fn living(base: &Operation, live: impl FnOnce(&mut Life)) -> Operation {
    let mut operation = base.clone();
    operation.life = Life::new();
    live(&mut operation.life);
    operation
}

fn accept(life: &mut Life) {
    write(life);
    life.accepted(Some("job-1".into()), AcceptedHow::Answered, now()).expect("accepted");
}

fn write(life: &mut Life) {
    life.write_ahead(now(), 2_000, 32_000, None).expect("written ahead");
}

fn scenes(profile: &Profile) -> Vec<Scene> {
    let world = World::new();
    let context = world.open();
    let base = world.submit(&context, "daily", "");
    let base = Operation {
        identity: holdfast::model::operation::Identity { created_at: now(), ..base.identity },
        ..base
    };
    let mut all = vec![
        Scene { name: "submit", purpose: Purpose::Submit, operation: living(&base, write) },
        Scene {
            name: "submit, after an attempt whose answer was lost",
            purpose: Purpose::Submit,
            operation: living(&base, |life| {
                write(life);
                life.lost().expect("lost");
                write(life);
            }),
        },
    ];
    if profile.calls.poll.is_some() {
        all.push(Scene { name: "poll", purpose: Purpose::Poll, operation: living(&base, accept) });
        all.push(Scene {
            name: "result",
            purpose: Purpose::Result,
            operation: living(&base, |life| {
                accept(life);
                life.completed(None, false).expect("completed");
            }),
        });
    }
    if profile.calls.cancel.is_some() {
        all.push(Scene {
            name: "cancel",
            purpose: Purpose::Cancel,
            operation: living(&base, |life| {
                accept(life);
                life.want_cancel(now()).expect("wanted");
                life.write_cancel_ahead(now(), 2_000, 32_000).expect("written ahead");
            }),
        });
    }
    all
}

fn answer(status: u16, form: BodyForm, facts: &[(&str, &str)], purpose: Purpose) -> Answer {
    let mut found = Facts { form, ..Facts::default() };
    for (name, text) in facts {
        found.values.insert((*name).to_owned(), Fact::Text((*text).to_owned()));
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
        captured_at: now(),
    });
    Answer {
        status,
        url: "https://api.example.com/jobs/1".into(),
        facts: found,
        whole: true,
        kept,
        ..Answer::default()
    }
}

/// What the answer leads to, in words.
fn outcome(profile: &Profile, scene: &Scene, answer: &Answer) -> String {
    let verdict = classify(profile, scene.purpose, answer, now());
    let input = Input::Answered(scene.purpose, Box::new(verdict));
    let after = step(&scene.operation, profile, now(), &mut Dice::seeded(1), input)
        .expect("an answer is never refused")
        .operation;
    let mut words = status::status(&after).name().to_owned();
    match (after.life.stage(), after.life.hold()) {
        (Stage::Ended { ending: Ending::Failed(failure), .. }, _) => {
            let _ = write!(words, " ({})", failure.class.name());
        }
        (_, Hold::Until { reason, .. }) => {
            let _ = write!(words, ", waits: {}", reason.name());
        }
        (_, Hold::Parked { reason, .. }) => {
            let _ = write!(words, ": {}", reason.name());
        }
        (_, Hold::Ready) => {}
    }
    words
}

fn applies(rule: &Rule, purpose: Purpose) -> bool {
    rule.purposes.is_empty() || rule.purposes.contains(&purpose)
}

fn page(profile: &Profile) -> String {
    let mut page = format!("What answers lead to under the profile {}.\n", profile.name);
    for scene in scenes(profile) {
        let _ = write!(page, "\n## {}\n\n", scene.name);
        let mut row = |what: &str, answer: &Answer| {
            let _ = writeln!(page, "{what:<38}{}", outcome(profile, &scene, answer));
        };
        let said =
            |status, facts: &[(&str, &str)]| answer(status, BodyForm::Json, facts, scene.purpose);
        if scene.purpose == Purpose::Submit {
            let mut taken = vec![("id", "job-1")];
            taken.extend(profile.carry.iter().map(|own| (own.name.as_str(), "/jobs/1")));
            row("200 with the job's id", &said(200, &taken));
        }
        if matches!(scene.purpose, Purpose::Poll) {
            for (word, _) in &profile.states {
                if !word.starts_with("http:") && word != "absent" {
                    row(&format!("200 \"{word}\""), &said(200, &[("status", word)]));
                }
            }
            row("200 \"a word of next year\"", &said(200, &[("status", "a word of next year")]));
        }
        for (name, form) in [
            ("200, empty", BodyForm::Empty),
            ("200, a page of HTML", BodyForm::NotJson),
            ("200, half of a JSON text", BodyForm::Broken),
        ] {
            row(name, &answer(200, form, &[], scene.purpose));
        }
        for status in STATUSES {
            let form = if *status == 204 { BodyForm::Empty } else { BodyForm::Json };
            row(&status.to_string(), &answer(*status, form, &[], scene.purpose));
        }
        for rule in profile.meanings.iter().filter(|rule| applies(rule, scene.purpose)) {
            if let Some(code) = &rule.code {
                let status = rule.status.unwrap_or(409);
                row(&format!("{status} {code}"), &said(status, &[("code", code)]));
            }
        }
    }
    page
}

fn reads_like_its_contract(name: &str, text: &str) {
    let page = page(&profile::read(text).expect("a good profile"));
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/contracts").join(name);
    let file = file.with_extension("txt");
    if std::env::var_os("HOLDFAST_WRITE").is_some() {
        std::fs::write(&file, &page).expect("the page is written");
    }
    let kept = std::fs::read_to_string(&file).unwrap_or_default();
    for (line, (own, kept)) in page.lines().zip(kept.lines()).enumerate() {
        assert_eq!(own, kept, "tests/contracts/{name}.txt:{}", line + 1);
    }
    assert_eq!(page.lines().count(), kept.lines().count());
}

macro_rules! contracts {
    ($($test:ident: $file:literal,)*) => {$(
        #[test]
        fn $test() {
            let text = include_str!(concat!("../pkg-template/profiles/", $file, ".json"));
            reads_like_its_contract($file, text);
        }
    )*};
}

contracts! {
    azure_lro_reads_like_its_contract: "azure-lro",
    bulkgrid_reads_like_its_contract: "bulkgrid",
    cleanedweb_reads_like_its_contract: "cleanedweb",
    google_lro_reads_like_its_contract: "google-lro",
    http_async_reads_like_its_contract: "http-async",
    idempotency_key_reads_like_its_contract: "idempotency-key",
    replay_reads_like_its_contract: "replay",
    runharvester_reads_like_its_contract: "runharvester",
}
