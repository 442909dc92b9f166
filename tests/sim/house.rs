//! The services of the simulation: each a model with its bill, and the app's setting for it.

use holdfast::engine::ServiceSetup;
use holdfast::model::dice::Dice;
use holdfast::model::ids::ServiceName;
use holdfast::rules::profile;
use holdfast_services::{
    AnyService, Bulkgrid, BulkgridConfig, CleanedWeb, CleanedWebConfig, Config, Loopback, Replay,
    ReplayConfig, Request, RunHarvester, Settings,
};
use serde_json::{Value, json};

use super::plan::Plan;

const BALANCE: u64 = 1_000_000;

/// A kind of service.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum House {
    /// Keys, polls, late billing, reruns.
    Keyed,
    /// No keys; a listing that shows what was made, results of many pages, deletions.
    Listed,
    /// Neither keys nor a listing.
    Bare,
    /// Keys and prices; the answer is the result, and a replay brings it again.
    Priced,
    /// Keys; the answer is a stream, and names the run that it can be read by.
    Streamed,
}

impl House {
    pub fn draw(dice: &mut Dice) -> Self {
        match dice.up_to(15) {
            0..=7 => Self::Keyed,
            8..=11 => Self::Listed,
            12 => Self::Bare,
            13 | 14 => Self::Priced,
            _ => Self::Streamed,
        }
    }

    /// Whether a second sending is the same submission to it.
    pub const fn has_keys(self) -> bool {
        match self {
            Self::Keyed | Self::Priced | Self::Streamed => true,
            Self::Listed | Self::Bare => false,
        }
    }

    /// Whether the work is a job, that is followed by its id.
    pub const fn has_jobs(self) -> bool {
        match self {
            Self::Keyed | Self::Listed | Self::Bare => true,
            Self::Priced | Self::Streamed => false,
        }
    }

    /// The model, as nobody has asked it for anything.
    pub fn open(plan: &Plan) -> Loopback<AnyService> {
        let settings = |ids: &str| Settings {
            balance: BALANCE,
            key_retention_ms: plan.key_ms,
            ..Settings::with_ids(ids)
        };
        let service: AnyService = match plan.house {
            Self::Keyed => Box::new(RunHarvester::new(Config {
                balance: BALANCE,
                key_retention_ms: plan.key_ms,
                ..Config::default()
            })),
            Self::Listed | Self::Bare => Box::new(Bulkgrid::new(BulkgridConfig {
                settings: settings("run_"),
                listing_lag_ms: plan.listing_lag_ms,
                ..BulkgridConfig::default()
            })),
            Self::Priced => Box::new(Replay::new(ReplayConfig {
                settings: settings("rq_"),
                ..ReplayConfig::default()
            })),
            Self::Streamed => Box::new(CleanedWeb::new(CleanedWebConfig {
                settings: settings("run_"),
                ..CleanedWebConfig::default()
            })),
        };
        Loopback::new(service)
    }

    /// The service, as the app configures it.
    pub fn setup(plan: &Plan) -> ServiceSetup {
        let text = text(plan);
        let params: &[(&str, &str)] = match plan.house {
            Self::Keyed => &[],
            Self::Listed | Self::Bare => &[("endpoint", "extract")],
            Self::Priced => &[("operation", "scrape")],
            Self::Streamed => &[("sourceId", "news"), ("surface", "stream")],
        };
        ServiceSetup {
            name: ServiceName::from("reports"),
            profile: profile::read(&text).unwrap_or_else(|_| unreachable!("a good profile")),
            profile_text: text,
            base_url: "https://api.example.com".into(),
            origin: "https://api.example.com".into(),
            params: params.iter().map(|(name, own)| ((*name).into(), (*own).into())).collect(),
            limits: plan.limits,
            retention: plan.retention,
            derives_keys: plan.derives_keys && plan.house.has_keys(),
        }
    }

    /// The job's id in a path.
    pub fn job_in(self, request: &Request) -> Option<&str> {
        let before = match self {
            Self::Keyed => "/api/v1/data/requests/",
            Self::Listed | Self::Bare => "/api/v1/runs/",
            Self::Priced => return None,
            Self::Streamed => "/v1/sources/news/runs/",
        };
        request.path.strip_prefix(before)?.split(['/', '?']).next()
    }
}

/// The profile, with the key lifetime of the run and pages that are short enough to be many.
fn text(plan: &Plan) -> String {
    let shipped = match plan.house {
        House::Keyed => include_str!("../../pkg-template/profiles/runharvester.json"),
        House::Listed | House::Bare => include_str!("../../pkg-template/profiles/bulkgrid.json"),
        House::Priced => include_str!("../../pkg-template/profiles/replay.json"),
        House::Streamed => include_str!("../../pkg-template/profiles/cleanedweb.json"),
    };
    if plan.house == House::Keyed {
        let lifetime = format!("\"retentionMs\": {}", plan.key_ms);
        return shipped.replace("\"retentionMs\": 86400000", &lifetime);
    }
    let mut profile: Value = serde_json::from_str(shipped).unwrap_or_default();
    match plan.house {
        House::Keyed => {}
        House::Priced | House::Streamed => profile["key"]["retentionMs"] = json!(plan.key_ms),
        House::Listed | House::Bare => {
            profile["calls"]["result"]["path"] = json!("/api/v1/runs/{id}/results?limit=10");
        }
    }
    if plan.house == House::Bare {
        for (part, member) in [("/calls", "list"), ("", "reconcile")] {
            let part = profile.pointer_mut(part).and_then(Value::as_object_mut);
            part.and_then(|part| part.remove(member));
        }
    }
    profile.to_string()
}
