//! Amounts of a service's credits.

/// An amount of a service's credits in millionths, so that decimals are exact.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Credits(pub i64);

const MILLIONTHS: u64 = 1_000_000;
const DIGITS: usize = 6;

impl Credits {
    /// The least amount there is: what work costs at least of which no price is known.
    pub const LEAST: Self = Self(1);

    /// The amount that a JSON number's text names; digits beyond the sixth decimal are cut off, and
    /// what does not fit is the largest amount that does: too much to pay, not nothing.
    ///
    /// `None` for anything that is no number, and for an exponent beyond 16 bits.
    pub fn parse(text: &str) -> Option<Self> {
        let (negative, text) = text.strip_prefix('-').map_or((false, text), |rest| (true, rest));
        let (digits, exponent) = match text.split_once(['e', 'E']) {
            Some((digits, exponent)) => (digits, exponent.parse::<i16>().ok()?),
            None => (text, 0),
        };
        let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
        let is_digits = |part: &str| part.bytes().all(|byte| byte.is_ascii_digit());
        if whole.is_empty() || !is_digits(whole) || !is_digits(fraction) {
            return None;
        }
        // How many digits make the millionths; where there are fewer, noughts follow.
        let mut places = i64::from(exponent).saturating_add_unsigned((whole.len() + DIGITS) as u64);
        let mut amount = 0_i64;
        for digit in whole.bytes().chain(fraction.bytes()) {
            if places <= 0 {
                break;
            }
            amount = amount.saturating_mul(10).saturating_add(i64::from(digit - b'0'));
            places -= 1;
        }
        while places > 0 && (1..i64::MAX).contains(&amount) {
            amount = amount.saturating_mul(10);
            places -= 1;
        }
        Some(Self(if negative { -amount } else { amount }))
    }

    /// The sum, saturating.
    pub const fn plus(self, other: Self) -> Self {
        Self(self.0.saturating_add(other.0))
    }

    /// The difference, saturating.
    pub const fn minus(self, other: Self) -> Self {
        Self(self.0.saturating_sub(other.0))
    }

    /// The same, and nothing where it is less than that.
    #[must_use]
    pub fn or_nothing(self) -> Self {
        self.max(Self(0))
    }

    /// The amount as a decimal number's text.
    pub fn to_text(self) -> String {
        let magnitude = self.0.unsigned_abs();
        let mut text = String::new();
        if self.0 < 0 {
            text.push('-');
        }
        text.push_str(&(magnitude / MILLIONTHS).to_string());
        let fraction = magnitude % MILLIONTHS;
        if fraction > 0 {
            let digits = fraction.to_string();
            text.push('.');
            text.extend(core::iter::repeat_n('0', DIGITS - digits.len()));
            text.push_str(digits.trim_end_matches('0'));
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn told(text: &str) -> Option<String> {
        Credits::parse(text).map(Credits::to_text)
    }

    #[test]
    fn decimals_are_kept_exactly() {
        for text in ["0", "5", "-3", "0.1", "12.345678", "-0.05", "9223372036854"] {
            assert_eq!(told(text).as_deref(), Some(text));
        }
    }

    #[test]
    fn an_exponent_is_read_as_json_means_it() {
        for (text, amount) in
            [("1e3", "1000"), ("1.25E+1", "12.5"), ("5e-1", "0.5"), ("1e-7", "0"), ("0e9", "0")]
        {
            assert_eq!(told(text).as_deref(), Some(amount), "{text}");
        }
    }

    #[test]
    fn what_does_not_fit_is_the_largest_amount_and_not_none() {
        for text in ["9223372036854775807", "1e300", "1e32767"] {
            assert_eq!(Credits::parse(text), Some(Credits(i64::MAX)), "{text}");
            assert_eq!(Credits::parse(&["-", text].concat()), Some(Credits(-i64::MAX)), "{text}");
        }
    }

    #[test]
    fn what_is_no_number_is_no_amount() {
        for text in ["", "-", ".5", "1e", "e3", "1e99999", "NaN", "Infinity", "1.2.3", "+1", "five"]
        {
            assert_eq!(Credits::parse(text), None, "{text}");
        }
    }

    proptest! {
        #[test]
        fn every_amount_survives_as_text(millionths in any::<i64>()) {
            let amount = Credits(millionths.max(-i64::MAX));
            prop_assert_eq!(Credits::parse(&amount.to_text()), Some(amount));
        }

        #[test]
        fn sums_never_wrap(one in any::<i64>(), other in any::<i64>()) {
            let (one, other) = (Credits(one), Credits(other));
            prop_assert_eq!(one.plus(other) >= one, other >= Credits(0));
            prop_assert_eq!(one.minus(other) <= one, other >= Credits(0));
        }

        #[test]
        fn no_text_makes_reading_panic(text in ".*", number in "-?[0-9]{0,40}\\.?[0-9]{0,40}([eE][+-]?[0-9]{0,8})?") {
            for text in [text, number] {
                if let Some(amount) = Credits::parse(&text) {
                    prop_assert_eq!(Credits::parse(&amount.to_text()), Some(amount));
                }
            }
        }
    }
}
