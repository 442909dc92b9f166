//! How others decide when to ask again, read from their sources and written down as functions.

use holdfast::model::dice::Dice;

/// One way to poll.
pub struct Other {
    pub name: &'static str,
    /// Whether it does as the service asks.
    pub heeds: bool,
    /// The wait before poll `index` (from 0, after the submission's answer), in milliseconds; `told` is the
    /// `Retry-After` of the last answer, in milliseconds.
    pub wait_ms: fn(index: u32, told: Option<u64>, dice: &mut Dice) -> u64,
}

/// All of them.
pub const ALL: [Other; 6] = [
    // The loop that is written by hand, and in most documentation: wait, ask, again.
    Other { name: "fixed 1 s", heeds: false, wait_ms: |_, _, _| 1_000 },
    Other { name: "fixed 2 s", heeds: false, wait_ms: |_, _, _| 2_000 },
    Other { name: "fixed 5 s", heeds: false, wait_ms: |_, _, _| 5_000 },
    // @azure/core-lro 3.4.2, `src/poller/poller.ts` (`pollUntilDone`) and `constants.ts`: asks at once, then
    // every 2 s, or as the last answer's Retry-After says.
    Other {
        name: "@azure/core-lro 3.4.2",
        heeds: true,
        wait_ms: |index, told, _| if index == 0 { 0 } else { told.unwrap_or(2_000) },
    },
    // @smithy/util-waiter 4.6.2, code in @smithy/core 3.41.1, `util-waiter/poller.js`
    // (`exponentialBackoffWithJitter`), with `waiterServiceDefaults`: asks at once, then after an even draw
    // from 2 s to 2 s × 2^n, at the cap of 120 s without a draw. Knows no Retry-After.
    Other { name: "@smithy/util-waiter 4.6.2", heeds: false, wait_ms: waiter },
    // Exactly what the service says; every 5 s where it says nothing.
    Other {
        name: "the service's advice",
        heeds: true,
        wait_ms: |_, told, _| told.unwrap_or(5_000),
    },
];

fn waiter(index: u32, _told: Option<u64>, dice: &mut Dice) -> u64 {
    const MIN_MS: u64 = 2_000;
    const MAX_MS: u64 = 120_000;
    if index == 0 {
        return 0;
    }
    // log2(120 / 2) + 1 = 6.9
    if index > 6 {
        return MAX_MS;
    }
    let ceiling_ms = (MIN_MS << (index - 1)).min(MAX_MS);
    MIN_MS + dice.up_to(ceiling_ms - MIN_MS)
}
