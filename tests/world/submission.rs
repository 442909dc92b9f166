//! What is submitted in a world, and to which service.

use holdfast::driver::Submission;
use holdfast::engine::ServiceSetup;
use holdfast::model::ids::{Intent, ServiceName};
use holdfast::model::policy::{Limits, LimitsPatch, Retention};
use holdfast::rules::profile;
use holdfast_services::{Loopback, RunHarvester};

/// A service without faults.
pub fn service() -> Loopback<RunHarvester> {
    Loopback::new(RunHarvester::default())
}

/// A virtual day.
pub const DAY_MS: u64 = 86_400_000;

/// Submits `{"url": …, …options}` under an intent.
pub fn submission(intent: &str, options: &str) -> Submission {
    Submission {
        service: ServiceName::from("reports"),
        intent: Intent::from(intent),
        content_type: "application/json".into(),
        key: None,
        params: Vec::new(),
        limits: LimitsPatch::default(),
        body: format!("{{\"url\":\"https://example.com\"{options}}}").into_bytes(),
    }
}

/// The service as an app sets it up, save what the world's settings say.
pub fn setup(limits: Limits, profile_text: &str) -> ServiceSetup {
    ServiceSetup {
        name: ServiceName::from("reports"),
        profile: profile::read(profile_text).expect("a good profile"),
        profile_text: profile_text.into(),
        base_url: String::new(),
        origin: String::new(),
        derives_keys: false,
        retention: Retention::default(),
        params: Vec::new(),
        limits,
    }
}
