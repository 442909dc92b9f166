//! Problem bodies (RFC 9457) are understood under every profile, whatever its own places for faults.

use super::hostile::PROFILES;
use crate::world::{Settings, World, ending, standing};
use holdfast::model::ending::{Ending, Fault};
use holdfast_services::{Loopback, RunHarvester};
use serde_json::{Value, json};

/// How a submission ends that is refused with this body, under a profile.
fn refused(text: &str, params: &[(&str, &str)], body: &Value) -> Fault {
    let params = params.iter().map(|(name, value)| ((*name).into(), (*value).into())).collect();
    let settings = Settings { params, ..Settings::default() };
    let world = World::of(settings, Loopback::new(RunHarvester::default()), text);
    let fault = json!([{ "fault": "status", "status": 400, "body": body.to_string() }]);
    world.add_faults(&fault.to_string());
    let ended = world.live(&world.open(), "daily", "");
    let Some(Ending::Rejected(fault)) = ending(&ended) else {
        panic!("{text}: {} {:?}", standing(&ended), ended.life);
    };
    fault.clone()
}

#[test]
fn a_problem_says_what_is_wrong_under_every_profile() {
    let problem = json!({
        "type": "https://example.com/problems/too-deep", "title": "Too deep.",
        "detail": "depth must be 3 at most.", "status": 400, "instance": "/requests/7",
    });
    for (text, params) in PROFILES {
        let fault = refused(text, params, &problem);
        assert_eq!(fault.code.as_deref(), Some("https://example.com/problems/too-deep"), "{text}");
        assert_eq!(fault.message.as_deref(), Some("depth must be 3 at most."), "{text}");
    }
}

#[test]
fn a_problem_without_a_type_or_a_detail_is_told_by_its_title() {
    for (text, params) in PROFILES {
        let fault =
            refused(text, params, &json!({ "type": "about:blank", "title": "Bad Request" }));
        assert_eq!((fault.code, fault.message.as_deref()), (None, Some("Bad Request")), "{text}");
    }
}

#[test]
fn what_the_profile_points_at_goes_before_it() {
    let both = json!({
        "error": { "code": "TOO_DEEP", "message": "Own words." },
        "type": "https://example.com/problems/too-deep", "detail": "depth must be 3 at most.",
    });
    for (text, params) in PROFILES.iter().filter(|(text, _)| text.contains("/error/message")) {
        let fault = refused(text, params, &both);
        let own_first =
            text.find("\"/error/message\"") < text.find("\"/detail\"").or(Some(usize::MAX));
        let expected = if own_first { "Own words." } else { "depth must be 3 at most." };
        assert_eq!(fault.message.as_deref(), Some(expected), "{text}");
    }
}
