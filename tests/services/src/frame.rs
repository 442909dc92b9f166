//! What the models share: jobs and their billing, keys, ids, time, and the door that they stand
//! behind. A model adds what its service does with a request, and in which words.
mod desk;
mod job;
mod keys;
mod model;
mod problem;
mod report;
mod route;
mod settings;
mod state;
mod steer;

pub(crate) use desk::{Desk, Opening};
pub(crate) use job::{Job, Phase};
pub(crate) use keys::{Keys, Known};
pub(crate) use model::{Model, bearer, refusal};
pub(crate) use problem::problem;
pub(crate) use route::{Route, query};
pub use settings::Settings;
pub use state::State;
pub(crate) use steer::{Ending, FailureClass, Steer};
