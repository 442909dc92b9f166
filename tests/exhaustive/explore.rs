//! Depth-first through everything that can happen, to a stated depth; a state that was seen before
//! with as much depth left is not followed again.

use std::collections::BTreeMap;

use super::actions::Action;
use super::calm;
use super::state::State;

/// What an exploration has found.
#[derive(Clone, Debug, Default)]
pub struct Found {
    pub transitions: u64,
    /// States of which the calm was followed.
    pub calms: u64,
    pub longest_calm: u32,
    /// The law that is broken, and the way there.
    pub breach: Option<(String, Vec<Action>)>,
    /// Every state, with the greatest depth that was left in it.
    seen: BTreeMap<u64, u8>,
}

impl Found {
    pub fn states(&self) -> usize {
        self.seen.len()
    }
}

/// How an exploration goes.
#[derive(Clone, Copy, Debug)]
pub struct Bounds {
    pub depth: u8,
    /// Of how many states at the end of the depth the calm is followed: one in so many.
    pub calm_each: u64,
}

/// Explores everything from a state.
pub fn explore(from: &State, bounds: Bounds) -> Found {
    let mut found = Found::default();
    follow(from, bounds.depth, bounds, &mut Vec::new(), &mut found);
    found
}

fn follow(state: &State, depth: u8, bounds: Bounds, way: &mut Vec<Action>, found: &mut Found) {
    let hash = state.hash();
    let known = found.seen.get(&hash).copied();
    if known.is_some_and(|left| left >= depth) {
        return;
    }
    found.seen.insert(hash, depth);
    if depth == 0 {
        if hash.is_multiple_of(bounds.calm_each) && known.is_none() {
            found.calms += 1;
            match calm::settle(state) {
                Ok(steps) => found.longest_calm = found.longest_calm.max(steps),
                Err(why) => found.breach = Some((format!("in the calm: {why}"), way.clone())),
            }
        }
        return;
    }
    for action in state.actions() {
        let next = state.after(action);
        found.transitions += 1;
        way.push(action);
        if let Some(why) = &next.breach {
            found.breach = Some((why.clone(), way.clone()));
        } else {
            follow(&next, depth - 1, bounds, way, found);
        }
        if found.breach.is_some() {
            return;
        }
        way.pop();
    }
}
