//! One member of a transaction, for tests that write past the driver.

use holdfast::driver::ports::store::{Erase, Row, Write};

/// The write of a row that is new, and nothing besides.
pub(crate) fn write_of(row: Row) -> Write {
    Write {
        row,
        replaces: None,
        fence: None,
        answer_by: None,
        beside: None,
        erase: Erase::Nothing,
        name: None,
        body: None,
        piece: None,
        takes: Vec::new(),
        journal: Vec::new(),
        profile: None,
    }
}
