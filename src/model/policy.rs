//! How long and how often: policies as data.

/// An exponential backoff.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Backoff {
    /// The longest first wait, in milliseconds.
    pub first_ms: u64,
    /// How much longer each next wait may be, in tenths: 16 is ×1.6; up to 10 it stays the same.
    pub factor_tenths: u16,
    /// The longest wait, in milliseconds.
    pub cap_ms: u64,
}
