//! A place in a text that small grammars are read from.

/// What is left of a text. Each reading that fails leaves the place undefined: its grammar fails.
pub(super) struct Cursor<'t>(&'t str);

impl<'t> Cursor<'t> {
    pub(super) const fn new(text: &'t str) -> Self {
        Self(text)
    }

    pub(super) const fn is_at_end(&self) -> bool {
        self.0.is_empty()
    }

    pub(super) fn peek(&self) -> Option<u8> {
        self.0.as_bytes().first().copied()
    }

    /// Goes on if `literal` comes next.
    pub(super) fn eat(&mut self, literal: &str) -> bool {
        let rest = self.0.strip_prefix(literal);
        self.0 = rest.unwrap_or(self.0);
        rest.is_some()
    }

    /// Requires `literal`.
    pub(super) fn expect(&mut self, literal: &str) -> Option<()> {
        self.eat(literal).then_some(())
    }

    /// Takes ASCII characters as long as `is_wanted` says so.
    pub(super) fn take_while(&mut self, is_wanted: impl Fn(u8) -> bool) -> &'t str {
        let len = self.0.bytes().take_while(|byte| byte.is_ascii() && is_wanted(*byte)).count();
        let (taken, rest) = self.0.split_at(len);
        self.0 = rest;
        taken
    }

    /// Requires a number of exactly `len` digits.
    pub(super) fn digits(&mut self, len: usize) -> Option<u32> {
        let (digits, rest) = self.0.split_at_checked(len)?;
        self.0 = rest;
        if digits.bytes().all(|byte| byte.is_ascii_digit()) { digits.parse().ok() } else { None }
    }

    /// Requires one of `words`, and gives its index.
    pub(super) fn word(&mut self, words: &[&str]) -> Option<usize> {
        words.iter().position(|word| self.eat(word))
    }
}
