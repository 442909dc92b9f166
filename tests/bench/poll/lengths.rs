//! How long jobs take.

use std::f64::consts::TAU;

use holdfast::model::dice::Dice;

/// A distribution of job lengths.
#[derive(Clone, Copy, Debug)]
pub struct Lengths {
    pub name: &'static str,
    draw: fn(&mut Dice) -> f64,
}

/// All of them, in seconds. None is shorter than 200 ms or longer than 6 h.
pub const ALL: [Lengths; 5] = [
    // So wide that no fixed interval meets every end, or misses it, by luck.
    Lengths { name: "constant, 45 s ± 10 %", draw: |dice| 45.0 * (0.9 + 0.2 * unit(dice)) },
    Lengths { name: "log-normal, 6 s", draw: |dice| log_normal(dice, 6.0, 0.6) },
    Lengths { name: "log-normal, 8 min", draw: |dice| log_normal(dice, 480.0, 0.8) },
    // Pareto: half are over in 5 s, one in a hundred takes longer than two minutes.
    Lengths { name: "heavy tail, from 3 s", draw: |dice| 3.0 / unit(dice).powf(1.0 / 1.2) },
    Lengths {
        name: "bimodal, 3 s or 3 min",
        draw: |dice| {
            let median = if unit(dice) < 0.7 { 3.0 } else { 180.0 };
            log_normal(dice, median, 0.3)
        },
    },
];

impl Lengths {
    /// The next length, in milliseconds.
    pub fn draw_ms(self, dice: &mut Dice) -> u64 {
        let seconds = (self.draw)(dice).clamp(0.2, 21_600.0);
        (seconds * 1000.0) as u64
    }
}

/// Evenly from just above 0 to 1.
fn unit(dice: &mut Dice) -> f64 {
    (dice.up_to(1 << 52) as f64 + 1.0) / ((1_u64 << 52) as f64 + 1.0)
}

fn log_normal(dice: &mut Dice, median: f64, sigma: f64) -> f64 {
    let (radius, angle) = ((-2.0 * unit(dice).ln()).sqrt(), TAU * unit(dice));
    median * (sigma * radius * angle.cos()).exp()
}
