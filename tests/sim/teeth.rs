//! Teeth: each deliberate fault must be caught, and how many seeds that takes.

use holdfast::rules::teeth::{Tooth, set};

use super::run;

/// Seeds after which a fault counts as not caught.
const SEEDS_MAX: u64 = 5_000;

/// Prints how each fault is caught, or only the wanted one; whether all are.
pub fn run_all(from: u64, wanted: Option<&str>) -> bool {
    let mut all = true;
    println!("seeds until each deliberate fault is caught:");
    let wanted = |own: &&Tooth| wanted.is_none_or(|name| format!("{own:?}") == name);
    for fault in Tooth::ALL.iter().filter(wanted) {
        set(Some(*fault));
        let caught = (0..SEEDS_MAX).find_map(|index| {
            let breach = run::run(from + index, false).breach?;
            Some((index + 1, breach))
        });
        set(None);
        all &= caught.is_some();
        match caught {
            Some((seeds, breach)) => println!("  {seeds:>5}  {fault:?}: {breach}"),
            None => println!("  never  {fault:?}"),
        }
    }
    all
}
