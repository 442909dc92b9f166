//! What one seed decides before anything happens.

use holdfast::model::dice::Dice;
use holdfast::model::money::Credits;
use holdfast::model::policy::{Limits, OnUnknown, Retention};

use super::house::House;
use super::kinds::Mix;

/// A run.
#[derive(Clone, Debug)]
pub struct Plan {
    pub seed: u64,
    /// How many contexts there are at most at a time.
    pub contexts: usize,
    /// Whether they hear at once of a death (Web Locks) and of changes (BroadcastChannel).
    pub locks: bool,
    pub hints: bool,
    /// Whether the app has `onSettled`.
    pub consumes: bool,
    /// Faults after which a person may be needed.
    pub hard: bool,
    pub mix: Mix,
    pub storm_ms: u64,
    pub work: Vec<Work>,
    pub limits: Limits,
    /// Whether the app also cancels, resumes, resolves and acknowledges.
    pub meddles: bool,
    /// Whether keys are made from what is submitted instead of at random.
    pub derives_keys: bool,
    /// How long keys live at the service.
    pub key_ms: u64,
    /// Whether there are records that this code must not drive.
    pub plants: bool,
    /// Whether somebody looks at one context, then at another: what others drive is asked for.
    pub looks: bool,
    /// Whether one context or another has no credential for a while.
    pub signs_out: bool,
    /// How fast the clock runs, in parts per million too much.
    pub drift_ppm: i64,
    /// One way of the network.
    pub latency_ms: u64,
    pub house: House,
    /// How long after a run's creation a listing shows it.
    pub listing_lag_ms: u64,
    /// How long the app lets be kept what is over.
    pub retention: Retention,
    /// What the app also does.
    pub deletes: bool,
    pub forgets: bool,
    pub revises: bool,
}

/// One intended piece of work.
#[derive(Clone, Debug)]
pub struct Work {
    pub account: &'static str,
    pub intent: String,
    pub body: String,
    /// How the job must end when nobody stops it.
    pub ends: Ends,
    /// The job is there already: it is taken on instead of submitted.
    pub adopted: bool,
    /// How long the job takes, and how long its result is kept after that.
    pub duration_ms: u64,
    pub retention_ms: u64,
}

/// How a job ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ends {
    Succeeded,
    Failed,
    Rejected,
}

/// What stands in the place of a URL that every service refuses.
const UNUSABLE: &str = "7777777";

pub const DAY_MS: u64 = 86_400_000;

impl Plan {
    pub fn draw(seed: u64) -> Self {
        let dice = &mut Dice::seeded(seed);
        let hard = dice.up_to(9) < 3;
        let two = |dice: &mut Dice| dice.up_to(1) == 0;
        let further = &mut Further::draw(seed);
        let house = further.house;
        let count = 1 + dice.up_to(3);
        let work = (0..count).map(|number| Work::draw(dice, number, further)).collect();
        let limits = if hard && dice.up_to(3) == 0 {
            Limits { total_ms: 600_000, attempts: 4, ..Limits::default() }
        } else {
            Limits {
                attempts: 400,
                total_ms: 4 * DAY_MS,
                send_within_ms: 4 * DAY_MS,
                ..Limits::default()
            }
        };
        let limits = Limits { on_unknown: further.on_unknown, cost: further.cost, ..limits };
        let short_key = dice.up_to(9) < 3;
        Self {
            seed,
            contexts: pick(dice, &[1, 1, 2, 2, 3, 4]),
            locks: two(dice),
            hints: two(dice),
            consumes: dice.up_to(7) > 0,
            hard,
            mix: Mix::draw(dice, hard),
            storm_ms: pick(dice, &[20_000, 60_000, 180_000, 600_000]),
            work,
            limits,
            meddles: dice.up_to(2) == 0,
            derives_keys: two(dice),
            key_ms: match (short_key && hard, house.has_jobs()) {
                (false, _) => DAY_MS,
                (true, true) => 120_000,
                // An attempt alone may take two minutes.
                (true, false) => 600_000,
            },
            // Nothing is drawn for it, so that every seed stays the run that it was.
            plants: seed % 8 == 4 || seed % 8 == 6,
            looks: seed.is_multiple_of(16) || seed % 16 == 13,
            signs_out: seed % 8 == 5,
            drift_ppm: pick(dice, &[0, 0, 200, -200, 20_000, -20_000]),
            latency_ms: pick(dice, &[1, 10, 10, 60, 400]),
            house,
            listing_lag_ms: further.listing_lag_ms,
            retention: further.retention,
            deletes: further.deletes,
            forgets: further.forgets,
            revises: further.revises,
        }
    }

    pub const fn has_further_verbs(&self) -> bool {
        self.deletes || self.forgets || self.revises
    }
}

/// Which service it is and what else the app does, drawn from dice of their own.
struct Further {
    house: House,
    listing_lag_ms: u64,
    retention: Retention,
    on_unknown: OnUnknown,
    cost: Option<Credits>,
    deletes: bool,
    forgets: bool,
    revises: bool,
    adopts: bool,
}

impl Further {
    fn draw(seed: u64) -> Self {
        let dice = &mut Dice::seeded(seed ^ 0xFA27_4E25);
        let house = House::draw(dice);
        let one_in = |dice: &mut Dice, many: u64| dice.up_to(many - 1) == 0;
        let resubmits = one_in(dice, 2);
        let short = one_in(dice, 3);
        let kept = |dice: &mut Dice| Some(pick(dice, &[0, 20_000, 300_000])).filter(|_| short);
        Self {
            house,
            listing_lag_ms: pick(dice, &[0, 500, 5_000, 25_000]),
            retention: Retention {
                result_ms: kept(dice),
                age_ms: kept(dice).filter(|length_ms| *length_ms > 60_000),
                tombstone_ms: if one_in(dice, 4) { 60_000 } else { 400 * DAY_MS },
            },
            on_unknown: if resubmits { OnUnknown::Resubmit } else { OnUnknown::Park },
            // Less than the price for some of them: nothing is drawn for it either.
            cost: Credits::parse(if seed % 4 == 2 { "4" } else { "12" })
                .filter(|_| one_in(dice, 3)),
            deletes: one_in(dice, 3),
            forgets: one_in(dice, 6),
            revises: one_in(dice, 2),
            adopts: house.has_jobs() && one_in(dice, 4),
        }
    }
}

impl Work {
    fn draw(dice: &mut Dice, number: u64, further: &Further) -> Self {
        let account = if dice.up_to(5) == 0 { "ben" } else { "ann" };
        let intent = format!("work {number}");
        let duration_ms = pick(dice, &[0, 1_000, 3_000, 3_000, 20_000, 90_000, 400_000]);
        // Who waits for the answer does not wait for ever.
        let duration_ms =
            if further.house.has_jobs() { duration_ms } else { duration_ms.min(3_000) };
        let retention_ms = pick(dice, &[3_600_000, 3_600_000, 3_600_000, 86_400_000, 60_000]);
        let (ends, how) = match dice.up_to(11) {
            0 => (Ends::Failed, r#","outcome":"failed","failure_class":"transient""#),
            1 => (Ends::Failed, r#","outcome":"failed","failure_class":"input""#),
            2 => (Ends::Failed, r#","outcome":"source_blocked""#),
            3 => (Ends::Failed, r#","fail_times":1"#),
            4 => (Ends::Rejected, ""),
            _ => (Ends::Succeeded, ""),
        };
        let url = if ends == Ends::Rejected {
            UNUSABLE.to_owned()
        } else {
            format!("\"https://example.com/{account}/{number}\"")
        };
        let bytes = match (pick(dice, &[0, 0, 900, 5_000, 30_000]), duration_ms) {
            // Some come in more than one piece.
            (30_000, 1_000 | 3_000) => 600_000,
            (bytes, _) => bytes,
        };
        let not_ready_ms = pick(dice, &[0, 0, 0, 1_500, 6_000]);
        let not_found_ms = pick(dice, &[0, 0, 0, 900, 4_000]);
        let body = format!(
            "{{\"url\":{url},\"duration_ms\":{duration_ms},\"retention_ms\":{retention_ms},\
             \"result_bytes\":{bytes},\"not_ready_ms\":{not_ready_ms},\
             \"not_found_ms\":{not_found_ms},\"from\":\"{account}/{intent}\",\"ordinal\":0{how}}}"
        );
        let body = match further.house {
            House::Streamed => format!("{{\"input\":{body}}}"),
            House::Keyed | House::Listed | House::Bare | House::Priced => body,
        };
        let adopted = further.adopts && ends != Ends::Rejected && number == 0;
        Self { account, intent, body, ends, duration_ms, retention_ms, adopted }
    }

    /// The corrected body of the member of the lineage with this ordinal.
    pub fn corrected(&self, ordinal: u64) -> String {
        let own = self.body.replace("\"ordinal\":0", &format!("\"ordinal\":{ordinal}"));
        own.replacen(UNUSABLE, "\"https://example.com/corrected\"", 1)
    }

    /// How the world names it across accounts.
    pub fn name(&self) -> String {
        format!("{}/{}", self.account, self.intent)
    }

    /// Whether a rerun of the failed job completes.
    pub fn heals(&self) -> bool {
        self.body.contains("fail_times")
    }
}

pub fn pick<T: Copy>(dice: &mut Dice, from: &[T]) -> T {
    let last = u64::try_from(from.len() - 1).unwrap_or(0);
    from[usize::try_from(dice.up_to(last)).unwrap_or(0)]
}
