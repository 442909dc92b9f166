//! What one operation costs.

use super::Credits;

/// One line of a ledger. It has the same name as a fact, in a record and in public.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Amount {
    /// What the service said beforehand that the work would cost.
    Quoted,
    /// Set aside when the work was accepted.
    Reserved,
    /// Debited when the work was accepted.
    Base,
    /// Added or taken back by the service's final rules; may be negative.
    Adjustment,
    /// Taken in all, where the service tells a sum and not its parts.
    Charged,
    /// What was set aside and is free again.
    Released,
    /// Given back of what was charged.
    Refund,
    /// The account's balance at the service after that; may be negative.
    Balance,
    /// What reading has cost: reckoned here, read by read, not told by the service.
    Reads,
}

/// What a service's receipt for a charge is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReceiptKind {
    /// For the execution: neither a receipt for a purchase nor an invoice.
    ExecutionCharge,
    /// For the purchase of credits or goods.
    Purchase,
    /// An invoice.
    Invoice,
}

/// Credits of one operation as its service last reported them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Ledger {
    /// The lines, by [`Amount`].
    pub amounts: [Option<Credits>; Amount::COUNT],
    /// The service's own word for the state of the charge.
    pub token_state: Option<String>,
    /// There may be a second charge for the same work: the risk was accepted, or two executions
    /// were seen.
    pub duplicated: bool,
}

impl Amount {
    /// How many there are.
    pub const COUNT: usize = Self::Reads as usize + 1;

    /// Whether an amount below 0 means something; else it says nothing.
    pub const fn may_be_negative(self) -> bool {
        matches!(self, Self::Adjustment | Self::Balance)
    }
}

impl Ledger {
    /// One line, where the service has said it.
    pub const fn get(&self, amount: Amount) -> Option<Credits> {
        self.amounts[amount as usize]
    }

    /// Writes one line; `None` strikes it out.
    pub const fn set(&mut self, amount: Amount, credits: Option<Credits>) {
        self.amounts[amount as usize] = credits;
    }

    /// Takes up what an answer reports: later amounts replace earlier ones, silence replaces nothing.
    pub fn take_up(&mut self, told: &Self) {
        for (own, new) in self.amounts.iter_mut().zip(&told.amounts) {
            *own = new.or(*own);
        }
        if told.token_state.is_some() {
            self.token_state.clone_from(&told.token_state);
        }
    }

    /// What was charged: as told, else base and adjustment; `None` where nothing is known.
    pub fn charged(&self) -> Option<Credits> {
        let sum = match (self.get(Amount::Base), self.get(Amount::Adjustment)) {
            (None, None) => None,
            (base, adjustment) => {
                Some(base.unwrap_or_default().plus(adjustment.unwrap_or_default()))
            }
        };
        self.get(Amount::Charged).or(sum)
    }

    /// What is still set aside. A charge ends a reservation of whose release nothing is told.
    fn held(&self) -> Credits {
        let charged = self.charged().unwrap_or_default();
        let reserved = self.get(Amount::Reserved).unwrap_or_default();
        match self.get(Amount::Released) {
            None if charged > Credits(0) => Credits(0),
            released => reserved.minus(released.unwrap_or_default()).minus(charged).or_nothing(),
        }
    }

    /// What the operation has cost so far: charged less given back, what is still set aside, and
    /// reads. Never below 0: what a service gives beyond its charge pays for nothing else.
    pub fn cost(&self) -> Credits {
        let refund = self.get(Amount::Refund).unwrap_or_default();
        let kept = self.charged().unwrap_or_default().minus(refund).or_nothing();
        kept.plus(self.held()).plus(self.get(Amount::Reads).unwrap_or_default())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn ledger(lines: &[(Amount, &str)]) -> Ledger {
        let mut ledger = Ledger::default();
        for (amount, text) in lines {
            ledger.set(*amount, Credits::parse(text));
        }
        ledger
    }

    fn cost(lines: &[(Amount, &str)]) -> String {
        ledger(lines).cost().to_text()
    }

    #[test]
    fn cost_is_base_and_adjustment_less_refund() {
        let lines = [(Amount::Base, "5"), (Amount::Adjustment, "1.5"), (Amount::Refund, "2")];
        assert_eq!(cost(&lines), "4.5");
    }

    #[test]
    fn a_sum_that_is_told_goes_before_its_parts() {
        let lines = [(Amount::Base, "5"), (Amount::Adjustment, "-2"), (Amount::Charged, "4")];
        assert_eq!(ledger(&lines).charged(), Credits::parse("4"));
    }

    #[test]
    fn what_is_set_aside_counts_until_it_is_charged_or_released() {
        use Amount::{Charged, Released, Reserved};
        for (lines, wanted) in [
            (vec![(Reserved, "5")], "5"),
            (vec![(Reserved, "5"), (Charged, "0"), (Released, "0")], "5"),
            (vec![(Reserved, "5"), (Charged, "3"), (Released, "2")], "3"),
            (vec![(Reserved, "5"), (Charged, "0"), (Released, "5")], "0"),
            (vec![(Reserved, "5"), (Charged, "3"), (Released, "0")], "5"),
            (vec![(Reserved, "5"), (Charged, "3")], "3"),
        ] {
            assert_eq!(cost(&lines), wanted, "{lines:?}");
        }
    }

    #[test]
    fn reads_cost_beside_the_work() {
        assert_eq!(cost(&[(Amount::Base, "5"), (Amount::Reads, "0.3")]), "5.3");
    }

    #[test]
    fn a_quote_and_a_balance_are_no_cost() {
        assert_eq!(cost(&[(Amount::Quoted, "5"), (Amount::Balance, "95")]), "0");
    }

    #[test]
    fn more_given_back_than_charged_pays_for_nothing_else() {
        assert_eq!(cost(&[(Amount::Base, "5"), (Amount::Refund, "9"), (Amount::Reads, "1")]), "1");
    }

    #[test]
    fn silence_replaces_nothing() {
        let mut own = ledger(&[(Amount::Base, "5"), (Amount::Balance, "95")]);
        own.token_state = Some("reserved".into());
        own.take_up(&ledger(&[(Amount::Balance, "90")]));
        assert_eq!(own.get(Amount::Base), Credits::parse("5"));
        assert_eq!(own.get(Amount::Balance), Credits::parse("90"));
        assert_eq!(own.token_state.as_deref(), Some("reserved"));
    }

    proptest! {
        #[test]
        fn a_cost_is_never_below_nothing(
            amounts in proptest::collection::vec(proptest::option::of(any::<i64>()), Amount::COUNT),
        ) {
            let mut ledger = Ledger::default();
            for (amount, credits) in Amount::ALL.iter().zip(amounts) {
                let credits = credits.map(Credits).filter(|own| amount.may_be_negative() || own.0 >= 0);
                ledger.set(*amount, credits);
            }
            prop_assert!(ledger.cost() >= Credits(0));
        }
    }
}
