//! Randomness, by `crypto.getRandomValues()`.

use super::runtime::WebRuntime;
use crate::driver::ports::Entropy;

impl Entropy for WebRuntime {
    fn bytes(&self) -> Option<[u8; 16]> {
        let mut bytes = [0; 16];
        getrandom::fill(&mut bytes).ok().map(|()| bytes)
    }
}
