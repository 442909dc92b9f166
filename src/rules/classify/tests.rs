//! What holds of every answer, whatever it says.

use proptest::prelude::*;

use super::*;
use crate::model::ending::FAULT_TEXT_MAX;
use crate::model::facts::{Fact, Facts};
use crate::model::profile::FactSource;
use crate::model::time::Timestamp;

const NOW: Timestamp = Timestamp(1_792_567_680_000);

fn profile() -> Profile {
    crate::rules::profile::read(
        r#"{
          "profile": 1,
          "name": "service",
          "key": { "header": "Idempotency-Key" },
          "calls": {
            "submit": { "method": "POST", "path": "/jobs" },
            "poll": { "method": "GET", "path": "/jobs/{id}" },
            "result": { "method": "GET", "path": "/jobs/{id}/result" },
            "cancel": { "method": "POST", "path": "/jobs/{id}/cancel" },
            "list": { "method": "GET", "path": "/jobs" }
          },
          "facts": { "id": ["/id"], "status": ["/status"], "code": ["/code"] },
          "states": { "queued": "active", "done": "completed", "broken": "failed" },
          "meanings": [
            { "code": "LATER", "means": "notReady" },
            { "code": "NO_ACCESS", "means": "needsAccess" },
            { "code": "BUSY", "means": "inProgress" },
            { "code": "NO", "means": "rejected" },
            { "code": "REUSED", "means": "keyConflict" }
          ]
        }"#,
    )
    .unwrap()
}

/// An answer that looks as good as one can.
fn good(status: u16) -> Answer {
    let kept = ResultRef {
        download: 1,
        chunks: 1,
        bytes: 20,
        sha256: "00".into(),
        media_type: None,
        at: None,
        stream: None,
        items: None,
        earlier: Vec::new(),
        captured_at: NOW,
    };
    let mut answer = Answer { status, whole: true, kept: Some(kept), ..Answer::default() };
    answer.page = Some(Page { found: vec!["j_1".into()], ..Page::default() });
    answer.facts.form = BodyForm::Json;
    say(&mut answer, "id", "j_1");
    say(&mut answer, "status", "done");
    answer
}

fn say(answer: &mut Answer, name: &str, text: &str) {
    answer.facts.values.insert(name.into(), Fact::Text(text.into()));
}

fn finding(purpose: Purpose, answer: &Answer) -> Finding {
    classify(&profile(), purpose, answer, NOW).finding
}

fn any_purpose() -> impl Strategy<Value = Purpose> {
    prop::sample::select(Purpose::ALL)
}

proptest! {
    #[test]
    fn a_word_that_the_profile_does_not_name_means_still_running(
        word in prop_oneof!["\\PC{0,40}", "(un|not )?(done|broken)[ .!s-]?", "(d|do|don|\u{17F}done)"],
    ) {
        let known = ["queued", "done", "broken"].iter().any(|own| own.eq_ignore_ascii_case(&word));
        let mut answer = good(200);
        say(&mut answer, "status", &word);
        let verdict = classify(&profile(), Purpose::Poll, &answer, NOW);
        prop_assert_eq!(verdict.said.state.as_deref(), Some(word.as_str()));
        if !known {
            prop_assert_eq!(verdict.finding, Finding::Job(JobState::Active));
        }
    }

    #[test]
    fn a_word_that_the_profile_names_means_the_same_in_any_case(upper in any::<[bool; 6]>()) {
        for (word, state) in [("done", JobState::Completed), ("broken", JobState::Failed)] {
            let letters = word.chars().zip(upper);
            let word: String = letters
                .map(|(letter, up)| if up { letter.to_ascii_uppercase() } else { letter })
                .collect();
            let mut answer = good(200);
            say(&mut answer, "status", &word);
            prop_assert_eq!(finding(Purpose::Poll, &answer), Finding::Job(state));
        }
    }

    #[test]
    fn no_body_makes_a_success_of_another_status(
        purpose in any_purpose(),
        status in (0..600_u16).prop_filter("no success", |status| !(200..300).contains(status)),
    ) {
        let found = finding(purpose, &good(status));
        let plain = matches!(found, Finding::Redirected | Finding::Other(_));
        prop_assert!(plain, "{:?}", found);
    }

    #[test]
    fn a_success_that_cannot_be_read_is_none(
        purpose in prop::sample::select(
            [Purpose::Submit, Purpose::Poll, Purpose::Result, Purpose::Reconcile].as_slice(),
        ),
        status in prop::sample::select([200, 201, 203, 206].as_slice()),
        form in prop::sample::select(
            [BodyForm::Empty, BodyForm::NotJson, BodyForm::Broken].as_slice(),
        ),
        cut: bool,
    ) {
        let mut answer = good(status);
        if cut {
            answer.whole = false;
        } else {
            answer.facts = Facts { form, ..Facts::default() };
            answer.page = None;
        }
        let found = finding(purpose, &answer);
        prop_assert!(matches!(found, Finding::Unreadable(_)), "{:?}", found);
    }

    #[test]
    fn a_wait_that_is_asked_for_changes_no_meaning(
        purpose in any_purpose(),
        status in 0..600_u16,
        code in prop::option::of("[A-Z]{1,8}"),
        wait_ms: u64,
    ) {
        let mut answer = good(status);
        if let Some(code) = code {
            say(&mut answer, "code", &code);
        }
        let without = finding(purpose, &answer);
        answer.server_wait_ms = Some(wait_ms);
        prop_assert_eq!(finding(purpose, &answer), without);
    }

    #[test]
    fn what_is_kept_of_an_answer_is_bounded(
        purpose in any_purpose(),
        status in prop::sample::select([200, 202, 409, 500].as_slice()),
        unit in "\\PC",
        times in 0..70_000_usize,
    ) {
        let text = unit.repeat(times);
        let mut answer = good(status);
        for name in [
            "id", "existingId", "status", "progress", "code", "message", "failureClass", "requestId",
            "traceId", "chargeReceiptId", "recordCount", "tokenState", "base", "expiresAt",
        ] {
            say(&mut answer, name, &text);
        }
        let said = classify(&profile(), purpose, &answer, NOW).said;
        let texts = [
            &said.fault.code, &said.fault.message, &said.fault.trace_id, &said.state, &said.progress,
            &said.request_id, &said.charge_receipt_id, &said.record_count, &said.ledger.token_state,
        ];
        for text in texts {
            prop_assert!(text.as_ref().is_none_or(|text| text.len() <= FAULT_TEXT_MAX));
        }
        for id in [&said.job, &said.existing] {
            prop_assert!(id.as_ref().is_none_or(|id| (1..=4_096).contains(&id.as_str().len())));
        }
    }

    #[test]
    fn an_id_of_64_bits_is_taken_as_it_is_written(id: u64) {
        let mut answer = good(202);
        answer.facts.values.insert("id".into(), Fact::Number(id.to_string()));
        let taken = Finding::Accepted(id.to_string().as_str().into());
        prop_assert_eq!(finding(Purpose::Submit, &answer), taken);
    }
}

#[test]
fn a_job_that_a_success_names_with_its_state_is_not_refused_by_a_code_beside_it() {
    let mut answer = good(201);
    let id = JobId::from("j_1");
    for (code, means) in [
        ("NO_ACCESS", Meaning::NeedsAccess),
        ("BUSY", Meaning::InProgress),
        ("NO", Meaning::Rejected),
    ] {
        say(&mut answer, "code", code);
        for word in ["queued", "done"] {
            say(&mut answer, "status", word);
            assert_eq!(finding(Purpose::Submit, &answer), Finding::Accepted(id.clone()), "{code}");
        }
        for word in ["broken", "of another request"] {
            say(&mut answer, "status", word);
            assert_eq!(finding(Purpose::Submit, &answer), Finding::Other(means), "{code} {word}");
        }
    }
    say(&mut answer, "status", "queued");
    say(&mut answer, "code", "REUSED");
    let conflict = Finding::Other(Meaning::KeyConflict);
    assert_eq!(finding(Purpose::Submit, &answer), conflict, "the job of another request");
}

#[test]
fn what_has_come_is_stored_only_with_what_leads_to_it() {
    for (purpose, stored) in
        [(Purpose::Result, true), (Purpose::Submit, false), (Purpose::Poll, false)]
    {
        let piece = Piece { download: 1, index: 0, bytes: b"{}".to_vec() };
        let answer = Answer { last_piece: Some(Rc::new(piece)), ..good(200) };
        let verdict = classify(&profile(), purpose, &answer, NOW);
        assert_eq!(verdict.last_piece.is_some(), stored, "{:?}", verdict.finding);
    }
}

/// What later calls are addressed by, where an answer gives this as the link to the job.
fn carried(link: &str, any_origin: bool) -> Option<String> {
    let mut profile = profile();
    if let Some(poll) = &mut profile.calls.poll {
        (poll.link, poll.any_origin) = (Some("at".into()), any_origin);
    }
    profile.carry.push(FactSource { name: "at".into(), places: Vec::new() });
    let mut answer = good(202);
    answer.url = "https://api.example.com/jobs".into();
    say(&mut answer, "at", link);
    let verdict = classify(&profile, Purpose::Submit, &answer, NOW);
    verdict.said.carried.first().map(|(_, url)| url.clone())
}

#[test]
fn a_link_is_carried_within_its_own_origin_or_to_any_where_the_profile_says_so() {
    let own = Some("https://api.example.com/jobs/7".to_owned());
    assert_eq!(carried("/jobs/7", false), own);
    let other = "https://other.example/jobs/7".to_owned();
    assert_eq!(carried(&other, false), None);
    assert_eq!(carried(&other, true), Some(other));
    let long = ["/jobs/", &"7".repeat(4_091)].concat();
    assert_eq!((carried("", true), carried(&long, true)), (None, None));
}

#[test]
fn where_only_a_link_leads_to_the_job_an_acceptance_without_it_cannot_be_read() {
    let finding = |path: Option<&str>, link: &str| {
        let mut profile = profile();
        if let Some(poll) = &mut profile.calls.poll {
            (poll.link, poll.path) = (Some("at".into()), path.map(str::to_owned));
        }
        profile.carry.push(FactSource { name: "at".into(), places: Vec::new() });
        let mut answer = good(202);
        answer.url = "https://api.example.com/jobs".into();
        say(&mut answer, "at", link);
        classify(&profile, Purpose::Submit, &answer, NOW).finding
    };
    let accepted = Finding::Accepted("j_1".into());
    assert_eq!(finding(None, "/jobs/7"), accepted);
    assert_eq!(finding(None, ""), Finding::Unreadable(None));
    assert_eq!(finding(Some("/jobs/{id}"), ""), accepted);
}

#[test]
fn a_code_counts_in_a_poll_that_says_no_state_only_where_it_can_be_read() {
    let finding = |form| {
        let mut answer = good(200);
        answer.facts.values.remove("status");
        say(&mut answer, "code", "NO_ACCESS");
        answer.facts.form = form;
        finding(Purpose::Poll, &answer)
    };
    assert_eq!(finding(BodyForm::Json), Finding::Other(Meaning::NeedsAccess));
    assert_eq!(finding(BodyForm::Broken), Finding::Unreadable(None));
}

#[test]
fn a_result_was_captured_when_the_service_says_so_and_else_when_it_came() {
    let captured = |said: Option<&str>| {
        let mut answer = good(200);
        if let Some(said) = said {
            say(&mut answer, "capturedAt", said);
        }
        let finding = finding(Purpose::Result, &answer);
        if let Finding::Kept(kept) = finding { Some(kept.captured_at) } else { None }
    };
    assert_eq!(captured(None), Some(NOW));
    assert_eq!(captured(Some("2026-10-20T12:00:00Z")), Some(Timestamp(1_792_497_600_000)));
}

#[test]
fn an_answer_without_the_member_that_is_the_result_is_incomplete_and_says_so() {
    let mut profile = profile();
    profile.result_at = "/data".into();
    let mut answer = good(200);
    let judged = |answer: &Answer| {
        let Verdict { finding, said, .. } = classify(&profile, Purpose::Result, answer, NOW);
        (matches!(finding, Finding::Incomplete(Some(_))), said.fault.message)
    };
    assert_eq!(judged(&answer), (true, Some("the answer does not hold the result".into())));
    say(&mut answer, RESULT_FACT, "{}");
    assert_eq!(judged(&answer), (false, None));
}

#[test]
fn a_redirect_ends_a_job_only_where_the_job_was_asked_for() {
    let mut profile = profile();
    profile.states.push(("http:303".into(), JobState::Completed));
    let finding = |purpose| classify(&profile, purpose, &good(303), NOW).finding;
    assert_eq!(finding(Purpose::Poll), Finding::Job(JobState::Completed));
    for purpose in [Purpose::Submit, Purpose::Result, Purpose::Cancel] {
        assert_eq!(finding(purpose), Finding::Redirected, "{purpose:?}");
    }
}
