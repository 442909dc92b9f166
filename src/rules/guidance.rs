//! How long a server asks to wait.
//!
//! The answer is about delay only: whether a request may be sent again is never decided by the
//! presence of one of these fields.

use super::{http_date, structured};
use crate::model::{http::Headers, time::Timestamp};

/// The longest wait that is taken from a server, in milliseconds: 366 days. Longer ones become
/// this; whether a deadline comes first is the caller's question.
pub const WAIT_MS_MAX: u64 = 366 * 86_400_000;

/// The longest delay that a JavaScript timer takes, in milliseconds; a longer one would fire at
/// once.
pub const TIMER_MS_MAX: u32 = 0x7FFF_FFFF;

/// 2020-01-01T00:00:00Z: a `Date` field before this comes from a clock that was never set.
const SERVER_DATE_MIN: Timestamp = Timestamp(1_577_836_800_000);

/// Where a wait was read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GuidanceSource {
    /// `retry-after-ms` or `x-ms-retry-after-ms`.
    RetryAfterMs,
    /// `Retry-After` (RFC 9110, section 10.2.3), in seconds or as a date.
    RetryAfter,
    /// `RateLimit` with a quota that is used up.
    RateLimit,
    /// `X-RateLimit-Reset-After`, when `X-RateLimit-Remaining` is 0.
    RateLimitReset,
}

/// A wait that a server asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Guidance {
    /// How long, from the response on, in milliseconds: 0 to [`WAIT_MS_MAX`].
    pub wait_ms: u64,
    /// Which field said so.
    pub source: GuidanceSource,
}

/// The wait that a response's header asks for, by the most exact field that can be read.
///
/// What cannot be read counts as absent, and so does "not at all" where another field asks for a wait.
/// In a browser, `None` may also mean that the service does not expose the field to other origins.
pub fn server_wait(headers: &Headers, now: Timestamp) -> Option<Guidance> {
    use GuidanceSource::{RateLimit, RateLimitReset, RetryAfter, RetryAfterMs};
    let in_ms = |name| headers.first(name).and_then(|text| decimal_ms(text, 1));
    let told = [
        (in_ms("retry-after-ms"), RetryAfterMs),
        (in_ms("x-ms-retry-after-ms"), RetryAfterMs),
        (retry_after(headers, now), RetryAfter),
        (rate_limit(headers), RateLimit),
        (reset_after(headers), RateLimitReset),
    ];
    let read = |(wait_ms, source): &(Option<u64>, GuidanceSource)| {
        wait_ms.map(|wait_ms| Guidance { wait_ms: wait_ms.min(WAIT_MS_MAX), source: *source })
    };
    let mut all = told.iter().filter_map(read);
    all.clone().find(|own| own.wait_ms > 0).or_else(|| all.next())
}

/// A wait as a timer can take it; what is left of a longer one is waited for anew.
pub fn timer_ms(wait_ms: u64) -> u32 {
    u32::try_from(wait_ms).map_or(TIMER_MS_MAX, |wait_ms| wait_ms.min(TIMER_MS_MAX))
}

fn retry_after(headers: &Headers, now: Timestamp) -> Option<u64> {
    let text = headers.first("retry-after")?.trim_ascii();
    decimal_ms(text, 1000).or_else(|| {
        // Both dates are the server's, so that a wrong clock on this side changes nothing.
        let date = headers
            .first("date")
            .and_then(|text| http_date::parse(text.trim_ascii(), now))
            .filter(|date| *date >= SERVER_DATE_MIN)
            .unwrap_or(now);
        http_date::parse(text, date).map(|target| target.since(date))
    })
}

/// The longest time until one of the used-up quotas is restored.
fn rate_limit(headers: &Headers) -> Option<u64> {
    let mut lines = String::new();
    for (name, value) in headers.iter() {
        if name.eq_ignore_ascii_case("ratelimit") {
            if !lines.is_empty() {
                lines.push_str(", ");
            }
            lines.push_str(value);
        }
    }
    let mut longest = None;
    for item in structured::parse_list(&lines)? {
        let parameter = |key| item.parameter(key).and_then(structured::Bare::integer);
        if parameter("r") == Some(0) {
            let seconds = parameter("t").and_then(|seconds| u64::try_from(seconds).ok());
            longest = longest.max(seconds);
        }
    }
    longest.map(|seconds| seconds.saturating_mul(1000))
}

fn reset_after(headers: &Headers) -> Option<u64> {
    if decimal_ms(headers.first("x-ratelimit-remaining")?, 1000)? > 0 {
        return None;
    }
    decimal_ms(headers.first("x-ratelimit-reset-after")?, 1000)
}

/// Reads digits, with or without a fraction, of a unit of so many milliseconds; rounds up, and
/// saturates instead of overflowing.
fn decimal_ms(text: &str, unit_ms: u64) -> Option<u64> {
    let text = text.trim_ascii();
    let (whole, fraction) = text.split_once('.').unwrap_or((text, "0"));
    let is_number = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    if !is_number(whole) || !is_number(fraction) {
        return None;
    }
    let append =
        |value: u64, digit: u8| value.saturating_mul(10).saturating_add(u64::from(digit - b'0'));
    let whole = whole.bytes().fold(0, append);
    let mut thousandths = 0;
    for place in 0..3 {
        thousandths = append(thousandths, fraction.as_bytes().get(place).copied().unwrap_or(b'0'));
    }
    let is_more = fraction.bytes().skip(3).any(|digit| digit != b'0');
    let part_ms = (thousandths * unit_ms + u64::from(is_more)).div_ceil(1000);
    Some(whole.saturating_mul(unit_ms).saturating_add(part_ms))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// 2026-10-21T07:27:55Z
    const NOW: Timestamp = Timestamp(1_792_567_675_000);

    fn wait(fields: &[(&str, &str)]) -> Option<(u64, GuidanceSource)> {
        let guidance = server_wait(&fields.iter().copied().collect(), NOW)?;
        Some((guidance.wait_ms, guidance.source))
    }

    fn retry_after(text: &str) -> Option<u64> {
        wait(&[("Retry-After", text)]).map(|(wait_ms, _)| wait_ms)
    }

    /// The three forms of a date that is written as `Wed, 21 Oct 2026 07:28:00 GMT`.
    fn forms(imf: &str) -> [String; 3] {
        let parts: Vec<_> = imf.split([',', ' ']).filter(|part| !part.is_empty()).collect();
        let [name, day, month, year, time, _] = parts.as_slice() else { unreachable!() };
        let middle = match *name {
            "Tue" => "s",
            "Wed" => "nes",
            "Thu" => "rs",
            "Sat" => "ur",
            _ => "",
        };
        let rfc_850 = [name, middle, "day, ", day, "-", month, "-", &year[2..], " ", time, " GMT"];
        let blank = day.replacen('0', " ", usize::from(day.starts_with('0')));
        [imf.to_owned(), rfc_850.concat(), [*name, *month, &blank, *time, *year].join(" ")]
    }

    proptest! {
        #[test]
        fn no_field_makes_it_panic_or_pass_the_bound(
            value in "[ -~]{0,40}", digits in "[0-9]{1,40}(\\.[0-9]{1,40})?", name in 0..4_usize,
        ) {
            for value in [&value, &digits] {
                let name = ["retry-after-ms", "retry-after", "ratelimit", "x-ratelimit-reset-after"][name];
                let guidance = wait(&[(name, value), ("x-ratelimit-remaining", "0")]);
                prop_assert!(guidance.is_none_or(|(wait_ms, _)| wait_ms <= WAIT_MS_MAX));
            }
        }

        #[test]
        fn seconds_are_milliseconds_times_a_thousand(seconds in 0..366 * 86_400_u64) {
            prop_assert_eq!(retry_after(&seconds.to_string()), Some(seconds * 1000));
        }

        #[test]
        fn a_date_is_told_from_the_server_s_own_date(
            server_s in 1_577_836_800..4_000_000_000_u64, ahead_s in 0..366 * 86_400_u64,
        ) {
            let date = |second| {
                let length = std::time::Duration::from_secs(second);
                httpdate::fmt_http_date(std::time::UNIX_EPOCH + length)
            };
            let fields = [("Date", &*date(server_s)), ("Retry-After", &*date(server_s + ahead_s))];
            prop_assert_eq!(wait(&fields), Some((ahead_s * 1000, GuidanceSource::RetryAfter)));
        }

        #[test]
        fn each_date_form_is_told_from_the_server_s_date_whatever_the_client_s_clock(
            server_s in 1_577_836_800..4_000_000_000_u64,
            ahead_s in 0..2 * 366 * 86_400_u64,
            behind_s in 0..40 * 365 * 86_400_u64,
            now: u64,
        ) {
            let date = |second| {
                let length = std::time::Duration::from_secs(second);
                httpdate::fmt_http_date(std::time::UNIX_EPOCH + length)
            };
            let past_s = server_s.saturating_sub(behind_s);
            for (at_s, expected_ms) in [(server_s + ahead_s, ahead_s * 1000), (past_s, 0)] {
                for text in forms(&date(at_s)) {
                    let fields = [("Date", &*date(server_s)), ("Retry-After", &*text)];
                    let told = server_wait(&fields.into_iter().collect(), Timestamp(now));
                    let wait_ms = told.map(|told| told.wait_ms);
                    prop_assert_eq!(wait_ms, Some(expected_ms.min(WAIT_MS_MAX)), "{}", text);
                }
            }
        }

        #[test]
        fn a_timer_gets_the_wait_or_its_own_longest(wait_ms: u64) {
            prop_assert_eq!(u64::from(timer_ms(wait_ms)), wait_ms.min(2_147_483_647));
        }
    }

    #[test]
    fn what_cannot_be_read_is_absent() {
        for text in [
            "Wednesday-ish",
            "",
            " ",
            "NaN",
            "Infinity",
            "-1",
            "-0",
            "+5",
            "1e3",
            "0x10",
            "1.",
            ".5",
            "1.2.3",
            "5 s",
            "5, 6",
            "null",
            "undefined",
            "٣",
        ] {
            assert_eq!(retry_after(text), None, "{text:?}");
            assert_eq!(wait(&[("retry-after-ms", text)]), None, "{text:?}");
        }
    }

    #[test]
    fn an_unreadable_field_gives_way_to_the_next() {
        let fields = [("retry-after-ms", "soon"), ("Retry-After", "2")];
        assert_eq!(wait(&fields), Some((2000, GuidanceSource::RetryAfter)));
    }

    #[test]
    fn each_date_form_is_a_wait_of_milliseconds() {
        for text in [
            "Wed, 21 Oct 2026 07:28:00 GMT",
            "Wednesday, 21-Oct-26 07:28:00 GMT",
            "Wed Oct 21 07:28:00 2026",
        ] {
            assert_eq!(retry_after(text), Some(5000), "{text}");
        }
    }

    #[test]
    fn a_client_s_clock_ten_minutes_ahead_changes_nothing() {
        let date = ("Date", "Wed, 21 Oct 2026 07:17:55 GMT");
        let until = ("Retry-After", "Wed, 21 Oct 2026 07:18:25 GMT");
        assert_eq!(wait(&[date, until]), Some((30_000, GuidanceSource::RetryAfter)));
        assert_eq!(wait(&[until]), Some((0, GuidanceSource::RetryAfter)));
    }

    #[test]
    fn a_server_date_that_cannot_be_is_passed_over() {
        for date in ["Thu, 01 Jan 1970 00:00:00 GMT", "today"] {
            let until = ("Retry-After", "Wed, 21 Oct 2026 07:28:00 GMT");
            assert_eq!(wait(&[("Date", date), until]), Some((5000, GuidanceSource::RetryAfter)));
        }
    }

    #[test]
    fn a_long_wait_is_kept_and_a_huge_one_becomes_the_bound() {
        assert_eq!(retry_after("2200000"), Some(2_200_000_000));
        assert_eq!(timer_ms(2_200_000_000), TIMER_MS_MAX);
        assert_eq!(retry_after("Thu, 21 Oct 2027 07:27:55 GMT"), Some(365 * 86_400_000));
        for text in [
            "31622401",
            "18446744073709551615",
            "99999999999999999999999",
            "Fri, 31 Dec 9999 23:59:59 GMT",
        ] {
            assert_eq!(retry_after(text), Some(WAIT_MS_MAX), "{text}");
        }
    }

    #[test]
    fn fields_in_milliseconds_come_first_whatever_their_case() {
        let exact = Some((250, GuidanceSource::RetryAfterMs));
        assert_eq!(wait(&[("retry-after-ms", "250")]), exact);
        assert_eq!(wait(&[("Retry-After", "9"), ("X-MS-Retry-After-MS", "250")]), exact);
        assert_eq!(wait(&[("retry-after-ms", "249.0001")]), exact);
    }

    #[test]
    fn not_at_all_says_nothing_beside_a_field_that_asks_for_a_wait() {
        let none = ("retry-after-ms", "0");
        assert_eq!(wait(&[none]), Some((0, GuidanceSource::RetryAfterMs)));
        let fields = [none, ("x-ms-retry-after-ms", "0.0"), ("Retry-After", "30")];
        assert_eq!(wait(&fields), Some((30_000, GuidanceSource::RetryAfter)));
        let fields = [("Retry-After", "0"), ("RateLimit", r#""default";r=0;t=30"#)];
        assert_eq!(wait(&fields), Some((30_000, GuidanceSource::RateLimit)));
    }

    #[test]
    fn a_used_up_rate_limit_asks_for_its_reset() {
        let used_up = ("RateLimit", r#""default";r=0;t=30"#);
        assert_eq!(wait(&[used_up]), Some((30_000, GuidanceSource::RateLimit)));
        assert_eq!(
            wait(&[used_up, ("Retry-After", "7")]),
            Some((7000, GuidanceSource::RetryAfter))
        );
        assert_eq!(
            wait(&[used_up, ("ratelimit", r#""daily";r=0;t=60, "hourly";r=1;t=90"#)]),
            Some((60_000, GuidanceSource::RateLimit))
        );
        for text in [
            r#""default";r=50;t=30"#,
            r#""default";r=0"#,
            r#""default";r=0;t=-1"#,
            r#""default";r=0;t=1.5"#,
            r#""default";r=0;t=30,"#,
            "limit=100, remaining=0, reset=30",
        ] {
            assert_eq!(wait(&[("RateLimit", text)]), None, "{text}");
        }
    }

    #[test]
    fn a_reset_after_counts_only_when_nothing_remains() {
        let reset = ("X-RateLimit-Reset-After", "1.2501");
        assert_eq!(
            wait(&[reset, ("X-RateLimit-Remaining", "0")]),
            Some((1251, GuidanceSource::RateLimitReset))
        );
        assert_eq!(wait(&[reset, ("X-RateLimit-Remaining", "3")]), None);
        assert_eq!(wait(&[reset]), None);
    }
}
