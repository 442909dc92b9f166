//! Submissions whose answers already say what became of the work, where that is no result.

use crate::streams::{answering, lived, world_of};
use crate::world::{Settings, result, standing};
use holdfast::model::error::Code;
use serde_json::{Value, json};

/// The answer to a submission with this word for the job's state.
fn ended_as(word: &str) -> (Value, Vec<Value>) {
    let calls = json!({ "submit": { "method": "POST", "path": "/v1/runs", "resultOn": [200] },
        "poll": { "method": "GET", "path": "/v1/runs/{id}" } });
    let mut profile = answering(&calls, &json!({ "id": ["/id"], "status": ["/status"] }));
    profile["states"] = json!({ "done": "completed", "part": "partial", "failed": "failed",
        "cancelled": "cancelled", "gone": "expired" });
    let body = json!({ "id": "run-1", "status": word });
    (profile, vec![json!({ "request": "POST /v1/runs", "status": 200, "body": body })])
}

#[test]
fn work_that_is_over_with_the_answer_is_known_to_have_been_taken_on() {
    let words = [
        ("part", "incomplete"),
        ("failed", "failed"),
        ("cancelled", "cancelled"),
        ("gone", "expired"),
    ];
    for (word, expected) in words {
        let (profile, exchanges) = ended_as(word);
        let (world, _) = world_of(profile, exchanges, Settings::default());
        let (context, ended) = lived(&world);
        assert_eq!(standing(&ended), expected, "{:?}", ended.life);
        let evidence = &ended.life.evidence;
        assert_eq!((&evidence.current, &evidence.unresolved), (&None, &None), "{word}");
        assert_eq!(ended.life.job().map(|own| own.as_str()), Some("run-1"), "{word}");
        let other = world.adopt(&context, "other", &"run-1".into());
        assert_eq!(other.expect_err("it has an operation").code, Code::KeyConflict, "{word}");
    }
}

#[test]
fn a_part_of_a_result_that_comes_with_the_answer_is_kept() {
    let (profile, exchanges) = ended_as("part");
    let (world, _) = world_of(profile, exchanges, Settings::default());
    let (context, ended) = lived(&world);
    let kept = world.kept_bytes(&context, &ended.identity.id);
    assert_eq!(kept.len() as u64, result(&ended).expect("what came").bytes);
    assert!(!kept.is_empty());
}
