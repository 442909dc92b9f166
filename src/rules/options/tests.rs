use crate::model::money::Credits;
use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;
use crate::model::profile::KeyPlace;
use crate::rules::step::{Command, Resolution};

fn fields<T>(read: Result<T, Vec<Fault>>) -> Vec<String> {
    let faults = read.err().unwrap_or_default();
    faults.into_iter().map(|fault| fault.pointer).collect()
}

fn configured(url: &str) -> Option<(String, String)> {
    let text = json!({ "services": { "a": { "profile": {}, "baseUrl": url } } }).to_string();
    let service = config(&text).ok()?.services.pop()?;
    Some((service.base_url, service.origin))
}

#[test]
fn a_configuration_is_read_with_its_defaults() {
    let own = json!({ "profile": 1 });
    let text = json!({ "retention": { "resultMs": 0, "ageMs": 9 }, "services": {
        "a": { "profile": own, "baseUrl": "https://API.example.com:443/v1/" },
        "b": { "profile": own, "baseUrl": "http://localhost:8080", "key": "derived",
               "limits": { "attempts": 3 }, "onUnknown": "resubmit" },
    } });
    let config = config(&text.to_string()).unwrap();
    assert_eq!(
        config.retention,
        Retention { result_ms: Some(0), age_ms: Some(9), ..Retention::default() }
    );
    assert_eq!(
        config.services,
        [
            ServiceConfig {
                name: "a".into(),
                profile: own.to_string(),
                base_url: "https://api.example.com/v1".into(),
                origin: "https://api.example.com".into(),
                derives_keys: false,
                params: Vec::new(),
                limits: Limits::default(),
            },
            ServiceConfig {
                name: "b".into(),
                profile: own.to_string(),
                base_url: "http://localhost:8080".into(),
                origin: "http://localhost:8080".into(),
                derives_keys: true,
                params: Vec::new(),
                limits: Limits {
                    attempts: 3,
                    on_unknown: OnUnknown::Resubmit,
                    ..Limits::default()
                },
            },
        ]
    );
}

#[test]
fn all_faults_of_a_configuration_come_at_once() {
    let retention = json!({ "ageMs": 0, "days": 3 });
    let text = json!({ "debug": true, "retention": retention, "services": {
        "a": { "profile": 3, "baseUrl": "ftp://x", "key": "mine", "limits": { "attempts": 0, "cost": -1 },
               "onUnknown": "retry" },
        "b c": { "baseUrl": "https://x" },
    } });
    assert_eq!(
        fields(config(&text.to_string())),
        [
            "debug",
            "retention.days",
            "retention.ageMs",
            "services.a.profile",
            "services.a.baseUrl",
            "services.a.limits.cost",
            "services.a.limits.attempts",
            "services.a.key",
            "services.a.onUnknown",
            "services.b c",
            "services.b c.profile",
        ]
    );
    assert_eq!(fields(config("{}")), ["services"]);
    assert_eq!(fields(config(r#"{"services":{}}"#)), ["services"]);
    assert_eq!(fields(config("nonsense")), [""]);
}

#[test]
fn urls_that_name_an_https_or_loopback_origin_are_taken() {
    for (url, base, origin) in [
        ("HTTPS://Example.COM", "https://example.com", "https://example.com"),
        (
            "https://example.com:8443/a/b//",
            "https://example.com:8443/a/b",
            "https://example.com:8443",
        ),
        ("https://example.com:00443", "https://example.com", "https://example.com"),
        ("http://127.1.2.3:80/x", "http://127.1.2.3/x", "http://127.1.2.3"),
        ("http://[::1]:3000", "http://[::1]:3000", "http://[::1]:3000"),
        ("https://[2001:db8::1]/x", "https://[2001:db8::1]/x", "https://[2001:db8::1]"),
        ("http://app.localhost", "http://app.localhost", "http://app.localhost"),
    ] {
        assert_eq!(configured(url), Some((base.into(), origin.into())), "{url}");
    }
}

#[test]
fn urls_that_could_lead_elsewhere_are_refused() {
    for url in [
        "",
        "example.com",
        "/api",
        "//example.com",
        "ftp://example.com",
        "javascript://x",
        "https://",
        "https:///x",
        "http://example.com",
        "http://127.0.0.1.example.com",
        "http://127.0.0.256",
        "http://127.1",
        "http://127.0.0.01",
        "https://2130706433",
        "https://api.0x7f",
        "http://127.",
        "http://localhost.example.com",
        "http://notlocalhost",
        "http://[::2]",
        "https://user@example.com",
        "https://u:p@example.com",
        "https://a?b",
        "https://a#b",
        "https://a\\b",
        "https://a b",
        "https://a\n",
        "https://a\t",
        "https://ä.example",
        "https://a:b",
        "https://a:70000",
        "https://a:+1",
        "https://a:1:2",
        "https://[::1",
        "https://::1]",
        "https://a..b",
        "https://.a",
        "https://%61",
        "https://a/../b",
        "https://a/%2e%2E/b",
        "https://a/.",
    ] {
        assert_eq!(configured(url), None, "{url}");
    }
}

proptest! {
    #[test]
    fn a_base_url_always_begins_with_its_origin(url in "(https?|HTTPS)://[a-zA-Z0-9.:/@?#\\[\\]\\\\%-]{0,24}") {
        if let Some((base, origin)) = configured(&url) {
            let rest = base.strip_prefix(&origin);
            prop_assert!(rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/')));
            prop_assert!(!base.ends_with('/'));
            // Reading what was read changes nothing.
            prop_assert_eq!(configured(&base), Some((base, origin)));
        }
    }
}

#[test]
fn a_submission_names_each_option_that_is_wrong() {
    let good = json!({ "intent": "a", "contentType": "text/plain; charset=utf-8", "key": "k",
        "limits": { "sendWithinMs": 1, "totalMs": 2, "attempts": 3, "cost": 0.5 } });
    let read = submission(&good.to_string()).unwrap();
    let patch = LimitsPatch {
        send_within_ms: Some(1),
        total_ms: Some(2),
        attempts: Some(3),
        cost: Credits::parse("0.5"),
    };
    assert_eq!((read.intent.as_str(), read.key.as_deref(), read.limits), ("a", Some("k"), patch));
    let bad = json!({ "contentType": "text", "key": 1, "limit": {},
        "limits": { "sendWithinMs": 1.5, "totalMs": 34_560_000_001_u64, "attempts": null, "cost": "1" } });
    assert_eq!(
        fields(submission(&bad.to_string())),
        [
            "limit",
            "intent",
            "contentType",
            "key",
            "limits.cost",
            "limits.sendWithinMs",
            "limits.totalMs",
            "limits.attempts",
        ]
    );
}

#[test]
fn an_intent_is_some_text_without_control_characters() {
    let with = |intent: &str| fields(submission(&json!({ "intent": intent }).to_string()));
    for good in ["a", "daily:2026-11-29 ä", &"ä".repeat(512)] {
        assert_eq!(with(good), [""; 0], "{good}");
    }
    for bad in ["", "a\nb", "\u{0}", "\u{7f}", "\u{85}", &"a".repeat(513)] {
        assert_eq!(with(bad), ["intent"], "{bad:?}");
    }
}

#[test]
fn limits_are_positive_and_bounded() {
    let with = |name: &str, value: Value| {
        fields(submission(&json!({ "intent": "a", "limits": { name: value } }).to_string()))
    };
    for (name, most) in
        [("sendWithinMs", 34_560_000_000_u64), ("totalMs", 34_560_000_000), ("attempts", 1_000)]
    {
        assert_eq!(with(name, json!(most)), [""; 0]);
        for bad in [json!(0), json!(-1), json!(most + 1), json!(1.5), json!("1"), json!(null)] {
            assert_eq!(with(name, bad.clone()), [["limits.", name].concat()], "{bad}");
        }
    }
    assert_eq!(with("cost", json!(0.25)), [""; 0]);
    for bad in [json!(0), json!(-0.5), json!(1e30), json!(null)] {
        assert_eq!(with("cost", bad.clone()), ["limits.cost"], "{bad}");
    }
    assert_eq!(fields(submission(r#"{"intent":"a","limits":7}"#)), ["limits"]);
}

#[test]
fn a_key_keeps_to_its_service_s_grammar() {
    let carrier = KeyCarrier {
        place: KeyPlace::Header("Idempotency-Key".into()),
        quoted: false,
        uuid: false,
        length_min: 2,
        length_max: 4,
        punctuation: "-:".into(),
        retention_ms: None,
        keeps_errors: false,
        sent_at: None,
        canonical_body: false,
    };
    for good in ["aB", "0-:z"] {
        assert_eq!(check_key(&carrier, good), None, "{good}");
    }
    for bad in ["", "a", "abcde", "a_b", "a b", "ää", "a\n"] {
        assert!(check_key(&carrier, bad).is_some(), "{bad:?}");
    }
}

#[test]
fn every_command_is_read() {
    let step = |command| Ok(ApiCommand::Step(command));
    let resume = |limits, accept_duplicate| step(Command::Resume { limits, accept_duplicate });
    assert_eq!(command(r#"{"cancel":{}}"#), step(Command::Cancel));
    assert_eq!(command(r#"{"acknowledge":{}}"#), step(Command::Acknowledge));
    assert_eq!(command(r#"{"resume":{}}"#), resume(None, false));
    assert_eq!(command(r#"{"resume":{"acceptRisk":"duplicate"}}"#), resume(None, true));
    let patch = LimitsPatch { attempts: Some(9), ..LimitsPatch::default() };
    assert_eq!(command(r#"{"resume":{"limits":{"attempts":9}}}"#), resume(Some(patch), false));
    assert_eq!(command(r#"{"resume":{"limits":{}}}"#), resume(None, false));
    let resolve = |resolution| step(Command::Resolve(resolution));
    assert_eq!(command(r#"{"resolve":{"found":"j"}}"#), resolve(Resolution::Found("j".into())));
    assert_eq!(command(r#"{"resolve":"not-executed"}"#), resolve(Resolution::NotExecuted));
    assert_eq!(command(r#"{"resolve":"abandon"}"#), resolve(Resolution::Abandon));
    assert_eq!(
        command(r#"{"retry":{"reviewed":"f","anyway":true}}"#),
        Ok(ApiCommand::Retry {
            reviewed: "f".into(),
            anyway: true,
            limits: LimitsPatch::default()
        })
    );
}

#[test]
fn a_command_names_each_option_that_is_wrong() {
    for (text, at) in [
        ("{}", [""].as_slice()),
        ("[]", &["", ""]),
        (r#"{"cancel":{},"resume":{}}"#, &[""]),
        (r#"{"stop":{}}"#, &["stop"]),
        (r#"{"cancel":{"now":1}}"#, &["cancel.now"]),
        (r#"{"acknowledge":1}"#, &["acknowledge"]),
        (
            r#"{"resume":{"limits":{"attempts":0},"acceptRisk":"any"}}"#,
            &["resume.acceptRisk", "resume.limits.attempts"],
        ),
        (r#"{"resume":{"limit":1}}"#, &["resume.limit"]),
        (r#"{"resolve":"executed"}"#, &["resolve"]),
        (r#"{"resolve":{"found":""}}"#, &["resolve.found"]),
        (r#"{"resolve":{}}"#, &["resolve.found"]),
        (r#"{"resolve":3}"#, &["resolve"]),
        (r#"{"retry":{"anyway":1}}"#, &["retry.reviewed", "retry.anyway"]),
    ] {
        let mut found = fields(command(text));
        found.dedup();
        let mut at = at.to_vec();
        at.dedup();
        assert_eq!(found, at, "{text}");
        assert!(command(text).is_err(), "{text}");
    }
}

#[test]
fn a_list_s_filter_is_read_with_its_defaults() {
    let all = ListFilter {
        service: None,
        statuses: Vec::new(),
        acknowledged: None,
        limit: 50,
        cursor: None,
    };
    assert_eq!(list_filter("{}"), Ok(all.clone()));
    let one = ListFilter { statuses: vec![Status::Parked], limit: 200, ..all.clone() };
    assert_eq!(list_filter(r#"{"status":"parked","limit":200}"#), Ok(one));
    let some = ListFilter {
        service: Some("a".into()),
        statuses: vec![Status::Queued, Status::Failed],
        acknowledged: Some(false),
        cursor: Some("c".into()),
        ..all
    };
    let text = r#"{"service":"a","status":["queued","failed"],"acknowledged":false,"cursor":"c"}"#;
    assert_eq!(list_filter(text), Ok(some));
}

#[test]
fn a_list_s_filter_names_each_option_that_is_wrong() {
    let text = r#"{"service":1,"status":["queued","gone"],"acknowledged":"no","limit":201,"cursor":2,"page":1}"#;
    assert_eq!(
        fields(list_filter(text)),
        ["page", "status.1", "limit", "service", "cursor", "acknowledged"]
    );
}
