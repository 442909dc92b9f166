//! Refusals as problem details (RFC 9457).
use serde_json::json;

use crate::Response;

/// A refusal whose `code` is an extension member, and the end of its `type`.
pub(crate) fn problem(status: u16, code: &str, detail: &str) -> Response {
    let name = code.to_lowercase().replace('_', "-");
    let body = json!({
        "type": format!("/problems/{name}"),
        "title": name.replace('-', " "),
        "status": status,
        "detail": detail,
        "code": code.to_lowercase(),
    });
    let mut answer = Response::json(status, &body);
    answer.headers = vec![("content-type".to_owned(), "application/problem+json".to_owned())];
    answer
}
