//! What is stored, and read of it.

use std::rc::Rc;

use holdfast::driver::ports::Store;
use holdfast::driver::ports::store::Row;
use holdfast::model::ids::OperationId;
use holdfast::model::operation::Operation;
use holdfast::record;
use pollster::block_on;

use super::world::World;

impl World {
    pub fn row(&self, id: &OperationId) -> Option<Row> {
        block_on(self.0.disk.live.load(id)).ok().flatten()
    }

    /// The operation that a row holds. What was read before is not read again.
    pub fn read(&self, row: &Row) -> Option<Rc<Operation>> {
        let known = (row.id.clone(), row.revision);
        if let Some((document, operation)) = self.0.read.borrow().get(&known)
            && *document == row.document
        {
            return Some(Rc::clone(operation));
        }
        let operation = Rc::new(record::decode(&row.document).ok()?);
        let read = (row.document.clone(), Rc::clone(&operation));
        self.0.read.borrow_mut().insert(known, read);
        Some(operation)
    }

    pub fn operation(&self, id: &OperationId) -> Option<Rc<Operation>> {
        self.read(&self.row(id)?)
    }

    /// What of an operation survives a loss of power.
    pub fn safe(&self, id: &OperationId) -> Option<Rc<Operation>> {
        self.read(&block_on(self.0.disk.safe.load(id)).ok().flatten()?)
    }
}

/// The event that a journal line tells of.
pub fn event_of(line: &str) -> Option<String> {
    let rest = line.split_once(r#""event":""#)?.1;
    rest.split_once('"').map(|(event, _)| event.to_owned())
}
