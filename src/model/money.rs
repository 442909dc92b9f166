//! What work costs, as the service reports it: kept as told, never assumed.

/// An amount of a service's credits in millionths, so that decimals are exact.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Credits(pub i64);

const MILLIONTHS: i64 = 1_000_000;
const DIGITS: usize = 6;

impl Credits {
    /// The amount that a JSON number's text names; digits beyond the sixth decimal are cut off.
    ///
    /// `None` for an exponent, for anything that is no number, and for what does not fit.
    pub fn parse(text: &str) -> Option<Self> {
        let (negative, digits) = text.strip_prefix('-').map_or((false, text), |rest| (true, rest));
        let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
        let is_digits = |part: &str| part.bytes().all(|byte| byte.is_ascii_digit());
        if whole.is_empty() || !is_digits(whole) || !is_digits(fraction) {
            return None;
        }
        let mut amount = whole.parse::<i64>().ok()?.checked_mul(MILLIONTHS)?;
        let mut place = MILLIONTHS;
        for digit in fraction.bytes().take(DIGITS) {
            place /= 10;
            amount = amount.checked_add(i64::from(digit - b'0') * place)?;
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

    /// The amount as a decimal number's text.
    pub fn to_text(self) -> String {
        let magnitude = self.0.unsigned_abs();
        let unit = MILLIONTHS.unsigned_abs();
        let mut text = String::new();
        if self.0 < 0 {
            text.push('-');
        }
        text.push_str(&(magnitude / unit).to_string());
        let fraction = magnitude % unit;
        if fraction > 0 {
            let digits = fraction.to_string();
            text.push('.');
            text.extend(core::iter::repeat_n('0', DIGITS - digits.len()));
            text.push_str(digits.trim_end_matches('0'));
        }
        text
    }
}

/// Credits of one operation as its service last reported them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Ledger {
    /// Debited when the work was accepted.
    pub base: Option<Credits>,
    /// Added or taken back by the service's final rules.
    pub adjustment: Option<Credits>,
    /// Given back.
    pub refund: Option<Credits>,
    /// The account's balance at the service after that.
    pub balance: Option<Credits>,
    /// The service's own word for the state of the charge.
    pub token_state: Option<String>,
}

impl Ledger {
    /// What the operation has cost so far: base and adjustment, less refund.
    pub fn cost(&self) -> Credits {
        let part = |amount: Option<Credits>| amount.unwrap_or_default();
        part(self.base).plus(part(self.adjustment)).minus(part(self.refund))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn credits_keep_decimals_exactly() {
        for text in ["0", "5", "-3", "0.1", "12.345678", "-0.05", "9223372036854"] {
            assert_eq!(Credits::parse(text).map(Credits::to_text).as_deref(), Some(text));
        }
    }

    #[test]
    fn credits_refuse_what_is_no_plain_decimal() {
        for text in ["", "-", ".5", "1e3", "NaN", "9223372036854775807", "1.2.3", "+1"] {
            assert_eq!(Credits::parse(text), None, "{text}");
        }
    }

    #[test]
    fn cost_is_base_and_adjustment_less_refund() {
        let credits = |text: &str| Credits::parse(text);
        let ledger = Ledger {
            base: credits("5"),
            adjustment: credits("1.5"),
            refund: credits("2"),
            ..Ledger::default()
        };
        assert_eq!(ledger.cost().to_text(), "4.5");
    }
}
