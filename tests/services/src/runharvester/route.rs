//! The paths of the service.
use crate::frame::Route;
use crate::{Call, Request};

/// What a path and method ask for.
pub(super) fn route(request: &Request) -> Route<'_> {
    match (request.method.as_str(), request.parts().as_slice()) {
        ("POST", ["api", "v1", "data", "requests"]) => Route::to(Call::Submit, ""),
        ("GET", ["api", "v1", "data", "requests", id]) => Route::of_job(Call::Poll, id),
        ("GET", ["api", "v1", "data", "requests", id, "result"]) => Route::of_job(Call::Result, id),
        ("POST", ["api", "v1", "data", "requests", id, "cancel"]) => {
            Route::of_job(Call::Cancel, id)
        }
        ("DELETE", ["api", "v1", "data", "requests", id]) => Route::of_job(Call::Delete, id),
        ("POST", ["api", "v1", "data", "requests", id, "retry"]) => Route::of_job(Call::Retry, id),
        _ => Route::nowhere(),
    }
}
