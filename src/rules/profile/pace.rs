//! Reads growing waits.

use super::TIME_MS_MAX;
use crate::model::policy::{Backoff, Rate};
use crate::rules::bounds::REQUEST_FLOOR_MS;
use crate::rules::reader::Reader;

/// Found by `cargo xtask bench poll`: neither more polls nor more lag than others have, over five
/// distributions of job lengths.
pub(super) const POLL: Backoff = Backoff { first_ms: 2_000, factor_tenths: 13, cap_ms: 30_000 };
pub(super) const RETRY: Backoff = Backoff { first_ms: 1_000, factor_tenths: 20, cap_ms: 60_000 };

/// Most requests that a rate may name.
const REQUESTS_MAX: u32 = 10_000;

pub(super) fn rate(reader: &Reader<'_>) -> Option<Rate> {
    reader.only(&["requests", "perMs"]);
    let requests = reader.required("requests").and_then(|own| own.whole_u32(1, REQUESTS_MAX));
    let per_ms = reader.required("perMs").and_then(|own| own.whole(1, TIME_MS_MAX));
    Some(Rate { requests: requests?, per_ms: per_ms? })
}

pub(super) fn pace(reader: Option<Reader<'_>>, usual: Backoff) -> Backoff {
    let Some(reader) = reader else {
        return usual;
    };
    reader.only(&["firstMs", "factor", "capMs"]);
    let time = |name: &str, usual: u64| {
        reader
            .member(name)
            .and_then(|own| own.whole(REQUEST_FLOOR_MS, TIME_MS_MAX))
            .unwrap_or(usual)
    };
    let factor = reader.member("factor").and_then(|own| {
        let text = own.number()?;
        let (whole, tenths) = text.split_once('.').unwrap_or((text, "0"));
        let tenths = tenths.parse::<u8>().ok().filter(|_| tenths.len() == 1);
        let parts = whole.parse::<u8>().ok().zip(tenths);
        let factor = parts.map(|(whole, tenths)| u32::from(whole) * 10 + u32::from(tenths));
        let factor = factor.filter(|factor| (10..=100).contains(factor));
        if factor.is_none() {
            own.fault("it must be a number from 1 to 10 with at most one decimal");
        }
        factor
    });
    let (first_ms, cap_ms) = (time("firstMs", usual.first_ms), time("capMs", usual.cap_ms));
    if first_ms > cap_ms {
        reader.fault("firstMs must not be above capMs");
    }
    Backoff { first_ms, factor_tenths: factor.unwrap_or(usual.factor_tenths), cap_ms }
}
