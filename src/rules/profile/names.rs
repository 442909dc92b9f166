//! Reads what a profile names by itself: parameters of a submission, and values that are carried
//! from answers into later calls.

use super::ENTRIES_MAX;
use super::answers::{FACTS, places};
use crate::model::profile::{FactSource, Param};
use crate::rules::classify::RESULT_FACT;
use crate::rules::grammar::is_name;
use crate::rules::reader::Reader;

/// Parameters, or carried values, at most.
const NAMES_MAX: usize = 16;

pub(super) fn params(reader: Option<Reader<'_>>) -> Vec<Param> {
    let mut read = Vec::new();
    for own in named(reader) {
        let mut allowed = Vec::new();
        let items = own.items();
        if items.len() > ENTRIES_MAX {
            own.fault("it is too long");
        }
        for item in items {
            match item.text() {
                Some("") => item.fault("it must not be empty"),
                Some(text) => allowed.push(text.to_owned()),
                None => {}
            }
        }
        read.push(Param { name: own.name().into(), allowed });
    }
    read
}

pub(super) fn carry(reader: Option<Reader<'_>>) -> Vec<FactSource> {
    let mut read = Vec::new();
    for own in named(reader) {
        if FACTS.contains(&own.name()) || own.name() == RESULT_FACT {
            own.fault("a fact has this name; carry it under another");
        }
        read.push(FactSource { name: own.name().into(), places: places(&own) });
    }
    read
}

fn named(reader: Option<Reader<'_>>) -> Vec<Reader<'_>> {
    let Some(reader) = reader else {
        return Vec::new();
    };
    let members = reader.members();
    if members.len() > NAMES_MAX {
        reader.fault("there may be 16 at most");
    }
    for own in &members {
        if !is_name(own.name()) || own.name() == "id" {
            own.fault("its name must be 1 to 64 letters, digits, and _ . -, and not \"id\"");
        }
    }
    members
}
