//! Points in time in bodies and fields: RFC 3339, and the other ways in which services write them.

use super::{civil::Civil, cursor::Cursor, http_date};
use crate::model::time::Timestamp;

/// Up to this many digits a bare number is seconds since the epoch, beyond it milliseconds.
const EPOCH_SECONDS_DIGITS_MAX: usize = 11;

/// Reads a date and time of RFC 3339, section 5.6.
///
/// Digits beyond the millisecond are dropped, a leap second is the last millisecond before it,
/// `t` and `z` may be lower case. `None` also for a point before 1970.
pub fn parse(text: &str) -> Option<Timestamp> {
    let mut text = Cursor::new(text);
    let year = text.digits(4)?;
    text.expect("-")?;
    let month = text.digits(2)?;
    text.expect("-")?;
    let day = text.digits(2)?;
    text.word(&["T", "t"])?;
    let hour = text.digits(2)?;
    text.expect(":")?;
    let minute = text.digits(2)?;
    text.expect(":")?;
    let second = text.digits(2)?;
    let millisecond = if text.eat(".") { milliseconds(&mut text)? } else { 0 };
    let offset_minutes = offset(&mut text)?;
    let civil = Civil { year, month, day, hour, minute, second, millisecond };
    if text.is_at_end() { civil.at_offset(offset_minutes) } else { None }
}

/// Reads a point in time in whichever form it comes: RFC 3339, an HTTP date, seconds since the
/// epoch (up to 11 digits) or milliseconds.
///
/// `now` tells the century of an HTTP date's two-digit year.
pub fn point_in_time(text: &str, now: Timestamp) -> Option<Timestamp> {
    let text = text.trim_ascii();
    if !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit()) {
        let number: u64 = text.parse().ok()?;
        let unit_ms = if text.len() <= EPOCH_SECONDS_DIGITS_MAX { 1000 } else { 1 };
        return Some(Timestamp(number * unit_ms));
    }
    parse(text).or_else(|| http_date::parse(text, now))
}

fn milliseconds(text: &mut Cursor<'_>) -> Option<u32> {
    let digits = text.take_while(|byte| byte.is_ascii_digit());
    if digits.is_empty() {
        return None;
    }
    let padded = digits.bytes().chain(*b"00").take(3);
    Some(padded.fold(0, |value, digit| value * 10 + u32::from(digit - b'0')))
}

fn offset(text: &mut Cursor<'_>) -> Option<i32> {
    let sign = match text.word(&["Z", "z", "+", "-"])? {
        0 | 1 => return Some(0),
        2 => 1,
        _ => -1,
    };
    let hours = text.digits(2)?;
    text.expect(":")?;
    let minutes = text.digits(2)?;
    if hours > 23 || minutes > 59 {
        return None;
    }
    Some(sign * i32::try_from(hours * 60 + minutes).ok()?)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::rules::civil::date_of;

    const NOW: Timestamp = Timestamp(1_792_567_680_000);

    proptest! {
        #[test]
        fn any_point_at_any_offset_is_read_back(
            ms in 86_400_000..253_402_000_000_000_u64,
            offset in -1439..=1439_i64,
            fraction_len in 3..9_usize,
        ) {
            let local = ms.checked_add_signed(offset * 60_000).unwrap();
            let (year, month, day) = date_of(Timestamp(local));
            let of_day = local % 86_400_000;
            let text = format!(
                "{year:04}-{month:02}-{day:02}T{:02}:{:02}:{:02}.{:03}{}{}{:02}:{:02}",
                of_day / 3_600_000, of_day / 60_000 % 60, of_day / 1000 % 60, of_day % 1000,
                "9".repeat(fraction_len - 3),
                if offset < 0 { '-' } else { '+' },
                offset.abs() / 60, offset.abs() % 60,
            );
            prop_assert_eq!(parse(&text), Some(Timestamp(ms)), "{}", text);
        }

        #[test]
        fn no_text_makes_it_panic(text in ".*", digits in "[0-9]{0,30}") {
            point_in_time(&text, NOW);
            point_in_time(&digits, NOW);
        }
    }

    #[test]
    fn the_letters_may_be_lower_case_and_the_fraction_short() {
        let expected = Some(Timestamp(1_792_567_680_500));
        assert_eq!(parse("2026-10-21T07:28:00.5Z"), expected);
        assert_eq!(parse("2026-10-21t07:28:00.50z"), expected);
        assert_eq!(parse("2026-10-21T09:28:00.5+02:00"), expected);
        assert_eq!(parse("2026-10-21T07:28:00.5-00:00"), expected);
    }

    #[test]
    fn a_leap_second_is_the_last_millisecond_before_it() {
        assert_eq!(parse("2016-12-31T23:59:60.5Z"), Some(Timestamp(1_483_228_799_999)));
    }

    #[test]
    fn what_is_no_point_in_time_is_refused() {
        for text in [
            "",
            "2026-10-21",
            "2026-10-21T07:28:00",
            "2026-10-21 07:28:00Z",
            "2026-10-21T07:28Z",
            "2026-10-21T07:28:00.Z",
            "2026-10-21T07:28:00+0200",
            "2026-10-21T07:28:00+24:00",
            "2026-02-29T07:28:00Z",
            "2026-13-01T07:28:00Z",
            "2026-10-21T24:00:00Z",
            "2026-10-21T07:28:61Z",
            "2026-10-21T07:28:00Z ",
            "0001-01-01T00:00:00Z",
            "+026-10-21T07:28:00Z",
        ] {
            assert_eq!(parse(text), None, "{text}");
        }
    }

    #[test]
    fn a_point_in_time_comes_in_four_forms() {
        for text in [
            "2026-10-21T07:28:00Z",
            "Wed, 21 Oct 2026 07:28:00 GMT",
            "1792567680",
            "1792567680000",
            " 1792567680 ",
        ] {
            assert_eq!(point_in_time(text, NOW), Some(NOW), "{text}");
        }
        for text in ["", "soon", "-1792567680", "1792567680.5", "NaN", "99999999999999999999999"] {
            assert_eq!(point_in_time(text, NOW), None, "{text}");
        }
    }
}
