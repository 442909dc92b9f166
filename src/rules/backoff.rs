//! How long to wait before another try, and never not at all.

use super::guidance::WAIT_MS_MAX;
use crate::model::{dice::Dice, policy::Backoff};

/// The shortest wait between two requests of one operation, in milliseconds.
pub const FLOOR_MS: u64 = 250;

/// A wait with full jitter before retry `attempt_index`, which counts from 0.
///
/// It is drawn evenly from [`FLOOR_MS`] to `first × factor^attempt_index`, at most the cap. The
/// floor is above the cap, and no wait is longer than [`WAIT_MS_MAX`].
pub fn full_jitter(policy: &Backoff, attempt_index: u32, dice: &mut Dice) -> u64 {
    between(FLOOR_MS, ceiling(policy, attempt_index), dice)
}

/// A wait with half jitter before poll `poll_index`, which counts from 0: drawn evenly from the upper
/// half of what [`full_jitter`] draws from.
///
/// Polls of different jobs are spread by the jobs themselves; what more jitter there is only makes some
/// waits long that follow short ones, and brings more lag for as many polls.
pub fn poll_delay(policy: &Backoff, poll_index: u32, dice: &mut Dice) -> u64 {
    let ceiling = ceiling(policy, poll_index);
    between((ceiling / 2).max(FLOOR_MS), ceiling, dice)
}

/// The wait that a server asked for, plus up to a tenth of it, so that those who were told the
/// same time do not all come back at once.
pub fn with_server_floor(wait_ms: u64, dice: &mut Dice) -> u64 {
    wait_ms.saturating_add(dice.up_to(wait_ms / 10))
}

fn between(floor: u64, ceiling: u64, dice: &mut Dice) -> u64 {
    floor + dice.up_to(ceiling.saturating_sub(floor))
}

/// `first × factor^index`, at most the cap.
fn ceiling(policy: &Backoff, index: u32) -> u64 {
    /// Parts of a millisecond, so that short waits grow too.
    const PARTS: u64 = 1024;
    let cap = policy.cap_ms.min(WAIT_MS_MAX) * PARTS;
    let mut value = policy.first_ms.min(WAIT_MS_MAX) * PARTS;
    for _ in 0..index {
        if value >= cap || policy.factor_tenths <= 10 {
            break;
        }
        value = (value.saturating_mul(u64::from(policy.factor_tenths)) / 10).max(value + 1);
    }
    value.min(cap) / PARTS
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const PACE: Backoff = Backoff { first_ms: 1000, factor_tenths: 16, cap_ms: 30_000 };

    fn any_backoff() -> impl Strategy<Value = Backoff> {
        let ms = || prop_oneof![0..100_000_u64, any::<u64>()];
        (ms(), any::<u32>(), ms()).prop_map(|(first_ms, factor_tenths, cap_ms)| Backoff {
            first_ms,
            factor_tenths,
            cap_ms,
        })
    }

    proptest! {
        #[test]
        fn any_wait_is_between_floor_and_cap(policy in any_backoff(), index: u32, seed: u64) {
            let dice = &mut Dice::seeded(seed);
            let highest = policy.cap_ms.clamp(FLOOR_MS, WAIT_MS_MAX);
            let wait = full_jitter(&policy, index, dice);
            prop_assert!((FLOOR_MS..=highest).contains(&wait), "{}", wait);
            let wait = poll_delay(&policy, index, dice);
            prop_assert!((FLOOR_MS..=highest).contains(&wait), "{}", wait);
            prop_assert!(wait >= ceiling(&policy, index) / 2);
        }

        #[test]
        fn the_ceiling_is_the_power(
            first_ms in 1..10_000_u64,
            factor_tenths in 11..40_u32,
            index in 0..12_u32,
        ) {
            let policy = Backoff { first_ms, factor_tenths, cap_ms: 100_000_000 };
            let exact = first_ms as f64 * (f64::from(factor_tenths) / 10.0).powi(index.cast_signed());
            let own = ceiling(&policy, index) as f64;
            let exact = exact.min(1e8);
            prop_assert!(own <= exact + 1e-3 && own > exact * 0.98 - 2.0, "{} for {}", own, exact);
        }

        #[test]
        fn a_server_s_wait_is_never_cut_and_at_most_a_tenth_longer(wait: u64, seed: u64) {
            let own = with_server_floor(wait, &mut Dice::seeded(seed));
            prop_assert!(own >= wait && own - wait <= wait / 10);
        }

        #[test]
        fn waits_are_spread_over_the_whole_range(seed: u64) {
            let dice = &mut Dice::seeded(seed);
            let waits: Vec<_> = (0..200).map(|_| full_jitter(&PACE, 20, dice)).collect();
            prop_assert!(waits.iter().any(|wait| *wait < 8_000));
            prop_assert!(waits.iter().any(|wait| *wait > 22_000));
        }
    }

    #[test]
    fn ceilings_grow_to_the_cap() {
        let ceilings: Vec<_> = (0..9).map(|index| ceiling(&PACE, index)).collect();
        assert_eq!(ceilings, [1000, 1600, 2560, 4096, 6553, 10_485, 16_777, 26_843, 30_000]);
    }

    #[test]
    fn a_factor_of_one_or_less_never_shortens_the_wait() {
        for factor_tenths in [0, 9, 10] {
            let policy = Backoff { first_ms: 5000, factor_tenths, cap_ms: 9000 };
            assert_eq!(ceiling(&policy, u32::MAX), 5000);
        }
    }
}
