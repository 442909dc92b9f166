//! Dates in header fields (RFC 9110, section 5.6.7).

use super::{
    civil::{self, Civil},
    cursor::Cursor,
};
use crate::model::time::Timestamp;

const DAYS: [&str; 7] = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"];

const LONG_DAYS: [&str; 7] =
    ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"];

const MONTHS: [&str; 12] =
    ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];

/// Reads any of the three forms: IMF-fixdate, RFC 850 with its two-digit year, asctime.
///
/// The grammar is kept to the letter, but a day of the week that is not the date's is let pass.
/// `None` also for a date before 1970. `now` tells the century of a two-digit year: a date that
/// would be more than 50 years ahead is one in the past.
pub fn parse(text: &str, now: Timestamp) -> Option<Timestamp> {
    imf_fixdate(text).or_else(|| rfc_850(text, now)).or_else(|| asctime(text))
}

/// `Sun, 06 Nov 1994 08:49:37 GMT`
fn imf_fixdate(text: &str) -> Option<Timestamp> {
    let mut text = Cursor::new(text);
    text.word(&DAYS)?;
    text.expect(", ")?;
    let day = text.digits(2)?;
    text.expect(" ")?;
    let month = month(&mut text)?;
    text.expect(" ")?;
    let year = text.digits(4)?;
    text.expect(" ")?;
    let date = time_of_day(&mut text, year, month, day)?;
    text.expect(" GMT")?;
    if text.is_at_end() { date.at_offset(0) } else { None }
}

/// A point in time as an IMF-fixdate, in whole seconds.
pub fn write(time: Timestamp) -> String {
    const DAY_S: u64 = 86_400;
    let (year, month, day) = civil::date_of(time);
    let seconds = time.0 / 1_000;
    let of_day = seconds % DAY_S;
    // 1 January 1970 was a Thursday.
    let weekday = DAYS[((seconds / DAY_S + 3) % 7) as usize];
    let month = MONTHS[month as usize - 1];
    let mut out = [weekday, ", "].concat();
    let mut number = |value: u64, width: u32, before: &str| {
        out.push_str(before);
        for place in (0..width).rev() {
            out.push(char::from(b'0' + (value / 10_u64.pow(place) % 10) as u8));
        }
    };
    number(day.into(), 2, "");
    number(year.into(), 4, &[" ", month, " "].concat());
    number(of_day / 3_600, 2, " ");
    number(of_day / 60 % 60, 2, ":");
    number(of_day % 60, 2, ":");
    out.push_str(" GMT");
    out
}

/// `Sunday, 06-Nov-94 08:49:37 GMT`
fn rfc_850(text: &str, now: Timestamp) -> Option<Timestamp> {
    let mut text = Cursor::new(text);
    text.word(&LONG_DAYS)?;
    text.expect(", ")?;
    let day = text.digits(2)?;
    text.expect("-")?;
    let month = month(&mut text)?;
    text.expect("-")?;
    let year = text.digits(2)?;
    text.expect(" ")?;
    let date = time_of_day(&mut text, year, month, day)?;
    text.expect(" GMT")?;
    if text.is_at_end() { with_century(date, now) } else { None }
}

/// `Sun Nov  6 08:49:37 1994`
fn asctime(text: &str) -> Option<Timestamp> {
    let mut text = Cursor::new(text);
    text.word(&DAYS)?;
    text.expect(" ")?;
    let month = month(&mut text)?;
    text.expect(" ")?;
    let day = if text.eat(" ") { text.digits(1)? } else { text.digits(2)? };
    text.expect(" ")?;
    let mut date = time_of_day(&mut text, 0, month, day)?;
    text.expect(" ")?;
    date.year = text.digits(4)?;
    if text.is_at_end() { date.at_offset(0) } else { None }
}

fn month(text: &mut Cursor<'_>) -> Option<u32> {
    u32::try_from(text.word(&MONTHS)? + 1).ok()
}

fn time_of_day(text: &mut Cursor<'_>, year: u32, month: u32, day: u32) -> Option<Civil> {
    let hour = text.digits(2)?;
    text.expect(":")?;
    let minute = text.digits(2)?;
    text.expect(":")?;
    let second = text.digits(2)?;
    Some(Civil { year, month, day, hour, minute, second, millisecond: 0 })
}

/// The latest point with these last two digits of the year that is at most 50 years ahead.
fn with_century(date: Civil, now: Timestamp) -> Option<Timestamp> {
    let (year, month, day) = civil::date_of(now);
    let latest_days = civil::days_to(year + 50, month, day);
    let latest = u64::try_from(latest_days).ok()? * 86_400_000 + now.0 % 86_400_000;
    let century = year - year % 100;
    [century + 100, century, century - 100]
        .into_iter()
        .filter_map(|century| Civil { year: century + date.year, ..date }.at_offset(0))
        .find(|point| point.0 <= latest)
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, UNIX_EPOCH};

    use proptest::prelude::*;

    use super::*;

    /// 2026-10-21T07:28:00Z
    const NOW: Timestamp = Timestamp(1_792_567_680_000);

    /// The last second of the year 9999.
    const LAST_SECOND: u64 = 253_402_300_799;

    fn seconds(text: &str) -> Option<u64> {
        parse(text, NOW).map(|time| time.0 / 1000)
    }

    fn oracle(text: &str) -> Option<u64> {
        let time = httpdate::parse_http_date(text).ok()?;
        Some(time.duration_since(UNIX_EPOCH).unwrap().as_secs())
    }

    /// The parts of a date: day name, day, month, year, time.
    fn parts(second: u64) -> [String; 5] {
        let text = httpdate::fmt_http_date(UNIX_EPOCH + Duration::from_secs(second));
        let part = |range: std::ops::Range<usize>| text[range].to_owned();
        [part(0..3), part(5..7), part(8..11), part(12..16), part(17..25)]
    }

    fn long(name: &str) -> &'static str {
        LONG_DAYS[DAYS.iter().position(|day| *day == name).unwrap()]
    }

    proptest! {
        #[test]
        fn imf_fixdates_are_read_back(second in 0..=LAST_SECOND) {
            let text = httpdate::fmt_http_date(UNIX_EPOCH + Duration::from_secs(second));
            prop_assert_eq!(seconds(&text), Some(second));
            prop_assert_eq!(write(Timestamp(second * 1_000 + 999)), text);
        }

        #[test]
        fn asctime_dates_are_read_back(second in 0..=LAST_SECOND) {
            let [name, day, month, year, time] = parts(second);
            let day = day.strip_prefix('0').map_or_else(|| day.clone(), |digit| format!(" {digit}"));
            let text = format!("{name} {month} {day} {time} {year}");
            prop_assert_eq!(seconds(&text), Some(second));
            prop_assert_eq!(oracle(&text), Some(second));
        }

        #[test]
        fn rfc_850_dates_are_the_ones_within_50_years(
            now in 0..LAST_SECOND,
            years_off in -49_i64..=49,
        ) {
            let second = now.saturating_add_signed(years_off * 365 * 86_400).min(LAST_SECOND);
            let [name, day, month, year, time] = parts(second);
            let text = format!("{}, {day}-{month}-{} {time} GMT", long(&name), &year[2..]);
            prop_assert_eq!(parse(&text, Timestamp(now * 1000)), Some(Timestamp(second * 1000)));
        }

        #[test]
        fn a_text_changed_in_one_place_is_refused_or_means_what_the_oracle_writes(
            second in 0..=LAST_SECOND,
            place in 0..29_usize,
            other in "[ -~]",
        ) {
            let mut text = httpdate::fmt_http_date(UNIX_EPOCH + Duration::from_secs(second));
            text.replace_range(place..=place, &other);
            if let Some(own) = seconds(&text) {
                // The day's name may be another's, and a leap second is the second before it.
                let written = httpdate::fmt_http_date(UNIX_EPOCH + Duration::from_secs(own));
                text.replace_range(23..25, &text[23..25].replace("60", "59"));
                prop_assert_eq!(&written[3..], &text[3..]);
            }
        }

        #[test]
        fn no_text_makes_it_panic(text in ".*", now: u64) {
            parse(&text, Timestamp(now));
        }
    }

    #[test]
    fn the_three_forms_of_one_date_agree() {
        for text in [
            "Sun, 06 Nov 1994 08:49:37 GMT",
            "Sunday, 06-Nov-94 08:49:37 GMT",
            "Sun Nov  6 08:49:37 1994",
        ] {
            assert_eq!(seconds(text), Some(784_111_777), "{text}");
        }
    }

    #[test]
    fn a_two_digit_year_more_than_50_years_ahead_is_in_the_past() {
        let exactly = "Wednesday, 21-Oct-76 07:28:00 GMT";
        assert_eq!(seconds(exactly), oracle("Wed, 21 Oct 2076 07:28:00 GMT"));
        let later = "Thursday, 21-Oct-76 07:28:01 GMT";
        assert_eq!(seconds(later), oracle("Thu, 21 Oct 1976 07:28:01 GMT"));
    }

    #[test]
    fn a_wrong_day_of_the_week_is_let_pass() {
        assert_eq!(seconds("Mon, 06 Nov 1994 08:49:37 GMT"), Some(784_111_777));
    }

    #[test]
    fn the_grammar_is_kept_to_the_letter() {
        for text in [
            "",
            "Wednesday-ish",
            "Sun, 6 Nov 1994 08:49:37 GMT",
            "Sun, 06 nov 1994 08:49:37 GMT",
            "Sun, 06 Nov 1994 08:49:37 UTC",
            "Sun, 06 Nov 1994 08:49:37 +0000",
            "Sun, 06 Nov 1994 08:49:37 GMT ",
            "Sun, 06 Nov 1994 24:00:00 GMT",
            "Sun, 06 Nov 1994 08:60:00 GMT",
            "Sun, 31 Nov 1994 08:49:37 GMT",
            "Sun, 29 Feb 2100 08:49:37 GMT",
            "Sun, 06 Nov 1969 08:49:37 GMT",
            "Sun, 06-Nov-94 08:49:37 GMT",
            "Sunday, 06-Nov-1994 08:49:37 GMT",
            "Sun Nov 6 08:49:37 1994",
            "Xyz, 06 Nov 1994 08:49:37 GMT",
            "Sun, +6 Nov 1994 08:49:37 GMT",
        ] {
            assert_eq!(seconds(text), None, "{text}");
        }
    }
}
