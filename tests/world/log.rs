//! What the ports were asked for, in order.

use std::cell::RefCell;

use holdfast::driver::ports::store::{Durability, Write, Written};
use holdfast::model::operation::Operation;
use holdfast::record;
use holdfast_services::Request;

/// One thing that a port did.
#[derive(Clone, Debug)]
pub enum Logged {
    /// A transaction that is complete: what it wrote of one operation.
    Committed { operation: Box<Operation>, durability: Durability },
    /// A request that left.
    Sent { method: String, path: String, key: Option<String>, body: Vec<u8> },
    /// An event that the app was told: how an operation stands.
    Told(Box<Operation>),
}

/// The log.
#[derive(Default)]
pub struct Log(RefCell<Vec<Logged>>);

impl Log {
    pub fn committed(&self, batch: &[Write], durability: Durability, written: &[Written]) {
        for (write, written) in batch.iter().zip(written) {
            if *written == Written::Done {
                let operation = record::decode(&write.row.document).expect("a good record");
                let operation = Box::new(operation);
                self.0.borrow_mut().push(Logged::Committed { operation, durability });
            }
        }
    }

    pub fn sent(&self, request: &Request) {
        self.0.borrow_mut().push(Logged::Sent {
            method: request.method.clone(),
            path: request.path.clone(),
            key: request.header("idempotency-key").map(String::from),
            body: request.body.clone(),
        });
    }

    pub fn told(&self, operation: &Operation) {
        self.0.borrow_mut().push(Logged::Told(Box::new(operation.clone())));
    }

    pub fn all(&self) -> Vec<Logged> {
        self.0.borrow().clone()
    }
}
