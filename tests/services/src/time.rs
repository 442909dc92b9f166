//! Instants, as Unix milliseconds, in the two forms that services write them.
use std::time::{Duration, UNIX_EPOCH};

const DAY_MS: u64 = 86_400_000;

/// An instant as an HTTP date (RFC 9110, IMF-fixdate).
pub fn http_date(unix_ms: u64) -> String {
    httpdate::fmt_http_date(UNIX_EPOCH + Duration::from_millis(unix_ms))
}

/// An instant as RFC 3339 in UTC, with milliseconds.
pub fn rfc3339(unix_ms: u64) -> String {
    let (year, month, day) = civil(unix_ms / DAY_MS);
    let ms = unix_ms % DAY_MS;
    let (hour, minute, second) = (ms / 3_600_000, ms / 60_000 % 60, ms / 1000 % 60);
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{:03}Z", ms % 1000)
}

/// An instant moved by a clock's error, never before 1970.
pub(crate) fn skewed(unix_ms: u64, by_ms: i64) -> u64 {
    unix_ms.saturating_add_signed(by_ms)
}

/// Year, month and day of a day counted from 1970-01-01 (proleptic Gregorian calendar).
fn civil(days: u64) -> (u64, u64, u64) {
    // The years begin in March here, so that a leap day ends its year.
    let shifted = days + 719_468;
    let era = shifted / 146_097;
    let of_era = shifted % 146_097;
    let year_of_era = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let from_march = (5 * of_year + 2) / 153;
    let day = of_year - (153 * from_march + 2) / 5 + 1;
    let month = if from_march < 10 { from_march + 3 } else { from_march - 9 };
    (era * 400 + year_of_era + u64::from(month <= 2), month, day)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_leap_day_is_written_in_rfc_3339() {
        assert_eq!(rfc3339(1_709_210_096_789), "2024-02-29T12:34:56.789Z");
    }

    #[test]
    fn the_epoch_is_written_in_both_forms() {
        assert_eq!(rfc3339(0), "1970-01-01T00:00:00.000Z");
        assert_eq!(http_date(0), "Thu, 01 Jan 1970 00:00:00 GMT");
    }

    #[test]
    fn a_clock_that_is_slow_stops_at_the_epoch() {
        assert_eq!(skewed(5, -10), 0);
    }
}
