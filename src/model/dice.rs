//! Randomness as a value: seeded by the entropy port, drawn by the rules.

/// A small deterministic generator (SplitMix64), for jitter only; keys and ids are made from the
/// entropy port's own bytes.
#[derive(Clone, Debug)]
pub struct Dice(u64);

impl Dice {
    /// A generator that always gives the same sequence for the same seed.
    pub const fn seeded(seed: u64) -> Self {
        Self(seed)
    }

    /// The next 64 bits.
    pub fn roll(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    /// A number in `0..=max`, evenly.
    pub fn up_to(&mut self, max: u64) -> u64 {
        let product = u128::from(self.roll()) * (u128::from(max) + 1);
        u64::try_from(product >> 64).unwrap_or(max)
    }
}
