//! The request that an exchange makes, from the operation and its profile.

use super::output::Transmit;
use crate::model::http::Headers;
use crate::model::ids::JobId;
use crate::model::operation::Operation;
use crate::model::profile::{Profile, Purpose};
use crate::rules::structured::serialize_string;
use crate::rules::text;

/// The request for an exchange; `None` when the profile has no such call or no job id is known.
pub fn request(
    operation: &Operation,
    profile: &Profile,
    base_url: &str,
    purpose: Purpose,
    download: u64,
) -> Option<Transmit> {
    let call = profile.call(purpose)?;
    let submit = purpose == Purpose::Submit;
    let mut headers = Headers::default();
    headers.push("accept", "application/json");
    let url = if submit {
        let key = operation.identity.key.as_str();
        let value = if profile.key.quoted { serialize_string(key)? } else { key.into() };
        headers.push(profile.key.header.as_str(), value);
        if let Some(media_type) = &operation.request.content_type {
            headers.push("content-type", media_type.as_str());
        }
        operation.request.url.clone()
    } else {
        [base_url, &with_id(&call.path, operation.life.job()?)].concat()
    };
    Some(Transmit {
        id: operation.identity.id.clone(),
        service: operation.identity.service.clone(),
        purpose,
        method: if submit { operation.request.method.clone() } else { call.method.clone() },
        url,
        headers,
        with_body: submit && operation.request.content_type.is_some(),
        timeout_ms: call.timeout_ms,
        download,
        facts: profile.facts.clone(),
    })
}

/// A call's path with the job's id in it, percent-encoded (RFC 3986): an id cannot lead elsewhere.
pub fn with_id(path: &str, id: &JobId) -> String {
    const HEX: &[u8; 16] = b"0123456789ABCDEF";
    let mut encoded = String::new();
    for byte in id.as_str().bytes() {
        if byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'~') {
            encoded.push(char::from(byte));
        } else if byte == b'.' && !id.as_str().bytes().all(|own| own == b'.') {
            encoded.push('.');
        } else {
            encoded.push('%');
            encoded.push(char::from(HEX[usize::from(byte >> 4)]));
            encoded.push(char::from(HEX[usize::from(byte & 15)]));
        }
    }
    text::replace(path, "{id}", &encoded)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_cannot_lead_elsewhere() {
        let path = |id: &str| with_id("/jobs/{id}/result", &JobId::from(id));
        assert_eq!(path("req_1.2~x-Y"), "/jobs/req_1.2~x-Y/result");
        assert_eq!(path("../admin?x#y"), "/jobs/..%2Fadmin%3Fx%23y/result");
        assert_eq!(path(".."), "/jobs/%2E%2E/result");
        assert_eq!(path("ä"), "/jobs/%C3%A4/result");
    }
}
