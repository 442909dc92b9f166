//! Everything that reads the outside, on all that the fuzzers have found and on mutations of it.
//!
//! `cargo xtask fuzz` looks for more; what it finds goes into `tests/fuzz/seeds/`.

#[path = "../fuzz/properties.rs"]
mod properties;

use std::fs;
use std::path::Path;

use holdfast::model::dice::Dice;

/// Mutations of each input.
const MUTATIONS: u64 = 500;

/// The inputs of a target.
fn inputs(target: &str) -> Vec<Vec<u8>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fuzz/seeds").join(target);
    let entries = fs::read_dir(folder).expect("every target has inputs");
    let mut paths: Vec<_> = entries.map(|entry| entry.expect("an entry").path()).collect();
    paths.sort();
    paths.iter().map(|path| fs::read(path).expect("an input")).collect()
}

fn place(dice: &mut Dice, len: usize) -> usize {
    usize::try_from(dice.up_to(len as u64)).expect("it fits")
}

/// Another input made from one: bits turned, pieces lost, doubled, or taken from elsewhere.
fn mutated(input: &[u8], other: &[u8], dice: &mut Dice) -> Vec<u8> {
    const TOKENS: [&[u8]; 8] =
        [b"\"", b"{", b"]", b"\\ud800", b"99999999999999999999", b"-1e999", b"\xFF", b"\r\n\r\n"];
    let mut bytes = input.to_vec();
    for _ in 0..=dice.up_to(3) {
        let at = place(dice, bytes.len());
        let end = (at + place(dice, 12)).min(bytes.len());
        match dice.up_to(5) {
            0 => bytes.truncate(at),
            1 => drop(bytes.drain(at..end)),
            2 => {
                let piece = bytes[at..end].to_vec();
                bytes.splice(at..at, piece);
            }
            3 => {
                let from = place(dice, other.len());
                let to = (from + place(dice, 40)).min(other.len());
                bytes.splice(at..end, other[from..to].iter().copied());
            }
            4 => {
                let token = TOKENS[place(dice, TOKENS.len() - 1)];
                bytes.splice(at..at, token.iter().copied());
            }
            _ => {
                if let Some(byte) = bytes.get_mut(at) {
                    *byte ^= 1 << dice.up_to(7);
                }
            }
        }
    }
    bytes
}

#[test]
fn whatever_comes_from_outside_is_read_or_refused() {
    for (target, holds) in properties::ALL {
        let inputs = inputs(target);
        let dice = &mut Dice::seeded(7);
        for input in &inputs {
            holds(input);
            for _ in 0..MUTATIONS {
                let other = &inputs[place(dice, inputs.len() - 1)];
                holds(&mutated(input, other, dice));
            }
        }
    }
}
