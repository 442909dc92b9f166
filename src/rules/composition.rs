//! The exact request of a submission: what the app names, with the idempotency key in its place.

use super::classify::ECHO;
use super::json::{self, DEPTH_MAX};
use super::listing::at;
use super::template::{fill, with_query};
use crate::model::operation::Carried;
use crate::model::pointer::Pointer;
use crate::model::profile::{Call, KeyPlace, Mark, Profile};
use crate::model::value::Value;

/// Longest parameter, in bytes.
const PARAM_BYTES_MAX: usize = 512;

/// What is wrong with a submission: the field, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Misfit {
    /// Which option of the submission.
    pub field: String,
    /// What is wrong with it.
    pub why: String,
}

/// The parameters of a submission: those given with it, else those of the service, else the
/// profile's defaults.
///
/// # Errors
/// A parameter that is missing, unknown, or none of the allowed values.
pub fn params(
    profile: &Profile,
    given: &[(String, String)],
    usual: &[(String, String)],
) -> Result<Carried, Misfit> {
    known(profile, given)?;
    let mut all = Carried::new();
    for param in &profile.params {
        let named = |list: &[(String, String)]| {
            list.iter().find(|(own, _)| *own == param.name).map(|(_, value)| value.clone())
        };
        let value = named(given).or_else(|| named(usual));
        let Some(value) = value.or_else(|| param.allowed.first().cloned()) else {
            return Err(misfit(&param.name, "it is missing"));
        };
        all.push((param.name.clone(), value));
    }
    Ok(all)
}

/// Refuses parameters that the profile does not know, or whose values it does not allow.
///
/// # Errors
/// The first of them.
pub fn known(profile: &Profile, given: &[(String, String)]) -> Result<(), Misfit> {
    for (name, value) in given {
        let Some(param) = profile.params.iter().find(|param| param.name == *name) else {
            return Err(misfit(name, "this service has no such parameter"));
        };
        if !param.allowed.is_empty() && !param.allowed.contains(value) {
            let why = ["it must be one of ", &param.allowed.join(", ")].concat();
            return Err(misfit(name, &why));
        }
        if !(1..=PARAM_BYTES_MAX).contains(&value.len()) {
            return Err(misfit(name, "it must be 1 to 512 bytes long"));
        }
    }
    Ok(())
}

fn misfit(name: &str, why: &str) -> Misfit {
    Misfit { field: ["params.", name].concat(), why: why.into() }
}

/// Where a call goes that needs nothing but parameters; a submission, without its key.
///
/// # Errors
/// A parameter that would lead elsewhere.
pub fn url(call: &Call, base_url: &str, params: &[(String, String)]) -> Result<String, Misfit> {
    let path = call.path.as_deref().unwrap_or_default();
    let named =
        |name: &str| params.iter().find(|(own, _)| own == name).map(|(_, value)| value.as_str());
    let path = fill(path, named).ok_or_else(|| Misfit {
        field: "params".into(),
        why: "none may lead elsewhere: one is . or ..".into(),
    })?;
    Ok([base_url, &path].concat())
}

/// What a submission states that its result must repeat.
pub fn echoes(profile: &Profile, body: &[u8]) -> Carried {
    let mut all = Carried::new();
    if profile.echoes.is_empty() {
        return all;
    }
    let value = json::parse(body, DEPTH_MAX).unwrap_or(Value::Null);
    for (told, sent) in &profile.echoes {
        if let Some(Value::String(text) | Value::Number(text)) = at(&value, sent)
            && text.len() <= PARAM_BYTES_MAX
        {
            all.push(([ECHO, told].concat(), text.clone()));
        }
    }
    all
}

/// URL and body with the key in them, where the profile puts it there.
///
/// # Errors
/// A body that the key cannot be put into.
pub fn with_key(
    profile: &Profile,
    key: &str,
    url: String,
    body: Vec<u8>,
) -> Result<(String, Vec<u8>), Misfit> {
    match profile.key.as_ref().map(|carrier| &carrier.place) {
        None | Some(KeyPlace::Header(_)) => Ok((url, body)),
        Some(KeyPlace::Query(name)) => Ok((with_query(url, name, key), body)),
        Some(KeyPlace::Field(pointer)) => Ok((url, with_member(&body, pointer, key)?)),
    }
}

/// A body that the service's listing shows again: with the operation's id in it, where the profile
/// says so, else as it is.
///
/// # Errors
/// A body that the id cannot be put into, or by whose values its run could never be found.
pub fn recognizable(profile: &Profile, id: &str, body: Vec<u8>) -> Result<Vec<u8>, Misfit> {
    match profile.reconcile.as_ref().map(|rule| &rule.mark) {
        Some(Mark::Echo { sent, .. }) => with_member(&body, sent, id),
        Some(Mark::Same(places)) => {
            let value = json::parse(&body, DEPTH_MAX).unwrap_or(Value::Null);
            if places.iter().any(|(_, sent)| at(&value, sent).is_some()) {
                return Ok(body);
            }
            let mut why = String::from("it must be JSON with a value that its run is known by: ");
            for (index, (_, sent)) in places.iter().enumerate() {
                why.push_str(if index > 0 { ", " } else { "" });
                why.push_str(sent);
            }
            Err(Misfit { field: "body".into(), why })
        }
        None => Ok(body),
    }
}

/// A JSON object with a string at a place where nothing is yet; all else keeps its text.
///
/// # Errors
/// A body that is no JSON object, or that has something at that place.
pub fn with_member(body: &[u8], pointer: &str, text: &str) -> Result<Vec<u8>, Misfit> {
    let wrong = |why: &str| Misfit { field: "body".into(), why: [why, pointer].concat() };
    let mut value = json::parse(body, DEPTH_MAX)
        .map_err(|_| wrong("it must be a JSON object, for this service wants a value at "))?;
    let place = Pointer::parse(pointer).ok_or_else(|| wrong("there is no place "))?;
    let mut at = &mut value;
    for name in place.segments() {
        let Value::Map(members) = at else {
            return Err(wrong("it must be a JSON object, for this service wants a value at "));
        };
        let index = match members.iter().position(|(own, _)| own == name) {
            Some(index) => index,
            None => {
                members.push((name.clone(), Value::Map(Vec::new())));
                members.len() - 1
            }
        };
        at = &mut members[index].1;
    }
    if *at != Value::Map(Vec::new()) {
        return Err(wrong("leave this out, it is put there for you: "));
    }
    *at = Value::String(text.into());
    Ok(value.to_json().into_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn inserted(body: &str, pointer: &str) -> Result<String, String> {
        let bytes = with_member(body.as_bytes(), pointer, "k-1").map_err(|misfit| misfit.why)?;
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    }

    #[test]
    fn a_key_goes_into_the_body_and_changes_nothing_else() {
        assert_eq!(
            inserted(r#"{"n": 9007199254740993, "a": [1.0]}"#, "/request_id").unwrap(),
            r#"{"n":9007199254740993,"a":[1.0],"request_id":"k-1"}"#
        );
        assert_eq!(
            inserted(r#"{"meta":{"x":1}}"#, "/meta/id").unwrap(),
            r#"{"meta":{"x":1,"id":"k-1"}}"#
        );
        assert_eq!(inserted("{}", "/a/b").unwrap(), r#"{"a":{"b":"k-1"}}"#);
    }

    #[test]
    fn a_body_that_cannot_hold_a_key_is_refused() {
        for (body, pointer) in [
            ("[]", "/id"),
            ("not json", "/id"),
            (r#"{"id":"own"}"#, "/id"),
            (r#"{"meta":3}"#, "/meta/id"),
        ] {
            assert!(inserted(body, pointer).is_err(), "{body}");
        }
    }
}
