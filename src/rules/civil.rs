//! Calendar arithmetic in whole numbers: the proleptic Gregorian calendar in UTC.

use crate::model::time::Timestamp;

const DAY_MS: i64 = 86_400_000;

/// 9999-12-31, in days since 1970-01-01: the last day that a four-digit year can tell.
const LAST_DAY: i64 = 2_932_896;

/// A date and a time of day as a text gives them.
#[derive(Clone, Copy, Debug)]
pub(super) struct Civil {
    pub(super) year: u32,
    /// 1 to 12.
    pub(super) month: u32,
    /// 1 to the month's length.
    pub(super) day: u32,
    pub(super) hour: u32,
    pub(super) minute: u32,
    /// 0 to 60; 60 is a leap second, and becomes the last millisecond before it.
    pub(super) second: u32,
    pub(super) millisecond: u32,
}

impl Civil {
    /// The point in time, when this is one and not before 1970; `offset_minutes` is how far the
    /// clock that it was read from is ahead of UTC.
    pub(super) fn at_offset(self, offset_minutes: i32) -> Option<Timestamp> {
        let in_range = (1..=12).contains(&self.month)
            && (1..=month_len(self.year, self.month)).contains(&self.day)
            && self.hour < 24
            && self.minute < 60
            && self.second <= 60
            && self.millisecond < 1000;
        if !in_range {
            return None;
        }
        let of_day = if self.second == 60 {
            (self.hour * 60 + self.minute) * 60_000 + 59_999
        } else {
            ((self.hour * 60 + self.minute) * 60 + self.second) * 1000 + self.millisecond
        };
        let ms = days_to(self.year, self.month, self.day) * DAY_MS + i64::from(of_day)
            - i64::from(offset_minutes) * 60_000;
        u64::try_from(ms).ok().map(Timestamp)
    }
}

fn month_len(year: u32, month: u32) -> u32 {
    let is_leap = year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400));
    match month {
        2 if is_leap => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

/// Days from 1970-01-01 to this date. A day beyond its month's end is one of the next month.
pub(super) fn days_to(year: u32, month: u32, day: u32) -> i64 {
    // Years are counted from March, so that the leap day is a year's last.
    let year = i64::from(year) - i64::from(month <= 2);
    let month = i64::from((month + 9) % 12);
    let day_of_year = (153 * month + 2) / 5 + i64::from(day) - 1;
    let leap_days = year.div_euclid(4) - year.div_euclid(100) + year.div_euclid(400);
    year * 365 + leap_days + day_of_year - 719_468
}

/// The year, month and day of a point in time; the last of the year 9999 for all later ones.
pub(super) fn date_of(time: Timestamp) -> (u32, u32, u32) {
    let days = i64::try_from(time.0).unwrap_or(i64::MAX) / DAY_MS;
    let days = days.min(LAST_DAY);
    // No year is longer than 366 days, so this is the year or a few before it.
    let mut year = 1970 + u32::try_from(days / 366).unwrap_or(0);
    while days_to(year + 1, 1, 1) <= days {
        year += 1;
    }
    let mut month = 12;
    while days_to(year, month, 1) > days {
        month -= 1;
    }
    let day = u32::try_from(days - days_to(year, month, 1) + 1).unwrap_or(1);
    (year, month, day)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn dates_and_days_agree(days in 0..=2_932_896_u32) {
            let (year, month, day) = date_of(Timestamp(u64::from(days) * 86_400_000 + 86_399_999));
            prop_assert_eq!(days_to(year, month, day), i64::from(days));
            prop_assert!((1..=month_len(year, month)).contains(&day));
        }

        #[test]
        fn later_times_count_as_the_last_day(time in 253_402_300_800_000..=u64::MAX) {
            prop_assert_eq!(date_of(Timestamp(time)), (9999, 12, 31));
        }
    }

    #[test]
    fn the_epoch_and_leap_days_are_where_they_belong() {
        assert_eq!(days_to(1970, 1, 1), 0);
        assert_eq!(days_to(2000, 2, 29) + 1, days_to(2000, 3, 1));
        assert_eq!(days_to(2100, 2, 28) + 1, days_to(2100, 3, 1));
    }
}
