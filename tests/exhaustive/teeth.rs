//! Teeth: the deliberate faults that are in the reach of an exploration must be caught by it.

use std::process::ExitCode;

use holdfast::rules::teeth::{Tooth, set};

use super::explore::{Bounds, explore};
use super::scenes::SCENES;

/// Out of reach: what is in the driver or about bytes, credentials, other accounts, clocks that jump
/// back or pace, deletions, reruns, prices and damaged records, what needs answers that the scenes do not give, or more refusals than they have.
const OUT_OF_REACH: &[Tooth] = &[
    Tooth::SkipSameTurnCheck,
    Tooth::SwallowExpired,
    Tooth::NotReadyIsExpired,
    Tooth::LoseFloor,
    Tooth::ConflictIsRefusal,
    Tooth::NoAttemptLimit,
    Tooth::KeepAccount,
    Tooth::StretchWaits,
    Tooth::ForgetJournal,
    Tooth::ForgetBytes,
    Tooth::DropTombstone,
    Tooth::ForgetSpentAttempts,
    Tooth::IgnoreCost,
    Tooth::KeepContent,
    Tooth::KeepLateBytes,
    Tooth::BelieveNewer,
    Tooth::BelieveDamaged,
];

/// Prints how each fault is caught.
pub fn run_all(bounds: Bounds) -> ExitCode {
    let mut all = true;
    let begins: Vec<_> = SCENES.iter().map(|scene| (scene.name, scene.state())).collect();
    for fault in Tooth::ALL.iter().filter(|own| !OUT_OF_REACH.contains(own)) {
        set(Some(*fault));
        // Less deep first: what is caught soon is caught cheaply.
        let caught = (1..=bounds.depth).find_map(|depth| {
            begins.iter().find_map(|(name, state)| {
                let found = explore(state, Bounds { depth, ..bounds });
                let (why, _) = found.breach?;
                Some(format!("{why} ({name}, within {depth} steps)"))
            })
        });
        set(None);
        all &= caught.is_some();
        println!("  {fault:?}: {}", caught.as_deref().unwrap_or("NOT CAUGHT"));
    }
    println!("out of reach: {OUT_OF_REACH:?}");
    if all { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
